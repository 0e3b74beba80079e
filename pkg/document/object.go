// Package document takes JSON objects apart member by member, and puts them together again in an order of their own.
package document

import (
	"strconv"

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
// of the reader; a member of another type is an error, which Err of the whole document gives. Names are asked for in ASCII.
type Object struct {
	value   canon.Value
	members []canon.Member // of value
	known   uint64         // which of the first 64 members were asked for
	more    []bool         // which of the others
	root    *Object
	first   *Error // of the root: the complaint about the document

	above *Object // nil for the root
	name  string  // in above
	index int     // in the list of that name; -1 where the object is the member itself
}

// Open starts on a document. A document that is no object has no members, and that is its error.
func Open(v canon.Value) *Object {
	o := &Object{value: v, members: v.Members()}
	o.root = o
	o.mustBe(v.Kind(), "", canon.Object)
	return o
}

// below gives an object that stands in o.
func (o *Object) below(v *canon.Value, name string, index int) *Object {
	sub := &Object{root: o.root, above: o, name: name, index: index}
	if v != nil && sub.mustBe(v.Kind(), "", canon.Object) {
		sub.value, sub.members = *v, v.Members()
	}
	return sub
}

// Err gives the first complaint about the document, an *Error; nil for none.
func (o *Object) Err() error {
	if o.root.first == nil {
		return nil
	}
	return o.root.first
}

// Fail records a complaint about a member, or about the object itself where the name is empty.
func (o *Object) Fail(name, detail string) {
	if o.root.first != nil {
		return
	}
	at := o.Pointer()
	if name != "" {
		at = canon.AppendToken(at, name)
	}
	o.root.first = &Error{Pointer: at, Detail: detail}
}

// Pointer gives the place of the object in its document (RFC 6901).
func (o *Object) Pointer() string {
	if o.above == nil {
		return ""
	}
	at := canon.AppendToken(o.above.Pointer(), o.name)
	if o.index >= 0 {
		at = canon.AppendToken(at, strconv.Itoa(o.index))
	}
	return at
}

// Value gives the object itself.
func (o *Object) Value() canon.Value { return o.value }

// Has tells whether the member is there and not null.
func (o *Object) Has(name string) bool {
	return o.member(name) != nil
}

// Empty tells whether the object has no members.
func (o *Object) Empty() bool { return len(o.members) == 0 }

// Unknown gives the names of the members that nothing has asked for, in document order.
func (o *Object) Unknown() []string {
	var names []string
	for i := range o.members {
		if asked := i < 64 && o.known>>i&1 == 1 || i >= 64 && o.more != nil && o.more[i-64]; !asked {
			names = append(names, o.members[i].Name)
		}
	}
	return names
}

// member gives a member that is there and not null; nil for none.
func (o *Object) member(name string) *canon.Value {
	for i := range o.members {
		if o.members[i].Name != name {
			continue
		}
		o.asked(i)
		if v := &o.members[i].Value; v.Kind() != canon.Null {
			return v
		}
		return nil
	}
	return nil
}

// asked notes that a member was asked for.
func (o *Object) asked(i int) {
	if i < 64 {
		o.known |= 1 << i
		return
	}
	if o.more == nil {
		o.more = make([]bool, len(o.members)-64)
	}
	o.more[i-64] = true
}

// of gives a member that has one type, nil for none; another type is a complaint.
func (o *Object) of(name string, kind canon.Kind) *canon.Value {
	v := o.member(name)
	if v == nil || !o.mustBe(v.Kind(), name, kind) {
		return nil
	}
	return v
}

// mustBe says that a member, or the object itself where the name is empty, has a type; that it has another is a complaint.
func (o *Object) mustBe(is canon.Kind, name string, kind canon.Kind) bool {
	if is != kind {
		o.Fail(name, "expected "+kind.String()+", found "+is.String())
	}
	return is == kind
}
