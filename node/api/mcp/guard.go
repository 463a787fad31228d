package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

// guard lets requests through that name one of the hosts and carry the token. An empty token lets nobody in.
func guard(token string, hosts []string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		switch {
		case !slices.Contains(hosts, strings.ToLower(r.Host)):
			http.Error(w, "parley: this host is not served here", http.StatusForbidden)
		case token == "" || subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "parley: want the token of the file mcp.token in this computer's home", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
