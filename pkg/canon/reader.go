package canon

import (
	"bytes"
	"strconv"
)

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
	order   []int32  // scratch of closeObject
	parts   []byte   // scratch of permute
	late    []late   // errors that a lenient profile finds on writing
}

// NewReader reads the one document of src. Spans index src; the Reader does not change it.
func NewReader(src []byte) *Reader { return &Reader{src: src} }

// Valid tells whether src is one document as C1 wants it; the error is an *Error.
func Valid(src []byte) error {
	r := NewReader(src)
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

// Members passes the object at the cursor and calls each for every member, the cursor at its value. Each must consume
// exactly that value, by Skip, Members or Elements. The name has its escapes resolved and is in NFC (C3); it is part
// of the document where it can be, and valid during the call only. A duplicate name is found at the object's end.
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
		if err := each(r.members[len(r.members)-1].key); err != nil {
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

// value passes the value at the cursor, white space before it already passed, and writes it when writing.
func (r *Reader) value() *Error {
	if r.pos >= len(r.src) {
		return r.noValue("a value")
	}
	start := r.pos
	switch c := r.src[start]; c {
	case '"':
		t, err := r.scan()
		if err != nil {
			return err
		}
		if r.fields != nil && r.fields.declared {
			return r.datetime(start)
		}
		if r.writing {
			r.writeString(start, t)
		}
		return nil
	case '{':
		return r.object()
	case '[':
		return r.array()
	case 't':
		return r.literal("true")
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	case 'N':
		return r.nonFinite("NaN")
	case 'I':
		return r.nonFinite("Infinity")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if c == '-' && start+1 < len(r.src) && r.src[start+1] == 'I' {
			return r.nonFinite("-Infinity")
		}
		integer, err := r.number()
		if err != nil {
			return err
		}
		if r.fields != nil && r.fields.declared {
			return r.notDatetime(start)
		}
		if r.writing {
			return r.writeNumber(start, integer)
		}
		return nil
	}
	return r.noValue("a value")
}

func (r *Reader) literal(w string) *Error {
	start := r.pos
	if err := r.word(w); err != nil {
		return err
	}
	if r.fields != nil && r.fields.declared && w != "null" {
		return r.notDatetime(start)
	}
	if r.writing {
		r.out = append(r.out, w...)
	}
	return nil
}

// object passes and writes the object at the cursor.
func (r *Reader) object() *Error {
	if r.fields != nil && r.fields.declared {
		return r.notDatetime(r.pos)
	}
	base, start, fields := len(r.members), len(r.out), r.fields
	if r.writing {
		r.out = append(r.out, '{')
	}
	empty, err := r.open('}')
	for more := !empty; more; {
		if err != nil {
			return err
		}
		if err := r.name(); err != nil {
			return err
		}
		if fields != nil {
			r.fields = fields.child(string(r.members[len(r.members)-1].key))
		}
		if err := r.value(); err != nil {
			return err
		}
		if more, err = r.more('}'); err != nil {
			return err
		}
		if r.writing {
			r.endMember(more)
		}
	}
	if err != nil {
		return err
	}
	r.fields = fields
	return r.closeObject(base, start)
}

// array passes and writes the array at the cursor.
func (r *Reader) array() *Error {
	if r.fields != nil && r.fields.declared {
		return r.notDatetime(r.pos)
	}
	fields, mark := r.fields, len(r.late)
	if r.writing {
		r.out = append(r.out, '[')
	}
	empty, err := r.open(']')
	if err != nil {
		return err
	}
	more := !empty
	for i := 0; more; i++ {
		if fields != nil {
			r.fields = fields.child(strconv.Itoa(i))
		}
		if err := r.value(); err != nil {
			return err
		}
		if more, err = r.more(']'); err != nil {
			return err
		}
		if r.writing && more {
			r.out = append(r.out, ',')
		}
		r.late = r.late[:min(len(r.late), mark+1)]
	}
	r.fields = fields
	r.depth--
	if r.writing {
		r.out = append(r.out, ']')
	}
	return nil
}

// open enters the array or object at the cursor, and leaves the cursor at its first name or value.
func (r *Reader) open(closing byte) (empty bool, err *Error) {
	if r.depth == MaxDepth {
		return false, r.fail(CodeTooDeep, r.pos, "arrays and objects nest deeper than "+strconv.Itoa(MaxDepth))
	}
	r.depth++
	r.pos++
	r.space()
	if r.pos < len(r.src) && r.src[r.pos] == closing {
		r.pos++
		return true, nil
	}
	return false, nil
}

// more passes the comma or the closing bracket after a member or element, and the white space after a comma.
func (r *Reader) more(closing byte) (bool, *Error) {
	if r.pos < len(r.src) && r.src[r.pos] <= ' ' {
		r.space()
	}
	if r.pos < len(r.src) {
		switch r.src[r.pos] {
		case ',':
			r.pos++
			r.space()
			return true, nil
		case closing:
			r.pos++
			return false, nil
		}
	}
	return false, r.unexpected("',' or '" + string(rune(closing)) + "'")
}
