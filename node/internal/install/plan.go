package install

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Change is what becomes of one file. One that changes nothing is a Change, too.
type Change struct {
	Agent  string
	Path   string // as the agent names it
	What   string // of parley's that stands there
	Before string
	After  string
	Exists bool // before
	Gone   bool // after

	real  string // Path with its links followed
	mode  fs.FileMode
	made  folders // that this home made
	stays bool    // another agent uses it
}

// Same reports whether nothing changes.
func (c Change) Same() bool {
	return c.Exists && !c.Gone && c.Before == c.After || !c.Exists && c.Gone
}

// Planner works changes out without making them. What it has planned counts as done for what it plans next.
type Planner struct {
	o       Options
	planned map[string]Change
}

// NewPlanner begins a plan.
func NewPlanner(o Options) *Planner { return &Planner{o: o, planned: map[string]Change{}} }

// Remove plans to take everything of parley's that belongs to this home out of one agent. The error names the files that
// cannot be read; what can be taken out of the others is planned all the same.
func (p *Planner) Remove(agent string) ([]Change, error) {
	files := p.o.files(agent, p.now)
	if files == nil {
		return nil, unknown(agent)
	}
	var out []Change
	var wrong []error
	for _, f := range files {
		now, err := p.read(agent, f)
		if err == nil {
			now, err = p.without(f, now)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", f.path, err))
			continue
		}
		p.planned[f.path] = now
		out = append(out, now)
	}
	return out, errors.Join(wrong...)
}

// without is a file without parley's part.
func (p *Planner) without(f file, now Change) (Change, error) {
	now.After, now.Gone = now.Before, !now.Exists
	now.stays = slices.ContainsFunc(f.users, func(user string) bool { return p.present(user, p.o.every()) })
	if !now.Exists || now.stays {
		return now, nil
	}
	var err error
	now.After, now.Gone, err = f.take(now.Before, p.o.this())
	return now, err
}

func unknown(agent string) error { return fmt.Errorf("agent %q: parley does not know it", agent) }

// Install plans to set one agent up. An error names the file, and then nothing of this agent is planned.
func (p *Planner) Install(agent string) ([]Change, error) {
	files := p.o.files(agent, p.now)
	if files == nil {
		return nil, unknown(agent)
	}
	var out []Change
	before := map[string]Change{}
	maps.Copy(before, p.planned)
	for _, f := range files {
		now, err := p.read(agent, f)
		if err == nil {
			now.After, err = f.put(now.Before, now.Exists)
			now.Gone = false
		}
		if err != nil {
			p.planned = before
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		p.planned[f.path] = now
		out = append(out, now)
	}
	return out, nil
}

// now is a file's text as the plan leaves it.
func (p *Planner) now(path string) (string, bool) {
	if c, ok := p.planned[path]; ok {
		return c.After, !c.Gone
	}
	text, err := os.ReadFile(path)
	return string(text), err == nil
}

// read finds out what a file holds now, and refuses what must not be written to.
func (p *Planner) read(agent string, f file) (Change, error) {
	c := Change{Agent: agent, Path: f.path, What: f.what, mode: 0o600, made: folders{filepath.Join(p.o.Node, MadeFile)}}
	real, err := followed(f.path)
	if err != nil {
		return c, err
	}
	root, err := followed(f.root)
	if err != nil {
		return c, err
	}
	if !inside(root, real) {
		return c, fmt.Errorf("leads out of %s, to %s: parley writes there only when you put the settings there yourself", f.root, real)
	}
	c.real = real
	if earlier, ok := p.planned[f.path]; ok {
		c.Before, c.Exists, c.mode = earlier.After, !earlier.Gone, earlier.mode
		return c, nil
	}
	info, err := os.Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() {
		return c, fmt.Errorf("is no file")
	}
	if info.Size() > fileBytesMax {
		return c, fmt.Errorf("is longer than %d MB", fileBytesMax>>20)
	}
	text, err := os.ReadFile(real)
	c.Before, c.Exists, c.mode = string(text), true, info.Mode().Perm()
	return c, err
}

// followed is a path with every link in it followed, as far as it exists.
func followed(path string) (string, error) {
	var rest []string
	for at := filepath.Clean(path); ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(append([]string{real}, rest...)...), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a link that leads nowhere", at)
		}
		up := filepath.Dir(at)
		if up == at {
			return "", err
		}
		rest = slices.Insert(rest, 0, filepath.Base(at))
		at = up
	}
}

// sharers are the agents that look for skills in one place.
var sharers = []string{Codex, Gemini, OpenCode, Cursor}

// present reports whether anything of parley, as far as it is of one of the homes, stands in an agent's files that name
// a home.
func (p *Planner) present(agent string, of homes) bool {
	some := false
	for _, f := range p.o.files(agent, p.now) {
		text, exists := p.now(f.path)
		if f.users != nil || !exists {
			continue
		}
		rest, gone, err := f.take(text, of)
		some = some || err == nil && (gone || rest != text)
	}
	return some
}

// Found reports whether an agent's settings are on this computer.
func (o Options) Found(agent string) bool {
	o.Project = ""
	info, err := os.Stat(o.dir(agent))
	return err == nil && info.IsDir()
}
