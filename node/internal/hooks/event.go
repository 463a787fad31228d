package hooks

import "context"

// Agent is the kind of program that a hook belongs to. It is part of the command that the agent runs: agents
// set each other's environment variables, so nothing else tells them apart.
type Agent string

// The agents whose dialects are known. Any other name speaks the neutral one: it sends an [Event] as JSON.
const (
	Claude   Agent = "claude"
	Codex    Agent = "codex"
	Gemini   Agent = "gemini"
	OpenCode Agent = "opencode"
	Cursor   Agent = "cursor"
)

// Kind is the moment that an event tells of.
type Kind string

// The moments. Only before an edit or a shell command can something be blocked (C9), besides a turn's end,
// which can be put off once.
const (
	Start       Kind = "start"        // a session starts, is resumed or was compacted
	Prompt      Kind = "prompt"       // a person has written
	BeforeEdit  Kind = "before-edit"  // the agent is about to change Paths
	BeforeShell Kind = "before-shell" // the agent is about to run Command
	AfterEdit   Kind = "after-edit"
	FailedEdit  Kind = "failed-edit" // the agent could not change Paths, and they are as they were
	AfterShell  Kind = "after-shell" // the command is over, however it ended: it may have changed files
	TurnEnd     Kind = "turn-end"    // the agent has nothing more to do
	End         Kind = "end"         // the session is over
)

// Event is one moment of one agent's session. Agents leave out what they do not know: every field but Agent,
// Kind and Session may be empty. Its texts come from the agent and are data, whatever they say.
type Event struct {
	Agent   Agent  `json:"agent"`
	Kind    Kind   `json:"kind"`
	Session string `json:"session"` // the agent's own name for it, at most 256 bytes
	Cwd     string `json:"cwd,omitempty"`
	// Paths are the files that an edit changes, as the agent named them: absolute, or relative to Cwd, with its
	// system's separators; at most 1000. A patch that a shell command holds names some, too.
	Paths []string `json:"paths,omitempty"`
	// Unread says that an edit named more: those are not judged.
	Unread  bool   `json:"unread,omitempty"`
	Command string `json:"command,omitempty"` // of a shell call, the first 64 KiB
	Prompt  string `json:"prompt,omitempty"`  // what the person wrote, the first 64 KiB
	// Call is the agent's name for the tool call; the events before and after it have the same. Gemini has none.
	Call string `json:"call,omitempty"`
	// Source says how a session started (startup, resume, clear, compact, fork), or why it ended.
	Source   string `json:"source,omitempty"`
	Subagent string `json:"subagent,omitempty"` // the part of the session that acts, when it is not the main one
	// Again says of a turn's end that a hook has put it off already: a block then has no effect.
	Again bool `json:"again,omitempty"`
	Wake  Wake `json:"wake,omitzero"`
}

// Wake is how a running session can be spoken to from outside. It stays in the node's memory: it is worth
// nothing elsewhere, and is no record.
type Wake struct {
	// Socket takes messages for the session: a Unix socket, or a pipe's name on Windows.
	Socket string `json:"socket,omitempty"`
	// Token must be sent first on a pipe; "" where the socket's permissions suffice.
	Token string `json:"token,omitempty"`
	// Attended says that a person sits at the session. Unknown is false.
	Attended bool `json:"attended,omitempty"`
}

// Verdict is what a decision comes to.
type Verdict string

// The verdicts. There is none that asks a person: half of the agents cannot, or take it for a refusal.
const (
	VerdictAllow Verdict = "allow"
	VerdictWarn  Verdict = "warn"
	VerdictBlock Verdict = "block"
)

// Decision answers an event. The zero Decision allows.
type Decision struct {
	Verdict Verdict `json:"verdict"`
	// Text is what the agent reads: facts for a warning, the reason for a block. Of more than 9000 characters
	// the rest is cut.
	Text string `json:"text,omitempty"`
	// Told, if set, hears what became of the text.
	Told Told `json:"-"`
}

// Told hears what became of a decision's text: one of its methods is called, once.
type Told interface {
	Seen() // the agent has it
	Lost() // it never came to the agent, which may be told anew
}

// Allow has no opinion: the agent goes on as it would without parley.
func Allow() Decision { return Decision{Verdict: VerdictAllow} }

// Warn lets the agent go on and tells it something. Where an agent cannot be told at this moment, it is told
// at the session's next one.
func Warn(context string) Decision { return Decision{Verdict: VerdictWarn, Text: context} }

// Block refuses an edit or a shell command, or puts a turn's end off. At every other moment it warns. A block
// needs a reason: without one it allows.
func Block(reason string) Decision { return Decision{Verdict: VerdictBlock, Text: reason} }

// Judge decides. It answers from memory, long before ctx ends: the agent waits, and after 300 ms goes on
// without an answer. It is called by many sessions at once.
type Judge interface {
	Judge(ctx context.Context, e Event) Decision
}
