package thread

import _ "embed" // CONTRACT.md

// ContractText is CONTRACT.md, for programs that show it.
//
//go:embed CONTRACT.md
var ContractText string
