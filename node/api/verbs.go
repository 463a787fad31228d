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
var Verbs = withPage(withPause(withAgents(withLive(withLanes([]Verb{
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
		Name: "computers", Summary: "list your computers", Who: Agent, Where: Local, Reads: true,
		Help: "Each with when it was last seen, by which path it is connected (lan, direct or relayed), how long a greeting\n" +
			"took there and back, and the version of its program.",
	},
	{
		Name: "computers rename", Summary: "call a computer of yours otherwise", Who: Person, Where: Node, Method: "POST", Path: "/v1/computers/rename",
		Help: "OLD is its name now, or the first eight digits of its key or more.",
	},
	{
		Name: "computers remove", Summary: "remove a computer that you use no more", Who: Person, Where: Local,
		Help: "The same as parley revoke NAME --reason retired.",
	},
	{
		Name: "revoke", Summary: "cut a lost or stolen computer off", Who: Person, Where: Node, Method: "POST", Path: "/v1/revoke",
		Help: "NAME is removed for ever, on all your computers as soon as they hear of it: its connections end, and what it\n" +
			"says from now on counts for nothing. What is on its disk stays there. Conversations that waited for it go on.\n" +
			"When whoever has it removed the others first, parley fleet recover puts that right.",
	},
	{
		Name: "fleet recover", Summary: "take your computers back with the recovery words", Who: Person, Where: Local,
		Help: "Asks for the 24 words that parley init printed on your first computer. It removes every computer that is NAMEd,\n" +
			"undoes what those did to the others, and lets this computer in if it was removed or is new. Run it while no node\n" +
			"runs here; on each other computer of yours that was shut out, run it with the same names.",
	},
	{
		Name: "backup", Summary: "write this computer's ledger into a sealed file", Who: Person, Where: Local,
		Help: "FILE is sealed with age, by your passphrase or, with --recipient, for an age recipient. It holds what was said\n" +
			"in every conversation and the settings; not approvals, reserved turns, cards or invitations. With --with-key\n" +
			"it also holds this computer's own key: whoever opens it can be this computer.",
	},
	{Name: "backup part", Summary: "read one ledger", Who: Agent, Where: Node, Reads: true, Step: true, Method: "GET", Path: "/v1/ledger"},
	{
		Name: "restore", Summary: "set this computer up from a backup", Who: Person, Where: Local,
		Help: "FILE is what parley backup wrote. The passphrase that opens it is the one for approvals from then on; a backup\n" +
			"for a recipient is opened with --identity, and asks for a new passphrase. A backup without the key makes a new\n" +
			"computer: let it in with parley fleet recover, or with parley invite on another one. Never run a computer and\n" +
			"its restored copy at the same time.",
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
		Name: "approve", Summary: "press what one card asks for", Who: Person, Where: Node, Method: "POST", Path: "/v1/approve",
		Help: "Agrees to exactly what the card in the inbox says, once: a push, a merge, another round of agent turns,\n" +
			"or going on in spite of two histories. Approving the push of a conflict does not approve its merge, and\n" +
			"neither approves anything of another conflict.",
	},
	{
		Name: "why", Summary: "say why something is as it is", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/why",
		Help: "ABOUT is a conversation (acme/shop#42), a pull request, or a file of a checkout. The answer says what is\n" +
			"waited for, since when, by whom, and what happens next at which time; for a file, what it should hold here\n" +
			"and who decides that. About a conflict of live work (CF-…), ask parley explain.",
	},
	{
		Name: "close", Summary: "end a conversation", Who: Person, Where: Node, Method: "POST", Path: "/v1/close",
		Help: "The files stay as they are. A pull request that still conflicts is opened again at the next scan.",
	},
	{
		Name: "assign", Summary: "let another computer build the final", Who: Person, Where: Node, Method: "POST", Path: "/v1/assign",
		Help: "The named computer has a fresh 24 hours and a new round of agent turns.",
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
		Name: "kept list", Summary: "list what was taken out of your checkouts", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/kept",
		Help: "Everything that parley replaced is kept for 90 days.",
	},
	{
		Name: "kept show", Summary: "print one kept file", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/kept/{id}",
	},
	{
		Name: "kept restore", Summary: "put one kept file back", Who: Person, Where: Node, Method: "POST", Path: "/v1/restore",
		Help: "What stands at its path now is kept in turn. A conversation that decides about the file leaves this\n" +
			"computer's copies alone from then on.",
	},
	{
		Name: "op log", Summary: "list what parley did in your checkouts", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/operations",
		Help: "Newest first, of the last 90 days.",
	},
	{
		Name: "op undo", Summary: "take one of them back", Who: Person, Where: Node, Method: "POST", Path: "/v1/undo",
		Help: "Every file that still holds what the operation put there gets back what was there before; the rest is left\n" +
			"alone, and named. An undo is an operation too, and can be undone.",
	},
	{
		Name: "sync now", Summary: "bring the checkouts to their base branches", Who: Agent, Where: Node, Method: "POST", Path: "/v1/sync/now",
		Help: "Every computer does so every few minutes by itself. Asked for, it also brings together the own copies that\n" +
			"stayed after a final (card C9). Without SLUG it is done for every repository.",
	},
	{
		Name: "sync pause", Summary: "leave the checkout of a repository alone", Who: Agent, Where: Node, Method: "POST", Path: "/v1/sync/pause",
		Help: "Conversations about pull requests go on, and what they agree about is still taken.",
	},
	{
		Name: "sync resume", Summary: "let the master sync go on", Who: Agent, Where: Node, Method: "POST", Path: "/v1/sync/resume",
	},
	{
		Name: "route", Summary: "say who handles the conversation here", Who: Agent, Where: Local,
		Help: "parley route                                 shows where sync-conflicts goes\n" +
			"parley route sync-conflicts -- COMMAND ...   wakes this command; {task} stands for the file with the task\n" +
			"parley route sync-conflicts off              wakes nothing on this computer\n" +
			"parley route sync-conflicts on               wakes the command again",
	},
	{Name: "reroute", Summary: "read the route again", Who: Agent, Where: Node, Step: true, Method: "POST", Path: "/v1/reroute"},
	{
		Name: "ping", Summary: "measure round trips to a computer", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/ping",
		Help: "NAME is a computer as parley computers names it. A computer that is not connected is dialled first. Each line\n" +
			"says how long it took and by which path: over the local network, directly, or over a relay that can read\n" +
			"nothing. The exit status is 1 when nothing came back.",
	},
	{
		Name: "netcheck", Summary: "find out what works from here", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/netcheck",
		Help: "Looks at IPv4 and IPv6, UDP, TCP and WebSocket, what the router does, relays and clocks. Nobody is asked but\n" +
			"your own computers and relays: without one, most of it stays unknown.",
	},
	{
		Name: "relay", Summary: "carry the connections of your computers", Who: Agent, Where: Local,
		Help: "Runs in the foreground on a machine that your computers can reach, and prints the addresses to put into their\n" +
			"config.toml (network.relays). It needs no home: --for KEY names a computer by its key (parley status --json,\n" +
			"computer.device), and that computer names the rest of its fleet. Nobody else is let in. What is carried is\n" +
			"encrypted from end to end; the relay keeps nothing but its own key.\n" +
			"A computer of the fleet can be the relay itself: network.relay = true in its config.toml.",
	},
	{
		Name: "trace", Summary: "record what the node does, and how long it takes", Who: Agent, Where: Node, Method: "POST", Path: "/v1/trace/take",
		Help: "Records for --for, at most ten minutes, or until Ctrl-C, and prints one JSON object as OpenTelemetry's protocol has\n" +
			"it over HTTP: every piece of work beside the loop, every request of a program here and of agents' hooks, every git\n" +
			"and every question to GitHub below them. Jaeger reads the file, and a collector takes it by\n" +
			"curl --json @FILE http://127.0.0.1:4318/v1/traces. Names of repositories and words of errors are in it, no code.",
	},
	{Name: "trace begin", Summary: "begin to record", Who: Agent, Where: Node, Step: true, Method: "POST", Path: "/v1/trace"},
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
})))))

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
