package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Mutation is a document with one thing changed.
type Mutation struct {
	Name string // what was changed, e.g. "/events/0/role: removed"
	Doc  []byte // the changed document, without white space
}

// Mutations gives the mutations of a JSON document, the same ones in the same order for the same bytes. Every value,
// down to the scalars, is in turn replaced by null, by a value of another type (text by a number, a number by text, a
// list by an object and the reverse), texts also by the empty text and by a name that no enumeration has, numbers
// by a negative one; every member is removed; every object gets a member that nobody knows. Other literals and the
// order of members stay as they are. A document that is no JSON has no mutations: it is refused before its shape is
// asked for (CONTRACT C1, V1). The result holds about six copies of the document for each value in it.
//
// Not mutated, since a JSON Schema cannot judge it: the spelling of numbers (C4), duplicate names (C1), and the
// number and order of list elements (V2).
func Mutations(doc []byte) []Mutation {
	root, err := parse(doc)
	if err != nil {
		return nil
	}
	m := &mutator{root: root}
	m.value("", root)
	return m.out
}

// node is one JSON value that keeps the order of its members and the text of its scalars.
type node struct {
	open    byte // '{', '[', or 0 for a scalar
	scalar  string
	names   []string // of an object, one for each child
	child   []*node
	removed bool // as a member
}

type mutator struct {
	root *node
	out  []Mutation
}

func (m *mutator) value(pointer string, n *node) {
	original := *n
	for _, text := range replacements(n) {
		*n = node{scalar: text}
		m.emit(pointer, text)
	}
	*n = original
	if n.open == '{' {
		m.extra(pointer, n)
	}
	for i, c := range n.child {
		if n.open == '[' {
			m.value(pointer+"/"+strconv.Itoa(i), c)
			continue
		}
		at := member(pointer, n.names[i])
		c.removed = true
		m.emit(at, "removed")
		c.removed = false
		m.value(at, c)
	}
}

func (m *mutator) extra(pointer string, n *node) {
	names, child := n.names, n.child
	n.names = append(slices.Clip(names), "x_unknown_member")
	n.child = append(slices.Clip(child), &node{scalar: `{"x":[null,1]}`})
	m.emit(pointer, "extra member")
	n.names, n.child = names, child
}

func (m *mutator) emit(pointer, what string) {
	m.out = append(m.out, Mutation{Name: pointer + ": " + what, Doc: render(nil, m.root)})
}

// replacements of a value, none equal to the value itself.
func replacements(n *node) []string {
	var texts []string
	switch {
	case n.open == '{':
		texts = []string{"null", "[]", `"x"`}
	case n.open == '[':
		texts = []string{"null", "{}", `"x"`}
	case n.scalar[0] == '"':
		texts = []string{"null", "7", `""`, `"no-such-value"`}
	case n.scalar == "null":
		texts = []string{"7", `""`, `"no-such-value"`, "[]", "{}"}
	case n.scalar == "true" || n.scalar == "false":
		texts = []string{"null", `"true"`, "1"}
	default:
		texts = []string{"null", `"7"`, "-1", "true"}
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == n.scalar })
}

func parse(doc []byte) (*node, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	root, err := read(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("text after the document at byte %d", d.InputOffset())
	}
	return root, nil
}

func read(d *json.Decoder) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		return readChildren(d, byte(t))
	case json.Number:
		return &node{scalar: t.String()}, nil
	}
	text, err := json.Marshal(token)
	return &node{scalar: string(text)}, err
}

func readChildren(d *json.Decoder, open byte) (*node, error) {
	n := &node{open: open}
	for d.More() {
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.(string))
		}
		c, err := read(d)
		if err != nil {
			return nil, err
		}
		n.child = append(n.child, c)
	}
	_, err := d.Token()
	return n, err
}

func render(out []byte, n *node) []byte {
	if n.open == 0 {
		return append(out, n.scalar...)
	}
	out = append(out, n.open)
	first := true
	for i, c := range n.child {
		if c.removed {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		if n.open == '{' {
			name, _ := json.Marshal(n.names[i]) // a string always has a JSON text
			out = append(append(out, name...), ':')
		}
		out = render(out, c)
	}
	return append(out, n.open+2) // ASCII: '[' and ']', '{' and '}' are two apart
}
