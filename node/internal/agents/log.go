package agents

import (
	"os"
	"sync"
)

// outputMax is how much of a desk's output is kept, in bytes.
const outputMax = 1 << 20

// boundedLog keeps the beginning of what is written to it and takes the rest without a word, so that a
// talkative program neither fills the disk nor stops.
type boundedLog struct {
	mu   sync.Mutex
	file *os.File
	left int
}

func openLog(path string) (*boundedLog, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &boundedLog{file: f, left: outputMax}, nil
}

// Write never fails: a full disk is no reason to end a turn.
func (l *boundedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		return len(p), nil
	}
	n, err := l.file.Write(p[:min(len(p), l.left)])
	if l.left -= n; l.left == 0 && err == nil {
		l.file.WriteString("\n[the rest of the output was not kept]\n")
	}
	return len(p), nil
}

func (l *boundedLog) Close() error { return l.file.Close() }
