package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// traceDefault is how long `parley trace` records when nobody says.
const traceDefault = 30 * time.Second

func (a *app) traceCommand(c *cobra.Command) {
	long := traceDefault
	c.Flags().DurationVar(&long, "for", traceDefault, "how long to record")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if long <= 0 || long > api.TraceMax {
			return usage(c, fmt.Sprintf("--for %s: want more than nothing and at most %s", long, api.TraceMax))
		}
		return a.trace(c.Context(), long)
	}
}

// trace records and prints. The end of ctx, which is Ctrl-C, ends the recording; what was recorded is printed.
func (a *app) trace(ctx context.Context, long time.Duration) error {
	_, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	if _, err := client.TraceBegin(ctx); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "recording for %s; Ctrl-C ends it sooner\n", long)
	t := time.NewTimer(long)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	out, err := client.TraceTake(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s\n", out)
	return err
}
