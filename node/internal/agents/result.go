package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
)

// Tests is what became of the tests of a merge.
type Tests string

// What a desk may say about its tests.
const (
	TestsPassed Tests = "passed"
	TestsNone   Tests = "none"   // none were run
	TestsFailed Tests = "failed" // they fail, and the result stands all the same
)

// Result is what a desk answered.
type Result struct {
	Pick   []int  `json:"pick"`   // decide: indexes into the task's files, ascending
	Commit string `json:"commit"` // merge: 40 or 64 hex digits
	Tests  Tests  `json:"tests"`
	Words  string `json:"words"` // for people, at most 2000 characters
}

const (
	resultMax = 64 << 10 // bytes
	wordsMax  = 2000     // characters
)

var commitForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// readResult reads the result file of a task and checks everything but what the commit holds.
func readResult(t Task) (Result, error) {
	r, err := decodeResult(t.Result)
	if err != nil {
		return Result{}, err
	}
	r.Words = tame(r.Words)
	switch r.Tests {
	case "":
		r.Tests = TestsNone
	case TestsPassed, TestsNone, TestsFailed:
	default:
		return Result{}, fmt.Errorf("tests %q: want passed, none or failed", r.Tests)
	}
	switch t.Kind {
	case Merge:
		r.Pick = nil
		if !commitForm.MatchString(r.Commit) {
			return Result{}, fmt.Errorf("commit %q: want 40 or 64 hex digits", clip(r.Commit, 80))
		}
	case Brief:
		r.Pick, r.Commit, r.Tests = nil, "", TestsNone
	case Decide:
		r.Commit, r.Tests = "", TestsNone
		for n, i := range r.Pick {
			if i < 0 || i >= len(t.Files) || n > 0 && i <= r.Pick[n-1] {
				return Result{}, fmt.Errorf("pick %d: want numbers of the %d files, ascending", i, len(t.Files))
			}
		}
	}
	return r, nil
}

func decodeResult(path string) (Result, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Result{}, errors.New("it left no result")
	}
	if !info.Mode().IsRegular() {
		return Result{}, errors.New("the result is not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, resultMax+1))
	if err != nil {
		return Result{}, err
	}
	if len(b) > resultMax {
		return Result{}, fmt.Errorf("the result has more than %d bytes", resultMax)
	}
	var r Result
	if err := json.Unmarshal(b, &r); err != nil {
		return Result{}, fmt.Errorf("decode result: %w", err)
	}
	return r, nil
}

// tame makes a program's words fit to be shown: no control characters, no endless text.
func tame(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return clip(strings.TrimSpace(s), wordsMax)
}

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
