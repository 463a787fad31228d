package ledger

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// golden is the vector of the format: a small ack, byte for byte.
const (
	goldenTID  = "aa0251597929cc327835f06b9deb940a5edccfde787ce975d0317f40d59f1eca"
	goldenBody = "ab0101026361636b035820aa0251597929cc327835f06b9deb940a5edccfde787ce975d0317f40d59f1eca" +
		"04582003a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b80548aaaaaaaaaaaaaaaa" +
		"06000958202348f998744212575d85959674f9607ab26f67708a917157472832386337c9040a8158202348f998" +
		"744212575d85959674f9607ab26f67708a917157472832386337c9040c020d1b0000019ad4654d000fa101820102"
	goldenSignature = "5af6faadcb0e686a853fc1e81008d846102cb26d9fad05963c427833ae98af2b6820299dbeb3086be6b059e08462b7" +
		"ee30483f66917f5a7cd3d78ae2d1f3ec0b"
	goldenID = "ff3ef195be334a3e21e24d7eddea23b6e5b63321183d1d5302addb0525e470ea"
)

func testKey(first byte) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = first + byte(i)
	}
	return ed25519.NewKeyFromSeed(seed)
}

func goldenHeader() Header {
	open := ID(sha256.Sum256([]byte("open")))
	return Header{
		Ledger: sampleKey.Thread(), Inc: Incarnation(bytes.Repeat([]byte{0xaa}, 8)),
		Open: open, Re: []ID{open}, Lam: 2, At: 1764500000000,
	}
}

func goldenRecord(t testing.TB) *Record {
	t.Helper()
	r, err := Seal(testKey(0), goldenHeader(), &Ack{Classes: []Class{HasMaster, HasPull}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheGoldenVectorIsWrittenByteForByte(t *testing.T) { // P25
	r := goldenRecord(t)

	if got := r.Ledger.String(); got != goldenTID {
		t.Errorf("thread id %s, want %s", got, goldenTID)
	}
	want := "d28443a10127a058b3" + goldenBody + "5840" + goldenSignature
	if got := hex.EncodeToString(r.Wire); got != want {
		t.Errorf("wire %s\nwant %s", got, want)
	}
	if r.ID.String() != goldenID {
		t.Errorf("id %s, want %s", r.ID, goldenID)
	}
	if err := r.Verify(Conversation); err != nil {
		t.Error(err)
	}
	if err := r.Verify(Roster); err == nil {
		t.Error("a conversation record verifies in a roster")
	}
}
