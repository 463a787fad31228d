package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/simnet/github"
)

func TestASquashedMergeIsVerifiedByItsContent(t *testing.T) { // P20
	play(t, node.Timers{}, func(t *testing.T, p *story) {
		p.scene.GitHub.Allow(p.scene.Repo, github.Squash)
		p.begin()

		p.Until("the conversation is over", 3*time.Hour, 10*time.Second, p.closed)

		p.check(t)
		parents, err := git(p.scene.Repo.Dir, "log", "-1", "--format=%P", "refs/heads/"+base)
		if err != nil || len(strings.Fields(parents)) != 1 {
			t.Errorf("the published commit has the parents %q, %v", parents, err)
		}
	})
}
