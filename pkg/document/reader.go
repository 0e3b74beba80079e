package document

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Any gives a member of any type; false where it is missing or null.
func (o *Object) Any(name string) (canon.Value, bool) {
	v := o.member(name)
	if v == nil {
		return canon.Value{}, false
	}
	return *v, true
}

// Text gives a string, which may hold lone surrogates as three bytes each.
func (o *Object) Text(name, otherwise string) string {
	v := o.of(name, canon.String)
	if v == nil {
		return otherwise
	}
	text, _ := v.Text()
	return text
}

// OptionalText gives a string, nil where it is missing or null.
func (o *Object) OptionalText(name string) *string {
	v := o.of(name, canon.String)
	if v == nil {
		return nil
	}
	text, _ := v.Text()
	return &text
}

// Bool gives a boolean.
func (o *Object) Bool(name string, otherwise bool) bool {
	v := o.of(name, canon.Bool)
	if v == nil {
		return otherwise
	}
	return v.Raw()[0] == 't'
}

// Integer gives a whole number of 64 bits: a literal without fraction and exponent.
func (o *Object) Integer(name string, otherwise int64) int64 {
	v := o.of(name, canon.Number)
	if v == nil {
		return otherwise
	}
	n, ok := canon.Integer(v.Raw())
	if !ok {
		o.Fail(name, "expected a whole number of 64 bits")
		return otherwise
	}
	return n
}

// OptionalInteger gives a whole number of 64 bits, nil where it is missing or null.
func (o *Object) OptionalInteger(name string) *int64 {
	if !o.Has(name) {
		return nil
	}
	n := o.Integer(name, 0)
	return &n
}

// Int gives a whole number of 32 bits, the range of counts and limits on every platform.
func (o *Object) Int(name string, otherwise int) int {
	n := o.Integer(name, int64(otherwise))
	if n < math.MinInt32 || n > math.MaxInt32 {
		o.Fail(name, "expected a whole number of 32 bits")
		return otherwise
	}
	return int(n)
}

// Real gives a finite number, read as binary64.
func (o *Object) Real(name string, otherwise float64) float64 {
	v := o.of(name, canon.Number)
	if v == nil {
		return otherwise
	}
	x, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		o.Fail(name, "expected a finite number")
		return otherwise
	}
	return x
}

// Texts gives a list of strings, nil where it is missing or null.
func (o *Object) Texts(name string) []string {
	v := o.of(name, canon.Array)
	if v == nil {
		return nil
	}
	list := v.Elements()
	texts := make([]string, 0, len(list))
	for i := range list {
		text, ok := list[i].Text()
		if !ok {
			element := Object{root: o.root, above: o, name: name, index: i}
			element.mustBe(list[i].Kind(), "", canon.String)
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// Object gives an object. Where it is missing or null the result is an object without members, so that every reader
// gives its default.
func (o *Object) Object(name string) *Object {
	return o.below(o.member(name), name, -1)
}

// Each calls visit for every object of a list, in order; not at all where the list is missing or null. An element that
// is no object is an error.
func (o *Object) Each(name string, visit func(*Object)) {
	v := o.of(name, canon.Array)
	if v == nil {
		return
	}
	list := v.Elements()
	for i := range list {
		sub := o.below(&list[i], name, i)
		if list[i].Kind() != canon.Object {
			return
		}
		visit(sub)
	}
}

// EachMember calls visit for every member of an object whose names are data, in document order. A member that is no
// object is an error.
func (o *Object) EachMember(visit func(name string, member *Object)) {
	for i := range o.members {
		m := &o.members[i]
		sub := o.below(&m.Value, m.Name, -1)
		if m.Value.Kind() != canon.Object {
			return
		}
		visit(m.Name, sub)
	}
}

// EachText calls visit for every member of an object whose names are data and whose values are strings.
func (o *Object) EachText(visit func(name, value string)) {
	for i := range o.members {
		m := &o.members[i]
		text, ok := m.Value.Text()
		if !ok {
			member := Object{root: o.root, above: o, name: m.Name, index: -1} // the name may be empty
			member.mustBe(m.Value.Kind(), "", canon.String)
			return
		}
		visit(m.Name, text)
	}
}

// Word gives a member that is one of a closed list of words, compared exactly.
func (o *Object) Word(name, otherwise string, words ...string) string {
	text := o.Text(name, otherwise)
	if text != otherwise && !slices.Contains(words, text) {
		o.Fail(name, strconv.QuoteToASCII(text)+" is none of "+strings.Join(words, ", "))
		return otherwise
	}
	return text
}
