// Package shape holds the typed checks of the formats in schemas/: a document is read once, strictly, into the model of
// a trace or into nothing, and every field that breaks its schema is a finding (CONTRACT V1). The JSON Schemas say the
// same, and tests hold both to the same answers.
package shape

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// reader walks one document once, fills the model and notes every field that breaks its schema (CONTRACT V1).
type reader struct {
	src      *canon.Reader
	data     []byte
	path     string
	events   bool        // the document's list "events" holds events of a run
	at       []step      // where the reader stands, for pointers
	unkept   trace.Field // where a value goes that no rule asks for
	findings []finding.Finding
	twin     *trace.Trace   // what the trace is expected to equal; empty where nothing is
	free     []trace.Call   // room for the calls of further events: most have one
	room     []trace.Record // room for the records of further rows
	lists    []records      // of rows before
	next     int            // place of the list that goes next
}

// step is one token of the pointer: a name, or an index where the name is empty.
type step struct {
	name  string
	index int
}

func newReader(path string, data []byte) *reader {
	return &reader{src: canon.NewReader(data), data: data, path: path, twin: &trace.Trace{}}
}

func (r *reader) push(s step) { r.at = append(r.at, s) }
func (r *reader) pop()        { r.at = r.at[:len(r.at)-1] }

func (r *reader) pointer() string {
	at := ""
	for _, s := range r.at {
		if s.name == "" {
			s.name = strconv.Itoa(s.index)
		}
		at = canon.AppendToken(at, s.name)
	}
	return at
}

// position gives the place in the list of the event that the reader stands in.
func (r *reader) position() int {
	if r.events && len(r.at) >= 2 && r.at[0].name == "events" {
		return r.at[1].index
	}
	return finding.NoEvent
}

// mostFindings bounds what is kept of one file: a few megabytes can hold millions of faults.
const mostFindings = 10_000

// full says that no more findings are kept; what is read from then on counts as malformed.
func (r *reader) full() bool { return len(r.findings) > mostFindings }

// note adds a shape finding at the place where the reader stands.
func (r *reader) note(code finding.Code, f *trace.Field, format string, args ...any) {
	if r.full() {
		return
	}
	if len(r.findings) == mostFindings {
		code, format, args = finding.ShapeMore, "more than %d fields break their schema: the rest is not listed", []any{mostFindings}
	}
	found := finding.New(code)
	found.Artifact = r.path
	found.Pointer = r.pointer()
	found.EventIndex = r.position()
	found.Detail = fmt.Sprintf(format, args...)
	if f != nil && f.Raw != nil {
		found.Actual = finding.Value(f.Raw)
		found.Detail += fmt.Sprintf(" (byte %d)", f.Offset(r.data))
	}
	r.findings = append(r.findings, found)
}

// missing notes a member that should be there.
func (r *reader) missing(name, format string) {
	r.push(step{name: name})
	r.note(finding.ShapeMissing, nil, format, name)
	r.pop()
}

// reject notes that a value is there and cannot be used.
func (r *reader) reject(code finding.Code, f *trace.Field, format string, args ...any) {
	f.State = trace.Malformed
	r.note(code, f, format, args...)
}

// need says whether a member must be there.
type need uint8

const (
	optional need = iota
	nullable      // absent and null are both allowed
	required
)

// member is one row of a schema as the reader knows it: rules as data.
type member[T any] struct {
	name  string
	need  need
	want  canon.Kind                            // Invalid for any
	field func(*T) *trace.Field                 // nil: the value is not kept
	check func(r *reader, t *T, f *trace.Field) // judges a value of the right type
	read  func(r *reader, t *T) error           // reads into a value of the right type; nil: the value is only validated
}

// object reads the members of the object at the cursor. Unknown members are allowed and validated only.
func object[T any](r *reader, spec []member[T], t *T) error {
	next, seen := 0, uint64(0)
	err := r.src.Members(func(name []byte) error {
		i := lookup(spec, name, next)
		if i < 0 {
			_, err := r.src.Skip()
			return err
		}
		next = i + 1
		seen |= 1 << i
		r.push(step{name: spec[i].name})
		err := valueOf(r, &spec[i], t)
		r.pop()
		return err
	})
	if err != nil {
		return err
	}
	for i := range spec {
		if m := &spec[i]; m.need == required && seen>>i&1 == 0 {
			r.missing(m.name, "%s is missing")
		}
	}
	return nil
}

// lookup finds the row of a name. Writers keep their order, so the row after the last one is tried first.
func lookup[T any](spec []member[T], name []byte, next int) int {
	if next < len(spec) && spec[next].name == string(name) {
		return next
	}
	for i := range spec {
		if spec[i].name == string(name) {
			return i
		}
	}
	return -1
}

func valueOf[T any](r *reader, m *member[T], t *T) error {
	f := &r.unkept
	if m.field != nil {
		f = m.field(t)
	}
	kind := r.src.Kind()
	start := r.src.Offset()
	f.State = trace.Present
	if m.read != nil && kind == m.want {
		err := m.read(r, t)
		f.Raw = r.data[start:r.src.Offset()]
		if r.full() {
			f.State = trace.Malformed
		}
		return err
	}
	span, err := r.src.Skip()
	if err != nil {
		return err
	}
	f.Raw = r.data[span.Start:span.End]
	switch {
	case m.want == canon.Invalid:
	case kind == canon.Null:
		f.State = trace.Null
		if m.need != nullable {
			r.note(finding.ShapeType, f, "%s is null, not %s", m.name, article(m.want))
		}
		return nil
	case kind != m.want:
		r.reject(finding.ShapeType, f, "%s is %s, not %s", m.name, article(kind), article(m.want))
		return nil
	}
	if m.check != nil {
		m.check(r, t, f)
	}
	return nil
}

// elements reads a list of objects: one T for each element, malformed where the element is no object. What is written as the
// element of the same place among the twins is taken over from there.
func elements[T any](r *reader, list *[]T, spec []member[T], field func(*T) *trace.Field, position func(*T, int), twins []T) error {
	start := r.src.Offset()
	return r.src.Elements(func(i int) error {
		if r.full() {
			_, err := r.src.Skip()
			return err
		}
		if i >= sample && i == cap(*list) && len(r.at) <= 1 {
			*list = slices.Grow(*list, r.expected(start, i))
		}
		if i < len(twins) && takeOver(r, list, spec, field, &twins[i]) {
			return nil
		}
		*list = append(*list, *new(T))
		t := &(*list)[i]
		if position != nil {
			position(t, i)
		}
		r.push(step{index: i})
		defer r.pop()
		return element(r, spec, t, field(t))
	})
}

// sample is the number of elements after which a list's length can be guessed.
const sample = 16

// shortest is what an element is guessed to have at the least, in bytes. An element with all its members has more, so
// memory stays within a small multiple of the document, whatever the first elements pretend.
const shortest = 256

// expected guesses how many elements like the first i, which began at start, the rest of the document holds, and a few
// more.
func (r *reader) expected(start, i int) int {
	mean := max((r.src.Offset()-start)/i+1, shortest)
	return (len(r.data)-r.src.Offset())/mean*17/16 + sample
}

func element[T any](r *reader, spec []member[T], t *T, f *trace.Field) error {
	kind := r.src.Kind()
	start := r.src.Offset()
	f.State = trace.Present
	if kind == canon.Object {
		err := object(r, spec, t)
		f.Raw = r.data[start:r.src.Offset()]
		return err
	}
	span, err := r.src.Skip()
	if err != nil {
		return err
	}
	f.Raw = r.data[span.Start:span.End]
	r.reject(finding.ShapeType, f, "element is %s, not an object", article(kind))
	return nil
}

// texts reads a list of strings.
func texts(r *reader, list *[]trace.Field) error {
	return r.src.Elements(func(i int) error {
		kind := r.src.Kind()
		span, err := r.src.Skip()
		if err != nil || r.full() {
			return err
		}
		f := trace.Field{Raw: r.data[span.Start:span.End], State: trace.Present}
		if kind != canon.String {
			r.push(step{index: i})
			r.reject(finding.ShapeType, &f, "element is %s, not a string", article(kind))
			r.pop()
		}
		*list = append(*list, f)
		return nil
	})
}

func article(k canon.Kind) string {
	switch k {
	case canon.Object, canon.Array:
		return "an " + k.String()
	case canon.Null:
		return "null"
	}
	return "a " + k.String()
}

// whole reads the one object that the document is, and gives the findings.
func whole[T any](r *reader, spec []member[T], t *T) ([]finding.Finding, error) {
	var root trace.Field
	err := element(r, spec, t, &root)
	if err == nil {
		err = r.src.End()
	}
	return r.findings, err
}
