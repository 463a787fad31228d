package repo

import "strings"

// plainJSON takes comments and trailing commas out of JSON as people write it in tsconfig.json.
func plainJSON(content []byte) []byte {
	out := make([]byte, 0, len(content))
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case c == '"':
			end := i + 1
			for end < len(content) && content[end] != '"' {
				if content[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(content)-1)
			out = append(out, content[i:end+1]...)
			i = end
		case c == '/' && i+1 < len(content) && content[i+1] == '/':
			for i+1 < len(content) && content[i+1] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(content) && content[i+1] == '*':
			for i += 2; i+1 < len(content) && (content[i] != '*' || content[i+1] != '/'); {
				i++
			}
			i++
		case c == '}' || c == ']':
			for len(out) > 0 && strings.IndexByte(" \t\r\n", out[len(out)-1]) >= 0 {
				out = out[:len(out)-1]
			}
			if len(out) > 0 && out[len(out)-1] == ',' {
				out = out[:len(out)-1]
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}
