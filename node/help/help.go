// Package help is the pages about parley's tasks and its formats. They are built in, so that a computer without a network
// has them: as parley help NAME, and for whoever else shows them.
package help

import (
	"embed"
	"strings"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

//go:embed pages/*.md
var pages embed.FS

// Topic is one page.
type Topic struct {
	Name  string // as typed after parley help
	Short string // one line, lower case
	Text  string // Markdown
}

// Topics are the pages, in the order in which they are listed.
var Topics = []Topic{
	page("pairing", "from nothing to a pair of computers"),
	page("teammates", "work with another developer"),
	page("settling", "settle a conflicting pull request"),
	page("approving", "say yes to a push or a merge"),
	page("early", "let agents hear of conflicts before they edit"),
	page("networks", "how computers reach each other, and relays"),
	page("backups", "back up and restore, and what to do about a lost laptop"),
	page("master", "checkouts that follow the base branch"),
	page("policies", "what a repository warns of and blocks"),
	page("order", "what conflicts between branches, and in which order to merge"),
	page("running", "let the system keep the node running, pause it, take it out"),
	page("telling", "be told on the desktop"),
	page("scripts", "JSON, filters, exit statuses, metrics, completions"),
	page("trouble", "when something does not work"),
	page("joining", "write another program that joins the mesh"),
	{"format", "every byte of records and frames", ledger.FormatText},
	{"contract", "what a conversation's records mean, and who may say them", thread.ContractText},
}

func page(name, short string) Topic {
	text, err := pages.ReadFile("pages/" + name + ".md")
	if err != nil {
		panic("parley: " + err.Error()) // it is built in
	}
	return Topic{name, short, strings.TrimSuffix(string(text), "\n")}
}
