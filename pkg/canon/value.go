package canon

import (
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

// Member is one member of an object, its name in NFC (C3).
type Member struct {
	Name  string
	Value Value
}

// Parse reads the one document of src as strictly as a Reader does (C1). The Value refers to src, which must not
// change while it is in use. The error is an *Error.
func Parse(src []byte) (Value, error) {
	r := NewReader(src)
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

// Kind gives the value's JSON type; Invalid for the zero Value.
func (v Value) Kind() Kind {
	if len(v.raw) == 0 {
		return Invalid
	}
	return kindOf(v.raw[0])
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
