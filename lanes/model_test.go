package lanes

import (
	"testing"

	"github.com/parley-mesh/parley/simnet/spin"
)

func TestNoRaceOfMainComputersWritesTwice(t *testing.T) { // P2, P15, P18, P22, S4, cases 14, 18, 19, 38, 40
	spin.Check(t, "model/roles.pml", []spin.Run{
		{Defines: "-DN=2 -DC=3"},
		{Defines: "-DN=2 -DC=2 -DH=2 -DK=3"},
		{Defines: "-DC=2 -DFAULTY"},
		{Defines: "-DC=2 -DNOCAS", Refused: "assertion violated ( !(merged)&&(bound[n]==head))"},
		{Defines: "-DC=2 -DEARLYFINAL", Refused: "assertion violated merged"},
		{Defines: "-DC=2 -DFAULTY -DTRUSTFINAL", Refused: "assertion violated merged"},
		{Defines: "-DC=2 -DREPLAY", Refused: "assertion violated (left[n]>0)"},
		{Defines: "-DC=2 -DNOSUPER", Refused: "assertion violated main"},
		{Defines: "-DC=2 -DSAMETERM", Refused: "assertion violated  !((((ko[n]>>i)&1)&&((over[i]>>b)&1)))"},
	})
}
