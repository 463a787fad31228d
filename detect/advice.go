package detect

import "regexp"

// Words of suggestions that name what only agents of a mesh can call.
var (
	toolAsides = regexp.MustCompile(` \((?:conflict_respond|intent_update|message_send)[^)]*\)`)
	toolAsks   = regexp.MustCompile(`coordinate via message_send to `)
	toolWords  = regexp.MustCompile(` via message_send`)
)

// plain takes the names of tools out of the suggestions on sides that are branches, worktrees and pull requests alone: whoever
// works there may have no agent, and no node, to call them.
func (r *Report) plain(sides ...*Side) {
	for _, s := range sides {
		if s.Kind != Branch && s.Kind != Worktree && s.Kind != PullRequest {
			return
		}
	}
	for i := range r.Findings {
		r.Findings[i] = r.Findings[i].plain()
	}
}

func (f Finding) plain() Finding {
	s := toolAsides.ReplaceAllString(f.Suggestion, "")
	s = toolAsks.ReplaceAllString(s, "coordinate with ")
	f.Suggestion = toolWords.ReplaceAllString(s, "")
	return f
}
