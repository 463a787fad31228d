package ledger

// Limits of a [LinesReply]. A text is one line of a file behind its mark, in bytes.
const (
	LinesFilesMax  = 8     // of one question
	LinesPartsMax  = 8     // of one file
	LinesMax       = 60    // of one file
	LineBytesMax   = 240   // of one text
	LinesFileMax   = 4000  // of the texts of one file
	LinesReplyMax  = 16000 // of all texts of an answer
	linesNumberMax = 1 << 32
)

// Marks of a line, the first byte of its text.
const (
	LineChanged = '+' // it is not so at the base
	LineAround  = ' ' // it stands there too
)

// Lines asks another computer of the fleet for the lines that a session there has changed. One without a holder says that
// what was told before counts no more; it is answered by a reply without files.
type Lines struct {
	Type   FrameType `cbor:"1,keyasint"`
	Holder ID        `cbor:"2,keyasint,omitzero"`
	Files  []LinesOf `cbor:"3,keyasint,omitempty"` // ascending by path
}

// LinesOf is one file that is asked about.
type LinesOf struct {
	_    struct{} `cbor:",toarray"`
	Path Path
	Near uint64 // line of the base, counted from 0, near which lines are wanted first
}

// LinesReply answers [Lines]. It is shown and forgotten: nobody stores it or passes it on.
type LinesReply struct {
	Type  FrameType   `cbor:"1,keyasint"`
	Code  uint64      `cbor:"2,keyasint"`
	Files []LinesFile `cbor:"3,keyasint,omitempty"` // some of those asked about, in their order
}

// Codes of a [LinesReply].
const (
	LinesHere = 0
	LinesOff  = 1 // nothing is shown: the switch is off there, or nobody here may ask
	LinesBusy = 2 // asked too often
)

// LinesFile is what may be shown of one file.
type LinesFile struct {
	_     struct{} `cbor:",toarray"`
	Path  Path
	Blob  OID  // that the newest record about the path names
	Cut   bool // something is left out
	Parts []LinesPart
}

// LinesPart are some lines that follow each other.
type LinesPart struct {
	_     struct{} `cbor:",toarray"`
	Start uint64   // number of the first line, from 1
	Texts []string
}

func (*Lines) frame() FrameType      { return FrameLines }
func (*LinesReply) frame() FrameType { return FrameLinesReply }

func (f *Lines) bounded() bool {
	if f.Holder == (ID{}) || len(f.Files) == 0 || len(f.Files) > LinesFilesMax {
		return f.Holder == ID{} && len(f.Files) == 0
	}
	for i, one := range f.Files {
		if one.Path.Validate() != nil || one.Near >= linesNumberMax || i > 0 && f.Files[i-1].Path >= one.Path {
			return false
		}
	}
	return true
}

func (r *LinesReply) bounded() bool {
	if r.Code > LinesBusy || len(r.Files) > LinesFilesMax || r.Code != LinesHere && len(r.Files) > 0 {
		return false
	}
	all := 0
	for i := range r.Files {
		n, ok := r.Files[i].bounded()
		if all += n; !ok || all > LinesReplyMax || i > 0 && r.Files[i-1].Path >= r.Files[i].Path {
			return false
		}
	}
	return true
}

// bounded is how many bytes of text there are, and whether everything is within its limits.
func (f *LinesFile) bounded() (size int, ok bool) {
	if f.Path.Validate() != nil || f.Blob == "" || len(f.Parts) == 0 || len(f.Parts) > LinesPartsMax {
		return 0, false
	}
	lines, next := 0, uint64(1)
	for _, p := range f.Parts {
		if len(p.Texts) == 0 || p.Start < next || p.Start >= linesNumberMax {
			return 0, false
		}
		next = p.Start + uint64(len(p.Texts))
		lines += len(p.Texts)
		for _, text := range p.Texts {
			if size += len(text); !plainLine(text) {
				return 0, false
			}
		}
	}
	return size, lines <= LinesMax && size <= LinesFileMax
}

// plainLine reports whether a text is a mark and a line without control characters other than tabs.
func plainLine(text string) bool {
	if text == "" || len(text) > LineBytesMax || text[0] != LineChanged && text[0] != LineAround {
		return false
	}
	for _, r := range text {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return false
		}
	}
	return true
}
