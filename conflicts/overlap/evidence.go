package overlap

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/parley-mesh/parley/detect"
)

// classesOf says of everything in a digest how it changes, as far as a conflict's evidence tells changes apart. A new
// file and an edited one are both edits.
func classesOf(d *detect.Digest) map[string]byte {
	classes := map[string]byte{}
	for _, u := range d.Upcoming {
		classes[u.Path] = opClass(u.Op)
	}
	for i := range d.Files {
		f := &d.Files[i]
		if f.From != "" {
			classes[f.From] = opClass(f.Op)
		}
		classes[f.Path] = opClass(f.Op)
	}
	for i := range d.Symbols {
		c := &d.Symbols[i]
		classes[c.Symbol.ID] = 16 + 4*byte(c.Change) + byte(c.Verdict)
		if c.From != "" {
			classes[c.From] = 16 + 4*byte(c.Change) + byte(c.Verdict)
		}
	}
	for i := range d.Contracts {
		c := &d.Contracts[i]
		classes[c.Contract.ID] = 16 + 4*byte(c.Change) + byte(c.Verdict)
		if c.From != "" {
			classes[c.From] = 16 + 4*byte(c.Change) + byte(c.Verdict)
		}
	}
	return classes
}

func opClass(op detect.Op) byte {
	if op == detect.Add {
		op = detect.Modify
	}
	return byte(op)
}

// trial is what a side is about to do, beyond what its records say.
type trial struct {
	ref     string
	classes map[string]byte
}

// evidence sums up what a finding rests on: its kind, what it is about, and how each side changes that. Confidence and
// severity are not in it: the one is a likeness that moves with every line, the other a policy's. Of an exclusive claim
// it does not matter what is done to the path.
func (f *Fold) evidence(one *detect.Finding, try *trial) [16]byte {
	var b []byte
	text := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	text(string(one.Kind))
	text(string(one.Evidence))
	b = append(b, byte(number(one.Exclusive)), byte(number(one.Regenerate)))
	for _, about := range one.About {
		text(about)
		for _, ref := range one.Sides {
			class := f.byRef[ref].classes[about]
			if try != nil && try.ref == ref && class == 0 {
				class = try.classes[about]
			}
			if one.Exclusive {
				class = 0
			}
			b = append(b, class)
		}
	}
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}
