package api

import (
	"strings"

	"github.com/parley-mesh/parley/node/internal/presence"
)

// The acts below are made by the client, which has them signed, and again by the node, which checks the
// proof against what it would do. Both sides make them here, so that they mean the same.

// ApproveAct is the approval of what a card asks for.
func ApproveAct(c Card) presence.Act {
	return presence.Act{Verb: "approve", Thread: c.Thread, Binds: c.Binds}
}

// MainAct is switching the main computer's role on or off here.
func MainAct(on bool) presence.Act {
	if on {
		return presence.Act{Verb: "main on"}
	}
	return presence.Act{Verb: "main off"}
}

// InviteAct is making an invitation.
func InviteAct() presence.Act { return presence.Act{Verb: "invite"} }

// ConfirmAct is letting the computer in that asks: this name, these words.
func ConfirmAct(id string, s InviteState) presence.Act {
	return presence.Act{Verb: "invite confirm", Binds: strings.Join(append([]string{id, s.Name}, s.Words[:]...), "\n")}
}

// DemoProver agrees to acts without asking anybody. A demo's own homes alone take its proofs (D-24).
func DemoProver() Prover { return presence.Demo() }
