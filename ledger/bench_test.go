package ledger

import (
	"crypto/ed25519"
	"testing"
)

func BenchmarkCanonical(b *testing.B) {
	for _, k := range []Kind{KindAck, KindOpen} {
		body, _, err := split(sealed(b, sampleOf(b, k)).Wire)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(k), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if !Canonical(body) {
					b.Fatal("it is not canonical")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	wire := goldenRecord(b).Wire
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(wire); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseAndVerify(b *testing.B) {
	wire := goldenRecord(b).Wire
	b.ReportAllocs()
	for b.Loop() {
		r, err := Parse(wire)
		if err != nil || r.Verify(Conversation) != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerifyAlone is the baseline: Ed25519 over the same bytes, and nothing else.
func BenchmarkVerifyAlone(b *testing.B) {
	r := goldenRecord(b)
	body, sig := taken(r.Wire)
	message := toBeSigned(Conversation, body)
	for b.Loop() {
		if !ed25519.Verify(r.Device[:], message, sig) {
			b.Fatal("it does not verify")
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	s, key := sampleOf(b, KindAck), testKey(0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Seal(key, s.header, s.content); err != nil {
			b.Fatal(err)
		}
	}
}
