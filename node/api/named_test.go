package api_test

import (
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

func TestWhatCouldMeetNothingIsNotDeclared(t *testing.T) { // C2
	s := serve(t)
	for want, in := range map[string]api.NewIntent{
		"symbol \"foo\"":                     {Task: "t", Scope: api.Scope{Symbols: api.List[string]{"foo"}}},
		"symbol \"sym:\"":                    {Task: "t", Scope: api.Scope{Symbols: api.List[string]{"sym:"}}},
		"contract \"POST /v1/x\"":            {Task: "t", Scope: api.Scope{Contracts: api.List[string]{"POST /v1/x"}}},
		"issues":                             {Task: "t", Issues: strings.Fields(strings.Repeat("#1 ", api.IssuesMax+1))},
		"issue \"" + strings.Repeat("#", 60): {Task: "t", Issues: api.List[string]{strings.Repeat("#", api.IssueBytesMax+1)}},
		"issue \" \"":                        {Task: "t", Issues: api.List[string]{" "}},
	} {
		if _, err := s.client.Declare(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	fine := api.NewIntent{Task: "t", Issues: api.List[string]{"#12", "SHOP-7"}, Scope: api.Scope{
		Symbols: api.List[string]{"sym:ts:src/**#*", "pkg:go:acme.com/shop#F"}, Contracts: api.List[string]{"http:POST /v1/x", "zod:ts:a.ts#S"},
	}}
	if _, err := s.client.Declare(t.Context(), fine); err != nil {
		t.Error(err)
	}
	if _, err := s.client.ChangeIntent(t.Context(), api.IntentChange{Scope: &api.Scope{Symbols: api.List[string]{"foo"}}}); err == nil || !strings.Contains(err.Error(), "symbol \"foo\"") {
		t.Errorf("a change: %v", err)
	}
}
