package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

var errNotBuilt = errors.New("the node is not part of this program yet")

// openReader reads a home without a running node.
func openReader(home node.Home) (api.Reader, func() error, error) {
	return nil, nil, errNotBuilt
}

// runNode runs a home's node until ctx ends.
func runNode(ctx context.Context, home node.Home, demo bool, out io.Writer) error {
	return errNotBuilt
}

// joinFleet joins the fleet of the computer that gave the code out. It calls show once, with the four words
// and the inviting computer's name.
func joinFleet(ctx context.Context, home node.Home, code, name string, show func(words [4]string, inviter string)) error {
	return errNotBuilt
}

// extraCommands are the commands that are no verbs of a node.
func extraCommands(*app) []*cobra.Command { return nil }
