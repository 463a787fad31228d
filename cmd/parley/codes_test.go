package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

var cardCode = regexp.MustCompile(`^C[1-9][0-9]?$`)

func TestTheCatalogueHasEveryCodeOnce(t *testing.T) {
	used := map[string]bool{}
	for _, dir := range []string{"node", "node/core", "conflicts/thread"} {
		for _, f := range parsed(t, dir).files {
			ast.Inspect(f, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
					if text, err := strconv.Unquote(l.Value); err == nil && cardCode.MatchString(text) {
						used[text] = true
					}
				}
				return true
			})
		}
	}
	var listed []string
	for _, m := range api.CardCodes {
		listed = append(listed, m.Code)
		if !used[m.Code] {
			t.Errorf("no card has the code %s", m.Code)
		}
	}
	for code := range used {
		if !slices.Contains(listed, code) {
			t.Errorf("a card has the code %s, which the catalogue does not explain", code)
		}
	}
	all := append(append([]api.Means{}, api.CardCodes...), api.Faults()...)
	for _, a := range ailments {
		all = append(all, api.Means{Code: a.code, Says: a.means, Do: a.mend})
	}
	out, _ := printed(t, func(a *app) {
		if run(t.Context(), []string{"help", "codes"}, a.streams) != api.ExitOK {
			t.Error("the catalogue cannot be read")
		}
	})
	for _, m := range all {
		if m.Says == "" {
			t.Errorf("%s says nothing", m.Code)
		}
		wants(t, out, "\n  "+m.Code+": "+m.Says+"\n")
	}
}
