package notices

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

// server is a desktop on a bus of its own.
type server struct {
	heard chan []any
}

func (s *server) Notify(app string, replaces uint32, _, title, body string, _ []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	s.heard <- []any{app, replaces, title, body}
	return replaces + 41, nil
}

func (s *server) CloseNotification(id uint32) *dbus.Error {
	s.heard <- []any{"close", id}
	return nil
}

// aBus starts a real message bus for one test.
func aBus(t *testing.T) string {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("dbus-daemon is not installed")
	}
	c := exec.CommandContext(t.Context(), daemon, "--session", "--nofork", "--nopidfile", "--print-address=1", "--address=unix:path="+filepath.Join(t.TempDir(), "bus"))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill() //nolint:errcheck // it may have ended already
		c.Wait()         //nolint:errcheck // it was killed
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

func TestADesktopOnTheBusShowsReplacesAndTakesBack(t *testing.T) {
	address := aBus(t)
	b := bus{address}
	if _, err := b.Show(t.Context(), 0, "t", "b"); !errors.Is(err, ErrNoDesktop) {
		t.Errorf("without anybody who shows notices: %v", err)
	}
	conn, err := b.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := &server{heard: make(chan []any, 1)}
	if err := conn.Export(s, busPath, busName); err != nil {
		t.Fatal(err)
	}
	if r, err := conn.RequestName(busName, dbus.NameFlagDoNotQueue); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(r, err)
	}

	id, err := b.Show(t.Context(), 1, "Approve", "<b>a & b</b>")
	if err != nil || id != 42 {
		t.Fatal(id, err)
	}
	if got := <-s.heard; !reflect.DeepEqual(got, []any{"parley", uint32(1), "Approve", "&lt;b&gt;a &amp; b&lt;/b&gt;"}) {
		t.Errorf("shown: %v", got)
	}
	if err := b.Hide(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := <-s.heard; !reflect.DeepEqual(got, []any{"close", uint32(42)}) {
		t.Errorf("taken back: %v", got)
	}
}

func TestOtherSystemsNeverReadTheTextAsAScript(t *testing.T) {
	for name, c := range map[string]commands{"macOS": {show: macShow}, "Windows": {show: windowsShow, hide: windowsHide}} {
		var argv, env []string
		c.run = func(_ context.Context, a, e []string) error {
			argv, env = a, e
			return nil
		}
		title := `"; rm -rf ~ $(x) '`
		id, err := c.Show(t.Context(), 0, title, "b")
		if err != nil || id == 0 {
			t.Fatal(id, err)
		}
		for _, word := range argv[:len(argv)-2] {
			if strings.Contains(word, "rm -rf") {
				t.Errorf("%s: %q", name, argv)
			}
		}
		whole := strings.Join(append(argv, env...), "\n")
		if !strings.Contains(whole, title) {
			t.Errorf("%s: the title is lost: %q", name, whole)
		}
		again, err := c.Show(t.Context(), id, "other", "b")
		if err != nil || again != id {
			t.Errorf("%s: %d replaces %d: %v", name, again, id, err)
		}
		if err := c.Hide(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if runtime.GOOS == "linux" && Here() != (bus{}) {
		t.Error("Linux has a bus")
	}
}
