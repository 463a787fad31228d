// Package backup writes and reads the file of a backup: what a home's ledgers hold, sealed with age.
//
// Sealed is one line of JSON, the [Header], and then frames of FORMAT.md, records of one ledger after
// another, up to a bye. The seal authenticates every byte, and a file that ends early does not open.
package backup

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/parley-mesh/parley/ledger"
)

// Errors that callers branch on.
var (
	ErrExists     = errors.New("the file is there already")
	ErrWrongKey   = errors.New("the passphrase or key does not open it")
	ErrNoBackup   = errors.New("this is no backup of parley, or it is damaged or cut off")
	ErrRecipient  = errors.New("this is no recipient of age (age1...)")
	errNoHeadLine = fmt.Errorf("%w: it has no first line", ErrNoBackup)
)

// version is of the file's layout.
const version = 1

// headBytesMax bounds the header, and workMax what one try at a passphrase may cost.
const (
	headBytesMax = 1 << 20
	workMax      = 22
)

// Header says what a backup is of.
type Header struct {
	Version int                 `json:"version"`
	At      time.Time           `json:"at"`
	Name    string              `json:"name"`
	Device  ledger.Device       `json:"device"`
	Fleet   ledger.TID          `json:"fleet"`
	Config  string              `json:"config"`        // config.toml
	Key     string              `json:"key,omitempty"` // the device key's file, only where a person asked for it
	Addrs   map[string][]string `json:"addrs,omitempty"`
}

// Seal is for whom a file is closed: a passphrase, or a recipient of age.
type Seal struct {
	Passphrase string
	Recipient  string // "age1...": in place of the passphrase
	Work       int    // binary logarithm of what one guess costs; 0 is about a second
}

func (s Seal) recipient() (age.Recipient, error) {
	if s.Recipient != "" {
		r, err := age.ParseX25519Recipient(s.Recipient)
		if err != nil {
			return nil, ErrRecipient
		}
		return r, nil
	}
	r, err := age.NewScryptRecipient(s.Passphrase)
	if err != nil {
		return nil, err
	}
	if s.Work > 0 {
		r.SetWorkFactor(s.Work)
	}
	return r, nil
}

// Create writes a backup whole or not at all, for its owner alone; a file that is there stays: [ErrExists].
// frames writes the ledgers.
func Create(path string, s Seal, h Header, frames func(io.Writer) error) error {
	to, err := s.recipient()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".parley-backup-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // what has its place by then stays
	if err := errors.Join(write(f, to, h, frames), f.Sync(), f.Close()); err != nil {
		return err
	}
	return place(f.Name(), path, os.Link)
}

// place gives a whole file its name, unless the name is taken. Where the disk knows no links, as that of most sticks,
// an empty file takes the name first: nobody else's can then be replaced.
func place(file, path string, link func(file, path string) error) error {
	err := link(file, path)
	if err == nil {
		return nil
	}
	if errors.Is(err, os.ErrExist) {
		return ErrExists
	}
	empty, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return err
	}
	if err := errors.Join(empty.Close(), os.Rename(file, path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func write(f io.Writer, to age.Recipient, h Header, frames func(io.Writer) error) error {
	w, err := age.Encrypt(f, to)
	if err != nil {
		return err
	}
	h.Version = version
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(head, '\n')); err != nil {
		return err
	}
	if err := frames(w); err != nil {
		return err
	}
	return errors.Join(ledger.WriteFrame(w, &ledger.Bye{}), w.Close())
}

// Reader reads a backup.
type Reader struct {
	Header Header
	f      *os.File
	r      *bufio.Reader
}

// Key opens a file: a passphrase, or the file of an identity of age.
type Key struct {
	Passphrase   string
	IdentityFile string // in place of the passphrase
}

func (k Key) identities() ([]age.Identity, error) {
	if k.IdentityFile != "" {
		text, err := os.ReadFile(k.IdentityFile)
		if err != nil {
			return nil, err
		}
		return age.ParseIdentities(strings.NewReader(string(text)))
	}
	id, err := age.NewScryptIdentity(k.Passphrase)
	if err != nil {
		return nil, err
	}
	id.SetMaxWorkFactor(workMax)
	return []age.Identity{id}, nil
}

// Open opens a backup. Errors are [ErrWrongKey], [ErrNoBackup] and what the system says.
func Open(path string, k Key) (*Reader, error) {
	ids, err := k.identities()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	out := &Reader{f: f}
	if err := out.begin(ids); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return out, nil
}

func (r *Reader) begin(ids []age.Identity) error {
	plain, err := age.Decrypt(r.f, ids...)
	if wrong := (*age.NoIdentityMatchError)(nil); errors.As(err, &wrong) || errors.Is(err, age.ErrIncorrectIdentity) {
		return ErrWrongKey
	}
	if err != nil {
		return fmt.Errorf("%w: %v", ErrNoBackup, err)
	}
	r.r = bufio.NewReaderSize(plain, headBytesMax)
	head, err := r.r.ReadSlice('\n')
	if err != nil {
		return errNoHeadLine
	}
	if err := json.Unmarshal(head, &r.Header); err != nil {
		return errNoHeadLine
	}
	if r.Header.Version != version {
		return fmt.Errorf("%w: it has layout %d and this version of parley knows %d", ErrNoBackup, r.Header.Version, version)
	}
	return nil
}

// Next is the next frame; [io.EOF] at the end, when the seal has proved that it is the end.
func (r *Reader) Next() (ledger.Frame, error) {
	f, err := ledger.ReadFrame(r.r)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNoBackup, err)
	}
	if _, end := f.(*ledger.Bye); !end {
		return f, nil
	}
	if _, err := r.r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: it goes on after its end, or its end is missing: %v", ErrNoBackup, err)
	}
	return nil, io.EOF
}

// Close closes the file.
func (r *Reader) Close() error { return r.f.Close() }
