// Package mcp offers the verbs that agents may use as tools of the Model Context Protocol: over standard input and
// output (parley mcp), and over HTTP on this computer alone (the node, where config.toml says so).
//
// Every call goes to the node over its socket, so both ways mean the same. Nothing that a person must press is a
// tool: no approval, no override, no switch. What others wrote (messages, tasks, notes) comes back as a quotation
// with who said it, and is never part of what a tool tells by itself.
package mcp
