package detect

// Symbol is one declaration. Locals of functions are no symbols.
type Symbol struct {
	// ID is sym:<language>:<path>#<name>, the language one of ts, js, py, go, rs, java (tsx and jsx fold into ts
	// and js), the name dotted through its containers (A.m; the method M of *T is T.M). Overloads of one name
	// share an id; other declarations of a name that the file already has end in ~2, ~3 and so on.
	ID        string
	Kind      SymbolKind
	Container string // the id of the symbol around it, "" at the top of the file
	Exported  bool   // other files can use it
	Test      bool   // in a test file, or a test itself
	// Package is the id under which other packages import it, pkg:<manager>:<package>#<name>, or "". Of a symbol that moved it
	// is the old one, since that is what its users know.
	Package   string
	Line      uint32 // first line of the declaration, from 1
	Lines     uint32 // how many
	Signature Signature
	// Hashes are of normalised tokens: never of comments, spaces or the place in the file. A container's hashes
	// leave out the members that are symbols themselves.
	SignatureHash uint64
	BodyHash      uint64
	ShapeHash     uint64 // of the body with its own names taken out: the same for renamed copies
}

// SymbolKind is what a symbol is.
type SymbolKind uint8

// The kinds of symbols.
const (
	Function SymbolKind = iota + 1
	Method
	Class
	Interface
	Type // an alias, a struct, a union
	Enum
	Variable // also constants
	Field    // also members of enums
	Module   // a namespace
)

// Signature is a declaration as its users see it, in normal form.
type Signature struct {
	TypeParams []Param
	Receiver   string
	Params     []Param
	Result     string   // several results are joined by ", "; "" when none is written
	Modifiers  []string // ascending: async, static, abstract, readonly, private, protected, decorators, …
	Bases      []string // extends, implements, embeds
	Text       string   // for people, one line
	// Overloads are the other members of an overload set, in the order of the file.
	Overloads []Signature
}

// Param is one parameter, value or type.
type Param struct {
	Name     string
	Type     string // the constraint of a type parameter; "" when none is written
	Kind     ParamKind
	Optional bool // may be left out: x?, or with a default
}

// ParamKind is how an argument reaches a parameter.
type ParamKind uint8

// The kinds of parameters.
const (
	Ordinary ParamKind = iota
	PositionalOnly
	KeywordOnly
	Variadic
	KeywordVariadic
)

// Change is what happened to a symbol or a contract, the gravest that did.
type Change uint8

// The changes, by gravity. Moved is to another file or name with the same body: From names the old id.
const (
	Body Change = iota + 1
	Added
	Moved
	SignatureChanged
	Removed
)

// Verdict is what a change means for those who use the thing.
type Verdict uint8

// The verdicts. CannotTell is the answer wherever the whole program would have to be known, and wherever a
// parse was not clean on both sides.
const (
	CannotTell Verdict = iota
	Compatible
	Breaking
)

// SymbolChange is one symbol that differs from Base.
type SymbolChange struct {
	Symbol  Symbol // as it is now; as it was when it was removed
	From    string // the old id of a moved symbol
	Change  Change
	Verdict Verdict
	Why     []string // what was found, for people: "parameter currency added without a default"
}

// VariadicAdded is why a function changed to which calls still fit: its type is another one, so that only who passes the function
// itself on is broken.
const VariadicAdded = "variadic parameter added at the end"

// ContractKind is what others rely on (C4).
type ContractKind uint8

// The kinds of contracts.
const (
	SymbolContract ContractKind = iota + 1 // an exported symbol
	RouteContract                          // an HTTP route
	SchemaContract                         // an exported zod schema
)

// Contract is one thing that a repository promises.
type Contract struct {
	// ID is http:<METHOD> <path> with every path parameter written {}, or zod:<language>:<path>#<name>.
	ID      string
	Kind    ContractKind
	Path    string // where it is declared
	Line    uint32
	Handler string   // the symbol that serves a route, "" when it is not known
	Router  string   // in a Unit, the router that a route was given to; "" once mounts were followed
	Tail    bool     // of a route only the end of its path is known: its router hangs on one that was not seen
	Params  []string // the names of a route's path parameters, in order
	Inputs  string   // a route's request schemas, or a schema's fields, in normal form; "" when unknown
	Outputs string   // a route's response schemas, in normal form
	Hash    uint64   // of the handler's body, so that changed behaviour is seen
}

// ContractChange is one route or schema that differs from Base. A route whose handler changed but whose
// signature did not has Change Body.
type ContractChange struct {
	Contract Contract // as it is now; as it was when it was removed
	From     string   // the old id of a moved route
	Change   Change
	Verdict  Verdict
	Why      []string
}

// Reference is one use of a symbol or a contract.
type Reference struct {
	Kind ReferenceKind
	// Target is the id of what is used: a symbol's, pkg:<manager>:<package>#<name>, http:<METHOD> <path> with {}
	// for every part that is not known before the program runs (METHOD * when the method is not), or a schema's.
	Target string
	Tail   bool   // of a route only the end of its path is known: the base URL is not
	Sure   bool   // resolved to a declaration; otherwise by name and likelihood
	In     string // the id of the symbol that holds the use, "" at the top of the file
	Path   string
	Line   uint32
}

// ReferenceKind is how something is used.
type ReferenceKind uint8

// The kinds of references.
const (
	Import ReferenceKind = iota + 1
	Call
	TypeUse
	Extend
	Request // HTTP
	SchemaUse
)

// Unit is one version of one file, read as code.
type Unit struct {
	Path       string
	Language   string // "" when it is none that is known
	Quality    Quality
	Symbols    []Symbol    // in the order of the file
	Contracts  []Contract  // in the order of the file
	References []Reference // in the order of the file
	Prints     []uint64    // winnowing fingerprints of the whole file, see [Winnow]

	// What only [Reader.Compare] needs, which sees more than one file. Targets of references in a Unit may still
	// be mod:<module>#<name>, as the file spells it.
	Imports []Binding
	Exports []Binding // also of names that another module declares
	Mounts  []Mount
	Values  []Value // exported constants, for URLs of other files
}

// Value is what an exported constant of a file holds, or the base URL of a client of HTTP that it exports. Text may
// have marks for what still other files say.
type Value struct {
	Name, Text string
	Client     bool
}

// Binding is a name that a file imports or exports: Local stands for Name of Module, which is "" for a name of
// the file itself. The Name "*" is all that the module exports.
type Binding struct {
	Local, Name, Module string
	Line                uint32
}

// Mount says that the routes of one router are served by another, below a prefix. A router is a name of its
// file, or mod:<module>#<name>; the router "" serves from the root.
type Mount struct {
	Prefix, Router, Into string
	Line                 uint32
}

// Outsider is a [Reader] that can name the files it would like to see besides those that changed, of what is at hand:
// unchanged ones, which then stand on both sides of [Reader.Compare].
type Outsider interface {
	Outside(units []Unit) []string
}

// Reader reads code. Its answers depend on nothing but its arguments and [Reader.Grammars].
type Reader interface {
	// Grammars names everything that the answers depend on besides the arguments.
	Grammars() string
	// Read reads one version of a file. It never fails: a file that cannot be read has a Quality that says so.
	Read(path string, content []byte) Unit
	// Compare says what changed from the units before to those after. Renamed files stand on both sides under
	// their own paths; files that did not change may stand on both sides, to resolve names.
	Compare(before, after []Unit) Delta
}
