package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-mesh/parley/node/api"
)

// sameFile: two agents on two computers of one developer edit one file in different places. It informs, and bothers
// nobody.
func (d *day) sameFile(ctx context.Context) error {
	d.printf("\nTwo agents edit one file, far apart")
	a, b := d.agents[button], d.agents[bookkeeper]
	if err := errors.Join(d.writes(ctx, a, "README.md", readmeTop), d.writes(ctx, b, "README.md", readmeEnd)); err != nil {
		return err
	}
	c, err := d.found(ctx, "path_overlap", a, b)
	if err == nil {
		err = warns(c, "info")
	}
	if err != nil {
		return err
	}
	if err := errors.Join(d.mustNotKnow(a, c), d.mustNotKnow(b, c)); err != nil {
		return err
	}
	if err := b.restore(ctx, "README.md"); err != nil {
		return err
	}
	return errors.Join(d.gone(ctx, c), a.restore(ctx, "README.md"))
}

// sameSymbol: agents of two developers change one function, one of them its signature. Both are told.
func (d *day) sameSymbol(ctx context.Context) error {
	d.printf("\nAgents of two developers change one function")
	a, b := d.agents[partial], d.agents[fee]
	if err := d.writes(ctx, a, "src/billing/refund.ts", refundPart); err != nil {
		return err
	}
	if err := d.writes(ctx, b, "src/billing/refund.ts", refundFee); err != nil {
		return err
	}
	c, err := d.found(ctx, "symbol_overlap", a, b)
	if err == nil {
		err = warns(c, "warn")
	}
	if err != nil {
		return err
	}
	if err := errors.Join(d.heard(ctx, a, c), d.heard(ctx, b, c)); err != nil {
		return err
	}
	if err := b.parley(ctx, d.o.Program, nil, "respond", c.Ref, "will_rebase", "--note", "Rebasing after yours merges."); err != nil {
		return err
	}
	b.say("responds to %s: will_rebase", c.Ref)
	err = d.await(ctx, "kim's computers hear the answer", func() (bool, error) {
		_, ok := d.look(ctx, kimDesktop, func(x api.Conflict) bool { return x.ID == c.ID && x.Status == "resolving" })
		return ok, nil
	})
	if err != nil {
		return err
	}
	return errors.Join(b.restore(ctx, "src/billing/refund.ts"), d.gone(ctx, c))
}

// brokenContract: the button calls what the partial refund changes; its agent is told.
func (d *day) brokenContract(ctx context.Context) error {
	d.printf("\nOne agent breaks what another begins to use")
	a, b := d.agents[partial], d.agents[button]
	if err := d.writes(ctx, b, "web/src/refund.ts", webRefund); err != nil {
		return err
	}
	c, err := d.found(ctx, "contract_break", a, b)
	if err == nil {
		err = warns(c, "warn")
	}
	if err != nil {
		return err
	}
	if err := d.heard(ctx, b, c); err != nil {
		return err
	}
	return errors.Join(b.restore(ctx, "web/src/refund.ts"), d.gone(ctx, c))
}

// unmergeable: two agents change one line. git itself says that it cannot merge them.
func (d *day) unmergeable(ctx context.Context) error {
	d.printf("\nTwo agents change one line")
	a, b := d.agents[bookkeeper], d.agents[penny]
	if err := errors.Join(d.writes(ctx, a, "config/shop.ini", configPartial), d.writes(ctx, b, "config/shop.ini", configFull)); err != nil {
		return err
	}
	c, err := d.found(ctx, "textual_merge", a, b)
	if err != nil {
		return err
	}
	if err := d.gitCannotMerge(ctx, a, b, "config/shop.ini"); err != nil {
		return err
	}
	if err := errors.Join(d.heard(ctx, a, c), d.heard(ctx, b, c)); err != nil {
		return err
	}
	return errors.Join(b.restore(ctx, "config/shop.ini"), d.gone(ctx, c), a.restore(ctx, "config/shop.ini"))
}

// exclusively: the bookkeeper claims the schema for itself. Another developer's agent has to wait, and is let through
// once the claim is given up; the holder itself is never in its own way.
func (d *day) exclusively(ctx context.Context) error {
	d.printf("\nOne agent claims a file for itself")
	a, b := d.agents[bookkeeper], d.agents[penny]
	var declared api.Declared
	err := a.parley(ctx, d.o.Program, &declared, "intent", "declare", "Keep a ledger of payments", "--path", "db/schema.prisma", "--exclusive", "--json")
	if err != nil {
		return err
	}
	a.intent = declared.Ref
	a.say("declares %s: db/schema.prisma, exclusive", declared.Ref)
	if err := d.claimed(ctx, b, "db/schema.prisma"); err != nil {
		return err
	}
	if err := d.refusedTo(ctx, b, "db/schema.prisma", schemaCents); err != nil {
		return err
	}
	c, err := d.found(ctx, "path_overlap", a, b)
	if err == nil {
		err = warns(c, "block")
	}
	if err != nil {
		return err
	}
	if err := d.writes(ctx, a, "db/schema.prisma", schemaLedger); err != nil {
		return err
	}
	if err := b.parley(ctx, d.o.Program, nil, "message", "send", "May I add a column when you are done?", "--to", a.intent); err != nil {
		return err
	}
	b.say("asks %s: may I add a column when you are done?", a.who)
	if err := d.asked(ctx, a, "May I add a column"); err != nil {
		return err
	}
	if err := a.restore(ctx, "db/schema.prisma"); err != nil {
		return err
	}
	if err := a.parley(ctx, d.o.Program, nil, "intent", "update", "--no-scope"); err != nil {
		return err
	}
	a.say("gives its claim up")
	if err := d.allowedAt(ctx, b, "db/schema.prisma", schemaCents); err != nil {
		return err
	}
	return errors.Join(d.gone(ctx, c), b.restore(ctx, "db/schema.prisma"))
}

// claimed waits until an agent's computer knows that a path is not free.
func (d *day) claimed(ctx context.Context, a *agent, path string) error {
	return d.await(ctx, a.who+" hears of the claim on "+path, func() (bool, error) {
		var all []api.ClaimsAnswer
		err := a.parley(ctx, d.o.Program, &all, "claims", "check", path, "--json")
		return err == nil && len(all) == 1 && all[0].Verdict == "block", nil
	})
}

// asked waits until an agent's hooks bring it a message.
func (d *day) asked(ctx context.Context, a *agent, words string) error {
	return d.await(ctx, a.who+" reads the message", func() (bool, error) {
		for _, t := range a.told {
			if contains(t, words) {
				return true, nil
			}
		}
		return false, a.next(ctx)
	})
}

// protected: maya's agent is no owner of the migrations. A person who may, and no agent, lets it through.
func (d *day) protected(ctx context.Context) error {
	d.printf("\nAn agent touches what only an owner may")
	a := d.agents[fee]
	const path = "db/migrations/0042_refunds.sql"
	if err := d.refusedTo(ctx, a, path, migration); err != nil {
		return err
	}
	var c api.Conflict
	for _, i := range []int{mayaStudio, kimDesktop} {
		err := d.await(ctx, d.machines[i].name+" finds the protected path", func() (ok bool, err error) {
			c, ok = d.look(ctx, i, func(c api.Conflict) bool {
				return c.Kind == "protected_path" && live(c) && d.between(ctx, c, []*agent{a})
			})
			return ok, nil
		})
		if err != nil {
			return err
		}
	}
	d.line("parley", "%s  %s, %s: %s", c.Ref, c.Kind, c.Severity, firstLines(c.Sentence))
	d.seen[c.ID] = true
	if err := a.parley(ctx, d.o.Program, nil, "respond", c.Ref, "request_override", "--note", "The refunds need a column."); err != nil {
		return err
	}
	a.say("asks for an override of %s", c.Ref)
	if err := d.override(ctx, c); err != nil {
		return err
	}
	if err := d.allowedAt(ctx, a, path, migration); err != nil {
		return err
	}
	return a.restore(ctx, path)
}

// override waits for the request at an owner's computer; the owner, a person, lets it through.
func (d *day) override(ctx context.Context, c api.Conflict) error {
	err := d.await(ctx, "the request reaches an owner", func() (bool, error) {
		seen, ok := d.look(ctx, kimDesktop, func(x api.Conflict) bool { return x.ID == c.ID && x.Requested })
		if ok {
			c = seen
		}
		return ok, nil
	})
	if err != nil {
		return err
	}
	return insist(ctx, func() error {
		return d.client(kimDesktop, func(cl *api.Client) error {
			seen, err := cl.Conflict(ctx, c.ID)
			if err == nil && seen.Status != "overridden" {
				_, err = cl.Override(ctx, seen.Conflict, "The column is agreed on.", api.DemoProver())
			}
			if err == nil {
				d.line("kim, at desktop", "overrides %s: The column is agreed on.", c.Ref)
			}
			return err
		})
	})
}

// lidIsClosed: two agents do the same while the computer of one is closed. Open again, it hears of it.
func (d *day) lidIsClosed(ctx context.Context) error {
	d.printf("\nTwo agents do the same, and one of them is away")
	a, b := d.agents[rounder], d.agents[penny]
	if err := d.writes(ctx, a, "src/money/money.ts", money); err != nil {
		return err
	}
	if err := d.mayaSees(ctx, a); err != nil {
		return err
	}
	d.shut(kimLaptop)
	d.line("laptop", "is closed")
	if err := d.writes(ctx, b, "src/util/cents.ts", cents); err != nil {
		return err
	}
	err := d.await(ctx, "studio finds that the same is done twice", func() (bool, error) {
		_, ok := d.look(ctx, mayaStudio, func(c api.Conflict) bool { return c.Kind == "duplicate_work" && live(c) && len(c.Sides) == 2 })
		return ok, nil
	})
	if err != nil {
		return err
	}
	if err := d.open(ctx, kimLaptop); err != nil {
		return err
	}
	d.line("laptop", "is opened again, and catches up")
	c, err := d.found(ctx, "duplicate_work", a, b)
	if err != nil {
		return err
	}
	if err := errors.Join(d.heard(ctx, a, c), d.heard(ctx, b, c)); err != nil {
		return err
	}
	return errors.Join(b.restore(ctx, "src/util/cents.ts"), d.gone(ctx, c))
}

// mayaSees waits until maya's computer knows what an agent of kim's has changed.
func (d *day) mayaSees(ctx context.Context, a *agent) error {
	return d.await(ctx, "studio hears of "+a.who, func() (bool, error) {
		seen := false
		err := d.client(mayaStudio, func(c *api.Client) error {
			all, err := c.Sessions(ctx, api.WorkQuery{})
			for _, s := range all {
				if names := d.refs(ctx, a); len(names) > 0 && s.Ref == names[0] && s.Files > 0 {
					seen = true
				}
			}
			return err
		})
		return seen && err == nil, nil
	})
}

// order: one intent waits for another, which is abandoned.
func (d *day) order(ctx context.Context) error {
	d.printf("\nOne agent waits for another, whose work is given up")
	a, b := d.agents[partial], d.agents[rounder]
	var first, second api.Declared
	if err := a.parley(ctx, d.o.Program, &first, "intent", "declare", "Refund a part of an order", "--path", "src/billing/**", "--json"); err != nil {
		return err
	}
	a.intent = first.Ref
	a.say("declares %s", first.Ref)
	err := d.await(ctx, "laptop hears of "+first.Ref, func() (bool, error) {
		err := b.parley(ctx, d.o.Program, &second, "intent", "declare", "Round what is refunded", "--path", "src/money/**", "--depends-on", first.Ref, "--json")
		return err == nil, nil
	})
	if err != nil {
		return err
	}
	b.intent = second.Ref
	b.say("declares %s, which depends on %s", second.Ref, first.Ref)
	if err := a.parley(ctx, d.o.Program, nil, "intent", "update", "--abandoned"); err != nil {
		return err
	}
	a.say("abandons %s", first.Ref)
	c, err := d.found(ctx, "dependency_order", b)
	if err == nil {
		err = warns(c, "warn")
	}
	if err != nil {
		return err
	}
	if err := d.heard(ctx, b, c); err != nil {
		return err
	}
	if err := b.parley(ctx, d.o.Program, nil, "intent", "update", "--depends-on-remove", first.Ref); err != nil {
		return err
	}
	b.say("waits for it no more")
	return d.gone(ctx, c)
}

// goHome ends the sessions. What is left of the work stays on disk, and nothing conflicts any more.
func (d *day) goHome(ctx context.Context) error {
	d.printf("\nThe day ends")
	for _, a := range d.agents {
		if err := a.end(ctx); err != nil {
			return err
		}
	}
	for i, m := range d.machines {
		err := d.await(ctx, "nothing conflicts at "+m.name, func() (bool, error) {
			there := 0
			err := d.client(i, func(c *api.Client) error {
				all, err := c.Conflicts(ctx, api.ConflictQuery{})
				there = len(all)
				return err
			})
			return err == nil && there == 0, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gitCannotMerge asks git itself whether two agents' versions of a file merge.
func (d *day) gitCannotMerge(ctx context.Context, a, b *agent, path string) error {
	base, err := git(ctx, a.dir, "show", "HEAD:"+path)
	if err != nil {
		return err
	}
	clean, err := mergeFile(ctx, a.dir, base+"\n", a.dir+"/"+path, b.dir+"/"+path)
	if err == nil && clean {
		err = fmt.Errorf("%w: git merges %s, and parley said that it cannot", ErrBroken, path)
	}
	return err
}
