package api

import "net/http"

// backupAnswers are those that a backup reads.
func (s *Server) backupAnswers(verb string) answer {
	if verb != "backup part" {
		return nil
	}
	return func(r *http.Request) (reply, error) { return s.Reader.Ledger(r.URL.Query().Get("after")) }
}
