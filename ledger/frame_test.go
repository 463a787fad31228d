package ledger

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestFramesOfAStreamAreReadOneAfterAnother(t *testing.T) {
	var stream bytes.Buffer
	for _, s := range frames() {
		if err := WriteFrame(&stream, s.frame); err != nil {
			t.Fatal(err)
		}
	}
	r := bufio.NewReader(iotest.OneByteReader(&stream))
	for _, s := range frames() {
		f, err := ReadFrame(r)
		if err != nil || f.frame() != s.frame.frame() {
			t.Fatalf("%s: read %T, %v", s.name, f, err)
		}
	}
	if _, err := ReadFrame(r); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestAStreamCutOffInsideAFrameIsNoCleanEnd(t *testing.T) {
	var stream bytes.Buffer
	if err := WriteFrame(&stream, &Buckets{Digests: make([]byte, 4096)}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 3, stream.Len() - 1} {
		if _, err := ReadFrame(bufio.NewReader(bytes.NewReader(stream.Bytes()[:n]))); err != io.ErrUnexpectedEOF {
			t.Errorf("cut off after %d bytes: %v", n, err)
		}
	}
}

func TestWhatIsNoFrameIsThePeersFault(t *testing.T) { // case 10
	for name, text := range map[string]string{
		"no length":                       "00",
		"a length in a longer form":       "858000a201090200",
		"a length over 65,536":            "818004",
		"an endless length":               "ffffffffffffffffffff",
		"no map":                          "01f5",
		"an empty map":                    "01a0",
		"no type":                         "03a10200",
		"a type that is text":             "04a1016161",
		"an unknown type":                 "04a101183f",
		"an unknown key":                  "07a3010902001001",
		"a key of text":                   "08a301090200610000",
		"a map that is not sorted":        "05a202000109",
		"a bye without its code":          "03a10109",
		"records of no family":            "2ba40107025820" + strings.Repeat("00", 32) + "0300048140",
		"a false written out":             "07a30103020204f4",
		"an id of the wrong length":       "0aa4010a02070307044100",
		"a digest of the wrong length":    "08a301010201034100",
		"two items":                       "06a20109020000",
		"an item that is cut off by size": "04a2010902",
	} {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := ReadFrame(bufio.NewReader(bytes.NewReader(b))); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: read %+v, %v", name, f, err)
		}
	}
}

func TestAFramesHighKeysArePassedOver(t *testing.T) {
	f, err := DecodeFrame([]byte{0xa3, 1, 9, 2, 4, 0x18, 64, 0xf5})
	if err != nil {
		t.Fatal(err)
	}
	if bye, ok := f.(*Bye); !ok || bye.Code != ByeRefused {
		t.Errorf("read %+v", f)
	}
}

func TestAFrameThatNobodyCouldReadIsNotWritten(t *testing.T) {
	for name, f := range map[string]Frame{
		"a name that is no UTF-8":         &Welcome{Name: "\xff"},
		"no name":                         &Join{Version: 1},
		"a long name":                     &Welcome{Name: string(make([]byte, 65))},
		"a tomb without a spine":          &Tomb{Open: []byte{1}},
		"records of no family":            &Records{Wires: [][]byte{{1}}},
		"records of a family beyond ours": &Records{Wires: [][]byte{{1}}, Family: Work + 1},
		"no records":                      &Records{Family: Roster},
		"more than fit":                   &Records{Family: Roster, Wires: [][]byte{make([]byte, FrameBytesMax)}},
		"too many ledgers":                &List{Scope: ListAll, Entries: make([]Listing, ListingsMax+1)},
		"too many ledgers of a bucket":    &Bucket{Entries: make([]Listing, ListingsMax+1)},
		"a bucket beyond the last":        &Bucket{Index: 256},
		"buckets that are not 256":        &Buckets{Digests: make([]byte, 255*16)},
		"too many chains":                 &Have{Positions: make([]Position, HaveMax+1)},
		"too many pull requests":          &Detail{Authored: make([][2]uint64, ListingsMax+1)},
		"a question without a head":       &Made{Repo: 1, Pull: 2},
		"a press of nothing":              &Press{},
		"a press of an unknown button":    &Press{Action: "push"},
		"a press that hands to nobody":    &Press{Action: PressAssign, Party: PartiesMax},
		"a press for a party to close":    &Press{Action: PressClose, Party: 1},
		"a press of devices to close":     &Press{Action: PressClose, Devices: "a"},
		"a press of no devices":           &Press{Action: PressFork},
		"a press of many devices":         &Press{Action: PressFork, Devices: string(make([]byte, 401))},
		"a long refusal":                  &PressReply{Why: string(make([]byte, 401))},
		"a yes that says why not":         &PressReply{OK: true, Why: "no"},
		"lines of nobody":                 &Lines{Files: []LinesOf{{Path: "a"}}},
		"lines of no file":                &Lines{Holder: id("s")},
		"lines of a path that climbs":     &Lines{Holder: id("s"), Files: []LinesOf{{Path: "../a"}}},
		"lines of one file twice":         &Lines{Holder: id("s"), Files: []LinesOf{{Path: "a"}, {Path: "a"}}},
		"lines of nine files":             &Lines{Holder: id("s"), Files: make([]LinesOf, LinesFilesMax+1)},
		"lines near an endless line":      &Lines{Holder: id("s"), Files: []LinesOf{{Path: "a", Near: 1 << 32}}},
		"lines that are not shared":       &LinesReply{Code: LinesOff, Files: linesOf("+a").Files},
		"lines of an unknown code":        &LinesReply{Code: LinesBusy + 1},
		"a line without a mark":           linesOf("a"),
		"an empty line":                   linesOf(""),
		"a line that is no UTF-8":         linesOf("+\xff"),
		"a line that rings a bell":        linesOf("+\a"),
		"a line that colours":             linesOf("+\x1b[31m"),
		"a line of two":                   linesOf("+a\nb"),
		"a line with a C1 control":        linesOf("+\u009b31m"),
		"a long line":                     linesOf("+" + strings.Repeat("a", LineBytesMax)),
		"no lines":                        linesOf(),
		"too many lines":                  linesOf(slices.Repeat([]string{"+"}, LinesMax+1)...),
		"too large lines":                 linesOf(slices.Repeat([]string{"+" + strings.Repeat("a", 200)}, 20)...),
		"lines from 0":                    &LinesReply{Files: []LinesFile{{Path: "a", Blob: oid("b"), Parts: []LinesPart{{Texts: []string{"+"}}}}}},
		"parts that overlap":              &LinesReply{Files: []LinesFile{{Path: "a", Blob: oid("b"), Parts: []LinesPart{{Start: 2, Texts: []string{"+", "+"}}, {Start: 3, Texts: []string{"+"}}}}}},
		"lines of no content":             &LinesReply{Files: []LinesFile{{Path: "a", Parts: []LinesPart{{Start: 1, Texts: []string{"+"}}}}}},
	} {
		var out bytes.Buffer
		if err := WriteFrame(&out, f); err == nil || out.Len() > 0 {
			t.Errorf("%s: %d bytes, %v", name, out.Len(), err)
		}
	}
}

func linesOf(texts ...string) *LinesReply {
	return &LinesReply{Files: []LinesFile{{Path: "a", Blob: oid("b"), Parts: []LinesPart{{Start: 1, Texts: texts}}}}}
}

func TestAnAnswerOfLinesIsBoundedAsAWhole(t *testing.T) {
	r := &LinesReply{}
	for i := range LinesFilesMax {
		f := linesOf(slices.Repeat([]string{"+" + strings.Repeat("a", 99)}, 39)...).Files[0]
		f.Path = Path([]byte{'a' + byte(i)})
		if r.Files = append(r.Files, f); r.bounded() != (i < 4) {
			t.Errorf("%d files of 3,900 bytes: %v", i+1, r.bounded())
		}
	}
}

func TestNothingVerifiesWithoutAContext(t *testing.T) { // case 4
	h := leaf("open")
	h.V, h.Kind, h.Body, h.Device = Version, "yodel", []byte{0xa0}, device(0)
	body, err := encode.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Family{FamilyUnknown, Work + 1} {
		r, err := Parse(sign(testKey(0), f, body))
		if err != nil {
			t.Fatal(err)
		}
		if !ed25519.Verify(r.Device[:], toBeSigned(f, body), r.Wire[len(r.Wire)-64:]) {
			t.Fatal("the test signs wrongly")
		}
		if err := r.Verify(f); !errors.Is(err, ErrSignature) {
			t.Errorf("family %d: %v", f, err)
		}
	}
}
