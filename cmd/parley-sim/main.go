// Parley-sim runs simulated worlds: one seed, or a range of them, replaying any failure exactly.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mesh/parley/simnet"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "parley-sim:", err)
		os.Exit(1)
	}
}

// run is the program with its surroundings as arguments.
func run(args []string, out, hints io.Writer) error {
	flags := flag.NewFlagSet("parley-sim", flag.ContinueOnError)
	flags.SetOutput(hints)
	var (
		cfg     simnet.Config
		trace   = flags.Bool("trace", false, "print every event")
		seeds   = flags.String("seeds", "", "run the seeds `A:B`, B excluded, with every ending in turn")
		ending  = flags.String("ending", "", "what happens once the faults stop: settle, hands, no-main, no-resp; none: they go on")
		without = flags.String("without", "", "misfortunes to leave out, by comma: "+strings.Join(simnet.Misfortunes, ", "))
		shrink  = flags.Bool("shrink", false, "look for a smaller world with the same failure")
	)
	flags.Uint64Var(&cfg.Seed, "seed", 1, "the whole story")
	flags.IntVar(&cfg.Steps, "steps", 0, "events to live through; 0: 3000")
	flags.IntVar(&cfg.Computers, "computers", 0, "of the fleet, 2 to 6; 0: the seed chooses")
	flags.IntVar(&cfg.Teams, "teams", 0, "other developers joined by lanes, 0 to 2; with ending settle or none")
	flags.IntVar(&cfg.Agents, "agents", 0, "agents that work at once on each computer, 0 to 4")
	flags.IntVar(&cfg.Calm, "calm", 0, "event at which the faults stop; 0: halfway")
	flags.StringVar(&cfg.Mutant, "mutant", "", "a rule to break: "+mutants())
	flags.StringVar(&cfg.Only, "only", "", "the one invariant to check")
	flags.BoolVar(&cfg.Unchecked, "unchecked", false, "check nothing, to measure what checks cost")
	if err := flags.Parse(args); err != nil {
		return errors.Join(errors.New("the arguments are not understood"), err)
	}
	cfg.Ending = simnet.Ending(*ending)
	if *without != "" {
		cfg.Without = strings.Split(*without, ",")
	}
	if err := cfg.Validate(); err != nil {
		return err
	}
	if *seeds != "" {
		return runRange(cfg, *seeds, out)
	}
	if *trace {
		cfg.Trace = out
	}
	w := simnet.New(cfg)
	err := w.Run()
	fmt.Fprintf(out, "seed %d: %d events\n", cfg.Seed, w.Steps())
	if f, ok := errors.AsType[*simnet.Failure](err); ok && *shrink {
		return simnet.Shrink(f)
	}
	return err
}

func mutants() string {
	var names []string
	for _, m := range simnet.Mutants {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// runRange runs many seeds, and every ending where none is named. It goes on after failures, and tells how
// many there were.
func runRange(cfg simnet.Config, seeds string, out io.Writer) error {
	from, to, ok := strings.Cut(seeds, ":")
	first, err1 := strconv.ParseUint(from, 10, 64)
	last, err2 := strconv.ParseUint(to, 10, 64)
	if !ok || err1 != nil || err2 != nil {
		return fmt.Errorf("seeds %q: want A:B", seeds)
	}
	start, events, failures := time.Now(), 0, 0
	chosen, endings := cfg.Ending, simnet.Endings
	if cfg.Teams > 0 {
		endings = simnet.TeamEndings
	}
	for seed := first; seed < last; seed++ {
		cfg.Seed = seed
		if chosen == simnet.Never {
			cfg.Ending = endings[seed%uint64(len(endings))]
		}
		w := simnet.New(cfg)
		if err := w.Run(); err != nil {
			failures++
			fmt.Fprintln(out, err)
		}
		events += w.Steps()
	}
	took := time.Since(start)
	fmt.Fprintf(out, "%d seeds, %d events in %v, %.0f a second, %d failures\n",
		last-first, events, took.Round(time.Millisecond), float64(events)/took.Seconds(), failures)
	if failures > 0 {
		return fmt.Errorf("%d of %d seeds failed", failures, last-first)
	}
	return nil
}
