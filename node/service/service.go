// Package service puts a node under the care of the system that its person uses: a systemd user unit, a
// launchd agent, or a scheduled task of Windows. Each is a definition, which is a file, and a few commands of
// the system; both are written here for every system, so that all three are tested on each of them.
package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Kind is who looks after the node.
type Kind string

// The three that are known.
const (
	Systemd Kind = "systemd"
	Launchd Kind = "launchd"
	Task    Kind = "task" // of Windows
)

// KindFor is who looks after programs on a system, by Go's name of it; "" where nobody does.
func KindFor(goos string) Kind {
	switch goos {
	case "linux":
		return Systemd
	case "darwin":
		return Launchd
	case "windows":
		return Task
	}
	return ""
}

// What callers tell apart.
var (
	// ErrNoManager is a system on which nobody looks after a person's programs.
	ErrNoManager = errors.New("this system keeps no programs of yours running")
	// ErrForeign is a definition of this name that parley did not write.
	ErrForeign = errors.New("a service of this name is there that parley did not make")
	// ErrOther is a definition of this name that starts the node of another home.
	ErrOther = errors.New("the service of this name is that of another home")
	// ErrMasked is a service that its person has told systemd never to start.
	ErrMasked = errors.New("the service is masked, so that systemd does not start it")
	// ErrPath is a path that a definition cannot hold.
	ErrPath = errors.New("the path holds a character that no service's definition can hold")
)

// Spec is one node as a service.
type Spec struct {
	Name    string // of the service, see [NameFor]
	Program string // absolute path of parley
	Home    string // absolute path of the node's home
}

// NameFor is the name of the service of a home: the person's own home has the plain one, but on Windows, where all
// people of a computer name their tasks in one place.
func NameFor(k Kind, home, own string) string {
	if home == own && k != Task {
		return "parley"
	}
	sum := sha256.Sum256([]byte(home))
	return "parley-" + hex.EncodeToString(sum[:4])
}

// Find is the name of the service of a home: that of a definition in the folder which starts its node, else [NameFor].
// Which home is a person's own may have changed since it was written.
func Find(k Kind, dir, home, own string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "*parley*")) // the pattern is a good one
	for _, file := range files {
		name, ok := nameIn(k, filepath.Base(file))
		text, err := os.ReadFile(file)
		if at := homeOf(k, string(text)); ok && err == nil && at != "" && sameDir(at, home) {
			return name
		}
	}
	return NameFor(k, home, own)
}

// nameIn reads the name of the service out of the name of its definition.
func nameIn(k Kind, file string) (string, bool) {
	before, after := "", ".service"
	switch k {
	case Launchd:
		before, after = label(""), ".plist"
	case Task:
		after = "-task.xml"
	}
	name, starts := strings.CutPrefix(file, before)
	name, ends := strings.CutSuffix(name, after)
	return name, starts && ends && nameForm.MatchString(name)
}

// nameForm is what [NameFor] makes.
var nameForm = regexp.MustCompile(`^parley(-[0-9a-f]{8})?$`)

func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Runner runs a command of the system and returns what it printed.
type Runner func(ctx context.Context, name string, args ...string) (string, error)

// Service is a node that the system looks after, or shall.
type Service struct {
	Spec
	Kind Kind
	// Dir is where the system looks for definitions of this person's services.
	Dir string
	// UID is the number of the person for launchd.
	UID int
	// User is the person for Windows: a name or a security identifier.
	User string
	Run  Runner
	// Made are the folders that Install made, the innermost first; Remove takes those that are empty away.
	Made []string
}

// DirFor is where definitions lie; home is the person's home directory, config where their settings are.
func DirFor(k Kind, home, config, node string) string {
	switch k {
	case Systemd:
		return filepath.Join(config, "systemd", "user")
	case Launchd:
		return filepath.Join(home, "Library", "LaunchAgents")
	}
	return node // Windows takes the definition in; the file is for people
}

// File is the path of the definition.
func (s Service) File() string {
	switch s.Kind {
	case Systemd:
		return filepath.Join(s.Dir, s.Name+".service")
	case Launchd:
		return filepath.Join(s.Dir, s.label()+".plist")
	}
	return filepath.Join(s.Dir, s.Name+"-task.xml")
}

// State is what the system says about the service.
type State struct {
	Installed bool   `json:"installed"`
	Enabled   bool   `json:"enabled"` // it starts by itself when its person signs in
	Running   bool   `json:"running"`
	Program   string `json:"program"` // that the definition starts; "" when it cannot be read
	File      string `json:"file"`
	// Trouble is why it does not run, in the system's words; "" when it says nothing.
	Trouble string `json:"trouble,omitempty"`
	// Masked: its person has told systemd never to start it.
	Masked bool `json:"masked,omitempty"`
	// Other is the home whose node a definition of this name starts, where it is not this one.
	Other string `json:"other,omitempty"`
}

// Install writes the definition and starts the service, now and whenever its person signs in. An earlier one
// of the same name is replaced.
func (s *Service) Install(ctx context.Context) error {
	text, err := s.Definition()
	if err != nil {
		return fmt.Errorf("install service %s: %w", s.Name, err)
	}
	if err := s.ready(ctx); err != nil {
		return fmt.Errorf("install service %s: %w", s.Name, err)
	}
	if err := s.free(); err != nil {
		return fmt.Errorf("install service %s: %s: %w", s.Name, s.File(), err)
	}
	for dir := s.Dir; !there(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		s.Made = append(s.Made, dir)
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("install service %s: %w", s.Name, err)
	}
	if err := os.WriteFile(s.File(), text, 0o644); err != nil {
		return fmt.Errorf("install service %s: %w", s.Name, err)
	}
	return s.each(ctx, "install", s.starts())
}

// Remove ends the service and takes its definition away. A service that is not there, or that somebody else made, is
// none to remove.
func (s Service) Remove(ctx context.Context) error {
	text, err := os.ReadFile(s.File())
	if s.Kind != Task && (errors.Is(err, fs.ErrNotExist) || err == nil && (!s.wrote(string(text)) || s.other(string(text)) != "")) {
		return nil
	}
	if s.masked() {
		return s.each(ctx, "stop", [][]string{{"systemctl", "--user", "stop", s.Name + ".service"}})
	}
	if s.Kind == Task {
		if state, err := s.State(ctx); err != nil || !state.Installed {
			return err
		}
	}
	stopped := s.each(ctx, "stop", s.stops())
	if err := os.Remove(s.File()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(stopped, err)
	}
	for _, dir := range s.Made {
		_ = os.Remove(dir) // it stays if something else has come into it
	}
	if s.Kind == Systemd && stopped == nil {
		return s.each(ctx, "remove", [][]string{{"systemctl", "--user", "daemon-reload"}, s.forgetFailure()})
	}
	return stopped
}

// free says whether a definition may be written: nobody else's stands in its place.
func (s Service) free() error {
	if s.masked() {
		return ErrMasked
	}
	was, err := os.ReadFile(s.File())
	if err != nil {
		return nil // there is none, or writing will say why not
	}
	if !s.wrote(string(was)) {
		return ErrForeign
	}
	if home := s.other(string(was)); home != "" {
		return fmt.Errorf("%w, %s", ErrOther, home)
	}
	return nil
}

// other is the home of a definition where that is another one. A home that is not there any more has no service.
func (s Service) other(text string) string {
	home := homeOf(s.Kind, text)
	if home == "" || sameDir(home, s.Home) || !there(home) {
		return ""
	}
	return home
}

// masked reports whether a link to nothing stands in the definition's place, which is how systemd masks a unit.
func (s Service) masked() bool {
	to, err := os.Readlink(s.File())
	return s.Kind == Systemd && err == nil && to == os.DevNull
}

func there(dir string) bool {
	_, err := os.Lstat(dir)
	return err == nil
}

// State asks the system.
func (s Service) State(ctx context.Context) (State, error) {
	out := State{File: s.File()}
	text, err := os.ReadFile(s.File())
	switch {
	case s.masked():
		out.Masked, out.Trouble = true, "masked"
	case err == nil:
		out.Other, out.Program = s.other(string(text)), programOf(s.Kind, string(text))
		if out.Installed = s.wrote(string(text)) && out.Other == ""; !out.Installed {
			return out, nil // what the system says of that name is not about this home
		}
	case !errors.Is(err, fs.ErrNotExist):
		return out, fmt.Errorf("read service %s: %w", s.Name, err)
	}
	s.ask(ctx, &out)
	return out, nil
}

// each runs commands one after the other, until one fails.
func (s Service) each(ctx context.Context, what string, commands [][]string) error {
	for _, argv := range commands {
		if said, err := s.Run(ctx, argv[0], argv[1:]...); err != nil {
			return fmt.Errorf("%s service %s: %s: %w", what, s.Name, strings.Join(argv, " "), saying(said, err))
		}
	}
	return nil
}

// saying adds what a failed command printed.
func saying(said string, err error) error {
	if said = strings.TrimSpace(said); said == "" {
		return err
	}
	return fmt.Errorf("%s: %w", said, err)
}
