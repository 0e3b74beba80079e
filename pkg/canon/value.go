package canon

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Value is a node of a parsed document: a tree over spans of the input, meant for small pieces. The zero Value is
// invalid and has nothing below it.
type Value struct {
	raw      []byte
	members  []Member
	elements []Value
}

// Member is one member of an object, its name in NFC (C3) unless ParseAs was told of another profile.
type Member struct {
	Name  string
	Value Value
}

// Parse reads the one document of src as strictly as a Reader does (C1). The Value refers to src, which must not
// change while it is in use. The error is an *Error.
func Parse(src []byte) (Value, error) { return ParseAs(JSONv1, src) }

// ParseAs is Parse for a document that is read as the producer of a profile reads it (C2). Under py-sorted and dbl NaN
// and Infinity are numbers, and of members of one name the last gives the value and the first the place. Only json-v1
// brings names to NFC; under another profile Get and At find what is in NFC already.
func ParseAs(p Profile, src []byte) (Value, error) {
	r := trees.Get().(*treeReader)
	defer r.release()
	r.reset(src, p)
	r.byteOrderMark()
	v, err := r.tree()
	if err != nil {
		return Value{}, err
	}
	if err := r.End(); err != nil {
		return Value{}, err
	}
	return v, nil
}

// treeReader makes the Values of one document. Children are gathered on two stacks, so that each object and each list
// takes exactly the memory it needs.
type treeReader struct {
	Reader
	text     string // the document, for names that stand in it as they are
	members  []Member
	elements []Value
}

// trees keeps the stacks of one document for the next: fresh ones cost as much as reading does.
var trees = sync.Pool{New: func() any { return new(treeReader) }}

func (r *treeReader) reset(src []byte, p Profile) {
	r.Reader = Reader{src: src, members: r.Reader.members[:0], names: r.names[:0], order: r.order[:0], late: r.late[:0]}
	r.form.Profile = p
	r.text = string(src)
}

// release gives the stacks back, without what they point to; large ones are dropped.
func (r *treeReader) release() {
	const most = 1 << 12
	if cap(r.members)+cap(r.elements)+cap(r.Reader.members)+cap(r.names) > most {
		return
	}
	clear(r.members[:cap(r.members)])
	clear(r.elements[:cap(r.elements)])
	r.members, r.elements = r.members[:0], r.elements[:0] // an error leaves them filled
	r.src, r.text, r.err = nil, "", nil
	trees.Put(r)
}

func (r *treeReader) tree() (v Value, err error) {
	kind, start := r.Kind(), r.pos
	switch kind {
	case Object:
		v.members, err = r.object()
	case Array:
		v.elements, err = r.array()
	default:
		_, err = r.Skip()
	}
	v.raw = r.src[start:r.pos]
	return v, err
}

func (r *treeReader) object() ([]Member, error) {
	base := len(r.members)
	err := r.Members(func(name []byte) error {
		m := Member{Name: r.nameOf(name)}
		var err error
		m.Value, err = r.tree()
		r.members = append(r.members, m)
		return err
	})
	members := slices.Clone(r.members[base:])
	r.members = r.members[:base]
	if r.replaced {
		r.replaced = false
		members = lastValues(members)
	}
	return members, err
}

// nameOf gives the name of the innermost member.
func (r *treeReader) nameOf(name []byte) string {
	if m := &r.Reader.members[len(r.Reader.members)-1]; !m.odd {
		return r.text[m.key : m.key+m.size]
	}
	return string(name)
}

func (r *treeReader) array() ([]Value, error) {
	base := len(r.elements)
	err := r.Elements(func(int) error {
		element, err := r.tree()
		r.elements = append(r.elements, element)
		return err
	})
	elements := slices.Clone(r.elements[base:])
	r.elements = r.elements[:base]
	return elements, err
}

// lastValues keeps each name once, at its first place and with its last value, as Python's dictionaries do (C2).
func lastValues(members []Member) []Member {
	const few = 16
	var places map[string]int
	if len(members) > few {
		places = make(map[string]int, len(members))
	}
	kept := members[:0]
	for _, m := range members {
		at, again := places[m.Name]
		if places == nil {
			at = slices.IndexFunc(kept, func(k Member) bool { return k.Name == m.Name })
			again = at >= 0
		}
		if again {
			kept[at].Value = m.Value
			continue
		}
		if places != nil {
			places[m.Name] = len(kept)
		}
		kept = append(kept, m)
	}
	return kept
}

// Kind gives the value's JSON type; Invalid for the zero Value.
func (v Value) Kind() Kind {
	if len(v.raw) == 0 {
		return Invalid
	}
	if v.raw[0] == 'N' || v.raw[0] == 'I' {
		return Number // the tokens that only a lenient profile reads
	}
	return kindOf(v.raw[0])
}

// Text gives the text of a string, its escapes resolved; false for another kind. A surrogate that stands alone, which
// only dbl and py-sorted read, is the three bytes that UTF-8 would give its code point.
func (v Value) Text() (string, bool) {
	if v.Kind() != String {
		return "", false
	}
	inner := v.raw[1 : len(v.raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	return string(unescape(nil, inner)), true
}

// Raw gives the value's bytes in the document, without white space around them.
func (v Value) Raw() []byte { return v.raw }

// Members gives an object's members in document order; none for another kind.
func (v Value) Members() []Member { return v.members }

// Elements gives an array's elements; none for another kind.
func (v Value) Elements() []Value { return v.elements }

// Get gives the member of that name, compared in NFC (C3).
func (v Value) Get(name string) (Value, bool) {
	name = string(NFC([]byte(name)))
	i := slices.IndexFunc(v.members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Value{}, false
	}
	return v.members[i].Value, true
}

// At gives the value that a JSON Pointer names (RFC 6901); "" is the value itself.
func (v Value) At(pointer string) (Value, bool) {
	if pointer == "" {
		return v, true
	}
	if pointer[0] != '/' {
		return Value{}, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		next, ok := v.step(pointerUnescape.Replace(token))
		if !ok {
			return Value{}, false
		}
		v = next
	}
	return v, true
}

func (v Value) step(token string) (Value, bool) {
	if v.Kind() == Object {
		return v.Get(token)
	}
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(v.elements) || strconv.Itoa(i) != token {
		return Value{}, false
	}
	return v.elements[i], true
}
