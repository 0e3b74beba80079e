package canon

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is a node of a parsed document: a tree over spans of the input, meant for small pieces. The zero Value is
// invalid and has nothing below it.
type Value struct {
	raw      []byte
	members  []Member
	elements []Value
	inDBL    bool // but for DEL
	folded   bool // members and elements stand in raw only
}

// Member is one member of an object, its name in NFC (C3) unless ParseAs was told of another profile.
type Member struct {
	Name  string
	Value Value
}

// Parse reads the one document of src as strictly as a Reader does (C1). The Value refers to src, which must not
// change while it is in use. The error is an *Error.
func Parse(src []byte) (Value, error) { return ParseAs(JSONv1, src) }

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
	text, ok := v.TextBytes()
	return string(text), ok
}

// TextBytes is Text as bytes, which are a part of the document where the string has no escape: they must not be changed.
func (v Value) TextBytes() ([]byte, bool) {
	if len(v.raw) == 0 || v.raw[0] != '"' {
		return nil, false
	}
	inner := v.raw[1 : len(v.raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	return unescape(make([]byte, 0, len(inner)), inner), true
}

// Raw gives the value's bytes in the document, without white space around them.
func (v Value) Raw() []byte { return v.raw }

// Members gives an object's members in document order; none for another kind.
func (v Value) Members() []Member { return v.unfolded().members }

// Elements gives an array's elements; none for another kind.
func (v Value) Elements() []Value { return v.unfolded().elements }

// Get gives the member of that name, compared in NFC (C3).
func (v Value) Get(name string) (Value, bool) {
	found := v.get(name)
	if found == nil {
		return Value{}, false
	}
	return *found, true
}

func (v *Value) get(name string) *Value {
	if !ascii(name) {
		name = string(NFC([]byte(name)))
	}
	v = v.unfolded()
	if v.inDBL { // then names ascend
		i := sort.Search(len(v.members), func(i int) bool { return v.members[i].Name >= name })
		if i < len(v.members) && v.members[i].Name == name {
			return &v.members[i].Value
		}
		return nil
	}
	for i := range v.members { // in place: a Member is large to copy
		if v.members[i].Name == name {
			return &v.members[i].Value
		}
	}
	return nil
}

// ascii tells that NFC leaves a text alone.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// At gives the value that a JSON Pointer names (RFC 6901); "" is the value itself.
func (v Value) At(pointer string) (Value, bool) {
	if pointer == "" {
		return v, true
	}
	if pointer[0] != '/' {
		return Value{}, false
	}
	at := &v // Values are large to copy
	for rest, more := pointer[1:], true; more; {
		var token string
		token, rest, more = strings.Cut(rest, "/")
		if strings.IndexByte(token, '~') >= 0 {
			token = pointerUnescape.Replace(token)
		}
		if at = at.step(token); at == nil {
			return Value{}, false
		}
	}
	return *at, true
}

// step gives the value of a member or an element; nil where there is none.
func (v *Value) step(token string) *Value {
	if v.Kind() == Object {
		return v.get(token)
	}
	i, err := strconv.Atoi(token)
	v = v.unfolded()
	if err != nil || i < 0 || i >= len(v.elements) || strconv.Itoa(i) != token {
		return nil
	}
	return &v.elements[i]
}
