package api

// Means is one line of the catalogue of messages: a code that stays, what it says, and what to do.
type Means struct {
	Code, Says, Do string
}

// CardCodes are the kinds of cards in the inbox, by their codes. The card itself says what it is about this time.
var CardCodes = []Means{
	{"C1", "something that a repository needs is missing", "run the command that the card shows"},
	{"C2", "a result waits to be pushed onto the pull request's branch, or the push was refused", "look at it with parley preview, then parley approve"},
	{"C3", "a merged result waits to be merged on GitHub, or the merge was refused", "look at it with parley preview, then parley approve"},
	{"C4", "a pull request conflicts in a way that no conversation can hold", "settle it yourself, on GitHub or with git"},
	{"C5", "the agents could not agree, or their turns for the conflict are spent", "give them another round, or settle the pull request yourself"},
	{"C6", "this computer's agent turns of the day are spent", "wait for the next day, or settle what is urgent yourself"},
	{"C7", "the final is overdue", "parley assign, or bring back the computer that prepares it"},
	{"C8", "two computers claim to be the main computer", "parley main on, on the one that publishes"},
	{"C9", "own copies stayed apart from what everybody else has", "parley sync now, or bring them together by hand"},
	{"C10", "another computer said what this version does not understand", "update parley here"},
	{"C11", "one identity runs twice, or two histories are signed with it", "stop one of the two, and look at which history is right"},
	{"C12", "the disk is almost full", "free some space; it goes on by itself"},
	{"C13", "GitHub does not hold the named final, or cannot be asked about it", "look at the pull request on GitHub if it stays so"},
	{"C14", "a final holds conflict markers", "mend it with another pull request"},
	{"C15", "two clocks are more than ten minutes apart", "set the one that is wrong"},
	{"C16", "one account of GitHub answers for two developers", "ask them which of them it is"},
	{"C17", "own work cannot be brought together with the base branch", "bring it together by hand, or commit it to a branch of its own"},
	{"C18", "the base branch was rewritten on GitHub", "compare the two histories, then git reset the branch or push it back"},
	{"C19", "a lane brings more than it may", "ask the developer, or parley lane off"},
	{"C20", "another developer says that a conversation needs a person", "settle it with them"},
	{"C21", "a session does not answer, and no agent turn is left for it", "parley briefing, and wake it yourself"},
	{"C22", "somebody asks that both sides go on in spite of a conflict", "parley override, or leave it"},
	{"C23", "the list of passkeys was changed past the page", "look for who did, then parley passkey list"},
}

// Faults are the errors of every command and of the node's answers, by their codes.
func Faults() []Means {
	out := make([]Means, 0, len(faults))
	for _, f := range faults {
		out = append(out, Means{f.code, f.is.Error(), f.hint})
	}
	return out
}
