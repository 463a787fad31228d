package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/parley-mesh/parley/node/internal/presence"
)

// Exit statuses of the commands. They are part of the interface: scripts may rely on them.
const (
	ExitOK          = 0
	ExitError       = 1
	ExitUsage       = 2
	ExitUnreachable = 3
	ExitSignIn      = 4
	ExitPerson      = 5
	ExitNothing     = 6
	ExitFound       = 7
	ExitUntold      = 8
	ExitInterrupted = 130
)

// ExitStatuses explains the exit statuses, in ascending order.
var ExitStatuses = []struct {
	Status int
	Means  string
}{
	{ExitOK, "it worked"},
	{ExitError, "it did not work; the last lines say why and what to do"},
	{ExitUsage, "the command was not understood"},
	{ExitUnreachable, "no node runs on this home"},
	{ExitSignIn, "GitHub's command gh is missing or not signed in"},
	{ExitPerson, "only a person can do or settle this"},
	{ExitNothing, "nothing to do: the branches merge cleanly (demo --repo)"},
	{ExitFound, "something was found (check --exit-code)"},
	{ExitUntold, "nothing was found, but not everything could be told (check --exit-code)"},
	{ExitInterrupted, "interrupted"},
}

// What callers and the node's other packages tell apart. Wrap them: the text names operation and object.
var (
	ErrUsage          = errors.New("not understood")
	ErrUnreachable    = errors.New("no node runs here")
	ErrBusy           = errors.New("too many requests at once")
	ErrNoThread       = errors.New("no such conversation")
	ErrNoCard         = errors.New("nothing in the inbox asks for this")
	ErrNotNow         = errors.New("not possible now")
	ErrPaused         = errors.New("parley is paused on this computer")
	ErrNoParty        = errors.New("no such computer takes part")
	ErrAway           = errors.New("the computer cannot be reached now")
	ErrNoRepository   = errors.New("no such repository is set up here")
	ErrNoFile         = errors.New("there is no such file")
	ErrNoKept         = errors.New("nothing kept or done here has this id")
	ErrNoComputer     = errors.New("no computer of yours is called so")
	ErrNoInvite       = errors.New("no such invitation, or its time is over")
	ErrNoLane         = errors.New("there is no such lane")
	ErrCode           = errors.New("the code does not serve")
	ErrNotMain        = errors.New("this is not the main computer")
	ErrContested      = errors.New("two computers claim to be the main computer")
	ErrClosed         = errors.New("the conversation is closed")
	ErrSignIn         = errors.New("gh is not signed in")
	ErrNoGh           = errors.New("GitHub's command gh is not installed")
	ErrNoGit          = errors.New("git is not installed")
	ErrOldGit         = errors.New("git is older than 2.38")
	ErrNoHome         = errors.New("this computer is not set up")
	ErrHomeExists     = errors.New("this computer is set up already")
	ErrHomeTaken      = errors.New("other things lie in the folder")
	ErrHomeInUse      = errors.New("a node runs on this home")
	ErrHomeSpoiled    = errors.New("the home is spoiled")
	ErrConfig         = errors.New("the settings are spoiled")
	ErrDemoHome       = errors.New("this is a demo's home")
	ErrNotRepository  = errors.New("not a git repository")
	ErrPortTaken      = errors.New("the port is taken")
	ErrDiskLow        = errors.New("the disk is almost full")
	ErrNoTerminal     = errors.New("no terminal to ask for the passphrase")
	ErrNeedsPerson    = errors.New("only a person can settle this")
	ErrNothingToDo    = errors.New("nothing to do")
	ErrNoConflict     = errors.New("there is no such conflict")
	ErrAmbiguous      = errors.New("several begin so")
	ErrManySessions   = errors.New("several sessions work there")
	ErrConflictClosed = errors.New("the conflict is closed")
	ErrNotParticipant = errors.New("only its sides, owners and admins may act on it")
	ErrNotAllowed     = errors.New("the policy lets somebody else do this")
	ErrNoSession      = errors.New("no such session works here")
	ErrNoIntent       = errors.New("there is no such intent")
	ErrNoSide         = errors.New("nobody of that name works here")
	ErrAgentsOff      = errors.New("agents across your computers, and all lanes, are switched off")
	ErrNoPage         = errors.New("the page is not served")
	ErrNoPasskey      = errors.New("there is no such passkey")
	ErrCardChanged    = errors.New("the card asks for something else by now")
	ErrTooOften       = errors.New("too many tries")
	ErrNoTrace        = errors.New("no trace is being recorded")
)

// Fault is an error as a caller sees it.
type Fault struct {
	Code   string `json:"code"` // stable
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"` // what to do next, naming the command
	Status int    `json:"-"`              // of HTTP
	Exit   int    `json:"-"`              // of the command
}

// Error is the text.
func (f *Fault) Error() string { return f.Text }

const again = "run the command again"

// faults is the one place that says what an error means outside.
var faults = []struct {
	is   error
	code string
	http int
	exit int
	hint string
}{
	{ErrUsage, "usage", http.StatusBadRequest, ExitUsage, "run parley help"},
	{ErrNoTrace, "no-trace", http.StatusConflict, ExitError, "run parley trace again: another one was begun and taken meanwhile"},
	{ErrUnreachable, "node-not-reachable", http.StatusServiceUnavailable, ExitUnreachable, "run parley up"},
	{ErrBusy, "busy", http.StatusServiceUnavailable, ExitError, again},
	{ErrNoThread, "no-such-thread", http.StatusNotFound, ExitError, "run parley threads"},
	{ErrNoCard, "no-such-card", http.StatusNotFound, ExitError, "run parley inbox"},
	{ErrNotNow, "not-now", http.StatusConflict, ExitError, "run parley why REF: it says what is waited for"},
	{ErrPaused, "paused", http.StatusConflict, ExitError, "run parley resume first"},
	{ErrNoParty, "no-such-party", http.StatusNotFound, ExitError, "run parley thread show REF: it names who takes part"},
	{ErrNoComputer, "no-such-computer", http.StatusNotFound, ExitError, "run parley computers"},
	{ErrAway, "away", http.StatusConflict, ExitError, "enter parley up there, then parley netcheck on both"},
	{ErrNoRepository, "no-such-repository", http.StatusNotFound, ExitError, "run parley status: it lists the repositories"},
	{ErrNoFile, "no-such-file", http.StatusNotFound, ExitError, "run parley status for the checkouts, or parley threads for the conversations"},
	{ErrNoKept, "no-such-kept", http.StatusNotFound, ExitError, "run parley kept list, or parley op log"},
	{ErrNoInvite, "no-such-invite", http.StatusNotFound, ExitError, "run parley invite"},
	{ErrNoLane, "no-such-lane", http.StatusNotFound, ExitError, "run parley lane list"},
	{ErrCode, "code", http.StatusBadRequest, ExitError, "ask for another code: enter parley lane invite at the other end"},
	{ErrNotMain, "not-main", http.StatusConflict, ExitError, "run parley main on, if this is the computer that publishes"},
	{ErrContested, "contested", http.StatusConflict, ExitError, "enter parley main off on one of them"},
	{ErrClosed, "closed", http.StatusConflict, ExitError, "run parley threads"},
	{ErrSignIn, "sign-in-needed", http.StatusFailedDependency, ExitSignIn, "run gh auth login"},
	{ErrNoGh, "gh-missing", http.StatusFailedDependency, ExitSignIn, "install it from https://cli.github.com, then run gh auth login"},
	{ErrNoGit, "git-missing", http.StatusFailedDependency, ExitError, "install git 2.38 or newer, then run parley doctor"},
	{ErrOldGit, "git-old", http.StatusFailedDependency, ExitError, "install git 2.38 or newer, then run parley doctor"},
	{ErrNoHome, "no-home", http.StatusNotFound, ExitError, "run parley setup"},
	{ErrHomeExists, "home-exists", http.StatusConflict, ExitError, "run parley up; settings are changed in config.toml"},
	{ErrHomeTaken, "home-taken", http.StatusConflict, ExitUsage, "name a new or an empty folder with --home"},
	{ErrHomeInUse, "home-in-use", http.StatusConflict, ExitError, "run parley status"},
	{ErrHomeSpoiled, "home-spoiled", http.StatusInternalServerError, ExitError, "run parley doctor"},
	{ErrConfig, "config", http.StatusInternalServerError, ExitError, "correct that line, then run parley doctor"},
	{ErrDemoHome, "demo-home", http.StatusConflict, ExitError, "enter parley demo, or parley init with another --home"},
	{ErrNotRepository, "no-repository", http.StatusBadRequest, ExitError, "name a git checkout with a GitHub remote"},
	{ErrPortTaken, "port-taken", http.StatusConflict, ExitError, "choose another port in config.toml, or 0 for any"},
	{ErrDiskLow, "disk-low", http.StatusInsufficientStorage, ExitError, "free some space, then run parley up"},
	{ErrNoTerminal, "no-terminal", http.StatusUnauthorized, ExitPerson, "run the command yourself in a terminal, or use --passphrase-file"},
	{ErrNeedsPerson, "needs-person", http.StatusConflict, ExitPerson, "settle it by hand on GitHub or with git"},
	{ErrNothingToDo, "nothing-to-do", http.StatusConflict, ExitNothing, "choose two branches that conflict"},
	{ErrNoPage, "no-page", http.StatusNotFound, ExitError, "set page.off = false in config.toml, then run parley up"},
	{ErrNoPasskey, "no-such-passkey", http.StatusNotFound, ExitError, "run parley passkey list"},
	{ErrCardChanged, "card-changed", http.StatusConflict, ExitPerson, "run parley inbox: look at what it asks for now"},
	{ErrTooOften, "too-often", http.StatusTooManyRequests, ExitError, "run the command again in a few minutes"},
	{ErrNoConflict, "no-such-conflict", http.StatusNotFound, ExitError, "run parley conflicts --all"},
	{ErrManySessions, "several-sessions", http.StatusBadRequest, ExitUsage, "name yours: --session S-…, or session in a tool's call"},
	{ErrAmbiguous, "ambiguous", http.StatusBadRequest, ExitUsage, "give more of its digits"},
	{ErrConflictClosed, "conflict-closed", http.StatusConflict, ExitError, "run parley show REF: it says how it was closed"},
	{ErrNotParticipant, "not-participant", http.StatusForbidden, ExitError, "run parley show REF: it names the sides"},
	{ErrNotAllowed, "not-allowed", http.StatusForbidden, ExitPerson, "run parley policy explain: override.allowed_roles and members say who may"},
	{ErrNoSession, "no-such-session", http.StatusNotFound, ExitError, "run parley sessions, and name one with --session"},
	{ErrNoIntent, "no-such-intent", http.StatusNotFound, ExitError, "run parley intents"},
	{ErrNoSide, "no-such-side", http.StatusNotFound, ExitError, "run parley intents, or parley sessions"},
	{ErrAgentsOff, "agents-off", http.StatusNotFound, ExitError, "run parley agents on, if your computers shall know of each other's agents"},
	{presence.ErrNeeded, "presence-needed", http.StatusUnauthorized, ExitPerson, "run the command yourself in a terminal; it asks for your passphrase"},
	{presence.ErrDemo, "presence-demo", http.StatusUnauthorized, ExitPerson, "run the command yourself in a terminal; it asks for your passphrase"},
	{presence.ErrUnknown, "presence-unknown", http.StatusUnauthorized, ExitPerson, "update parley on this computer"},
	{presence.ErrStale, "presence-stale", http.StatusUnauthorized, ExitPerson, again},
	{presence.ErrReplayed, "presence-replayed", http.StatusUnauthorized, ExitPerson, again},
	{presence.ErrOtherAct, "presence-other-act", http.StatusUnauthorized, ExitPerson, "run parley inbox: what is asked for may have changed"},
	{presence.ErrSignature, "presence-signature", http.StatusUnauthorized, ExitPerson, "use the home that the running node uses"},
	{presence.ErrPasskey, "presence-passkey", http.StatusUnauthorized, ExitPerson, "use the passphrase, or add the passkey again"},
	{presence.ErrBusy, "presence-busy", http.StatusServiceUnavailable, ExitError, "run the command again in a few minutes"},
	{presence.ErrWrongPassphrase, "wrong-passphrase", http.StatusUnauthorized, ExitPerson, again},
	{presence.ErrWeakPassphrase, "weak-passphrase", http.StatusBadRequest, ExitUsage, "choose a longer one"},
	{presence.ErrNoKey, "no-approval-key", http.StatusUnauthorized, ExitPerson, "enter parley restore with a backup, in another --home"},
	{presence.ErrKeyExists, "approval-key-exists", http.StatusConflict, ExitError, "run parley up"},
	{context.Canceled, "interrupted", http.StatusServiceUnavailable, ExitInterrupted, ""},
	{context.DeadlineExceeded, "timeout", http.StatusGatewayTimeout, ExitError, "run parley log"},
}

// Explain says what an error means to whoever called. It knows errors of this program and faults that came
// over the socket; anything else is "internal".
func Explain(err error) Fault {
	out := Fault{Code: "internal", Text: err.Error(), Hint: "run parley doctor", Status: http.StatusInternalServerError, Exit: ExitError}
	remote, fromNode := errors.AsType[*Fault](err)
	if fromNode {
		out.Code, out.Hint = remote.Code, remote.Hint
	}
	for _, f := range faults {
		if fromNode && f.code == remote.Code || !fromNode && errors.Is(err, f.is) {
			out.Code, out.Status, out.Exit = f.code, f.http, f.exit
			if !fromNode {
				out.Hint = f.hint
			}
			break
		}
	}
	if h, ok := errors.AsType[*hinted](err); ok {
		out.Hint = h.hint
	}
	out.Text = plainly.Replace(out.Text)
	return out
}

// plainly says for people what the library's errors say for programmers.
var plainly = strings.NewReplacer(context.DeadlineExceeded.Error(), "it took too long", context.Canceled.Error(), "it was interrupted")

// hinted is an error whose hint is better than the table's.
type hinted struct {
	error
	hint string
}

// Unwrap is the error without its hint.
func (h *hinted) Unwrap() error { return h.error }

// WithHint gives an error a hint of its own, which names the next command.
func WithHint(err error, hint string) error { return &hinted{err, hint} }
