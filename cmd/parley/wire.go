package main

import (
	"context"
	"io"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// openReader reads a home without a running node.
func openReader(home node.Home) (api.Reader, func() error, error) { return node.OpenReader(home) }

// runNode runs a home's node until ctx ends.
func runNode(ctx context.Context, home node.Home, demo bool, out io.Writer) error {
	return node.Run(ctx, node.RunConfig{Home: home, Demo: demo, Out: out})
}

// joinFleet joins the fleet of the computer that gave the code out. It calls show once, with the four words
// and the inviting computer's name.
func joinFleet(ctx context.Context, home node.Home, code, name string, show func(words [4]string, inviter string)) error {
	return node.Join(ctx, home, code, name, show)
}
