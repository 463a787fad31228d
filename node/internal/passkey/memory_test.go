package passkey

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// desk is a home's file of passkeys with what its node remembers.
type desk struct {
	t      *testing.T
	file   string
	memory *Memory
	fails  error
}

func newDesk(t *testing.T) *desk {
	return &desk{t: t, file: filepath.Join(t.TempDir(), "passkeys.json")}
}

// open is the node's start.
func (d *desk) open() *Book {
	d.t.Helper()
	b, _, err := Open(d.file, func(k Key) bool { return k.Agreed.Nonce == k.Name })
	if err != nil {
		d.t.Fatal(err)
	}
	err = b.Recall(d.memory, func(m Memory) error {
		if d.fails != nil {
			return d.fails
		}
		d.memory = &m
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return b
}

func (d *desk) add(b *Book, names ...string) {
	d.t.Helper()
	for _, name := range names {
		if err := b.Add(entry(name)); err != nil {
			d.t.Fatal(err)
		}
	}
}

// put writes the file past the node.
func (d *desk) put(keys ...Key) {
	d.t.Helper()
	text, err := json.Marshal(keys)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.file, text, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// shows wants these passkeys to press, and these oddities by name.
func (d *desk) shows(b *Book, odd map[string]What, keys ...string) {
	d.t.Helper()
	found, err := b.Odd()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, o := range found {
		if odd[o.Name] != o.What {
			d.t.Errorf("%s is %q, want %q", o.Name, o.What, odd[o.Name])
		}
	}
	if len(found) != len(odd) {
		d.t.Errorf("odd are %+v, want %v", found, odd)
	}
	have := b.Keys()
	for i, k := range have {
		if i >= len(keys) || k.Name != keys[i] {
			d.t.Errorf("%s presses", k.Name)
		}
	}
	if len(have) != len(keys) {
		d.t.Errorf("%d press, want %v", len(have), keys)
	}
}

func TestARemovedPasskeyThatIsPutBackPressesNothing(t *testing.T) { // D-24: an old copy of the file
	for name, running := range map[string]bool{"while the node runs": true, "while it does not": false} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			b := d.open()
			d.add(b, "laptop", "lost phone")
			if err := b.Remove(entry("lost phone").ID); err != nil {
				t.Fatal(err)
			}
			d.shows(b, nil, "laptop")
			d.put(entry("laptop"), entry("lost phone"))
			if !running {
				b = d.open()
			}
			d.shows(b, map[string]What{"lost phone": Back}, "laptop")
			d.shows(d.open(), map[string]What{"lost phone": Back}, "laptop")
			changes := d.memory.Changes
			if err := b.Remove(entry("lost phone").ID); err != nil || d.memory.Changes <= changes {
				t.Errorf("a person has seen it: %v", err)
			}
			d.shows(d.open(), nil, "laptop")
		})
	}
}

func TestWhatComesIntoTheFileOrGoesPastTheNodeIsTold(t *testing.T) { // D-24
	d := newDesk(t)
	b := d.open()
	d.add(b, "laptop", "key", "phone")
	planted, renamed := entry("planted"), entry("key")
	planted.Agreed.Nonce = "laptop"
	renamed.Name = "harmless"
	d.put(entry("laptop"), entry("laptop"), planted, entry("elsewhere"), renamed)
	want := map[string]What{"planted": Unsigned, "elsewhere": Unknown, "phone": Missing, "harmless": Unsigned, "key": Missing}
	d.shows(b, want, "laptop")
	d.shows(d.open(), want, "laptop")

	odd, err := b.Odd()
	for _, o := range odd {
		err = errors.Join(err, b.Remove(o.ID))
	}
	if err != nil {
		t.Error(err)
	}
	d.shows(b, nil, "laptop")
	d.put(entry("laptop"), entry("phone")) // it went before
	d.shows(b, map[string]What{"phone": Back}, "laptop")
}

func TestALineWithTheIDOfAGoodPasskeyDoesNotTakeItAlong(t *testing.T) {
	d := newDesk(t)
	b := d.open()
	d.add(b, "laptop")
	twin := entry("laptop")
	twin.Name = "twin"
	d.put(entry("laptop"), twin)
	d.shows(b, map[string]What{"twin": Unsigned}, "laptop")
	odd, err := b.Odd()
	if err = errors.Join(err, b.Remove(odd[0].ID)); err != nil {
		t.Fatal(err)
	}
	d.shows(b, nil, "laptop")
}

func TestPasskeysFromBeforeThereWasAMemoryGoOn(t *testing.T) {
	d := newDesk(t)
	d.put(entry("laptop"), entry("phone"))
	d.shows(d.open(), nil, "laptop", "phone")
	d.shows(d.open(), nil, "laptop", "phone")
}

func TestAHomeWithoutPasskeysHasNoFileOfThem(t *testing.T) {
	d := newDesk(t)
	d.shows(d.open(), nil)
	if _, err := os.Stat(d.file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestAChangeThatIsNotRememberedIsNone(t *testing.T) {
	d := newDesk(t)
	b := d.open()
	d.add(b, "laptop")
	d.fails = errors.New("the disk is full")
	if err := b.Add(entry("phone")); !errors.Is(err, d.fails) {
		t.Errorf("added: %v", err)
	}
	if err := b.Remove(entry("laptop").ID); !errors.Is(err, d.fails) {
		t.Errorf("removed: %v", err)
	}
	d.fails = nil
	d.shows(b, nil, "laptop")
	d.shows(d.open(), nil, "laptop")
}
