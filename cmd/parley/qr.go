package main

import (
	"strings"

	qr "github.com/piglig/go-qr"
)

// quiet is the light border that a reader needs around a picture, in squares.
const quiet = 2

// picture draws a text as a QR code of half blocks, two rows of squares in a line, light on dark as most
// terminals are; readers take either. "" when it does not fit.
func picture(text string) string {
	code, err := qr.EncodeText(text, qr.Low)
	if err != nil {
		return ""
	}
	size := code.Size()
	light := func(x, y int) bool {
		x, y = x-quiet, y-quiet
		return y <= size+quiet-1 && (x < 0 || y < 0 || x >= size || y >= size || !code.Module(x, y))
	}
	var b strings.Builder
	for y := 0; y < size+2*quiet; y += 2 {
		for x := range size + 2*quiet {
			b.WriteString(halves[light(x, y)][light(x, y+1)])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// halves is a character by whether its upper and its lower half are light.
var halves = map[bool]map[bool]string{true: {true: "█", false: "▀"}, false: {true: "▄", false: " "}}
