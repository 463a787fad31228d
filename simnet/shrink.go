package simnet

import (
	"errors"
	"slices"
)

// Endings are all of them, for runs over many seeds.
var Endings = []Ending{Never, Settle, Hands, NoMain, NoResp}

// TeamEndings are those of worlds of several developers.
var TeamEndings = []Ending{Never, Settle}

// Misfortunes are the kinds that [Config.Without] can leave out.
var Misfortunes = []string{"net", "crash", "backup", "clone", "sleep", "clock", "outage", "disk", "lag", "hub", "desk", "people", "liars"}

// Shrink looks for a smaller world that breaks the same promise: fewer computers, fewer kinds of
// misfortune, fewer events. It returns the smallest failure that it found.
func Shrink(f *Failure) *Failure {
	best := f
	try := func(change func(*Config)) {
		cfg := best.Config
		cfg.Only, cfg.Trace = best.Invariant.ID, nil
		cfg.Without = slices.Clone(cfg.Without)
		change(&cfg)
		if smaller, ok := errors.AsType[*Failure](New(cfg).Run()); ok && smaller.Invariant.ID == f.Invariant.ID && smaller.Step <= best.Step*2 {
			best = smaller
		}
	}
	for n := 2; n < best.Config.Computers; n++ {
		try(func(c *Config) { c.Computers = n })
	}
	for _, kind := range Misfortunes {
		try(func(c *Config) { c.Without = append(c.Without, kind) })
	}
	if best.Config.Ending == Never {
		try(func(c *Config) { c.Steps = best.Step + 1 })
	}
	return best
}
