package node

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/worktree"
	"github.com/parley-mesh/parley/node/page"
)

// Version is what this program calls itself.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Run runs the node of a home until ctx ends. Only one runs on a home at a time. The error is an
// [api] one where a person can do something about it.
func Run(ctx context.Context, rc RunConfig) error {
	lock, err := rc.Home.Lock(ctx)
	if err != nil {
		return err
	}
	rc.doors = page.NewDoors(rc.Wall)
	for {
		if err = once(ctx, rc); !errors.Is(err, errAgain) {
			return errors.Join(err, lock.Release())
		}
		rc.Ready = nil // it was called
	}
}

func once(ctx context.Context, rc RunConfig) error {
	n, err := start(ctx, rc)
	if err != nil {
		return translate(err)
	}
	return errors.Join(n.serve(ctx, rc), n.close())
}

// serve answers on the home's socket and runs the loop, until one of them ends.
func (n *Node) serve(ctx context.Context, rc RunConfig) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listener, err := rc.listen()
	if err != nil {
		return err
	}
	web, err := n.openPage(rc)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &api.Server{Reader: reader{n}, Actor: actor{n}, Inviter: inviter{n}, Laner: laner{n}, Fleet: actor{n}, Network: network{n}, Live: n.live, Judge: n.live, Pages: pages{n, web}, Logged: &n.log.bell, Refused: n.refused, Span: n.trace.Begin}
	tools, err := n.serveTools(ctx, rc.Home)
	if err != nil {
		return errors.Join(err, web.Close(), listener.Close())
	}
	numbers, err := n.serveMetrics(ctx)
	if err != nil {
		return errors.Join(err, tools.close(), web.Close(), listener.Close())
	}
	var beside sync.WaitGroup
	beside.Go(func() { n.servePage(ctx, web) })
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(ctx, listener)
		cancel() // a node that answers nobody is of no use
	}()
	if rc.HostOptions == nil { // in a bubble of virtual time nobody looks at a desktop
		n.work.Go(func() { n.notifier().run(ctx, &n.log.bell) })
	}
	n.identifyAll(ctx)
	n.work.Go(func() { n.live.run(ctx) })
	if rc.Ready != nil {
		rc.Ready()
	}
	err = n.run(ctx)
	cancel()
	close(n.stopped)
	beside.Wait()
	return errors.Join(err, tools.close(), numbers.close(), <-served)
}

// refused notes a person's act that had no valid proof.
func (n *Node) refused(verb string, err error) {
	n.log.add(core.Note{Level: "warn", Kind: "refused", Who: n.cfg.Name, Text: fmt.Sprintf("refused %s: %v", verb, err)})
}

// translate gives the errors of the adapters the names under which the program explains them.
func translate(err error) error {
	for _, e := range []struct{ from, to error }{
		{mesh.ErrPortTaken, api.ErrPortTaken},
		{disk.ErrDiskLow, api.ErrDiskLow},
		{worktree.ErrNoGit, api.ErrNoGit},
		{worktree.ErrOldGit, api.ErrOldGit},
		{worktree.ErrNotRepository, api.ErrNotRepository},
		{worktree.ErrBare, api.ErrNotRepository},
	} {
		if errors.Is(err, e.from) {
			return fmt.Errorf("%w: %v", e.to, err)
		}
	}
	return err
}

// CheckGit is the version of git here, such as "2.39.5"; [api.ErrNoGit] when there is none, [api.ErrOldGit]
// when it cannot try a merge without a checkout.
func CheckGit(ctx context.Context) (string, error) {
	v, err := worktree.Git{}.Probe(ctx)
	switch {
	case errors.Is(err, worktree.ErrNoGit):
		return "", api.ErrNoGit
	case errors.Is(err, worktree.ErrOldGit):
		return v.String(), fmt.Errorf("git version %s: %w", v, api.ErrOldGit)
	}
	return v.String(), err
}
