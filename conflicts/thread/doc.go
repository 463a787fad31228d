// Package thread is the one conversation that a developer's computers hold about a conflicting pull
// request: what each kind of record means ([Fold]) and what a computer should do next ([Step]).
//
// [Fold] takes a set of records and gives the state; it is pure, total and order-free, so equal ledgers
// mean equal states on every computer. The main computer's records form the spine, each naming its
// predecessor; everyone else's are leaves that answer a spine record. The spine never looks at leaves.
//
// [Step] asks; it changes nothing. It is level-triggered: whatever the records and the outside world do
// not yet show is asked for, as often as it is called. A crash between any two effects is therefore
// harmless: after a restart the same things are asked for again.
//
// Who may say something stands apart (rules.go) from what it means (fold.go). A record that may not be
// said is kept and shown with the rule that refused it.
package thread
