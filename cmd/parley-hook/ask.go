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
// as long.
func ask(home, agent string, payload []byte) (string, miss) {
	if strings.ContainsAny(agent, "/ \r\n?#%") {
		return "", refused
	}
	c, err := dial(socketOf(home))
	if err != nil {
		return "", down
	}
	var request strings.Builder
	request.WriteString("POST /v1/hook/" + agent + " HTTP/1.1\r\nHost: parley\r\nConnection: close\r\n")
	for _, name := range variables {
		if v := os.Getenv(name); v != "" && len(v) <= valueBytesMax && !strings.ContainsAny(v, "\r\n\x00") {
			request.WriteString("Parley-Env: " + name + "=" + v + "\r\n")
		}
	}
	request.WriteString("Content-Length: " + strconv.Itoa(len(payload)) + "\r\n\r\n")
	if c.Write(append([]byte(request.String()), payload...)) != nil {
		return "", rubbish
	}
	var answer []byte
	for chunk := make([]byte, 16<<10); ; {
		n, err := c.Read(chunk)
		answer = append(answer, chunk[:n]...)
		switch {
		case err != nil || len(answer) > answerBytesMax:
			return "", rubbish
		case n == 0: // the node was asked to close the connection
			return parse(string(answer))
		}
	}
}

// parse takes only what a node answers to a hook: its own mark, a body of the length it says, and either
// nothing or one JSON object.
func parse(answer string) (string, miss) {
	head, body, ok := strings.Cut(answer, "\r\n\r\n")
	fields := head + "\r\n"
	switch {
	case !ok || !strings.HasPrefix(head, "HTTP/1.1 "):
		return "", rubbish
	case !strings.HasPrefix(head, "HTTP/1.1 200 "):
		return "", refused
	case !strings.Contains(fields, "\r\nParley-Hook: 1\r\n"):
		return "", rubbish
	case !strings.Contains(fields, "\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n"):
		return "", rubbish
	case body != "" && (body[0] != '{' || body[len(body)-1] != '}'):
		return "", rubbish
	}
	return body, none
}
