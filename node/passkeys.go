package node

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/passkey"
)

// passkeysKey is where the node remembers its passkeys, apart from their file.
const passkeysKey = "passkeys"

// recallPasskeys compares the file of the passkeys with what the node remembers.
func (n *Node) recallPasskeys() error {
	value, err := n.store.Get([]byte(passkeysKey))
	if err != nil {
		return err
	}
	var memory *passkey.Memory
	if len(value) > 0 {
		memory = &passkey.Memory{}
		if err := json.Unmarshal(value, memory); err != nil {
			return fmt.Errorf("read what is known of the passkeys: %w", err)
		}
	}
	known := 0
	if memory != nil {
		known = len(memory.Odd)
	}
	return n.passkeys.Recall(memory, func(m passkey.Memory) error {
		value, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if _, err := n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(passkeysKey), Value: value}}}); err != nil {
			return err
		}
		for _, o := range m.Odd[min(known, len(m.Odd)):] {
			n.notePasskey("warn", fmt.Sprintf("%s: %s (%q)", oddWords[o.What].title, shortKey(o.ID), o.Name))
		}
		known = len(m.Odd)
		return nil
	})
}

func (n *Node) notePasskey(level, text string) {
	n.log.add(core.Note{Level: level, Kind: "passkey", Who: n.cfg.Name, Text: text})
}

// oddWords are what a person is told of a passkey whose line somebody changed.
var oddWords = map[passkey.What]struct{ title, what string }{
	passkey.Unsigned: {"A passkey was planted", "stands in passkeys.json without your passphrase's agreement"},
	passkey.Back:     {"A removed passkey was put back", "stood in passkeys.json again after you removed it"},
	passkey.Unknown:  {"A passkey came in past the page", "stood in passkeys.json, and this node never let it in"},
	passkey.Missing:  {"A passkey is gone from the list", "was taken out of passkeys.json past the page"},
}

// oddPasskeys are cards about lines of the passkeys' file that somebody changed.
func (n *Node) oddPasskeys() (out []api.Card, err error) {
	odd, err := n.passkeys.Odd()
	for _, o := range odd {
		w := oddWords[o.What]
		out = append(out, api.Card{
			Key: "C23/" + o.ID, Code: "C23", Title: w.title, Since: o.At, Verb: "passkey remove", Button: "I have seen it",
			What:    fmt.Sprintf("%s (%s) %s. It presses nothing; add it again on the page if you want it.", o.Name, shortKey(o.ID), w.what),
			Why:     "whoever writes this user's files can change that list, so look for who did; a lost device's key is revoked where it lives, too",
			Command: "parley passkey remove " + shortKey(o.ID),
		})
	}
	return out, err
}

// Passkeys lists the passkeys, and those that press nothing as somebody changed their file.
func (p pages) Passkeys(context.Context) ([]api.Passkey, error) {
	odd, err := p.n.passkeys.Odd()
	var out []api.Passkey
	for _, k := range p.n.passkeys.Keys() {
		out = append(out, api.Passkey{ID: k.ID, Name: k.Name, Added: k.Added})
	}
	for _, o := range odd {
		out = append(out, api.Passkey{ID: o.ID, Name: o.Name, Trouble: oddWords[o.What].what})
	}
	return out, err
}

// shortKey is how a passkey's id is shown.
func shortKey(id string) string { return id[:min(8, len(id))] }
