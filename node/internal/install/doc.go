// Package install writes parley's hooks, its MCP server and its skills into the settings of coding agents, finds
// out whether they are whole, and takes them out again. The settings are other people's files: they are edited in
// place, never written anew, and what was added can be taken back to the byte.
package install
