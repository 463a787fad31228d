package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func sampleCode() InviteCode {
	return InviteCode{
		Kind: InviteComputer, Inviter: device(0), Secret: [16]byte{1, 2, 3, 15: 9},
		Addrs: [][]byte{{4, 127, 0, 0, 1, 6, 0x1f, 0x90}, {}},
	}
}

func TestAnInviteCodeSurvivesTyping(t *testing.T) { // case 53
	c := sampleCode()
	code := c.Encode()
	for _, typed := range []string{code, strings.ToLower(code), " " + code[:20] + "- " + code[20:40] + "\t" + code[40:] + "\n"} {
		if got, err := ParseInviteCode(typed); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%q: read %+v, %v", typed, got, err)
		}
	}
	c.Addrs = [][]byte{{1}, make([]byte, 256), {2}, {3}, {4}}
	if got, err := ParseInviteCode(c.Encode()); err != nil || !reflect.DeepEqual(got.Addrs, [][]byte{{1}, {2}, {3}}) {
		t.Errorf("addresses %v, %v", got.Addrs, err)
	}
	if strings.Contains(c.String(), code[50:60]) || !strings.Contains(c.String(), "invitation") {
		t.Errorf("a log line says %s", c)
	}
}

// never checks that a slip is found, or leaves the code what it was.
func never(t *testing.T, code, typed string) {
	t.Helper()
	got, err := ParseInviteCode(typed)
	if err == nil && got.Encode() != code {
		t.Errorf("%q is read as another code", typed)
	}
	if err != nil && !errors.Is(err, ErrNoCode) && !errors.Is(err, ErrCodeDamaged) && !errors.Is(err, ErrCodeVersion) {
		t.Errorf("%q: %v", typed, err)
	}
}

func TestEverySlipOfOneCharacterIsFound(t *testing.T) { // case 54
	code := sampleCode().Encode()
	const keys = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-. "
	for i := range len(code) {
		for _, key := range keys {
			never(t, code, code[:i]+string(key)+code[i+1:])
			never(t, code, code[:i]+string(key)+code[i:])
		}
		never(t, code, code[:i]+code[i+1:])
		never(t, code, code[:i])
		if i+1 < len(code) {
			never(t, code, code[:i]+code[i+1:i+2]+code[i:i+1]+code[i+2:])
		}
	}
}

func TestEachWrongCodeIsNamed(t *testing.T) { // case 54
	resummed := func(change func(b []byte) []byte) string {
		b, err := codeText.DecodeString(sampleCode().Encode()[len(codePrefix):])
		if err != nil {
			t.Fatal(err)
		}
		b = change(b[:len(b)-2])
		sum := crc16(b)
		return codePrefix + codeText.EncodeToString(append(b, byte(sum>>8), byte(sum)))
	}
	set := func(at int, v byte) string {
		return resummed(func(b []byte) []byte { b[at] = v; return b })
	}
	code := sampleCode().Encode()
	for _, c := range []struct {
		name, typed string
		want        error
	}{
		{"nothing", "", ErrNoCode},
		{"a word", "hello", ErrNoCode},
		{"the next version's prefix", "P2-" + code[3:], ErrCodeVersion},
		{"the next version's bytes", set(0, 2), ErrCodeVersion},
		{"a code for nothing", set(1, 0), ErrCodeDamaged},
		{"a code for something unknown", set(1, 3), ErrCodeDamaged},
		{"four addresses", set(50, 4), ErrCodeDamaged},
		{"an address too few", set(50, 3), ErrCodeDamaged},
		{"an address too many", set(50, 1), ErrCodeDamaged},
		{"an address that is cut", set(51, 200), ErrCodeDamaged},
		{"a tail", resummed(func(b []byte) []byte { return append(b, 0) }), ErrCodeDamaged},
		{"the prefix alone", codePrefix, ErrCodeDamaged},
		{"half of it", code[:len(code)/2], ErrCodeDamaged},
		{"another alphabet", code[:10] + "!" + code[11:], ErrCodeDamaged},
	} {
		if _, err := ParseInviteCode(c.typed); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAPassIsTheSameForEverAndTellsNoSecret(t *testing.T) {
	c := sampleCode()
	if got := fmt.Sprintf("%x", c.Pass()); got != "44caacc09b8a0fc65adaa812963dedde" {
		t.Errorf("the pass is %s", got)
	}
	if id := c.ID(); bytes.Equal(id[:], c.Secret[:]) || [16]byte(id) == c.Pass() {
		t.Error("two names of one code are the same")
	}
}

func TestAProofServesForOneMeetingAlone(t *testing.T) { // case 55
	c := sampleCode()
	n := Nonces{Challenge: [16]byte{1}, Join: [16]byte{2}}
	mac, words := c.JoinMAC(device(9), n, "laptop"), c.WordBits(device(9), n)
	swapped := Nonces{Challenge: n.Join, Join: n.Challenge}
	other := c
	other.Inviter = device(1)
	for name, got := range map[string]struct {
		mac   [32]byte
		words [4]uint16
	}{
		"another joiner":  {c.JoinMAC(device(8), n, "laptop"), c.WordBits(device(8), n)},
		"other nonces":    {c.JoinMAC(device(9), swapped, "laptop"), c.WordBits(device(9), swapped)},
		"another inviter": {other.JoinMAC(device(9), n, "laptop"), other.WordBits(device(9), n)},
	} {
		if got.mac == mac || got.words == words {
			t.Errorf("%s has the same proof or words", name)
		}
	}
	other = c
	other.Secret[0]++
	if other.JoinMAC(device(9), n, "laptop") == mac || c.JoinMAC(device(9), n, "desktop") == mac || other.ID() == c.ID() {
		t.Error("another secret or name has the same proof or id")
	}
	for _, w := range words {
		if w > 2047 {
			t.Errorf("word %d is beyond the list", w)
		}
	}
}
