// Package document takes JSON objects apart member by member, and puts them together again in an order of their own.
package document

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Error says which member is not what its reader needs.
type Error struct {
	Pointer string // RFC 6901, into the document
	Detail  string // what was expected and what is there
}

// Error gives one line: place and detail.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Detail
	}
	return "at " + e.Pointer + ": " + e.Detail
}

// Object is a JSON object that is taken apart member by member. A missing member and one that is null give the default
// of the reader; a member of another type is an error, which Err of the whole document gives.
type Object struct {
	value canon.Value
	at    string
	first **Error
	known []string
}

// Open starts on a document. A document that is no object has no members, and that is its error.
func Open(v canon.Value) *Object {
	first := new(*Error)
	o := &Object{value: v, first: first}
	o.mustBe(v, "", canon.Object)
	return o
}

// Err gives the first complaint about the document, an *Error; nil for none.
func (o *Object) Err() error {
	if *o.first == nil {
		return nil
	}
	return *o.first
}

// Fail records a complaint about a member, or about the object itself where the name is empty.
func (o *Object) Fail(name, detail string) {
	at := o.at
	if name != "" {
		at = canon.AppendToken(at, name)
	}
	o.fail(at, detail)
}

func (o *Object) fail(at, detail string) {
	if *o.first == nil {
		*o.first = &Error{Pointer: at, Detail: detail}
	}
}

// Pointer gives the place of the object in its document (RFC 6901).
func (o *Object) Pointer() string { return o.at }

// Value gives the object itself.
func (o *Object) Value() canon.Value { return o.value }

// Has tells whether the member is there and not null.
func (o *Object) Has(name string) bool {
	_, ok := o.member(name)
	return ok
}

// Unknown gives the names of the members that nothing has asked for, in document order.
func (o *Object) Unknown() []string {
	var names []string
	for _, m := range o.value.Members() {
		if !slices.Contains(o.known, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// member gives a member that is there and not null.
func (o *Object) member(name string) (canon.Value, bool) {
	if o.known == nil {
		o.known = make([]string, 0, max(8, len(o.value.Members())))
	}
	if !slices.Contains(o.known, name) {
		o.known = append(o.known, name)
	}
	v, ok := o.value.Get(name)
	if !ok || v.Kind() == canon.Null {
		return canon.Value{}, false
	}
	return v, true
}

// is says that a member has one of the types; that it has none is a complaint.
func (o *Object) is(v canon.Value, name string, kinds ...canon.Kind) bool {
	return slices.Contains(kinds, v.Kind()) || o.mustBe(v, canon.AppendToken(o.at, name), kinds...)
}

func (o *Object) mustBe(v canon.Value, at string, kinds ...canon.Kind) bool {
	if slices.Contains(kinds, v.Kind()) {
		return true
	}
	var words []string
	for _, k := range kinds {
		words = append(words, k.String())
	}
	o.fail(at, "expected "+strings.Join(words, " or ")+", found "+v.Kind().String())
	return false
}

// Any gives a member of any type; false where it is missing or null.
func (o *Object) Any(name string) (canon.Value, bool) { return o.member(name) }

// Text gives a string, which may hold lone surrogates as three bytes each.
func (o *Object) Text(name, otherwise string) string {
	if text := o.OptionalText(name); text != nil {
		return *text
	}
	return otherwise
}

// OptionalText gives a string, nil where it is missing or null.
func (o *Object) OptionalText(name string) *string {
	v, ok := o.member(name)
	if !ok || !o.is(v, name, canon.String) {
		return nil
	}
	text, _ := v.Text()
	return &text
}

// Bool gives a boolean.
func (o *Object) Bool(name string, otherwise bool) bool {
	v, ok := o.member(name)
	if !ok || !o.is(v, name, canon.Bool) {
		return otherwise
	}
	return v.Raw()[0] == 't'
}

// Integer gives a whole number of 64 bits: a literal without fraction and exponent.
func (o *Object) Integer(name string, otherwise int64) int64 {
	v, ok := o.member(name)
	if !ok || !o.is(v, name, canon.Number) {
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
	v, ok := o.member(name)
	if !ok || !o.is(v, name, canon.Number) {
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
	v, ok := o.member(name)
	if !ok || !o.is(v, name, canon.Array) {
		return nil
	}
	texts := make([]string, 0, len(v.Elements()))
	for i, e := range v.Elements() {
		if e.Kind() != canon.String {
			o.mustBe(e, canon.AppendToken(canon.AppendToken(o.at, name), strconv.Itoa(i)), canon.String)
			return nil
		}
		text, _ := e.Text()
		texts = append(texts, text)
	}
	return texts
}

// Object gives an object. Where it is missing or null the result is an object without members, so that every reader
// gives its default.
func (o *Object) Object(name string) *Object {
	sub := &Object{at: canon.AppendToken(o.at, name), first: o.first}
	v, ok := o.member(name)
	if ok && o.mustBe(v, sub.at, canon.Object) {
		sub.value = v
	}
	return sub
}

// Each calls visit for every object of a list, in order; not at all where the list is missing or null. An element that
// is no object is an error.
func (o *Object) Each(name string, visit func(*Object)) {
	v, ok := o.member(name)
	at := canon.AppendToken(o.at, name)
	if !ok || !o.mustBe(v, at, canon.Array) {
		return
	}
	for i, e := range v.Elements() {
		sub := &Object{value: e, at: canon.AppendToken(at, strconv.Itoa(i)), first: o.first}
		if !o.mustBe(e, sub.at, canon.Object) {
			return
		}
		visit(sub)
	}
}

// EachMember calls visit for every member of an object whose names are data, in document order. A member that is no
// object is an error.
func (o *Object) EachMember(visit func(name string, member *Object)) {
	for _, m := range o.value.Members() {
		sub := &Object{value: m.Value, at: canon.AppendToken(o.at, m.Name), first: o.first}
		if !o.mustBe(m.Value, sub.at, canon.Object) {
			return
		}
		visit(m.Name, sub)
	}
}

// EachText calls visit for every member of an object whose names are data and whose values are strings.
func (o *Object) EachText(visit func(name, value string)) {
	for _, m := range o.value.Members() {
		if !o.is(m.Value, m.Name, canon.String) {
			return
		}
		text, _ := m.Value.Text()
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
