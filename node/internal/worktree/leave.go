package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// homesFile names, in the work area, the homes whose nodes have written here: one quoted path a line.
const homesFile = "homes"

// NoteHome adds this checkout's home to those that have written here, where somebody has: what it keeps may be from
// before homes were noted.
func (c *Checkout) NoteHome() error {
	if _, err := os.Lstat(c.workArea()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return c.noteHome()
}

// noteHome adds this checkout's home to those that have written here. It is one write at the end, which needs no lock.
func (c *Checkout) noteHome() error {
	have, err := homesIn(c.workArea())
	if err != nil || c.Home == "" || slices.Contains(have, c.Home) {
		return err
	}
	f, err := os.OpenFile(c.workArea(homesFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n" + strconv.Quote(c.Home) + "\n") // a line that a crash cut off is ended
	return errors.Join(err, f.Sync(), f.Close())
}

// Homes are the homes whose nodes have written into the working trees of a repository, by its shared git directory.
func Homes(common string) ([]string, error) { return homesIn(filepath.Join(common, "parley")) }

func homesIn(area string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(area, homesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if home, bad := strconv.Unquote(strings.TrimSuffix(line, "\n")); bad == nil {
			out = append(out, home)
		}
	}
	return out, err
}

// Keeps reports whether something that was taken out of a working tree lies in the work area of a repository, by its
// shared git directory.
func Keeps(common string) (bool, error) {
	for _, sub := range []string{keptDir, tmpDir} {
		if list, err := os.ReadDir(filepath.Join(common, "parley", sub)); len(list) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return len(list) > 0, err
		}
	}
	return false, nil
}

// Leave takes out of a shared git directory what parley put there: its folder with all that is kept, and its line of
// info/exclude, of which everything else stays.
func Leave(common string) error {
	file := filepath.Join(common, "info", "exclude")
	body, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var rest strings.Builder
	for line := range strings.Lines(string(body)) {
		if strings.TrimSpace(line) != besidePattern {
			rest.WriteString(line)
		}
	}
	if rest.Len() < len(body) {
		if err := writeSynced(file, []byte(rest.String()), 0o666); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(common, "parley"))
}
