package netns_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/simnet/netns"
)

var syncthing = flag.Bool("syncthing", false, "measure beside Syncthing")

// ticks is a processor's time as /proc counts it.
const ticks = time.Second / 100

// used is the processor time of a process and its memory, in kB.
func used(t *testing.T, pid int) (cpu time.Duration, rss int) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		cpu += time.Duration(n) * ticks
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmRSS:")
	rss, err = strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return cpu, rss
}

// resting is what two processes use while nothing happens.
func resting(t *testing.T, pids ...int) (cpu time.Duration, rss int) {
	t.Helper()
	const while = 30 * time.Second
	var before time.Duration
	for _, p := range pids {
		c, _ := used(t, p)
		before += c
	}
	<-time.After(while)
	for _, p := range pids {
		c, r := used(t, p)
		cpu, rss = cpu+c, rss+r
	}
	n := len(pids)
	return (cpu - before) * (time.Hour / while) / time.Duration(n), rss / n
}

// told says how long n things took.
func told(t *testing.T, what string, took []time.Duration, cpu time.Duration, rss int) {
	slices.Sort(took)
	t.Logf("| %s | %s | %s | %.1f s | %d MB |", what, took[len(took)/2].Round(time.Millisecond/10), took[len(took)-1].Round(time.Millisecond/10), cpu.Seconds(), rss/1024)
}

func TestBesideSyncthing(t *testing.T) {
	if !*syncthing {
		t.Skip("go test -v ./simnet/netns -run BesideSyncthing -syncthing")
	}
	if _, err := exec.LookPath("syncthing"); err != nil {
		t.Skip("syncthing is not installed (Debian: syncthing)")
	}
	w := netns.New(t)
	alone := w.Space("one")                    // loopback and nothing else
	dirs := []string{t.TempDir(), t.TempDir()} // the stores in them are open until the world ends
	t.Run("parley", func(t *testing.T) { besideParley(t, alone, dirs) })
	t.Run("syncthing", func(t *testing.T) { besideSyncthing(t, alone) })
}

const things = 20

func besideParley(t *testing.T, s *netns.Space, dirs []string) {
	start := func(seed byte, port int, knows map[byte][]string) *netns.Computer {
		return s.Start(netns.Setup{
			Seed: seed, Fleet: []byte{alice, bob}, Dir: dirs[seed-alice], Knows: knows, Reach: mesh.Reach{Circuits: true}, Look: 10 * time.Second,
			Listen: []string{fmt.Sprintf("/ip4/127.0.0.1/udp/%d/quic-v1", port)},
		})
	}
	one := start(alice, 4001, nil)
	two := start(bob, 4002, map[byte][]string{alice: {"/ip4/127.0.0.1/udp/4001/quic-v1"}})
	two.Connected(soon, alice, "")
	<-time.After(5 * time.Second)
	var took []time.Duration
	for k := range things {
		took = append(took, spread(one, two, k+1))
		<-time.After(200 * time.Millisecond)
	}
	cpu, rss := resting(t, one.PID(), two.PID())
	told(t, "parley's mesh and store", took, cpu, rss)
}

// thing is one Syncthing.
type thing struct {
	home, folder, id string
	port             int
	cmd              *exec.Cmd
}

func besideSyncthing(t *testing.T, s *netns.Space) {
	var both []*thing
	for n := range 2 {
		x := &thing{home: t.TempDir(), folder: t.TempDir(), port: 22000 + n}
		if out, err := s.Command("syncthing", "generate", "--no-default-folder", "--home="+x.home).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		out, err := s.Command("syncthing", "--device-id", "--home="+x.home).Output()
		if err != nil {
			t.Fatal(err)
		}
		x.id = strings.TrimSpace(string(out))
		both = append(both, x)
	}
	for n, x := range both {
		if err := os.Mkdir(filepath.Join(x.folder, ".stfolder"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(x.home, "config.xml"), []byte(x.config(both[1-n])), 0o600); err != nil {
			t.Fatal(err)
		}
		x.cmd = s.Command("syncthing", "--no-browser", "--no-restart", "--home="+x.home)
		x.cmd.Env = append(os.Environ(), "STMONITORED=yes") // no second process that watches the first
		if err := x.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = x.cmd.Process.Signal(os.Interrupt)
			_ = x.cmd.Wait() // its own status is of no interest
		})
	}
	var took []time.Duration
	for k := range things + 1 {
		name := fmt.Sprintf("record-%d", k)
		began := time.Now()
		if err := os.WriteFile(filepath.Join(both[0].folder, name), make([]byte, 500), 0o600); err != nil {
			t.Fatal(err)
		}
		for end := began.Add(2 * time.Minute); ; {
			if _, err := os.Stat(filepath.Join(both[1].folder, name)); err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatal("it does not arrive")
			}
			<-time.After(time.Millisecond)
		}
		if k > 0 { // the first waits for the two to meet
			took = append(took, time.Since(began))
		}
	}
	cpu, rss := resting(t, both[0].cmd.Process.Pid, both[1].cmd.Process.Pid)
	told(t, "Syncthing, watching for 1 s", took, cpu, rss)
}

// config lets it share one folder with the other, on loopback alone, and look after a second for changes.
func (x *thing) config(other *thing) string {
	device := func(d *thing) string {
		return fmt.Sprintf(`<device id="%s" name="%d"><address>tcp://127.0.0.1:%d</address></device>`, d.id, d.port, d.port)
	}
	return fmt.Sprintf(`<configuration version="36">
<folder id="records" path="%s" type="sendreceive" rescanIntervalS="3600" fsWatcherEnabled="true" fsWatcherDelayS="1">
<device id="%s"></device><device id="%s"></device></folder>
%s%s
<gui enabled="false"></gui>
<options><listenAddress>tcp://127.0.0.1:%d</listenAddress><globalAnnounceEnabled>false</globalAnnounceEnabled><localAnnounceEnabled>false</localAnnounceEnabled>
<relaysEnabled>false</relaysEnabled><natEnabled>false</natEnabled><urAccepted>-1</urAccepted><autoUpgradeIntervalH>0</autoUpgradeIntervalH>
<crashReportingEnabled>false</crashReportingEnabled><startBrowser>false</startBrowser></options>
</configuration>`, x.folder, x.id, other.id, device(x), device(other), x.port)
}
