package agents

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// actVariable makes this test program act as a desk.
const actVariable = "PARLEY_TEST_DESK"

func TestMain(m *testing.M) {
	if act := os.Getenv(actVariable); act != "" {
		os.Exit(actAs(act, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// seen is what a desk was given.
type seen struct {
	Args  []string
	Dir   string
	Stdin string
	Env   []string
	Task  taskFile
}

// actAs plays a desk. What follows the first colon of act is the result or a file name.
func actAs(act string, args []string) int {
	kind, rest, _ := strings.Cut(act, ":")
	var s seen
	if b, err := os.ReadFile(args[len(args)-1]); err != nil || json.Unmarshal(b, &s.Task) != nil {
		fmt.Println("no task:", err)
		return 1
	}
	switch kind {
	case "answer", "giveup", "fail":
		if rest != "" {
			os.WriteFile(s.Task.Result, []byte(rest), 0o600)
		}
		return map[string]int{"answer": 0, "giveup": 3, "fail": 7}[kind]
	case "look":
		in, _ := io.ReadAll(os.Stdin)
		s.Args, s.Stdin, s.Env = args, string(in), os.Environ()
		s.Dir, _ = os.Getwd()
		b, _ := json.Marshal(s)
		os.WriteFile(rest, b, 0o600)
		os.WriteFile(s.Task.Result, []byte(`{}`), 0o600)
		return 0
	case "talk":
		fmt.Print(strings.Repeat("x", 2*outputMax))
		os.WriteFile(s.Task.Result, []byte(`{}`), 0o600)
		return 0
	case "hang", "ignore", "leave":
		return actSlow(kind, rest, s.Task.Result, args)
	case "hold":
		return hold(rest)
	}
	return 1
}

// hold keeps a pipe open until it is killed, which tells the other end that it lives. It takes no interrupt.
func hold(fifo string) int {
	signal.Ignore(os.Interrupt)
	f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		return 1
	}
	f.WriteString("up\n")
	<-time.After(time.Hour)
	return 0
}

func actSlow(kind, fifo, result string, args []string) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	child := exec.Command(os.Args[0], args...)
	child.Env = append(os.Environ(), actVariable+"=hold:"+fifo)
	if err := child.Start(); err != nil {
		return 1
	}
	if kind == "leave" {
		// The child must be up before this process ends, or there is nothing to prove.
		for up := filepath.Join(filepath.Dir(fifo), "up"); ; {
			if _, err := os.Stat(up); err == nil {
				break
			}
			<-time.After(time.Millisecond)
		}
		os.WriteFile(result, []byte(`{}`), 0o600)
		return 0
	}
	for range signals {
		if kind == "hang" {
			return 3
		}
	}
	return 0
}
