package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	qr "github.com/piglig/go-qr"
)

// squares reads a drawn picture back: dark is true.
func squares(t *testing.T, drawn string) [][]bool {
	t.Helper()
	var out [][]bool
	for line := range strings.SplitSeq(strings.TrimSuffix(drawn, "\n"), "\n") {
		var upper, lower []bool
		for _, r := range line {
			up, low := r == '█' || r == '▀', r == '█' || r == '▄'
			if !up && !low && r != ' ' {
				t.Fatalf("%q is no half block", r)
			}
			upper, lower = append(upper, !up), append(lower, !low)
		}
		out = append(out, upper, lower)
	}
	return out
}

func TestThePictureOfACodeIsThatCode(t *testing.T) {
	code := "P1-" + strings.Repeat("AEBAGBAFAYDQQCIK", 7)
	want, err := qr.EncodeText(code, qr.Low)
	if err != nil {
		t.Fatal(err)
	}
	got := squares(t, picture(code))

	size := want.Size()
	for y := range size {
		for x := range size {
			if got[y+quiet][x+quiet] != want.Module(x, y) {
				t.Fatalf("square %d, %d is wrong", x, y)
			}
		}
	}
	for i := range size + 2*quiet { // the border
		if got[0][i] || got[1][i] || got[size+quiet][i] || got[i][0] || got[i][1] || got[i][size+quiet] {
			t.Fatal("the border is not light")
		}
	}
	if lines := strings.Count(picture(code), "\n"); lines > 30 || utf8.RuneCountInString(picture(code)) > 30*60 {
		t.Errorf("%d lines do not fit a terminal", lines)
	}
}

func TestATextThatFitsNoPictureHasNone(t *testing.T) {
	if picture(strings.Repeat("A", 10_000)) != "" {
		t.Error("a picture of 10,000 letters")
	}
}
