package thread

import (
	"bytes"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
)

// object writes the members of one JSON object, in any order: canon sorts them afterwards.
type object struct{ out []byte }

func (o *object) name(name string) {
	if len(o.out) == 0 {
		o.out = append(o.out, '{')
	} else {
		o.out = append(o.out, ',')
	}
	o.out = append(canon.QuoteASCII(o.out, []byte(name)), ':')
}

func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.out = append(o.out, value...)
}

func (o *object) text(name, value string) {
	o.name(name)
	o.out = canon.QuoteASCII(o.out, []byte(value))
}

func (o *object) integer(name string, value int) {
	o.name(name)
	o.out = strconv.AppendInt(o.out, int64(value), 10)
}

// bytes closes the object.
func (o *object) bytes() []byte {
	if len(o.out) == 0 {
		return []byte("{}")
	}
	return append(o.out, '}')
}

func list(items [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
}

func textList(texts []string) []byte {
	items := make([][]byte, len(texts))
	for i, text := range texts {
		items[i] = quoted(text)
	}
	return list(items)
}

func quoted(text string) []byte { return canon.QuoteASCII(nil, []byte(text)) }

var null = []byte("null")

// without gives an object less its members of some names.
func without(v canon.Value, names ...string) []byte {
	o := object{make([]byte, 0, len(v.Raw())+1)}
next:
	for _, m := range v.Members() {
		for _, name := range names {
			if m.Name == name {
				continue next
			}
		}
		o.raw(m.Name, m.Value.Raw())
	}
	return o.bytes()
}
