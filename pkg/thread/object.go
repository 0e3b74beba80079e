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
}

func (o *object) name(name string) {
	if len(o.out) == o.start {
		const room = 256
		o.out = append(slices.Grow(o.out, room), '{')
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
	return literal{o.out[o.start:], !o.unlike}
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

// rooms keeps the room of one text for the next.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// digestObject digests the object that is written, and keeps nothing of it. The error is an *Error with a code of canon.
func digestObject(write func(o *object)) (Digest, error) {
	const most = 1 << 20 // bytes that a room may have to be kept
	room := rooms.Get().(*[]byte)
	o := object{out: (*room)[:0]}
	write(&o)
	d, err := digestOf(o.literal())
	if *room = o.out; cap(o.out) <= most {
		rooms.Put(room)
	}
	return d, err
}

func list(items []literal) literal {
	size := len("[]")
	for _, item := range items {
		size += len(item.json) + len(",")
	}
	l := literal{append(make([]byte, 0, size), '['), true}
	for i, item := range items {
		if i > 0 {
			l.json = append(l.json, ',')
		}
		l.json = append(l.json, item.json...)
		l.inDBL = l.inDBL && item.inDBL
	}
	l.json = append(l.json, ']')
	return l
}

func textList(texts []string) literal {
	out := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = canon.QuoteASCII(out, []byte(text))
	}
	return literal{append(out, ']'), true}
}

func quoted(text string) literal { return literal{canon.QuoteASCII(nil, []byte(text)), true} }

var null = literal{[]byte("null"), true}

// strippedLiteral is stripped for a text that is written again: mostly as it stands.
func strippedLiteral(v canon.Value) (literal, bool) {
	raw := v.Raw()
	if v.Kind() == canon.String && v.InDBL() && len(raw) > len(`""`) && raw[1] > ' ' && raw[len(raw)-2] > ' ' && bytes.IndexByte(raw, '\\') < 0 {
		return literal{raw, true}, true
	}
	text, ok := stripped(v)
	return quoted(text), ok
}

// without writes the members of an object less those of some names.
func (o *object) without(v canon.Value, names ...string) {
	for _, m := range v.Members() {
		if !slices.Contains(names, m.Name) {
			o.raw(m.Name, literalOf(m.Value))
		}
	}
}
