package main

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// noteBytesMax bounds the note: a node that is down for a week must not fill a disk.
const noteBytesMax = 16 << 10

// note leaves one line for parley doctor: seconds since 1970, the agent, and why it had no answer. Many hooks may
// do so at once: each line is one write at the file's end. A full note starts anew, since the last misses say most.
// A home that is not there is not made.
func note(home, agent string, why miss) {
	if why == none {
		return
	}
	f, err := os.OpenFile(filepath.Join(home, "hook-missed"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return // nobody could be told
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	} else if info.Size() >= noteBytesMax && f.Truncate(0) != nil {
		return
	}
	if len(agent) > 32 {
		agent = agent[:32]
	}
	f.WriteString(strconv.FormatInt(time.Now().Unix(), 10) + " " + agent + " " + string(why) + "\n")
}
