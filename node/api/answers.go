package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/parley-mesh/parley/node/internal/presence"
)

// answers is what carries a Node verb out. A verb without an answer is a mistake of the program.
func (s *Server) answers(verb string) answer {
	switch verb {
	case "status":
		return func(*http.Request) (reply, error) { return s.Reader.Status() }
	case "inbox":
		return func(*http.Request) (reply, error) { return list(s.Reader.Inbox()) }
	case "threads":
		return func(*http.Request) (reply, error) { return list(s.Reader.Threads()) }
	case "thread show":
		return s.thread
	case "log":
		return s.log
	case "challenge":
		return s.challenge
	case "approve":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Actor.Approve(ctx, in.Card, in.Proof)
		})
	case "main on":
		return s.setMain(true)
	case "main off":
		return s.setMain(false)
	case "why":
		return func(r *http.Request) (reply, error) {
			return s.Reader.Why(strings.TrimSpace(r.URL.Query().Get("about")))
		}
	case "close":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) { return s.Actor.End(ctx, in.Ref, in.Proof) })
	case "assign":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Actor.Assign(ctx, in.Ref, in.Party, in.Proof)
		})
	case "reroute":
		return func(r *http.Request) (reply, error) { return s.Actor.Reroute(r.Context()) }
	case "scan":
		return func(r *http.Request) (reply, error) { return s.Actor.Scan(r.Context()) }
	}
	for _, more := range []func(string) answer{s.fileAnswers, s.fleetAnswers, s.laneAnswers, s.computerAnswers, s.backupAnswers, s.liveAnswers, s.pageAnswers, s.pauseAnswers} {
		if a := more(verb); a != nil {
			return a
		}
	}
	panic("api: the verb " + verb + " has no answer")
}

// fileAnswers are those about the files of the checkouts.
func (s *Server) fileAnswers(verb string) answer {
	switch verb {
	case "kept list":
		return func(r *http.Request) (reply, error) { return list(s.Reader.Kept(r.Context())) }
	case "kept show":
		return func(r *http.Request) (reply, error) { return s.Reader.KeptContent(r.Context(), r.PathValue("id")) }
	case "kept restore":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Actor.Restore(ctx, in.ID, in.Proof)
		})
	case "op log":
		return func(r *http.Request) (reply, error) { return list(s.Reader.Operations(r.Context())) }
	case "op undo":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) { return s.Actor.Undo(ctx, in.ID, in.Proof) })
	case "sync pause":
		return s.sync(SyncPause)
	case "sync resume":
		return s.sync(SyncResume)
	case "sync now":
		return s.sync(SyncNow)
	}
	return nil
}

// fleetAnswers are those about the computers of the fleet.
func (s *Server) fleetAnswers(verb string) answer {
	switch verb {
	case "revoke":
		return s.person(s.revoke)
	case "computers rename":
		return s.person(s.rename)
	case "invite":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) { return s.Inviter.Invite(ctx, in.Proof) })
	case "invite await":
		return s.awaitInvite
	case "invite confirm":
		return s.confirmInvite
	case "invite cancel":
		return func(r *http.Request) (reply, error) { return s.Inviter.CancelInvite(r.Context(), r.PathValue("id")) }
	}
	return nil
}

func list[T any](all []T, err error) (reply, error) { return List[T](all), err }

// thread leaves the signed bytes out unless raw=1 asks for them.
func (s *Server) thread(r *http.Request) (reply, error) {
	t, err := s.Reader.Thread(strings.TrimSpace(r.URL.Query().Get("ref")))
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Get("raw") != "1" {
		t = t.withoutWires()
	}
	return t, nil
}

func (t Thread) withoutWires() Thread {
	records := make([]ThreadRecord, len(t.Records))
	for i, r := range t.Records {
		r.Wire = ""
		records[i] = r
	}
	t.Records = records
	return t
}

// log answers at once when there is something, or when the wait is over.
func (s *Server) log(r *http.Request) (reply, error) {
	after, err := number(r, "after")
	if err != nil {
		return nil, err
	}
	most, err := number(r, "max")
	if err != nil {
		return nil, err
	}
	if most == 0 || most > logLinesMax {
		most = logLinesMax
	}
	ctx, cancel, err := waiting(r)
	if err != nil {
		return nil, err
	}
	defer cancel()
	for {
		changed := s.Logged.Changed()
		lines, err := s.Reader.Log(after, int(most))
		if err != nil || len(lines) > 0 || ctx.Err() != nil {
			return list(lines, err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (s *Server) challenge(r *http.Request) (reply, error) {
	act, err := read[presence.Act](r)
	if err != nil {
		return nil, err
	}
	nonce, err := s.Actor.Challenge(act)
	return nonceReply{Nonce: nonce}, err
}

// person reads a person's request for an act.
func (s *Server) person(act func(context.Context, personRequest) (reply, error)) answer {
	return func(r *http.Request) (reply, error) {
		in, err := read[personRequest](r)
		if err != nil {
			return nil, err
		}
		return act(r.Context(), in)
	}
}

func (s *Server) revoke(ctx context.Context, in personRequest) (reply, error) {
	return s.Fleet.Revoke(ctx, in.Name, in.Why, in.Proof)
}

func (s *Server) rename(ctx context.Context, in personRequest) (reply, error) {
	return s.Fleet.Rename(ctx, in.ID, in.Name, in.Proof)
}

func (s *Server) setMain(on bool) answer {
	return s.person(func(ctx context.Context, in personRequest) (reply, error) { return s.Actor.SetMain(ctx, on, in.Proof) })
}

func (s *Server) sync(how SyncHow) answer {
	return func(r *http.Request) (reply, error) {
		return s.Actor.Sync(r.Context(), strings.TrimSpace(r.URL.Query().Get("repository")), how)
	}
}

func (s *Server) awaitInvite(r *http.Request) (reply, error) {
	ctx, cancel, err := waiting(r)
	if err != nil {
		return nil, err
	}
	defer cancel()
	return s.Inviter.AwaitInvite(ctx, r.PathValue("id"), r.URL.Query().Get("last"))
}

func (s *Server) confirmInvite(r *http.Request) (reply, error) {
	in, err := read[personRequest](r)
	if err != nil {
		return nil, err
	}
	return s.Inviter.ConfirmInvite(r.Context(), r.PathValue("id"), in.Proof)
}
