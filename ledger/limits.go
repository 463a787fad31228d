package ledger

// Limits of the format. They are part of the contract between computers: every node refuses the
// same bytes for ever.
const (
	// RecordBytesMax is the size of one record on the wire, signature included: the document's
	// 8,000-character cap, one character being one octet (P25).
	RecordBytesMax = 8000
	// FrameBytesMax is the size of one frame of the catch-up and pairing protocols.
	FrameBytesMax = 64 << 10
	// DepthMax is how deep arrays and maps may nest in a record; the outermost map has depth 0.
	DepthMax = 8
	// FilesMax is how many files one conversation can hold (P17).
	FilesMax = 25
	// PartiesMax is how many parties one conversation can hold.
	PartiesMax = 50
	// AnswersMax is how many records one record may answer.
	AnswersMax = 64
	// DepsMax is how many roster heads a roster record may name.
	DepsMax = 16
	// LamportMax is the largest logical time.
	LamportMax = 1 << 40
	// LamportJumpMax is how far a record's logical time may lie above its predecessor's.
	LamportJumpMax = 1_000_000
	// PathBytesMax is the length of one path in a record.
	PathBytesMax = 1024
	// ListingsMax is how many ledgers one list frame names.
	ListingsMax = 1000
	// HaveMax is how many chains one have frame names.
	HaveMax = 1000
)
