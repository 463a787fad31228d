package notices

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/godbus/dbus/v5"
)

// ErrNoDesktop is a computer, or a session, that shows no notices.
var ErrNoDesktop = errors.New("no desktop here shows notices")

// Desktop shows notices and takes them back.
type Desktop interface {
	// Show shows a notice in place of the one with the number, 0 for none, and returns the number of the new one.
	Show(ctx context.Context, replaces uint32, title, body string) (uint32, error)
	// Hide takes a notice back, where that is possible. One that is gone is no error.
	Hide(ctx context.Context, id uint32) error
}

// Here is the desktop of this system.
func Here() Desktop {
	switch runtime.GOOS {
	case "darwin":
		return commands{run: runCommand, show: macShow}
	case "windows":
		return commands{run: runCommand, show: windowsShow, hide: windowsHide}
	}
	return bus{}
}

// bus is a desktop that follows the specification of freedesktop.org. Each notice makes a connection of its own:
// there are few, and the session they belong to may end.
type bus struct{ address string } // "": the session's own

const (
	busName = "org.freedesktop.Notifications"
	busPath = dbus.ObjectPath("/org/freedesktop/Notifications")
)

func (b bus) connect(ctx context.Context) (*dbus.Conn, error) {
	var conn *dbus.Conn
	var err error
	if b.address == "" {
		conn, err = dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
	} else {
		conn, err = dbus.Dial(b.address, dbus.WithContext(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDesktop, err)
	}
	if err := errors.Join(conn.Auth(nil), conn.Hello()); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNoDesktop, err), conn.Close())
	}
	return conn, nil
}

// Show sends the notice; what it says is text, whatever it looks like.
func (b bus) Show(ctx context.Context, replaces uint32, title, body string) (id uint32, err error) {
	conn, err := b.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	hints := map[string]dbus.Variant{"category": dbus.MakeVariant("im.received"), "desktop-entry": dbus.MakeVariant("parley")}
	plain := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(body)
	call := conn.Object(busName, busPath).CallWithContext(ctx, busName+".Notify", 0, "parley", replaces, "", title, plain, []string{}, hints, int32(-1))
	if err := call.Store(&id); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrNoDesktop, err)
	}
	return id, nil
}

// Hide closes the notice.
func (b bus) Hide(ctx context.Context, id uint32) (err error) {
	conn, err := b.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_ = conn.Object(busName, busPath).CallWithContext(ctx, busName+".CloseNotification", 0, id).Err // it may be gone
	return nil
}

// commands are a desktop that is spoken to by a command of the system.
type commands struct {
	run        func(ctx context.Context, argv, env []string) error
	show, hide func(id uint32, title, body string) (argv, env []string)
}

func runCommand(ctx context.Context, argv, env []string) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Env = append(c.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s: %s: %w", ErrNoDesktop, argv[0], strings.TrimSpace(string(out)), err)
	}
	return nil
}

// Show runs the command; the numbers are this program's own.
func (c commands) Show(ctx context.Context, replaces uint32, title, body string) (uint32, error) {
	id := replaces
	if id == 0 {
		id = number(title + body)
	}
	argv, env := c.show(id, title, body)
	return id, c.run(ctx, argv, env)
}

// Hide runs the command, where there is one.
func (c commands) Hide(ctx context.Context, id uint32) error {
	if c.hide == nil {
		return nil
	}
	argv, env := c.hide(id, "", "")
	return c.run(ctx, argv, env)
}

// number names a notice by what it says; never 0.
func number(s string) uint32 {
	h := uint32(2166136261)
	for _, b := range []byte(s) {
		h = (h ^ uint32(b)) * 16777619
	}
	return max(h, 1)
}

// macShow tells the text apart from the script: it is never read as one.
func macShow(_ uint32, title, body string) (argv, env []string) {
	script := "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
	return []string{"/usr/bin/osascript", "-e", script, "--", title, body}, nil
}

const windowsToast = `$x = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$d = $x::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$t = $d.GetElementsByTagName('text')
[void]$t.Item(0).AppendChild($d.CreateTextNode($env:PARLEY_TITLE))
[void]$t.Item(1).AppendChild($d.CreateTextNode($env:PARLEY_BODY))
$n = New-Object Windows.UI.Notifications.ToastNotification $d
$n.Tag = $env:PARLEY_ID
$x::CreateToastNotifier('parley').Show($n)`

// windowsShow hands the text over in variables: it is never read as a script.
func windowsShow(id uint32, title, body string) (argv, env []string) {
	return powershell(windowsToast), []string{"PARLEY_ID=" + strconv.FormatUint(uint64(id), 10), "PARLEY_TITLE=" + title, "PARLEY_BODY=" + body}
}

func windowsHide(id uint32, _, _ string) (argv, env []string) {
	script := `$x = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$x::History.Remove($env:PARLEY_ID, '', 'parley')`
	return powershell(script), []string{"PARLEY_ID=" + strconv.FormatUint(uint64(id), 10)}
}

func powershell(script string) []string {
	return []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-Command", script}
}
