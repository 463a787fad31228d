package page_test

import (
	"fmt"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/page"
)

var (
	pushBinds  = "push 2222222222222222222222222222222222222222 to branch feat/refunds of pull request 42 in repository 7, exactly from 1111111111111111111111111111111111111111"
	mergeBinds = "merge pull request 41 in repository 7 into main, exactly at 3333333333333333333333333333333333333333"
)

// lived is a world in which something has happened already.
func lived() *world {
	now := time.Now().UTC().Truncate(time.Second)
	before := func(d time.Duration) time.Time { return now.Add(-d) }
	t42, t41 := id("42"), id("41")
	w := &world{
		status: api.Status{
			Version: "v0.9.0", Running: true, Computer: api.Computer{Name: "studio", Device: id("studio"), Fleet: id("fleet")},
			Main: api.MainComputer{State: "live", Name: "studio", Device: id("studio"), Me: true},
			Peers: []api.Peer{
				{Name: "laptop", Device: id("laptop"), Connected: true, Transport: "quic", Path: "lan", LatencyMS: 4, Version: "v0.9.0", Address: "/ip4/192.168.1.20/udp/4410/quic-v1", LastSeen: now},
				{Name: "server", Device: id("server"), Connected: true, Transport: "quic", Path: "relayed", LatencyMS: 61, Version: "v0.9.0", Address: "/ip4/203.0.113.7/udp/4001/quic-v1", LastSeen: now},
				{Name: "travel", Device: id("travel"), LastSeen: before(26 * time.Hour), Version: "v0.8.2"},
			},
			Repositories: []api.Repository{
				{Slug: "acme/shop", Base: "main", Checkout: "/home/kim/shop", Branch: "main", State: "at 9c1f2ab, as on GitHub"},
				{Slug: "acme/web", Base: "main", Checkout: "/home/kim/web", Branch: "feat/cart", State: "paused: parley sync resume acme/web"},
			},
			Lanes: []api.Lane{{ID: id("maya"), Party: "lane:" + id("maya")[:16], Name: "maya", There: true, Repositories: nil, State: "off here: nothing is sent", Account: "maya-dev", Computers: 2}},
			Cards: 4, ThreadsOpen: 2,
		},
		threads: []api.ThreadLine{
			{Ref: "acme/shop#42", ID: t42, Phase: "interim", Since: before(25 * time.Minute), Responsible: "laptop", Waiting: "waits for you to approve the push", Next: now.Add(5 * time.Hour)},
			{Ref: "acme/shop#41", ID: t41, Phase: "final", Since: before(5 * time.Hour), Responsible: "lane:" + id("maya")[:16], Waiting: "waits for travel to adopt the final"},
			{Ref: "acme/shop#37", ID: id("37"), Phase: "closed", Since: before(50 * time.Hour), Closed: before(46 * time.Hour), Responsible: "studio"},
		},
		cards: []api.Card{
			{
				Key: "C2/" + t42[:8], Code: "C2", Title: "acme/shop#42: the result is ready to be pushed", What: "laptop merged main into feat/refunds and its tests passed; 2 files differ from the pull request.",
				Why: "nothing reaches GitHub until you say so", Since: before(12 * time.Minute), Ref: "acme/shop#42", Thread: t42, Button: "Approve the push", Verb: "approve", Action: "push", Binds: pushBinds, Command: "parley approve acme/shop#42 push",
			},
			{
				Key: "C3/" + t41[:8], Code: "C3", Title: "acme/shop#41: the pull request can be merged", What: "its final was verified on GitHub", Why: "merging is always your decision", Since: before(2 * time.Hour), Ref: "acme/shop#41", Thread: t41,
				Button: "Approve the merge", Verb: "approve", Action: "merge", Binds: mergeBinds, Command: "parley approve acme/shop#41 merge",
			},
			{Key: "C1/acme/web", Code: "C1", Title: "Something that acme/web needs is missing", What: "no session routes the conversation sync-conflicts on this computer; gh is not signed in", Why: "nothing opens until it is fixed", Since: before(time.Hour), Button: "Show the fix", Command: "parley route sync-conflicts -- COMMAND; gh auth login"},
			{Key: "C4/acme/web/9", Code: "C4", Title: "acme/web#9 needs a person to settle it", What: "it conflicts in more than 25 files", Why: "that is more than one conversation can hold", Since: before(3 * time.Hour), Ref: "acme/web#9"},
		},
		previews: map[string]api.Preview{},
		routes:   []page.Route{{Conversation: "sync-conflicts", Command: []string{"claude", "-p", "/sync-conflict-desk"}, On: true}},
	}
	w.previews["C2/"+t42[:8]] = api.Preview{
		Words: "The branch feat/refunds of pull request 42 gets this, and only if it still stands where it stood when this was made.",
		From:  "1111111111111111111111111111111111111111", To: "2222222222222222222222222222222222222222",
		Files: []api.PreviewFile{{Path: "src/billing/refund.ts", Added: 2, Removed: 1}},
		Diff:  "diff --git a/src/billing/refund.ts b/src/billing/refund.ts\n--- a/src/billing/refund.ts\n+++ b/src/billing/refund.ts\n@@ -1,3 +1,4 @@\n export function issueRefund(order: Order) {\n-  return pay(order, -order.total);\n+  const amount = refundable(order);\n+  return pay(order, -amount); // <b>not bold</b>\n }\n",
	}
	w.previews["C3/"+t41[:8]] = api.Preview{Words: "Pull request 41 is merged into main, which gets this.", Files: []api.PreviewFile{{Path: "logo.png", Added: -1, Removed: -1}}, Diff: "Binary files differ\n"}
	w.thread = map[string]api.Thread{t42: livedThread(w.threads[0], before), t41: livedThread(w.threads[1], before)}
	for i := range 60 {
		w.lines = append(w.lines, api.LogLine{Seq: uint64(i + 1), At: before(time.Duration(60-i) * time.Minute), Level: "say", Kind: "ack", Who: "laptop", Ref: "acme/shop#42", Thread: t42, Text: fmt.Sprintf("agrees to the interim (%d)", i)})
	}
	w.lines[59].Who = "lane:" + id("maya")[:16]
	w.lines[3].Level, w.lines[3].Text = "warn", "the clock of travel is 11 minutes ahead"
	w.operations = []api.Operation{
		{ID: "op-7", Repository: "acme/shop", At: before(20 * time.Minute), Kind: "replace", Why: "The interim of acme/shop#42.", Paths: []string{"src/billing/refund.ts"}},
		{ID: "op-6", Repository: "acme/shop", At: before(3 * time.Hour), Kind: "sync", Why: "main moved on GitHub.", Paths: []string{"README.md", "src/cart.ts"}, From: id("a")[:40], To: id("b")[:40], Undone: true},
	}
	w.settings = livedSettings()
	w.content = []byte("export function issueRefund(order: Order) {\n  return pay(order, -order.total);\n}\n")
	w.kept = []api.KeptFile{{ID: "k-3", Repository: "acme/shop", Path: "src/billing/refund.ts", At: before(20 * time.Minute), Why: "The interim of acme/shop#42."}}
	return w
}

func livedSettings() page.Settings {
	return page.Settings{
		Agents: true,
		AgentsIn: []page.AgentsIn{
			{Repository: "acme/shop", On: true}, {Repository: "acme/web", Own: true}, {Repository: "acme/api", On: true, Own: true}, {Repository: "acme/docs"},
		},
		Shared:  []page.Shared{{Lane: id("maya"), Name: "maya", On: true, For: []string{"acme/shop", "acme/web"}, Here: []string{"acme/web"}, There: []string{"acme/shop"}}},
		Notices: page.Notices{On: true, Quiet: "22:00-07:00"},
		Policies: []page.Policy{
			{Repository: "acme/shop", Commit: id("policy")[:40], Lines: []api.PolicyLine{{Key: "severity.path_overlap", Value: "info", Means: "it is listed, and nobody is told"}, {Key: "override.allowed_roles", Value: "owner, admin", Means: "who may override"}}},
			{Repository: "acme/web", Commit: id("policy2")[:40], Fault: "line 3: severities are info, warn and block", Lines: []api.PolicyLine{{Key: "block_min_confidence", Value: "0.85", Means: "what is less sure warns"}}},
		},
		Tools: []page.Tool{
			{Name: "claude", Text: "all of parley's hooks are there", Set: true},
			{Name: "gemini", Text: "parley is not set up there", Mend: "parley agents install gemini"},
			{Name: "codex", Text: "its hooks wait for your trust", Set: true, Mend: "open codex and press trust under /hooks"},
		},
	}
}

func livedThread(line api.ThreadLine, before func(time.Duration) time.Time) api.Thread {
	t := api.Thread{
		ThreadLine: line, Base: "main", Head: id("head")[:40],
		Files: []api.ThreadFile{
			{Path: "src/billing/refund.ts", Master: id("m")[:40], Pull: id("p")[:40], Interim: id("m")[:40], Here: "master's copy"},
			{Path: "src/billing/types.ts", Master: id("m2")[:40], Pull: id("p2")[:40], Interim: id("m2")[:40], Here: "own copy with 3 unpublished lines, kept"},
		},
		Parties: []api.ThreadParty{
			{Name: "studio", Statement: "agrees"},
			{Name: "laptop", Statement: "agrees", Responsible: true, Adopted: true},
			{Name: "lane:" + id("maya")[:16]},
		},
	}
	for i, r := range []api.ThreadRecord{
		{Kind: "open", Who: "studio", Sentence: "opens the conflict of 2 files; laptop builds the final"},
		{Kind: "ack", Who: "laptop", Sentence: "agrees to master's copy for now"},
		{Kind: "object", Who: "travel", Sentence: "objects: 3 unpublished lines in src/billing/types.ts", Counted: false, Rule: "it came after the interim was settled"},
		{Kind: "interim", Who: "studio", Sentence: "the interim is master's copy of both files"},
		{Kind: "final-ready", Who: "laptop", Sentence: "has merged both sides; its tests passed"},
	} {
		r.ID, r.At = id(fmt.Sprint(line.Ref, i)), before(time.Duration(25-i)*time.Minute)
		r.Short, r.Counted = r.ID[:8], r.Rule == ""
		r.Turns = uint64(i / 2)
		t.Records = append(t.Records, r)
	}
	return t
}
