package canon

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
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
	r := NewReader(src)
	r.form.Profile = p
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

func (r *Reader) tree() (v Value, err error) {
	kind, start := r.Kind(), r.pos
	switch kind {
	case Object:
		err = r.Members(func(name []byte) error {
			member := Member{Name: string(name)}
			member.Value, err = r.tree()
			v.members = append(v.members, member)
			return err
		})
		if r.form.Profile.lenient() {
			v.members = lastValues(v.members)
		}
	case Array:
		err = r.Elements(func(int) error {
			element, err := r.tree()
			v.elements = append(v.elements, element)
			return err
		})
	default:
		_, err = r.Skip()
	}
	v.raw = r.src[start:r.pos]
	return v, err
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
