package lanes

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// Account is a GitHub account. Host and User are what it is; a login can be renamed and registered again.
type Account struct {
	Host  string
	User  uint64
	Login string // for people
}

// Same reports whether two are one account, whatever its login is now.
func (a Account) Same(b Account) bool { return a.Host == b.Host && a.User == b.User }

// hearAccounts takes the questions and answers of both ends. Who an answer is about is its signer's fleet; one
// that answers no question of the other end counts for nothing (rule L3).
func (l *Lane) hearAccounts(ours, theirs []*ledger.Record) {
	for _, r := range ours {
		if who, is := r.Content.(*ledger.Who); is && l.own.Counts(r) {
			l.asked = append(l.asked, who.Nonce)
		}
	}
	for _, r := range theirs {
		if who, is := r.Content.(*ledger.Who); is && l.peer.Counts(r) {
			l.questions = append(l.questions, who.Nonce)
		}
	}
	for _, r := range theirs {
		if am, is := r.Content.(*ledger.Am); is && l.peer.Member(r.Device) && slices.Contains(l.asked, am.Nonce) {
			l.Account = &Account{am.Host, am.User, am.Login}
		}
	}
	for _, r := range ours {
		if am, is := r.Content.(*ledger.Am); is && l.own.Member(r.Device) && slices.Contains(l.questions, am.Nonce) {
			l.answers = append(l.answers, answer{r.Device, Account{am.Host, am.User, am.Login}})
		}
	}
}

// Question is what this end asks, nil if it has asked already. The caller sends it only while the owner's switch
// for teammates' pull requests is on, and over a mutual grant (rules L2, L3).
func (l Lane) Question() *ledger.Who {
	if len(l.asked) > 0 {
		return nil
	}
	sum := sha256.Sum256(slices.Concat([]byte("parley-who/1\x00"), l.Own[:], l.Peer[:]))
	return &ledger.Who{Nonce: [16]byte(sum[:16])}
}

// Questioned reports whether the other end has asked which account this one publishes as.
func (l Lane) Questioned() bool { return len(l.questions) > 0 }

// Asked reports whether this end has asked.
func (l Lane) Asked() bool { return len(l.asked) > 0 }

// Said lists the accounts that this end's computers answered with.
func (l Lane) Said() (out []Account) {
	for _, a := range l.answers {
		out = append(out, a.account)
	}
	return out
}

// Answer is what a computer of this end has to answer, given the account that its own gh is signed in as: the
// first answer to a question, and again only when the account of the computer that answered has changed. Nil:
// nothing. One computer answers for the fleet; another only once that one was removed.
func (l Lane) Answer(by ledger.Device, account Account) *ledger.Am {
	if len(l.questions) == 0 || account.User == 0 {
		return nil
	}
	if n := len(l.answers); n > 0 {
		if last := l.answers[n-1]; last.by != by || last.account.Same(account) {
			return nil
		}
	}
	return &ledger.Am{Nonce: l.questions[len(l.questions)-1], Host: account.Host, User: account.User, Login: account.Login}
}

// Names says which other developer publishes as which account.
type Names struct {
	named  []named
	Shared []Shared     // accounts that several fleets answered: they name none of them (card C16)
	Ours   []ledger.TID // fleets that answered with an account of this fleet, ascending (card C16)
}

type named struct {
	account Account
	fleet   ledger.TID
}

// Shared is one account that several fleets answered with.
type Shared struct {
	Account Account
	Fleets  []ledger.TID // ascending
}

// NameAccounts puts the answers of all lanes together (rule L4). own are the accounts that this fleet's
// computers are signed in as, as far as they are known here.
func NameAccounts(all []Lane, own []Account) (out Names) {
	claims := map[Account][]ledger.TID{} // by account without its login
	var order []Account
	for _, l := range all {
		if !l.Bound || l.Account == nil {
			continue
		}
		if slices.ContainsFunc(own, l.Account.Same) {
			out.Ours = append(out.Ours, l.Peer)
			continue
		}
		key := Account{Host: l.Account.Host, User: l.Account.User}
		if claims[key] == nil {
			order = append(order, *l.Account)
		}
		claims[key] = append(claims[key], l.Peer)
	}
	slices.SortFunc(order, func(a, b Account) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.User, b.User)) })
	for _, a := range order {
		fleets := claims[Account{Host: a.Host, User: a.User}]
		slices.SortFunc(fleets, func(a, b ledger.TID) int { return bytes.Compare(a[:], b[:]) })
		if len(fleets) > 1 {
			out.Shared = append(out.Shared, Shared{a, fleets})
		} else {
			out.named = append(out.named, named{a, fleets[0]})
		}
	}
	slices.SortFunc(out.Ours, func(a, b ledger.TID) int { return bytes.Compare(a[:], b[:]) })
	return out
}

// Fleet is the developer that an account names, if it names exactly one.
func (n Names) Fleet(host string, user uint64) (ledger.TID, bool) {
	for _, one := range n.named {
		if one.account.Same(Account{Host: host, User: user}) {
			return one.fleet, true
		}
	}
	return ledger.TID{}, false
}
