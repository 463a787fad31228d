package netns

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// prefix begins the name of every namespace that this package makes.
const prefix = "parley-"

var worlds atomic.Int32 // made by this process

// World is one internet: a switch that everything public hangs on, and whatever stands behind it.
type World struct {
	t    testing.TB
	base string // beginning of its namespaces' names
	wan  *Space
	next int // number of the next cable
}

// New builds an internet with nothing in it but the switch. It skips the test where that is not possible.
func New(t testing.TB) *World {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces need root")
	}
	for _, tool := range []string{"ip", "nft", "sysctl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	sweep(t)
	w := &World{t: t, base: fmt.Sprintf("%s%d-%d-", prefix, os.Getpid(), worlds.Add(1))}
	if out, err := exec.Command("ip", "netns", "add", w.base+"probe").CombinedOutput(); err != nil {
		t.Skipf("this system allows no network namespaces: %s", out)
	}
	w.delete("probe")
	w.wan = w.Space("wan")
	w.wan.Run("ip", "link", "add", "br0", "type", "bridge")
	w.wan.Run("ip", "link", "set", "br0", "up")
	return w
}

// sweep removes what processes that have ended left.
func sweep(t testing.TB) {
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		t.Skipf("ip netns list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		pid, ours := strings.CutPrefix(name, prefix)
		pid, _, _ = strings.Cut(pid, "-")
		n, err := strconv.Atoi(pid)
		if !ours || err != nil {
			continue
		}
		if _, err := os.Stat("/proc/" + strconv.Itoa(n)); os.IsNotExist(err) {
			_ = exec.Command("ip", "netns", "del", name).Run() // another sweep may have been faster
		}
	}
}

func (w *World) delete(name string) {
	if out, err := exec.Command("ip", "netns", "del", w.base+name).CombinedOutput(); err != nil {
		w.t.Errorf("remove namespace %s: %s", w.base+name, out)
	}
}

// Space is one namespace: a computer, a router or a switch.
type Space struct {
	w    *World
	Name string
	Side string // name of the interface towards the world
}

// Space makes a namespace that has loopback and nothing else.
func (w *World) Space(name string) *Space {
	w.t.Helper()
	if out, err := exec.Command("ip", "netns", "add", w.base+name).CombinedOutput(); err != nil {
		w.t.Fatalf("make namespace %s: %s", name, out)
	}
	w.t.Cleanup(func() { w.delete(name) })
	s := &Space{w: w, Name: name}
	s.Run("ip", "link", "set", "lo", "up")
	return s
}

// Command is a command inside of the namespace.
func (s *Space) Command(args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", s.w.base + s.Name}, args...)...)
}

// Run runs a command in the namespace; its failure is the test's.
func (s *Space) Run(args ...string) {
	s.w.t.Helper()
	if out, err := s.Command(args...).CombinedOutput(); err != nil {
		s.w.t.Fatalf("in %s: %s: %v: %s", s.Name, strings.Join(args, " "), err, out)
	}
}

// Rules loads nftables rules into the namespace, in nft's own language.
func (s *Space) Rules(text string) {
	s.w.t.Helper()
	c := s.Command("nft", "-f", "-")
	c.Stdin = strings.NewReader(text)
	if out, err := c.CombinedOutput(); err != nil {
		s.w.t.Fatalf("rules of %s: %v: %s\n%s", s.Name, err, out, text)
	}
}

// cable joins two namespaces, and returns the names of its two ends.
func (w *World) cable(a, b *Space) (string, string) {
	w.t.Helper()
	w.next++
	x, y := fmt.Sprintf("v%da", w.next), fmt.Sprintf("v%db", w.next)
	a.Run("ip", "link", "add", x, "type", "veth", "peer", "name", y, "netns", w.base+b.Name)
	a.Run("ip", "link", "set", x, "up")
	b.Run("ip", "link", "set", y, "up")
	return x, y
}

// Public makes a computer, or a router, with an address on the internet: "11.22.0.5/24" or "2a00:1::5/64".
func (w *World) Public(name string, addrs ...string) *Space {
	w.t.Helper()
	s := w.Space(name)
	s.Side = w.plug(s, addrs...)
	return s
}

// plug hangs a namespace on the world's switch.
func (w *World) plug(s *Space, addrs ...string) string {
	w.t.Helper()
	mine, theirs := w.cable(s, w.wan)
	w.wan.Run("ip", "link", "set", theirs, "master", "br0")
	for _, a := range addrs {
		s.Run("ip", "addr", "add", a, "dev", mine, "nodad")
	}
	return mine
}

// NAT is how a router translates.
type NAT string

// The two kinds of routers.
const (
	// Plain keeps a socket's port where it can: a hole can be punched.
	Plain NAT = "masquerade"
	// Symmetric takes another port for everybody who is talked to.
	Symmetric NAT = "masquerade fully-random"
)

// Home makes a household: a router with a public address and a NAT, and computers behind it at 192.168.net.2,
// .3 and so on. Nothing comes in that nobody inside asked for.
func (w *World) Home(name, public string, net int, nat NAT, computers ...string) (router *Space, inside []*Space) {
	w.t.Helper()
	router = w.Public(name, public)
	router.Run("sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
	router.Run("ip", "link", "add", "lan", "type", "bridge")
	router.Run("ip", "link", "set", "lan", "up")
	router.Run("ip", "addr", "add", fmt.Sprintf("192.168.%d.1/24", net), "dev", "lan")
	router.Rules(fmt.Sprintf(`table ip home {
	chain out { type nat hook postrouting priority srcnat; oifname "%[1]s" %[2]s; }
	chain through { type filter hook forward priority filter; policy drop; iifname "lan" accept; ct state established,related accept; }
	chain in { type filter hook input priority filter; policy drop; iifname != "%[1]s" accept; ct state established,related accept; }
}`, router.Side, nat))
	for i, c := range computers {
		s := w.Space(c)
		w.moveIn(s, router, fmt.Sprintf("192.168.%d.%d/24", net, i+2), fmt.Sprintf("192.168.%d.1", net))
		inside = append(inside, s)
	}
	return router, inside
}

// moveIn connects a computer to a router's local network.
func (w *World) moveIn(s, router *Space, addr, gateway string) {
	mine, theirs := w.cable(s, router)
	router.Run("ip", "link", "set", theirs, "master", "lan")
	s.Side = mine
	s.Run("ip", "addr", "add", addr, "dev", mine)
	s.Run("ip", "route", "add", "default", "via", gateway)
}

// Maps lets a home's router forward ports for whoever inside asks for one (UPnP, NAT-PMP, PCP), by Debian's miniupnpd.
// It skips the test where that is not installed.
func (w *World) Maps(router *Space, net int) {
	t := w.t
	t.Helper()
	daemon, err := exec.LookPath("miniupnpd")
	if err != nil {
		t.Skip("miniupnpd is not installed")
	}
	router.Rules(`add rule ip home through ct status dnat accept
table inet filter {
	chain forward { type filter hook forward priority -1; jump miniupnpd; }
	chain prerouting { type nat hook prerouting priority dstnat; jump prerouting_miniupnpd; }
	chain postrouting { type nat hook postrouting priority srcnat + 10; jump postrouting_miniupnpd; }
	chain miniupnpd { }
	chain prerouting_miniupnpd { }
	chain postrouting_miniupnpd { }
}`)
	dir := t.TempDir()
	conf := fmt.Sprintf("ext_ifname=%s\nlistening_ip=lan\nenable_upnp=yes\nenable_natpmp=yes\nsecure_mode=yes\n"+
		"port=5000\nuuid=00000000-0000-4000-8000-000000000001\nallow 1024-65535 192.168.%d.0/24 1024-65535\n", router.Side, net)
	if err := os.WriteFile(dir+"/conf", []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := router.Command(daemon, "-d", "-f", dir+"/conf", "-P", dir+"/pid")
	if err := cmd.Start(); err != nil { // it tells every packet, so nobody listens
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // ip becomes what it starts
		_ = cmd.Wait()
	})
}

// Move takes a computer from where it is to a router's local network, as a laptop is carried.
func (w *World) Move(s, router *Space, addr, gateway string) {
	w.t.Helper()
	s.Run("ip", "link", "del", s.Side)
	w.moveIn(s, router, addr, gateway)
}

// Tunnel gives a computer a second interface that everything goes by from then on, as a VPN does that lets nothing out
// beside itself: a private network of the router that stands for the VPN's server. What it returns takes it away again.
func (w *World) Tunnel(s, router *Space, addr, gateway string) (down func()) {
	w.t.Helper()
	mine, theirs := w.cable(s, router)
	router.Run("ip", "link", "set", theirs, "master", "lan")
	s.Run("ip", "addr", "add", addr, "dev", mine)
	for _, half := range []string{"0.0.0.0/1", "128.0.0.0/1"} { // more exact than the default route, which stays
		s.Run("ip", "route", "add", half, "via", gateway, "dev", mine)
	}
	s.Rules(fmt.Sprintf(`table ip tunnel { chain out { type filter hook output priority filter; oifname "%s" drop; }; }`, s.Side))
	return func() {
		w.t.Helper()
		s.Run("ip", "link", "del", mine)
		s.Run("nft", "delete", "table", "ip", "tunnel")
	}
}

// Far makes two computers that nothing leads between but a slow and lossy line: what goes to port 4001 of address, by
// UDP, comes to the other's.
func (w *World) Far(name, other string, delay time.Duration, lose int) (here, there *Space, address string) {
	w.t.Helper()
	here, line, there := w.Space(name), w.Space(name+"-line"), w.Space(other)
	for i, s := range []*Space{here, there} {
		mine, theirs := w.cable(s, line)
		s.Run("ip", "addr", "add", fmt.Sprintf("10.9.%d.2/24", i+1), "dev", mine)
		line.Run("ip", "addr", "add", fmt.Sprintf("10.9.%d.1/24", i+1), "dev", theirs)
	}
	line.Start(Setup{Seed: 200, Line: &Line{From: "10.9.1.1:4001", To: "10.9.2.2:4001", Delay: delay, Lose: lose}})
	return here, there, "10.9.1.1"
}

// Traffic is how many bytes have gone through the interface towards the world, both ways.
func (s *Space) Traffic() int64 {
	s.w.t.Helper()
	var sum int64
	for _, dir := range []string{"rx_bytes", "tx_bytes"} {
		out, err := s.Command("cat", "/sys/class/net/"+s.Side+"/statistics/"+dir).Output()
		if err != nil {
			s.w.t.Fatalf("traffic of %s: %v", s.Name, err)
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
		if err != nil {
			s.w.t.Fatalf("traffic of %s: %v", s.Name, err)
		}
		sum += n
	}
	return sum
}
