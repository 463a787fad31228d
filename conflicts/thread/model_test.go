package thread

import (
	"testing"

	"github.com/parley-mesh/parley/simnet/spin"
)

func TestAConversationGoesForwardAndEnds(t *testing.T) { // P5, P18, S1, S3, S6, cases 6, 7, 17, 30, 40, 49
	spin.Check(t, "model/thread.pml", []spin.Run{
		{Defines: "-DP=3"},
		{Defines: "-DP=3", Live: true},
		{Defines: "-DP=2 -DTAKE=1"},
		{Defines: "-DP=2 -DREST=1"},
		{Defines: "-DLASTHEARD", Refused: "assertion violated"},
		{Defines: "-DFAULTY -DROLLBACK", Refused: "assertion violated"},
		{Defines: "-DLANEPICK", Refused: "assertion violated ((n!=2)||(file[n]!=2))"},
		{Defines: "-DCLOBBER", Refused: "assertion violated (file[n]!=4)"},
		{Defines: "-DEARLYFINAL", Refused: "assertion violated merged"},
		{Defines: "-DFAULTY"},
		{Defines: "-DFAULTY -DNOVERIFY", Refused: "assertion violated merged"},
		{Defines: "-DP=2 -DREST=1 -DEDGE", Live: true, Refused: "acceptance cycle"},
		{Defines: "-DP=2 -DTAKE=1 -DONCE", Live: true, Refused: "acceptance cycle"},
		{Defines: "-DNOCATCHUP", Live: true, Refused: "acceptance cycle"},
	})
}
