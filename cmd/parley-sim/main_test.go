package main

import (
	"strings"
	"testing"
)

func TestARunTellsItsSeedAndEvents(t *testing.T) {
	var out, hints strings.Builder
	if err := run([]string{"-seed", "1", "-steps", "200"}, &out, &hints); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "seed 1: 200 events\n" {
		t.Errorf("it says %q", got)
	}
}

func TestABrokenPromiseIsShownAndCanBeReplayed(t *testing.T) {
	var out, hints strings.Builder
	err := run([]string{"-seed", "0", "-mutant", "no-click", "-trace"}, &out, &hints)
	if err == nil || !strings.Contains(err.Error(), "S4") || !strings.Contains(err.Error(), "go run ./cmd/parley-sim -seed 0 ") {
		t.Errorf("the failure reads %v", err)
	}
	if !strings.Contains(out.String(), "S4 broken") {
		t.Error("the trace does not end with the failure")
	}
}

func TestARangeCountsItsEvents(t *testing.T) {
	var out, hints strings.Builder
	if err := run([]string{"-seeds", "0:2", "-steps", "100"}, &out, &hints); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "2 seeds, 200 events in ") {
		t.Errorf("it says %q", out.String())
	}
	if err := run([]string{"-seeds", "1-2"}, &out, &hints); err == nil {
		t.Error("a range that is none was taken")
	}
}

func TestAWorldThatCannotBeIsAnError(t *testing.T) {
	for _, args := range [][]string{{"-mutant", "x"}, {"-only", "S99"}, {"-ending", "x"}, {"-without", "x"}, {"-computers", "1"}} {
		var out, hints strings.Builder
		if err := run(args, &out, &hints); err == nil {
			t.Errorf("%q was taken", args)
		}
	}
}
