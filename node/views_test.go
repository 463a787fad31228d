package node

import "testing"

func TestACardLeadsToItsPullRequest(t *testing.T) { // where the fix is
	for ref, want := range map[string]string{
		"acme/shop#42":   "https://github.com/acme/shop/pull/42",
		"acme/shop#42/2": "https://github.com/acme/shop/pull/42",
		"acme/shop":      "",
		"shop#42":        "",
		"acme/a?b#c":     "",
		"acme/a?b#7":     "https://github.com/acme/a%3Fb/pull/7",
		"":               "",
	} {
		if got := pullAddress(GitHubConfig{Host: "github.com"}, ref); got != want {
			t.Errorf("%q leads to %q, want %q", ref, got, want)
		}
	}
	if got := pullAddress(GitHubConfig{Host: "github.localhost", Addr: "127.0.0.1:80"}, "acme/shop#42"); got != "" {
		t.Errorf("a stand-in has %q", got)
	}
}
