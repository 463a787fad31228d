package github

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// answering is a client of a GitHub that answers every query like this.
func answering(t *testing.T, body string) *Client {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		w.Write([]byte(body))
	}))
	t.Cleanup(web.Close)
	w := &world{token: "t"}
	c := must(New(Endpoint{Host: "github.localhost", Addr: web.Listener.Addr().String(), Token: w.currentToken}))(t)
	t.Cleanup(c.Close)
	return c
}

// listOf is the answer to a list of one pull request, with an error at path.
func listOf(node, kind, path string) string {
	oid := strings.Repeat("a", 40)
	return `{"data":{"repository":{"databaseId":7,"nameWithOwner":"alice/app","ref":{"target":{"oid":"` + oid + `"}},"pullRequests":{
		"pageInfo":{"hasNextPage":false,"endCursor":null},"nodes":[` + strings.ReplaceAll(node, "OID", oid) + `]}}},
		"errors":[{"type":"` + kind + `","message":"Resource protected by organization SAML enforcement.","path":` + path + `}]}`
}

const onePull = `{"number":4,"title":"t","headRefOid":"OID","headRefName":"b","mergeable":"UNKNOWN","headRepository":null,"author":{"login":"bob","databaseId":9}}`

func TestForkThatMayNotBeSeenHidesNothingElse(t *testing.T) {
	for _, kind := range []string{"FORBIDDEN", "NOT_FOUND"} {
		c := answering(t, listOf(onePull, kind, `["repository","pullRequests","nodes",0,"headRepository"]`))
		l, err := c.OpenPulls(t.Context(), "alice", "app", "master")
		if err != nil || len(l.Pulls) != 1 || l.Pulls[0].Number != 4 || l.Pulls[0].HeadRepo != "" || l.Pulls[0].AuthorID != 9 {
			t.Errorf("%s: list %+v, %v", kind, l, err)
		}
	}
}

func TestPullThatMayNotBeSeenIsNotPassedOver(t *testing.T) {
	for _, path := range []string{
		`["repository","pullRequests","nodes",0]`, `["repository","pullRequests","nodes",0,"headRefOid"]`,
		`["repository","pullRequests"]`,
	} {
		for _, kind := range []string{"FORBIDDEN", "NOT_FOUND"} {
			l, err := answering(t, listOf("null", kind, path)).OpenPulls(t.Context(), "alice", "app", "master")
			if err == nil || errors.Is(err, ErrNotFound) {
				t.Errorf("%s %s: list %+v, %v", kind, path, l, err)
			}
		}
	}
	_, err := answering(t, listOf("null", "", "null")).OpenPulls(t.Context(), "alice", "app", "master")
	if err == nil {
		t.Error("an error about nothing in particular passed")
	}
}

func TestAnswerWithoutARepositoryIsNoneOfGitHubs(t *testing.T) { // P10
	for _, body := range []string{`{}`, `{"data":null}`, `{"data":{"repository":null}}`} {
		_, err := answering(t, body).OpenPulls(t.Context(), "alice", "app", "master")
		wantErr(t, body, err, ErrTemporary)
	}
}
