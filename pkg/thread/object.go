package thread

import (
	"bytes"
	"slices"
	"strconv"
	"sync"

	"github.com/dmpl/dmpl/pkg/canon"
)

// literal is a JSON text. One that stands in the form of dbl need not be read again to be digested.
type literal struct {
	json  []byte
	inDBL bool
}

func literalOf(v canon.Value) literal { return literal{v.Raw(), v.InDBL()} }

// object writes the members of one JSON object. They may come in any order, and the text is in the form of dbl where they
// come in the order of their names.
type object struct {
	out    []byte // from start on
	start  int
	last   string // name
	unlike bool   // the text is not in the form of dbl
	room   *room  // that it stands in; nil for memory of its own
}

func (o *object) name(name string) {
	if len(o.out) == o.start {
		const first = 256
		o.out = append(slices.Grow(o.out, first), '{')
	} else {
		o.out = append(o.out, ',')
		o.unlike = o.unlike || name <= o.last
	}
	o.last = name
	o.out = append(canon.QuoteASCII(o.out, []byte(name)), ':')
}

func (o *object) raw(name string, value literal) {
	o.name(name)
	o.out = append(o.out, value.json...)
	o.unlike = o.unlike || !value.inDBL
}

func (o *object) text(name, value string) {
	o.name(name)
	o.out = canon.QuoteASCII(o.out, []byte(value))
}

func (o *object) integer(name string, value int) {
	o.name(name)
	o.out = strconv.AppendInt(o.out, int64(value), 10)
}

// literal closes the object.
func (o *object) literal() literal {
	o.end()
	return o.written()
}

// written gives the text, and its room to the next one.
func (o *object) written() literal {
	if o.room != nil {
		o.room.out, o.room.taken = o.out, false
	}
	return literal{slices.Clip(o.out[o.start:]), !o.unlike}
}

func (o *object) end() {
	if len(o.out) == o.start {
		o.out = append(o.out, '{')
	}
	o.out = append(o.out, '}')
}

// object writes a member that is an object in place.
func (o *object) object(name string, write func(inner *object)) {
	o.name(name)
	inner := object{out: o.out, start: len(o.out)}
	write(&inner)
	inner.end()
	o.out, o.unlike = inner.out, o.unlike || inner.unlike
}

// room is memory for texts that are written one after the other. Those of a room that was left are void.
type room struct {
	out   []byte
	taken bool   // by a text that has not ended: another one takes memory of its own
	last  object // that was digested
}

// rooms keeps the rooms that were left.
var rooms = sync.Pool{New: func() any { return new(room) }}

func takeRoom() *room { return rooms.Get().(*room) }

func (r *room) leave() {
	const most = 1 << 20 // bytes that a room may have to be kept
	if cap(r.out) <= most {
		r.out, r.taken = r.out[:0], false
		rooms.Put(r)
	}
}

func (r *room) object() object {
	if r.taken {
		return object{}
	}
	r.taken = true
	return object{out: r.out, start: len(r.out), room: r}
}

// digestObject digests the object that is written, and keeps nothing of it. The error is an *Error with a code of canon.
func digestObject(write func(o *object)) (Digest, error) {
	r := takeRoom()
	defer r.leave()
	r.last = r.object()
	write(&r.last)
	return digestOf(r.last.literal())
}

func (r *room) list(items []literal) literal {
	o := r.object()
	o.out = append(o.out, '[')
	for i, item := range items {
		if i > 0 {
			o.out = append(o.out, ',')
		}
		o.out = append(o.out, item.json...)
		o.unlike = o.unlike || !item.inDBL
	}
	o.out = append(o.out, ']')
	return o.written()
}

func (r *room) texts(texts []string) literal {
	o := r.object()
	o.out = append(o.out, '[')
	for i, text := range texts {
		if i > 0 {
			o.out = append(o.out, ',')
		}
		o.out = canon.QuoteASCII(o.out, []byte(text))
	}
	o.out = append(o.out, ']')
	return o.written()
}

func (r *room) quoted(text string) literal {
	o := r.object()
	o.out = canon.QuoteASCII(o.out, []byte(text))
	return o.written()
}

// The values that are written where there is none.
var (
	null      = literal{[]byte("null"), true}
	emptyList = literal{[]byte("[]"), true}
)

// sorted gives the stripped texts of a list in order: mostly the list as it stands.
func (r *room) sorted(v canon.Value) (literal, error) {
	if v.InDBL() && ascending(v.Elements()) {
		return literalOf(v), nil
	}
	texts, err := sortedTexts(v)
	return r.texts(texts), err
}

// ascending tells that the elements of a list in the form of dbl are texts in order which stripping leaves alone.
func ascending(elements []canon.Value) bool {
	for i := range elements {
		if !isPlain(elements[i].Raw()) || i > 0 && bytes.Compare(inside(elements[i-1]), inside(elements[i])) > 0 {
			return false
		}
	}
	return true
}

// inside gives the text of a string that is its own bytes.
func inside(v canon.Value) []byte { return v.Raw()[1 : len(v.Raw())-1] }

// isPlain tells that a JSON text in the form of dbl is a string that is its own bytes, with no white space at its ends.
func isPlain(raw []byte) bool {
	return len(raw) > len(`""`) && raw[0] == '"' && raw[1] > ' ' && raw[len(raw)-2] > ' ' && bytes.IndexByte(raw, '\\') < 0
}

// stripped is the function of that name for a text that is written again: mostly as it stands.
func (r *room) stripped(v canon.Value) (literal, bool) {
	if v.InDBL() && isPlain(v.Raw()) {
		return literalOf(v), true
	}
	text, ok := stripped(v)
	return r.quoted(text), ok
}

// without writes the members of an object less those of some names.
func (o *object) without(v canon.Value, names ...string) {
	members := v.Members()
	for i := range members { // in place: a member is large to copy
		if m := &members[i]; !slices.Contains(names, m.Name) {
			o.raw(m.Name, literalOf(m.Value))
		}
	}
}
