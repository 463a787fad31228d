package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// play lets the story run to its end and checks it, once, and goes on after it.
func (d *show) play(ctx context.Context) error {
	if d.s.Verified {
		d.printf("The story was played and checked here before; the computers go on from there.")
		if d.o.Page {
			d.github.stop() // more is set up there
		}
	} else if err := d.story(ctx); err != nil {
		return err
	}
	d.farewell()
	if d.o.Page {
		return d.stay(ctx)
	}
	if d.o.Keep {
		d.printf("Everything keeps running until you press Ctrl-C.")
		<-ctx.Done()
	}
	return nil
}

// story plays and checks, and remembers that it did.
func (d *show) story(ctx context.Context) error {
	story, cancel := context.WithTimeout(ctx, storyMax)
	defer cancel()
	var last error // a program that was killed answers again in a moment
	for shut := false; ; {
		done, err := d.turn(story, &shut)
		if final(err) {
			return err
		}
		if done && err == nil {
			break
		}
		if err != nil {
			last = err
		}
		if err := pause(story, 300*time.Millisecond); err != nil {
			return d.late(err, last)
		}
	}
	if err := d.hearOut(ctx); err != nil {
		return err
	}
	if err := d.verify(ctx); err != nil {
		return err
	}
	d.s.Verified = true
	return d.s.save()
}

// final reports whether an error ends the story. Any other comes from a program that is just starting
// again, or from a card that changed while it was pressed.
func final(err error) bool {
	return errors.Is(err, ErrNoTerminal) || errors.Is(err, ErrPerson) || errors.Is(err, context.Canceled)
}

// hearOut waits until everything that the computers have said so far is printed.
func (d *show) hearOut(ctx context.Context) error {
	for i, r := range roles {
		var last []api.LogLine
		err := insist(ctx, func() error {
			return d.client(i, func(c *api.Client) (err error) {
				last, err = c.Log(0, 1)
				return err
			})
		})
		if err != nil {
			return err
		}
		heard := func() bool { return len(last) == 0 || d.lines.printed(r.name) >= last[0].Seq }
		if err := until(ctx, insistFor, heard, func() error { return fmt.Errorf("%w: %s is not heard any more", ErrBroken, r.name) }); err != nil {
			return err
		}
	}
	return nil
}

func (d *show) late(err, last error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: the story did not end within %s; the timeline and %s say why (last: %v)", ErrBroken, storyMax, d.s.Dir, last)
	}
	return err
}

// turn looks at every computer once: it presses what waits for a person, and sees whether all is over.
func (d *show) turn(ctx context.Context, shut *bool) (done bool, err error) {
	closed := 0
	published := false
	for i := range roles {
		if d.computers[i] == nil {
			continue
		}
		err := d.client(i, func(c *api.Client) error {
			if err := d.press(ctx, c, i); err != nil {
				return err
			}
			threads, err := c.Threads()
			for _, t := range threads {
				if t.Phase == "closed" {
					closed++
				}
				published = published || t.Phase == "final" || t.Phase == "closed"
			}
			return err
		})
		if err != nil {
			return false, err
		}
		if card := d.lines.needsPerson(); card != "" && d.o.Repo != "" {
			return false, fmt.Errorf("%w: %s", ErrPerson, card)
		}
	}
	if d.o.CloseLaptop {
		if err := d.lid(ctx, shut, published); err != nil {
			return false, err
		}
	}
	if closed < len(roles) {
		return false, nil
	}
	return d.settled(ctx), nil
}

// lid closes the third computer once the conversation has begun and opens it when the rest is over.
func (d *show) lid(ctx context.Context, shut *bool, published bool) error {
	switch {
	case !*shut && d.lines.heard("ack", roles[tablet].name)+d.lines.heard("object", roles[tablet].name) > 0:
		*shut = true
		d.close(tablet)
		d.printf("  …  %s is closed in the middle of it", roles[tablet].name)
	case *shut && published && d.computers[tablet] == nil:
		d.printf("  …  %s is opened again, and catches up", roles[tablet].name)
		return d.open(ctx, tablet)
	}
	return nil
}

// settled reports whether every checkout on the base branch has been brought to it.
func (d *show) settled(ctx context.Context) bool {
	tip, err := d.s.publishedTip(ctx)
	if err != nil {
		return false
	}
	for i := range roles {
		branch, err := git(ctx, d.s.checkout(i), "symbolic-ref", "--short", "HEAD")
		if err != nil || branch != d.s.Base {
			continue
		}
		if head, err := git(ctx, d.s.checkout(i), "rev-parse", "HEAD"); err != nil || head != tip {
			return false
		}
	}
	return true
}

// press shows each approval that waits and presses it when the person says so.
func (d *show) press(ctx context.Context, c *api.Client, i int) error {
	cards, err := c.Inbox()
	if err != nil {
		return err
	}
	for _, card := range cards {
		if card.Code == "C4" {
			d.lines.person(card.Ref + ": " + card.Why)
		}
		if card.Verb != "approve" {
			continue
		}
		if err := d.asker.ask(ctx, d.lines, roles[i].name, card); err != nil {
			return err
		}
		if _, err := c.Approve(ctx, card, api.DemoProver()); err != nil {
			return err
		}
	}
	return nil
}

// farewell says where everything is.
func (d *show) farewell() {
	d.printf("\nLook around, for example:")
	d.printf("  parley --home %s thread show %s#%d", d.s.home(desktop).Dir, d.s.Slug, d.s.Pull)
	for i := range roles {
		d.printf("  parley --home %s status    # %s", d.s.home(i).Dir, roles[i].title)
	}
}

// asker asks the person for the two approvals.
type asker struct {
	o  Options
	in *bufio.Reader
}

func newAsker(o Options) *asker {
	if o.In == nil {
		o.In = strings.NewReader("")
	}
	return &asker{o: o, in: bufio.NewReader(o.In)}
}

func (a *asker) ask(ctx context.Context, lines *timeline, who string, card api.Card) error {
	lines.print(fmt.Sprintf("\n  ▸ %s, at %s\n      %s\n      %s", card.Title, who, card.What, card.Why))
	if a.o.Yes {
		lines.print("      approved (--yes)\n")
		return nil
	}
	lines.print("      press Enter to approve, Ctrl-C to stop")
	pressed := make(chan error, 1)
	go func() {
		_, err := a.in.ReadString('\n')
		pressed <- err
	}()
	select {
	case err := <-pressed:
		if errors.Is(err, io.EOF) {
			return api.WithHint(ErrNoTerminal, "run parley demo --yes, or run it in a terminal")
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// timeline prints what each computer says and does, as each tells it itself.
type timeline struct {
	mu      sync.Mutex
	out     io.Writer
	counts  map[string]int
	seen    map[string]uint64 // by computer: last line printed
	cancel  map[string]context.CancelFunc
	card    string
	begun   time.Time
	readers sync.WaitGroup
}

func newTimeline(out io.Writer) *timeline {
	return &timeline{out: out, counts: map[string]int{}, seen: map[string]uint64{}, cancel: map[string]context.CancelFunc{}, begun: time.Now()}
}

func (t *timeline) print(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out, text) //nolint:errcheck // a terminal
}

// follow prints a computer's own lines until it is left.
func (t *timeline) follow(ctx context.Context, name string, home node.Home) {
	ctx, cancel := context.WithCancel(ctx)
	t.mu.Lock()
	t.cancel[name] = cancel
	after := t.seen[name]
	t.mu.Unlock()
	t.readers.Go(func() {
		c := api.NewClient(home.SocketPath())
		defer c.Close()
		for ctx.Err() == nil {
			lines, err := c.Follow(ctx, after)
			for _, l := range lines {
				after = max(after, l.Seq)
				t.line(name, l)
			}
			if err != nil && pause(ctx, 200*time.Millisecond) != nil {
				return
			}
		}
	})
}

// line prints one line if the computer speaks of itself; what it heard from others they tell themselves.
func (t *timeline) line(name string, l api.LogLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.Seq <= t.seen[name] {
		return
	}
	t.seen[name] = l.Seq
	if l.Who != name {
		return
	}
	t.counts[l.Kind+" "+name]++
	mark := map[string]string{"say": "says", "do": "does", "warn": "note"}[l.Level]
	fmt.Fprintf(t.out, "%6.1fs  %-8s %s  %-11s %s\n", time.Since(t.begun).Seconds(), name, mark, l.Kind, l.Text) //nolint:errcheck // a terminal
}

func (t *timeline) heard(kind, name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[kind+" "+name]
}

func (t *timeline) person(card string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.card = card
}

func (t *timeline) needsPerson() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.card
}

func (t *timeline) leave(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.cancel[name]; c != nil {
		c()
	}
}

func (t *timeline) wait() { t.readers.Wait() }

// printed is the number of a computer's last line that was printed or passed over.
func (t *timeline) printed(name string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen[name]
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until waits for a condition.
func until(ctx context.Context, most time.Duration, is func() bool, otherwise func() error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for !is() {
		if pause(ctx, 50*time.Millisecond) != nil {
			return otherwise()
		}
	}
	return nil
}

func answers(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	return c.Close() == nil
}
