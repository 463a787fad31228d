package main

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// variables are passed on to the node: they say how the agent's session can be spoken to.
var variables = []string{
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_SESSION_ATTENDED", "PWD",
}

const (
	valueBytesMax  = 4096
	socketBytesMax = 100
	digits         = "0123456789abcdef"
)

// socketOf is where the node of a home listens, by the rule of node/api.
func socketOf(home string) string {
	path := filepath.Join(home, "parley.sock")
	if len(path) <= socketBytesMax {
		return path
	}
	sum := sha256.Sum256([]byte(filepath.Clean(home)))
	var name []byte
	for _, b := range sum[:8] {
		name = append(name, digits[b>>4], digits[b&15])
	}
	return filepath.Join(runtimeDir(), string(name)+".sock")
}

// ask sends the payload as one request of HTTP/1.1, by hand: net/http alone would make the start several times
// as long. seen, if not nil, tells the node that the answer was printed.
func ask(home, agent string, payload []byte) (answer string, seen func(), why miss) {
	if strings.ContainsAny(agent, "/ \r\n?#%") {
		return "", nil, refused
	}
	c, err := dial(socketOf(home))
	if err != nil {
		return "", nil, down
	}
	var request strings.Builder
	begin := "POST /v1/hook/" + agent + " HTTP/1.1\r\nHost: parley\r\n"
	request.WriteString(begin + "Parley-Seen: later\r\n")
	for _, name := range variables {
		if v := os.Getenv(name); v != "" && len(v) <= valueBytesMax && !strings.ContainsAny(v, "\r\n\x00") {
			request.WriteString("Parley-Env: " + name + "=" + v + "\r\n")
		}
	}
	request.WriteString("Content-Length: " + strconv.Itoa(len(payload)) + "\r\n\r\n")
	if c.Write(append([]byte(request.String()), payload...)) != nil {
		return "", nil, rubbish
	}
	var got []byte
	for chunk := make([]byte, 16<<10); ; {
		n, err := c.Read(chunk)
		got = append(got, chunk[:n]...)
		if err != nil || len(got) > answerBytesMax {
			return "", nil, rubbish
		}
		answer, wanted, why, whole := parse(string(got))
		switch {
		case whole && wanted:
			return answer, func() { c.Write([]byte(begin + "Parley-Seen: now\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")) }, why
		case whole:
			return answer, nil, why
		case n == 0: // the end
			return "", nil, rubbish
		}
	}
}

// parse takes only what a node answers to a hook: its own mark, a body of the length it says, and either
// nothing or one JSON object. whole: nothing of it is still to come. wanted: the node wants to hear that it was printed.
func parse(got string) (answer string, wanted bool, why miss, whole bool) {
	head, body, ok := strings.Cut(got, "\r\n\r\n")
	if !ok {
		return "", false, none, false
	}
	fields := head + "\r\n"
	_, length, _ := strings.Cut(fields, "\r\nContent-Length: ")
	length, _, _ = strings.Cut(length, "\r\n")
	n, err := strconv.Atoi(length)
	switch {
	case !strings.HasPrefix(head, "HTTP/1.1 "):
		return "", false, rubbish, true
	case !strings.HasPrefix(head, "HTTP/1.1 200 "):
		return "", false, refused, true
	case !strings.Contains(fields, "\r\nParley-Hook: 1\r\n"), err != nil, len(body) > n:
		return "", false, rubbish, true
	case len(body) < n:
		return "", false, none, false
	case body != "" && (body[0] != '{' || body[len(body)-1] != '}'):
		return "", false, rubbish, true
	}
	return body, strings.Contains(fields, "\r\nParley-Seen: wanted\r\n"), none, true
}
