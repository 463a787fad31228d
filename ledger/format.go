package ledger

import _ "embed" // FORMAT.md

// FormatText is FORMAT.md, for programs that show it.
//
//go:embed FORMAT.md
var FormatText string
