package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/service"
)

func (a *app) serviceCommand() *cobra.Command {
	root := a.group("service", "let the system keep this computer's node running")
	root.Long = "The node then starts when you sign in, and again after a fault: by systemd (a user unit), launchd (an agent) or\n" +
		"Windows (a scheduled task). It runs with your rights and finds git, gh and your agents where they are now."
	add := &cobra.Command{
		Use: "install", Short: "start the node now and whenever you sign in", Args: arguments(),
		Long: "Writes the definition for the system and starts the service. Run it again after you have moved git, gh, an agent\n" +
			"or parley itself: their places are written down. On Linux a service ends when you sign out, unless\n" +
			"loginctl enable-linger has been run once; on a computer that nobody signs in to, it is needed.",
		RunE: func(c *cobra.Command, _ []string) error { return a.serviceInstall(c.Context()) },
	}
	status := &cobra.Command{
		Use: "status", Short: "is the service there, and does it run", Args: arguments(),
		Long: "The exit status is 3 when the service does not run.",
		RunE: func(c *cobra.Command, _ []string) error { return a.serviceStatus(c.Context()) },
	}
	a.jsonFlags(status)
	remove := &cobra.Command{
		Use: "remove", Short: "end the service and take its definition away", Args: arguments(),
		Long: "The home stays as it is; parley up runs the node in the foreground.",
		RunE: func(c *cobra.Command, _ []string) error { return a.serviceRemove(c.Context()) },
	}
	root.AddCommand(add, status, remove)
	return root
}

// service is the service of the home that the command is about.
func (a *app) service(program string) service.Service {
	home := a.openHome()
	kind := service.KindFor(runtime.GOOS)
	before, _ := home.Surroundings() // none, or spoiled: nothing was made
	id := ""
	if me, err := user.Current(); err == nil {
		id = me.Uid // on Windows a security identifier
	}
	dir := service.DirFor(kind, xdg.Home, xdg.ConfigHome, home.Dir)
	return service.Service{
		Made: before.Made, User: id,
		Spec: service.Spec{Name: service.Find(kind, dir, home.Dir, node.DefaultHome().Dir), Program: program, Home: home.Dir},
		Kind: kind, Dir: dir, UID: os.Getuid(), Run: output,
	}
}

func (a *app) serviceInstall(ctx context.Context) error {
	home := a.openHome()
	config, err := home.Config()
	if err != nil {
		return err
	}
	if config.Demo {
		return fmt.Errorf("install service: home %s: %w", home.Dir, api.ErrDemoHome)
	}
	around, err := surroundings(ctx)
	if err != nil {
		return err
	}
	s := a.service(around.Program)
	if state, _ := s.State(ctx); !state.Running {
		if pid, running := home.Holder(); running {
			return api.WithHint(fmt.Errorf("install service: %w (process %d)", api.ErrHomeInUse, pid), fmt.Sprintf("stop process %d first, then run parley service install again", pid))
		}
	}
	around.Made = s.Made
	if err := home.SetSurroundings(around); err != nil { // the service reads it as soon as it runs
		return err
	}
	if err := s.Install(ctx); err != nil {
		if state, _ := s.State(ctx); !state.Installed { // else the system tries on, and reads them
			err = errors.Join(err, home.ForgetSurroundings())
		}
		return a.noService(s.Name, err)
	}
	around.Made = s.Made
	if err := home.SetSurroundings(around); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "The service %s runs %s.\n", s.Name, around.Program)
	a.note("its definition is %s", s.File())
	if around.Gh == "" {
		a.note("gh is not installed, so no conversation starts; install it, then run parley service install again")
	}
	a.explainLinger(ctx, s.Kind)
	return nil
}

// noService says what is left to do where the system offers no services.
func (a *app) noService(name string, err error) error {
	switch {
	case errors.Is(err, service.ErrNoManager):
		return api.WithHint(err, "run parley up, which needs no service")
	case errors.Is(err, service.ErrForeign):
		return api.WithHint(err, "move that file away, or run parley up, which needs no service")
	case errors.Is(err, service.ErrOther):
		return api.WithHint(err, "remove it with that --home first, or run parley up, which needs no service")
	case errors.Is(err, service.ErrMasked):
		return api.WithHint(err, "run "+unmask(name)+", then run parley service install")
	}
	return api.WithHint(err, "run parley service status")
}

// unmask is the command that lets systemd start a service again.
func unmask(name string) string { return "systemctl --user unmask " + name + ".service" }

// explainLinger says when a service of systemd ends with its person's session.
func (a *app) explainLinger(ctx context.Context, k service.Kind) {
	me, err := user.Current()
	if k != service.Systemd || err != nil {
		return
	}
	if on, known := service.Lingers(ctx, output, me.Username); known && !on {
		a.note("it ends when you sign out; run loginctl enable-linger %s to keep it running", quoted(me.Username))
	}
}

// surroundings are the places of the programs as this command sees them. The search path keeps its order, so that
// the service finds the very programs that its person does, agents among them.
func surroundings(ctx context.Context) (node.Surroundings, error) {
	var s node.Surroundings
	if err := checkGit(ctx); err != nil {
		return s, err
	}
	program, err := ownProgram()
	if err != nil {
		return s, err
	}
	s.Program = program
	for name, at := range map[string]*string{"git": &s.Git, "gh": &s.Gh} {
		if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
			*at = path
		}
	}
	s.Path = usefulFolders(slices.Concat(filepath.SplitList(os.Getenv("PATH")), systemFolders()))
	return s, nil
}

// systemFolders are where every system of a kind has programs.
func systemFolders() []string {
	switch runtime.GOOS {
	case "windows":
		return nil
	case "darwin":
		return []string{"/opt/homebrew/bin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"}
	}
	return []string{"/usr/local/bin", "/usr/bin", "/bin"}
}

// usefulFolders leaves out what is there twice, is not there, or means another folder in another place.
func usefulFolders(all []string) []string {
	var out []string
	for _, dir := range all {
		if filepath.IsAbs(dir) && exists(dir) && !slices.Contains(out, filepath.Clean(dir)) {
			out = append(out, filepath.Clean(dir))
		}
	}
	return out
}

// ownProgram is where this program lies for good: the name in the search path where it leads here, which stays
// when a package manager brings a newer version.
func ownProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if named, err := exec.LookPath("parley"); err == nil && filepath.IsAbs(named) && sameFile(named, self) {
		return named, nil
	}
	if strings.Contains(self, string(filepath.Separator)+"go-build") {
		err := fmt.Errorf("install service: %s is gone once go run has ended", self)
		return "", api.WithHint(err, "go install ./cmd/parley, then run parley service install")
	}
	return self, nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// serviceLine is what `parley service status --json` prints.
type serviceLine struct {
	service.State
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Lingers *bool  `json:"lingers,omitempty"` // absent: not known
}

func (a *app) serviceStatus(ctx context.Context) error {
	s := a.service("")
	state, err := s.State(ctx)
	if err != nil {
		return err
	}
	line := serviceLine{State: state, Name: s.Name, Kind: string(s.Kind)}
	if me, err := user.Current(); err == nil && s.Kind == service.Systemd {
		if on, known := service.Lingers(ctx, output, me.Username); known {
			line.Lingers = &on
		}
	}
	if a.json {
		err = a.printJSON(line)
	} else {
		a.printService(line)
	}
	if err == nil && !state.Running {
		return exitStatus(api.ExitUnreachable)
	}
	return err
}

func (a *app) printService(l serviceLine) {
	if l.Masked {
		fmt.Fprintf(a.out, "The service %s is masked, so that systemd does not start it (%s).\n", l.Name, unmask(l.Name))
		return
	}
	if !l.Installed {
		fmt.Fprintln(a.out, a.here("No service is installed (run parley service install)."))
		a.notOurs(l.State, l.Name)
		return
	}
	running := yesNo(l.Running)
	if l.Trouble != "" {
		running += ": " + l.Trouble
	}
	rows := [][]string{
		{"Service", l.Name + ", " + l.Kind},
		{"Running", running},
		{"Starts when you sign in", yesNo(l.Enabled)},
		{"Program", orDash(l.Program)},
		{"Definition", l.File},
	}
	if l.Lingers != nil {
		rows = append(rows, []string{"Stays when you sign out", yesNo(*l.Lingers)})
	}
	table(a.out, "", rows)
}

// notOurs tells of a service of the same name that is another home's.
func (a *app) notOurs(s service.State, name string) {
	if s.Other != "" {
		a.note("the service %s is that of the home %s, and stays", name, s.Other)
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (a *app) serviceRemove(ctx context.Context) error {
	s := a.service("")
	state, err := s.State(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(s.Remove(ctx), a.openHome().ForgetSurroundings()); err != nil {
		return a.noService(s.Name, err)
	}
	if !state.Installed {
		fmt.Fprintln(a.out, "No service was installed.")
		a.notOurs(state, s.Name)
		return nil
	}
	fmt.Fprintf(a.out, "The service %s is removed.\n", s.Name)
	return nil
}

// asService takes on what the service was installed with. A service has next to no environment of its own.
func asService(home node.Home) error {
	around, err := home.Surroundings()
	if err != nil {
		return fmt.Errorf("run as a service: %w", err)
	}
	return os.Setenv("PATH", strings.Join(around.Path, string(os.PathListSeparator)))
}
