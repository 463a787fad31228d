package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// model stands in for the models of coding agents, on loopback: it asks for one write of a file, and is content
// with whatever comes back. It speaks as much of three APIs as the programs need.
type model struct {
	*httptest.Server
	file string // that is to be written

	mu   sync.Mutex
	seen bytes.Buffer // every request
}

func newModel(t *testing.T, file string) *model {
	m := &model{file: file}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1/responses", m.responses)
	mux.HandleFunc("POST /v1beta/models/{call}", m.generate)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

// read keeps a request, and tells whether the model was told what became of the write.
func (m *model) read(r *http.Request, outcomes ...string) (body string, told bool) {
	all, _ := io.ReadAll(r.Body) // an agent that breaks off asks again
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen.Write(all)
	for _, o := range outcomes {
		told = told || bytes.Contains(all, []byte(o))
	}
	return string(all), told
}

// saw reports whether an agent sent its model a text.
func (m *model) saw(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	quoted, _ := json.Marshal(text)
	return bytes.Contains(m.seen.Bytes(), bytes.Trim(quoted, `"`))
}

// outcome is what an agent said of the tool that it ran, for whoever reads a test that failed.
func (m *model) outcome() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.seen.String()
	i := max(strings.LastIndex(all, `"tool_result"`), strings.LastIndex(all, `"functionResponse"`))
	return all[max(i, 0):min(max(i, 0)+600, len(all))]
}

// send streams events as the APIs do.
func send(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		var kind struct{ Type string }
		_ = json.Unmarshal([]byte(e), &kind)
		if kind.Type != "" {
			fmt.Fprintf(w, "event: %s\n", kind.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
}

// messages is the API of Claude Code, and here of opencode.
func (m *model) messages(w http.ResponseWriter, r *http.Request) {
	body, told := m.read(r, `"tool_result"`)
	block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":"done"}`, "end_turn"
	for tool, argument := range map[string]string{"Write": "file_path", "write": "filePath"} { // of Claude Code, of opencode
		if told || !strings.Contains(body, `"name":"`+tool+`"`) {
			continue
		}
		input, _ := json.Marshal(map[string]string{argument: m.file, "content": "hello\n"})
		partial, _ := json.Marshal(string(input))
		block = `{"type":"tool_use","id":"toolu_1","name":"` + tool + `","input":{}}`
		delta, stop = `{"type":"input_json_delta","partial_json":`+string(partial)+`}`, "tool_use"
	}
	send(w,
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":`+block+`}`,
		`{"type":"content_block_delta","index":0,"delta":`+delta+`}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`,
	)
}

// responses is the API of Codex.
func (m *model) responses(w http.ResponseWriter, r *http.Request) {
	body, told := m.read(r, `"function_call_output"`, `"custom_tool_call_output"`)
	item := `{"type":"message","role":"assistant","id":"m1","content":[{"type":"output_text","text":"done"}]}`
	if !told {
		patch, _ := json.Marshal("*** Begin Patch\n*** Add File: " + m.file + "\n+hello\n*** End Patch\n")
		item = `{"type":"custom_tool_call","id":"c1","call_id":"call_1","name":"apply_patch","input":` + string(patch) + `}`
		if !strings.Contains(body, `"name":"apply_patch"`) {
			args, _ := json.Marshal(fmt.Sprintf(`{"cmd":"echo hello > %s"}`, m.file))
			item = `{"type":"function_call","id":"c1","call_id":"call_1","name":"exec_command","arguments":` + string(args) + `}`
		}
	}
	send(w,
		`{"type":"response.created","response":{"id":"r1"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
		`{"type":"response.completed","response":{"id":"r1","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}}`,
	)
}

// generate is the API of Gemini.
func (m *model) generate(w http.ResponseWriter, r *http.Request) {
	body, told := m.read(r, `"functionResponse"`)
	part := `{"text":"done"}`
	switch {
	case strings.Contains(body, "next_speaker"):
		part = `{"text":"{\"reasoning\":\"done\",\"next_speaker\":\"user\"}"}`
	case !told && strings.Contains(body, `"name":"write_file"`):
		args, _ := json.Marshal(map[string]string{"file_path": m.file, "content": "hello\n"})
		part = `{"functionCall":{"id":"call_1","name":"write_file","args":` + string(args) + `}}`
	}
	answer := `{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2},"modelVersion":"m"}`
	if strings.HasSuffix(r.PathValue("call"), ":streamGenerateContent") {
		send(w, answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, answer)
}
