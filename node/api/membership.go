package api

import (
	"context"
	"net/http"
)

// membership answers the verbs about which computers belong together; nil for any other.
func (s *Server) membership(verb string) answer {
	switch verb {
	case "revoke":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Fleet.Revoke(ctx, in.Name, in.Why, in.Proof)
		})
	case "computers rename":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Fleet.Rename(ctx, in.ID, in.Name, in.Proof)
		})
	case "backup part":
		return func(r *http.Request) (reply, error) { return s.Reader.Ledger(r.URL.Query().Get("after")) }
	}
	return nil
}
