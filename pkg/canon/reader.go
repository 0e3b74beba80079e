package canon

import "bytes"

// MaxDepth is how deep arrays and objects may nest: a lone array is at depth 1 (C1).
const MaxDepth = 256

// Kind is the JSON type of a value.
type Kind uint8

// The kinds.
const (
	Invalid Kind = iota // no value
	Null
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"invalid", "null", "boolean", "number", "string", "array", "object"}

// String gives the JSON word: null, boolean, number, string, array, object; "invalid" for none.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Invalid]
}

// Span is a half-open range of byte offsets in a document.
type Span struct{ Start, End int }

// Reader walks one document strictly (C1), in one pass. It keeps its first error: every later call returns that.
// The same code writes canonical bytes when form.Profile asks for them (Append).
type Reader struct {
	src   []byte
	pos   int
	depth int
	// beyond is the offset after the last number that json-v1 refuses (C5).
	beyond int
	err    *Error
	form   Form

	writing  bool
	decimals int    // of C5
	out      []byte // canonical bytes so far
	fields   *field // declared datetimes at and below the cursor (C8); nil for none

	members []member // of all open objects, innermost last
	names   []byte   // their names, where these are not their own bytes in the document
	order   []int32  // scratch of closeObject
	parts   []byte   // scratch of permute
	late    []late   // errors that a lenient profile finds on writing

	replaced bool // the object closed last held a name twice, under a lenient profile
	unlike   int  // offset after the last place that dbl would write in another way

	// First room for members and order: most documents are small, and then need no other memory.
	fewMembers [10]member
	fewOrder   [10]int32
}

// NewReader reads the one document of src. Spans index src; the Reader does not change it.
func NewReader(src []byte) *Reader {
	r := &Reader{src: src}
	r.members, r.order = r.fewMembers[:0], r.fewOrder[:0]
	return r
}

// Reset begins another document, in the memory of the one before.
func (r *Reader) Reset(src []byte) {
	*r = Reader{src: src, members: r.members[:0], names: r.names[:0], order: r.order[:0], parts: r.parts[:0], late: r.late[:0]}
}

// Valid tells whether src is one document as C1 wants it; the error is an *Error.
func Valid(src []byte) error {
	r := kept.Get().(*Reader)
	defer r.release()
	r.src = src
	if _, err := r.Skip(); err != nil {
		return err
	}
	return r.End()
}

// Offset gives the cursor in bytes.
func (r *Reader) Offset() int { return r.pos }

// Beyond gives the offset in bytes after the last number read that json-v1 has no form for, 10^309 or more in
// magnitude (C5); 0 when there was none. C1 allows such a number, so only who canonicalises it must refuse it.
func (r *Reader) Beyond() int { return r.beyond }

// Kind gives the kind of the value at the cursor by its first byte, after white space; Invalid if none begins there.
func (r *Reader) Kind() Kind {
	r.space()
	if r.pos >= len(r.src) || r.err != nil {
		return Invalid
	}
	return kindOf(r.src[r.pos])
}

func kindOf(first byte) Kind {
	switch first {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	if first == '-' || isDigit(first) {
		return Number
	}
	return Invalid
}

// Skip passes the value at the cursor, checks the whole of it (C1: syntax, UTF-8, surrogates, duplicate names, also
// after NFC, depth) and gives its span. The error is an *Error.
func (r *Reader) Skip() (Span, error) {
	if r.err != nil {
		return Span{}, r.err
	}
	r.space()
	start := r.pos
	if err := r.value(); err != nil {
		return Span{}, err
	}
	return Span{start, r.pos}, nil
}

// SkipSame passes the value at the cursor if it is byte for byte known: an array or an object that a Reader has passed at
// this depth or deeper in another document. What is valid there is valid here, so nothing is looked at twice.
func (r *Reader) SkipSame(known []byte) bool {
	if r.err != nil || len(known) < len("[]") {
		return false
	}
	r.space()
	if !bytes.HasPrefix(r.src[r.pos:], known) {
		return false
	}
	r.pos += len(known)
	r.unlike = r.pos // nobody has looked
	return true
}

// SkipSameBut is SkipSame where a string of known, which is no name, may be another: known holds it at hole. It gives the
// span of the string in this document.
func (r *Reader) SkipSameBut(known []byte, hole Span) (Span, bool) {
	r.space()
	start, at := r.pos, r.pos+hole.Start
	if r.err != nil || at >= len(r.src) || r.src[at] != '"' || !bytes.HasPrefix(r.src[start:], known[:hole.Start]) {
		return Span{}, false
	}
	r.pos = at
	if _, err := r.scan(); err != nil {
		return Span{}, false
	}
	text, rest := Span{at, r.pos}, known[hole.End:]
	if !bytes.HasPrefix(r.src[r.pos:], rest) {
		r.pos = start
		return Span{}, false
	}
	r.pos += len(rest)
	r.unlike = r.pos // nobody has looked
	return text, true
}

// Members passes the object at the cursor and calls each for every member, the cursor at its value. Each must consume
// exactly that value, by Skip, Members or Elements. The name has its escapes resolved and is in NFC (C3); it is
// valid during the call only, and part of the document where nothing had to change. A duplicate name is found at the object's end.
// The error is an *Error, or what each returned.
func (r *Reader) Members(each func(name []byte) error) error {
	if err := r.need('{', "an object"); err != nil {
		return err
	}
	base := len(r.members)
	empty, err := r.open('}')
	for more := !empty; more && err == nil; {
		if err := r.name(); err != nil {
			return err
		}
		if err := each(r.key(&r.members[len(r.members)-1])); err != nil {
			return err
		}
		if r.err != nil {
			return r.err
		}
		more, err = r.more('}')
	}
	if err == nil {
		err = r.closeObject(base, 0)
	}
	if err != nil {
		return err
	}
	return nil
}

// Elements passes the array at the cursor and calls each for every element, the cursor at its value, which each must
// consume, by Skip, Members or Elements. The error is an *Error, or what each returned.
func (r *Reader) Elements(each func(i int) error) error {
	if err := r.need('[', "an array"); err != nil {
		return err
	}
	empty, err := r.open(']')
	more := !empty
	for i := 0; more && err == nil; i++ {
		if err := each(i); err != nil {
			return err
		}
		if r.err != nil {
			return r.err
		}
		more, err = r.more(']')
	}
	if err != nil {
		return err
	}
	r.depth--
	return nil
}

// End checks that only white space follows (C1: no trailing text). The error is an *Error.
func (r *Reader) End() error {
	if r.err != nil {
		return r.err
	}
	r.space()
	if r.pos < len(r.src) {
		return r.unexpected("the end of the input")
	}
	return nil
}

// fail records the first error; r.err is what every later call returns.
func (r *Reader) fail(code string, offset int, detail string) *Error {
	r.err = newError(r.src, code, offset, detail)
	return r.err
}

// unexpected fails at the cursor. Bytes that are no UTF-8 are called that, wherever they stand.
func (r *Reader) unexpected(want string) *Error {
	if r.pos < len(r.src) && r.src[r.pos] >= 0x80 {
		if _, _, err := r.rune(r.pos); err != nil {
			return err
		}
	}
	return r.fail(CodeInvalidJSON, r.pos, "expected "+want+", found "+found(r.src, r.pos))
}

func (r *Reader) need(first byte, want string) error {
	if r.err != nil {
		return r.err
	}
	r.space()
	if r.pos >= len(r.src) || r.src[r.pos] != first {
		return r.noValue(want)
	}
	return nil
}

var byteOrderMark = []byte("\uFEFF")

func (r *Reader) noValue(want string) *Error {
	if r.pos == 0 && bytes.HasPrefix(r.src, byteOrderMark) {
		return r.fail(CodeInvalidJSON, 0, "the input starts with a byte order mark (U+FEFF), which JSON evidence has not")
	}
	return r.unexpected(want)
}
