package install

import (
	"bytes"
	"encoding/json"
	"strings"
)

// encode writes JSON in one line, with nothing escaped that need not be.
func encode[T any](v T) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // strings, numbers and lists of them: cannot be
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
