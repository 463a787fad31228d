package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

func TestWhyAnswersForNothingThatItDoesNotKnow(t *testing.T) {
	checkout := t.TempDir()
	for _, name := range []string{"here.go", "src/in.go"} {
		file := filepath.Join(checkout, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Default()
	cfg.Repositories = []RepositoryConfig{{Slug: "acme/shop", Checkout: checkout}}
	v := viewer{core: core.New(core.Config{Slugs: []string{"acme/shop"}}), cfg: cfg, now: time.Now()}
	v.core.Handle(core.Repository{Slug: "acme/shop", Host: "github.com", ID: 1, Base: "main"}, v.now)
	for _, c := range []struct{ about, code, hint string }{
		{"here.go", "", ""},
		{filepath.Join(checkout, "here.go"), "", ""},
		{"src/in.go", "", ""},
		{"acme/shop#4", "", ""},
		{"gone.go", "no-such-file", "parley threads"},
		{filepath.Join(checkout, "src", "gone.go"), "no-such-file", "parley status"},
		{"src", "no-such-file", "name a file in it"},
		{filepath.Join(filepath.Dir(checkout), "elsewhere.go"), "no-such-repository", "parley status"},
		{"acme/other#4", "no-such-thread", "parley threads"},
		{"cf-412", "no-such-thread", "run parley explain CF-412"},
		{"INT-77", "no-such-thread", "run parley intents"},
		{"S-01", "no-such-thread", "run parley sessions"},
	} {
		out, err := v.why(c.about)
		if c.code == "" {
			if err != nil || out.Answer == "" {
				t.Errorf("%s: %+v %v", c.about, out, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s is answered with %q", c.about, out.Answer)
			continue
		}
		if f := api.Explain(err); f.Code != c.code || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("%s: %s, %q, %v; want %s, %q", c.about, f.Code, f.Hint, err, c.code, c.hint)
		}
	}
}
