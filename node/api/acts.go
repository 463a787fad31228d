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

// CloseAct is ending the conversation with this ledger id.
func CloseAct(thread string) presence.Act {
	return presence.Act{Verb: "close", Thread: thread, Binds: "end the conversation"}
}

// AssignAct is letting the named computer build the final of a conversation.
func AssignAct(thread, party string) presence.Act {
	return presence.Act{Verb: "assign", Thread: thread, Binds: "the final shall be built by " + party}
}

// RestoreAct is putting a kept file back.
func RestoreAct(id string) presence.Act { return presence.Act{Verb: "kept restore", Binds: id} }

// UndoAct is undoing one change that parley made in a checkout.
func UndoAct(id string) presence.Act { return presence.Act{Verb: "op undo", Binds: id} }

// MainAct is switching the main computer's role on or off here.
func MainAct(on bool) presence.Act {
	if on {
		return presence.Act{Verb: "main on"}
	}
	return presence.Act{Verb: "main off"}
}

// RevokeAct is removing a computer for ever.
func RevokeAct(name string, why RevokeWhy) presence.Act {
	return presence.Act{Verb: "revoke", Binds: name + "\n" + string(why)}
}

// RenameAct is giving a computer another name.
func RenameAct(old, name string) presence.Act {
	return presence.Act{Verb: "computers rename", Binds: old + "\n" + name}
}

// InviteAct is making an invitation.
func InviteAct() presence.Act { return presence.Act{Verb: "invite"} }

// ConfirmAct is letting the computer in that asks, or pairing with the developer: this name, these words.
func ConfirmAct(id string, s InviteState) presence.Act {
	verb := "invite confirm"
	if s.Lane {
		verb = "lane confirm"
	}
	return presence.Act{Verb: verb, Binds: strings.Join(append([]string{id, s.Name}, s.Words[:]...), "\n")}
}

// DemoProver agrees to acts without asking anybody. A demo's own homes alone take its proofs (D-24).
func DemoProver() Prover { return presence.Demo() }
