package ledger

import "crypto/sha256"

// sample is one record or frame of the vectors, made from fixed values alone.
type sample struct {
	name    string
	header  Header
	content Body
	frame   Frame
}

func id(name string) ID { return sha256.Sum256([]byte(name)) }

func oid(name string) OID {
	sum := sha256.Sum256([]byte(name))
	return OID(sum[:20])
}

var sampleKey = ConflictKey{Host: "github.com", Repo: 123456789, Pull: 42}

func device(first byte) Device {
	key := testKey(first)
	return Device(key[32:])
}

func leaf(re string) Header {
	return Header{Ledger: sampleKey.Thread(), Inc: Incarnation{1}, Seq: 1, Prev: id("prev"), Open: id("open"), Re: []ID{id(re)}, Lam: 9, At: 1764500000000, Turns: 2}
}

func spine(re ...ID) Header {
	return Header{Ledger: sampleKey.Thread(), Inc: Incarnation{1}, Open: id("open"), Spine: id("open"), Claim: id("claim"), Re: re, Lam: 9, At: 1764500000000}
}

func rosterHeader() Header {
	return Header{Ledger: FleetID(device(0), [16]byte{7}), Inc: Incarnation{1}, Lam: 3, At: 1764500000000, Deps: []ID{id("dep")}}
}

func laneHeader() Header {
	return Header{Ledger: LaneID(TID(id("a")), TID(id("b"))), Inc: Incarnation{1}, Lam: 3, At: 1764500000000}
}

func sampleOpen() *Open {
	parties := []Party{DeviceParty(device(0)), DeviceParty(device(9)), LaneParty(TID(id("fleet")))}
	if parties[1].Less(parties[0]) {
		parties[0], parties[1] = parties[1], parties[0]
	}
	auth := uint64(1)
	return &Open{
		Host: "github.com", Repo: 123456789, Slug: "acme/shop", Pull: 42, Base: "master", Algorithm: SHA1,
		Head: oid("head"), BaseHead: oid("base head"), MergeBase: oid("merge base"),
		Files: []File{
			{Path: "a b/ä.txt", Base: oid("1"), Master: oid("2"), Pull: oid("3"), Mode: ModePlain},
			{Path: "run.sh", Master: oid("4"), Mode: ModeExecutable},
		},
		Parties: parties, Resp: 1, Auth: &auth, Author: 77, Fleet: TID(id("own fleet")),
	}
}

func samples() []sample {
	both := []FileVersion{{File: 0, Blob: oid("5")}, {File: 1}}
	genesis := rosterHeader()
	genesis.Deps = nil
	release := rosterHeader()
	release.Re = []ID{id("claim")}
	open := Header{Ledger: sampleKey.Thread(), Inc: Incarnation{1}, Claim: id("claim"), Lam: 1, At: 1764500000000}
	sig := Signature{1, 2, 3}
	return append([]sample{
		{name: "open", header: open, content: sampleOpen()},
		{name: "ack", header: leaf("open"), content: &Ack{Classes: []Class{HasMaster, KeepsAuthor}, Wait: 1}},
		{name: "object", header: leaf("open"), content: &Object{Why: ObjectUnpublished, Files: []OwnLines{{File: 1, Lines: 3}}}},
		{name: "interim", header: spine(), content: &Interim{Why: InterimDecided, Pick: []uint64{0}}},
		{name: "final-ready", header: leaf("open"), content: &FinalReady{Head: oid("h"), BaseHead: oid("b"), Files: both, Tests: TestsPassed}},
		{name: "final", header: spine(id("ready")), content: &Final{Via: FinalHere, Commit: oid("c"), Base: "master", Files: both, Head: oid("h")}},
		{name: "reassign", header: spine(), content: &Reassign{To: 2, Why: ReassignOverdue}},
		{name: "adopted", header: leaf("final"), content: &Adopted{Tip: oid("t"), Results: []Result{Took, TookDeletion}}},
		{name: "closed", header: spine(id("x"), id("y")), content: &Closed{Why: ClosedConfirmed, Skipped: []uint64{2}}},
		{name: "genesis", header: genesis, content: &Genesis{Recovery: device(5), Nonce: [16]byte{7}}},
		{name: "name", header: rosterHeader(), content: &Name{Device: device(0), Name: "desktop"}},
		{name: "add", header: rosterHeader(), content: &Add{Device: device(9), Invite: Invite{4}, Accept: sig}},
		{name: "revoke", header: rosterHeader(), content: &Revoke{Device: device(9), Reason: 1, Cut: []Cut{{Ledger: [16]byte{1}, Inc: Incarnation{2}, Next: 3}}}},
		{name: "rekey", header: rosterHeader(), content: &Rekey{Old: device(0), New: device(9), Accept: sig}},
		{name: "main-claim", header: rosterHeader(), content: &MainClaim{Term: 2, Over: []ID{id("claim")}}},
		{name: "main-release", header: release, content: &MainRelease{}},
		{name: "lane-bind", header: rosterHeader(), content: &LaneBind{Fleet: TID(id("fleet")), Invite: Invite{4}, Accept: sig}},
		{name: "lane-bind-named", header: rosterHeader(), content: &LaneBind{Fleet: TID(id("fleet")), Invite: Invite{4}, Accept: sig, Name: "maya"}},
		{name: "on", header: laneHeader(), content: &LaneOn{Repos: []uint64{1, 7}}},
		{name: "on-after", header: laneHeader(), content: &LaneOn{Repos: []uint64{7}, After: []ID{id("off")}}},
		{name: "off", header: laneHeader(), content: &LaneOff{}},
		{name: "who", header: laneHeader(), content: &Who{Nonce: [16]byte{1}}},
		{name: "am", header: laneHeader(), content: &Am{Nonce: [16]byte{1}, Host: "github.com", User: 77, Login: "kim"}},
		{name: "note", header: laneHeader(), content: &Note{Thread: sampleKey.Thread(), Cause: 3}},
		{name: "address", header: rosterHeader(), content: &Address{Fleet: TID(id("fleet")), Email: "maya@acme.com"}},
		{name: "on-live", header: laneHeader(), content: &LaneOn{Repos: []uint64{1, 7}, Live: []uint64{7}}},
		{name: "on-names", header: laneHeader(), content: &LaneOn{Repos: []uint64{7}, Live: []uint64{7}, Names: [32]byte{5}}},
		{name: "golden-ack", header: goldenHeader(), content: &Ack{Classes: []Class{HasMaster, HasPull}}},
	}, append(workSamples(), frames()...)...)
}

func frames() []sample {
	listing := []Listing{{Ledger: TID(id("l")), Digest: Digest{1}}}
	all := []Frame{
		&Hello{Version: 1, Inc: Incarnation{1}, Now: 1764500000000, Digest: Digest{2}},
		&Detail{Fleet: TID(id("fleet")), Roster: Digest{1}, Open: Digest{2}, Root: Digest{3}, Features: 1, Authored: [][2]uint64{{7, 42}}},
		&List{Scope: ListAll, Entries: listing, More: true},
		&Buckets{Digests: make([]byte, 256*16)},
		&Bucket{Index: 3, Entries: listing},
		&Have{Ledger: TID(id("l")), Positions: []Position{{Device: device(0), Inc: Incarnation{1}, Next: 5}}},
		&Records{Ledger: TID(id("l")), Family: Roster, Wires: [][]byte{{1, 2}, {3}}},
		&Tomb{Ledger: TID(id("l")), Open: []byte{1}, Spine: [][]byte{{2}}, Digest: Digest{4}},
		&Bye{Code: ByeRefused},
		&Made{Repo: 7, Pull: 42, Head: oid("head")},
		&MadeReply{Yes: true},
		&Press{Ledger: TID(id("t")), Action: PressFork, Round: 2, Devices: "0a1b", At: 1764500000000},
		&PressReply{Why: "another round has begun"},
		&Lines{Holder: id("session"), Files: []LinesOf{{Path: "src/a.ts", Near: 41}, {Path: "src/b.ts"}}},
		&LinesReply{Files: []LinesFile{{Path: "src/a.ts", Blob: oid("now"), Cut: true, Parts: []LinesPart{{Start: 41, Texts: []string{" func a() {", "+\treturn 1 // ä", " }"}}}}}},
		&Challenge{Nonce: [16]byte{1}},
		&Join{Version: 1, Invite: Invite{4}, Name: "laptop", Nonce: [16]byte{2}, MAC: [32]byte{3}},
		&Welcome{Fleet: TID(id("fleet")), Name: "desktop"},
		&Accept{Accept: Signature{1}},
		&LaneJoin{Version: 1, Invite: Invite{4}, Name: "kim", Nonce: [16]byte{2}, MAC: [32]byte{3}, Fleet: TID(id("fleet"))},
		&LaneYes{Accept: Signature{1}},
	}
	names := []string{
		"hello", "detail", "list", "buckets", "bucket", "have", "records", "tomb", "bye", "made", "made-reply",
		"press", "press-reply", "lines", "lines-reply",
		"challenge", "join", "welcome", "accept", "lane-join", "lane-yes",
	}
	out := []sample{{name: "frame-have-digest", frame: &Have{Ledger: TID(id("ledger")), Digest: Digest{2}}}, {name: "frame-hello-tombs", frame: &Hello{Version: 1, Inc: Incarnation{1}, Now: 1764500000000, Digest: Digest{2}, Features: FeatureStages | FeatureTombs}}, {name: "frame-hello-stages", frame: &Hello{Version: 1, Inc: Incarnation{1}, Now: 1764500000000, Digest: Digest{2}, Features: FeatureStages}}}
	out = append(out, sample{name: "frame-lines-none", frame: &Lines{}}, sample{name: "frame-lines-off", frame: &LinesReply{Code: LinesOff}})
	for i, f := range all {
		out = append(out, sample{name: "frame-" + names[i], frame: f})
	}
	return out
}
