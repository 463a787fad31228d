// Command parley lets the computers of one developer settle pull-request conflicts with each other.
//
//	parley init      set this computer up
//	parley up        run its node
//	parley status    is it working, and what needs you
//	parley help      everything else
//
// Data goes to standard output, notes to standard error. The last lines after a failure are
// "parley: error: …" and "parley: hint: …"; `parley help exit-codes` lists the exit statuses.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(status)
}
