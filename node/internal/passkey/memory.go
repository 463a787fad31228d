package passkey

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// goneMax is how many removed passkeys are remembered.
const goneMax = 256

// Memory is what the node itself keeps of its passkeys, apart from the file that stands open to whoever may write this
// user's files: a line that comes back there after its removal is still signed, and only this tells.
type Memory struct {
	Changes uint64   `json:"changes"` // how often it changed; it never goes back
	Here    []Named  `json:"here"`
	Gone    []Named  `json:"gone,omitempty"` // that pressed once, oldest first
	Odd     []Oddity `json:"odd,omitempty"`  // that a person has not settled yet
}

// Named is a passkey by its names.
type Named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// What happened to a passkey in the file, other than by this program.
type What string

// What may have happened. In each case the passkey presses nothing.
const (
	Unsigned What = "unsigned" // a line that nobody agreed to
	Back     What = "back"     // one that was removed
	Unknown  What = "unknown"  // one that this node never let in
	Missing  What = "missing"  // one was taken out
)

// Oddity is a passkey of which somebody changed the file.
type Oddity struct {
	Named
	What What      `json:"what"`
	At   time.Time `json:"at"`
}

// stamp tells one state of the file from another.
type stamp struct {
	size int64
	at   time.Time
}

// Recall compares the book with what the node remembers of it, nil at its first start, and has every change
// remembered from now on, before the file is written. Only what is in both presses.
func (b *Book) Recall(m *Memory, remember func(Memory) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remember = remember
	if m == nil {
		m = &Memory{Here: names(b.keys)}
	}
	b.memory = *m
	return b.look()
}

// Odd lists what somebody did to the file, until a person removes it with [Book.Remove]. It looks at the file again.
func (b *Book) Odd() ([]Oddity, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.look()
	return slices.Clone(b.memory.Odd), err
}

// look takes in what became of the file, and writes it as it counts. The caller holds the lock.
func (b *Book) look() error {
	now := stampOf(b.file)
	if b.remember == nil || b.stamp == now {
		return nil
	}
	all, err := read(b.file)
	if err != nil {
		return err
	}
	next, keys := b.memory, []Key(nil)
	next.Here, next.Odd = nil, slices.Clone(b.memory.Odd)
	for _, k := range all {
		switch n, what := b.judge(k); {
		case what != "":
			next.odd(n, what, b.now())
		case !holds(next.Here, n.ID): // not there twice
			keys, next.Here = append(keys, k), append(next.Here, n)
		}
	}
	for _, n := range b.memory.Here {
		if !holds(next.Here, n.ID) {
			next.odd(n, Missing, b.now())
			next.gone(n)
		}
	}
	if len(all) == len(keys) && len(keys) == len(b.memory.Here) && b.memory.Changes > 0 {
		b.keys, b.stamp = keys, now
		return nil
	}
	return b.turn(next, keys)
}

// judge says by which names a line of the file goes, and what is the matter with it; "" nothing.
func (b *Book) judge(k Key) (Named, What) {
	n := Named{ID: k.ID, Name: k.Name[:min(len(k.Name), nameBytesMax)]}
	switch {
	case k.Public != fingerprint(k.Credential) || k.ID != idOf(k.Credential) || !b.signed(k):
		sum := sha256.Sum256([]byte(k.ID + "\x00" + k.Name + "\x00" + k.Public)) // it may bear the id of a good one
		n.ID = hex.EncodeToString(sum[:])
		return n, Unsigned
	case holds(b.memory.Here, n.ID):
		return n, ""
	case holds(b.memory.Gone, n.ID):
		return n, Back
	}
	return n, Unknown
}

// turn makes keys and next what counts. What is remembered comes first: a crash in between leaves a passkey too few.
func (b *Book) turn(next Memory, keys []Key) error {
	if b.remember == nil {
		return b.keep(keys)
	}
	next.Changes++
	if err := b.remember(next); err != nil {
		return fmt.Errorf("remember the passkeys: %w", err)
	}
	before := b.memory
	b.memory = next
	if now := stampOf(b.file); len(keys) == 0 && now == none { // a home without passkeys has no file of them
		b.keys, b.stamp = nil, now
		return nil
	}
	if err := b.keep(keys); err != nil {
		b.memory.Here, b.memory.Gone = before.Here, before.Gone
		b.memory.Changes++
		return errors.Join(err, b.remember(b.memory))
	}
	return nil
}

// odd adds what a person shall hear of, once for each passkey.
func (m *Memory) odd(n Named, what What, at time.Time) {
	m.Odd = slices.DeleteFunc(m.Odd, func(o Oddity) bool { return o.ID == n.ID })
	m.Odd = append(m.Odd, Oddity{n, what, at.UTC().Truncate(time.Second)})
	m.Odd = m.Odd[max(0, len(m.Odd)-KeysMax):]
}

func (m *Memory) gone(n Named) {
	m.Gone = append(slices.Clone(m.Gone), n)
	m.Gone = m.Gone[max(0, len(m.Gone)-goneMax):]
}

func holds(all []Named, id string) bool {
	return slices.ContainsFunc(all, func(n Named) bool { return n.ID == id })
}

func names(keys []Key) (out []Named) {
	for _, k := range keys {
		out = append(out, Named{k.ID, k.Name})
	}
	return out
}

// read reads the lines of a book; without a file there are none.
func read(file string) (all []Key, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text[:min(len(text), fileBytesMax)], &all); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return all, nil
}

// none is the stamp of no file.
var none = stamp{size: -1}

func stampOf(file string) stamp {
	info, err := os.Stat(file)
	if err != nil {
		return none
	}
	return stamp{info.Size(), info.ModTime()}
}
