package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/gofrs/flock"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// Home is the directory of one computer's node: everything it knows and may not lose. One process at a
// time runs on it. Only its owner may enter it.
//
//	config.toml     settings, see [Config]
//	identity.key    this computer's key
//	approval.age    approval key, opened by the passphrase; approval.pub is its public half
//	fleet           id of the developer's fleet, in hexadecimal
//	data/ledger     records
//	mirrors/        bare copies of the repositories
//	routes.toml     where the conversation goes, see [Route]
//	desk/           scratch worktrees and tasks of the desk
//	log.jsonl       what happened here
//	hook-missed     what agents' hooks had no answer to
//	lock, pid       who runs on it
//	parley.sock     where it answers
type Home struct{ Dir string }

// ConfigFile is the name of the settings in a home.
const ConfigFile = "config.toml"

// DefaultHome is the user's own home, where the system keeps data of programs.
func DefaultHome() Home { return OpenHome(filepath.Join(xdg.DataHome, "parley")) }

// RelayKeyPath is where the key of a relay lies that this user runs.
func RelayKeyPath() string { return filepath.Join(xdg.DataHome, "parley-relay.key") }

// OpenHome is the home at a path, by its one absolute name. It need not exist.
func OpenHome(dir string) Home {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return Home{Dir: dir}
}

func (h Home) path(name ...string) string {
	return filepath.Join(append([]string{h.Dir}, name...)...)
}

// ConfigPath is the file of the settings.
func (h Home) ConfigPath() string { return h.path(ConfigFile) }

// IdentityPath is the file of this computer's key.
func (h Home) IdentityPath() string { return h.path("identity.key") }

// LedgerDir is where the records are.
func (h Home) LedgerDir() string { return h.path("data", "ledger") }

// MirrorDir is the bare copy of one repository.
func (h Home) MirrorDir(owner, name string) string { return h.path("mirrors", owner, name+".git") }

// DeskDir is where the desk works.
func (h Home) DeskDir() string { return h.path("desk") }

// LogPath is the file of what happened here.
func (h Home) LogPath() string { return h.path("log.jsonl") }

// SocketPath is where the node of this home answers (D-31).
func (h Home) SocketPath() string { return api.SocketPath(h.Dir) }

// Check says whether the home can be used: [api.ErrNoHome] when it was never set up, [api.ErrHomeSpoiled]
// when somebody else could read its keys.
func (h Home) Check() error {
	if _, err := os.Stat(h.ConfigPath()); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("home %s: %w", h.Dir, api.ErrNoHome)
	}
	return h.closed(h.Dir)
}

// Config reads the home's settings.
func (h Home) Config() (Config, error) {
	if err := h.Check(); err != nil {
		return Config{}, err
	}
	return LoadConfig(h.ConfigPath())
}

// Setup is what a home is made of.
type Setup struct {
	Config Config
	// Passphrase opens the approval key. A demo's home may do without: "" makes no key.
	Passphrase string
	// Work is the binary logarithm of what one guess at the passphrase costs; 0 is about a second.
	Work int
	// Recovery is the key that the fleet is founded with; a demo's home may do without.
	Recovery Recovery
}

// Init sets the home up: its approval key, sealed with the passphrase, and its settings. The settings come
// last, so an interrupted Init can be repeated; a home that is set up stays as it is: [api.ErrHomeExists], and so does a
// folder of other things: [api.ErrHomeTaken].
func (h Home) Init(s Setup) error {
	if err := h.Free(); err != nil {
		return err
	}
	if err := s.Config.Validate(); err != nil {
		return err
	}
	sealed := s.Passphrase != "" || !s.Config.Demo
	if sealed {
		if err := presence.CheckPassphrase(s.Passphrase); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(h.Dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(h.Dir, 0o700); err != nil {
		return err
	}
	// A key without settings is what an interrupted Init left; nobody can have relied on it.
	for _, name := range []string{presence.SealedFile, presence.PublicFile} {
		if err := os.Remove(h.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if sealed {
		if err := presence.Create(h.Dir, s.Passphrase, cmp.Or(presence.Work(s.Work), presence.WorkPerson)); err != nil {
			return err
		}
	}
	if s.Recovery.device != (ledger.Device{}) {
		if err := writePrivate(h.recoveryPath(), []byte(s.Recovery.device.String()+"\n")); err != nil {
			return err
		}
	}
	return s.Config.Write(h.ConfigPath())
}

// Free says whether the folder can become a home: it is closed to others and parley writes into it, so it holds
// nothing else. [api.ErrHomeExists] and [api.ErrHomeTaken].
func (h Home) Free() error {
	if _, err := os.Lstat(h.ConfigPath()); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("home %s: %w", h.Dir, api.ErrHomeExists)
	}
	_, others, err := h.Contents()
	if err == nil && len(others) > 0 {
		err = fmt.Errorf("%w, such as %s", api.ErrHomeTaken, filepath.Base(others[0]))
	}
	if err != nil {
		return fmt.Errorf("home %s: %w", h.Dir, err)
	}
	return nil
}

// CheckApproval says whether the approval key is there and closed to others.
func (h Home) CheckApproval() error {
	if _, err := presence.Public(h.Dir); err != nil {
		return err
	}
	return h.closed(h.path(presence.SealedFile))
}

// ApprovalPath is the file of the sealed approval key.
func (h Home) ApprovalPath() string { return h.path(presence.SealedFile) }

// ReadIdentity says whether this computer's key can be read.
func (h Home) ReadIdentity() error {
	_, err := mesh.Load(h.IdentityPath())
	return err
}

// CheckIdentity says whether this computer's key is closed to others; os.ErrNotExist before the first start.
func (h Home) CheckIdentity() error { return h.closed(h.IdentityPath()) }

func (h Home) closed(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 && os.PathSeparator == '/' {
		err := fmt.Errorf("%s: %w: mode %04o lets others in", file, api.ErrHomeSpoiled, perm)
		return api.WithHint(err, "run chmod go= "+file)
	}
	return nil
}

// Unlock opens the approval key for one command of a person.
func (h Home) Unlock(passphrase string) (presence.Signer, error) {
	return presence.Unlock(h.Dir, passphrase)
}

// Fleet is the fleet that this computer founded or joined; os.ErrNotExist when it has done neither.
func (h Home) Fleet() (ledger.TID, error) {
	var fleet ledger.TID
	text, err := os.ReadFile(h.path("fleet"))
	if err != nil {
		return fleet, err
	}
	if err := fleet.UnmarshalText([]byte(strings.TrimSpace(string(text)))); err != nil {
		return fleet, fmt.Errorf("read %s: %w: %v", h.path("fleet"), api.ErrHomeSpoiled, err)
	}
	return fleet, nil
}

// SetFleet remembers the fleet, durably.
func (h Home) SetFleet(fleet ledger.TID) error {
	return writePrivate(h.path("fleet"), []byte(fleet.String()+"\n"))
}

// lockPatience covers a look at the lock by another process, which is over at once.
const (
	lockPatience = 500 * time.Millisecond
	lockRetry    = 25 * time.Millisecond
)

// Lock is the right to run on a home.
type Lock struct {
	flock *flock.Flock
	pid   string
}

// Lock takes the home for this process. While another process has it: [api.ErrHomeInUse], naming that
// process. The system gives a killed process's lock back, so a stale one is no obstacle.
func (h Home) Lock(ctx context.Context) (*Lock, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	l := &Lock{flock: flock.New(h.path("lock"), flock.SetPermissions(0o600)), pid: h.path("pid")}
	if _, err := l.flock.TryLockContext(ctx, lockRetry); errors.Is(err, context.DeadlineExceeded) {
		return nil, h.inUse()
	} else if err != nil {
		return nil, fmt.Errorf("lock home %s: %w", h.Dir, err)
	}
	if err := writePrivate(l.pid, []byte(strconv.Itoa(os.Getpid())+"\n")); err != nil {
		return nil, errors.Join(err, l.flock.Close())
	}
	return l, nil
}

// Release gives the home back.
func (l *Lock) Release() error {
	err := os.Remove(l.pid)
	return errors.Join(err, l.flock.Close())
}

func (h Home) inUse() error {
	pid := h.pid()
	if pid == 0 {
		return fmt.Errorf("home %s: %w", h.Dir, api.ErrHomeInUse)
	}
	err := fmt.Errorf("home %s: %w (process %d)", h.Dir, api.ErrHomeInUse, pid)
	return api.WithHint(err, fmt.Sprintf("run parley status, or stop process %d first", pid))
}

// pid is the process that the pid file names, 0 when it names none.
func (h Home) pid() int {
	text, err := os.ReadFile(h.path("pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// Holder is the process that runs on the home. A pid file that a killed process left names nobody.
func (h Home) Holder() (pid int, running bool) {
	if _, err := os.Stat(h.path("lock")); err != nil {
		return 0, false
	}
	f := flock.New(h.path("lock"), flock.SetPermissions(0o600))
	defer f.Close()
	if free, err := f.TryRLock(); err != nil || free {
		return 0, false
	}
	return h.pid(), true
}

// writePrivate makes a file for its owner alone, whole or not at all, durably.
func writePrivate(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already once it was renamed
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync() // some systems cannot sync a directory, and none says so beforehand
		_ = dir.Close()
	}
	return nil
}
