package api

import "fmt"

// Who may use a verb.
type Who string

// The two callers. What an agent may do, a person may do too.
const (
	Person Who = "person" // needs a presence proof (D-24)
	Agent  Who = "agent"
)

// Where a verb is carried out.
type Where string

// The two places.
const (
	Local Where = "local" // in the calling process, on the home
	Node  Where = "node"  // by the running node, over its socket
)

// Verb is one thing that parley can be asked to do.
type Verb struct {
	Name    string // as typed after "parley"
	Summary string // one line, lower case
	Who     Who
	Where   Where
	Reads   bool   // changes nothing; without a running node the home is read instead
	Step    bool   // a step of another verb, without a command of its own
	Method  string // of Node verbs
	Path    string // of Node verbs; {id} stands for one path segment
	Help    string // what the command's help says after the summary
}

// Verbs is every verb of parley, in the order in which help lists them.
var Verbs = []Verb{
	{
		Name: "init", Summary: "set this computer up", Who: Person, Where: Local,
		Help: "Makes this computer's home: its key, its settings, and an approval key that your passphrase opens.\n" +
			"The passphrase is asked each time something needs your approval, and is stored nowhere.",
	},
	{
		Name: "up", Summary: "run this computer's node", Who: Agent, Where: Local,
		Help: "Runs in the foreground until it is interrupted. One home has one running node.",
	},
	{
		Name: "invite", Summary: "let another computer of yours join", Who: Person, Where: Node, Method: "POST", Path: "/v1/invite",
		Help: "Prints a code that serves once, for ten minutes, and waits for the computer that uses it. Both screens\n" +
			"then show the same four words; compare them before you say yes.",
	},
	{Name: "invite await", Summary: "wait for news of an invitation", Who: Agent, Where: Node, Reads: true, Step: true, Method: "GET", Path: "/v1/invite/{id}"},
	{Name: "invite confirm", Summary: "let the computer in", Who: Person, Where: Node, Step: true, Method: "POST", Path: "/v1/invite/{id}/confirm"},
	{Name: "invite cancel", Summary: "let nobody in by this code", Who: Agent, Where: Node, Step: true, Method: "POST", Path: "/v1/invite/{id}/cancel"},
	{
		Name: "join", Summary: "join the computers of the one that invited", Who: Person, Where: Local,
		Help: "CODE is what `parley invite` printed on the other computer. The four words that appear must be the same\n" +
			"on both screens.",
	},
	{
		Name: "main on", Summary: "make this the main computer", Who: Person, Where: Node, Method: "POST", Path: "/v1/main/on",
		Help: "The main computer alone looks at GitHub for conflicts, opens conversations and publishes results.",
	},
	{
		Name: "main off", Summary: "give the main computer's role up", Who: Person, Where: Node, Method: "POST", Path: "/v1/main/off",
		Help: "Conversations that run go on; nothing is opened or published until a computer has the role.",
	},
	{
		Name: "status", Summary: "is it working, and what needs you", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/status",
		Help: "Shows this computer, the others, the repositories, and what is waited for.",
	},
	{
		Name: "inbox", Summary: "what waits for you", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/inbox",
		Help: "Each card says what is asked, why, and the command that answers it.",
	},
	{
		Name: "approve", Summary: "approve one push or one merge", Who: Person, Where: Node, Method: "POST", Path: "/v1/approve",
		Help: "Approves exactly what the card in the inbox says, once. Approving the push of a conflict does not approve\n" +
			"its merge, and neither approves anything of another conflict.",
	},
	{
		Name: "threads", Summary: "list the conversations", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/threads",
		Help: "Running conversations first, then the closed ones.",
	},
	{
		Name: "thread show", Summary: "show one conversation", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/thread",
		Help: "REF is the repository and the pull request, for example acme/shop#42, or the start of the conversation's id.",
	},
	{
		Name: "log", Summary: "what happened here", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/log",
		Help: "With -f it goes on printing as things happen.",
	},
	{
		Name: "scan", Summary: "look for conflicting pull requests now", Who: Agent, Where: Node, Method: "POST", Path: "/v1/scan",
		Help: "The main computer does so every 15 minutes by itself.",
	},
	{
		Name: "doctor", Summary: "check what parley needs", Who: Agent, Where: Local, Reads: true,
		Help: "One row per check; a fault comes with the command that mends it. The exit status is 1 on a fault.",
	},
	{
		Name: "fsck", Summary: "check and mend this computer's ledger", Who: Agent, Where: Local, Reads: true,
		Help: "Reads every record while no node runs here, and makes anew what follows from them. A record whose bytes have\n" +
			"changed is set aside; the next exchange with another computer brings it again. The exit status is 0 when\n" +
			"nothing was wrong, and 1 when something was, mended or not: then run parley up, and later parley fsck again.",
	},
	{Name: "version", Summary: "print the version", Who: Agent, Where: Local, Reads: true},
	{Name: "challenge", Summary: "ask for the nonce of one act of a person", Who: Agent, Where: Node, Step: true, Method: "POST", Path: "/v1/challenge"},
}

// VerbNamed is the row of the table with this name. A name that is not in the table is a mistake of the
// program.
func VerbNamed(name string) Verb {
	for _, v := range Verbs {
		if v.Name == name {
			return v
		}
	}
	panic(fmt.Sprintf("api: the table has no verb %q", name))
}
