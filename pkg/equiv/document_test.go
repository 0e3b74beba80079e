package equiv_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

type (
	object = map[string]any
	list   = []any
	number = json.Number
)

// run is one recorded run as two JSON documents; rows is nil where there is no retrieval trace.
type run struct {
	path        string
	trace, rows any
}

func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// spelling says how a document is written. The zero value sorts members by name.
type spelling struct {
	reversed bool // members in the opposite order
	escaped  bool // every character of a string as \u escapes
	loose    bool // white space between the tokens
}

func (s spelling) append(out []byte, v any) []byte {
	space := ""
	if s.loose {
		space = " \n\t"
	}
	switch v := v.(type) {
	case object:
		names := slices.Sorted(maps.Keys(v))
		if s.reversed {
			slices.Reverse(names)
		}
		out = append(out, '{')
		for i, name := range names {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(s.append(append(out, space...), name), space+":"+space...)
			out = s.append(out, v[name])
		}
		return append(out, space+"}"...)
	case list:
		out = append(out, '[')
		for i, element := range v {
			if i > 0 {
				out = append(out, space+","...)
			}
			out = s.append(append(out, space...), element)
		}
		return append(out, space+"]"...)
	case string:
		if !s.escaped {
			return canon.Quote(out, []byte(v))
		}
		out = append(out, '"')
		for _, unit := range utf16.Encode([]rune(v)) {
			out = fmt.Appendf(out, `\u%04X`, unit)
		}
		return append(out, '"')
	case number:
		return append(out, v...)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(out, text...)
}

// side reads a run from memory, and gives back what verify says of it alone.
func (r run) side(t *testing.T, s spelling) equiv.Side {
	t.Helper()
	o := dialect.Options{}
	if r.rows != nil {
		o.Retrieval, o.Stdin = "-", bytes.NewReader(s.append(make([]byte, 0, 4<<10), r.rows))
	}
	side, err := sideOf(&dialect.File{Path: "-", Data: s.append(make([]byte, 0, 16<<10), r.trace)}, o)
	if err != nil {
		t.Fatalf("%s: %v", r.path, err)
	}
	return side
}

// rowList gives the retrieval rows of a run, and the pointer of their list.
func (r run) rowList() (rows list, pointer string) {
	switch doc := r.rows.(type) {
	case list:
		return doc, ""
	case object:
		rows, _ := doc["events"].(list)
		return rows, "/events"
	}
	return nil, ""
}

func (r run) events() list {
	doc, _ := r.trace.(object)
	events, _ := doc["events"].(list)
	return events
}

// slot is one value of a document, and how to exchange it.
type slot struct {
	pointer string
	old     any
	set     func(v any)
}

// gone takes a value away.
type gone struct{}

func member(o object, name, pointer string) slot {
	old, there := o[name]
	if !there {
		old = gone{}
	}
	return slot{canon.AppendToken(pointer, name), old, func(v any) {
		if v == any(gone{}) {
			delete(o, name)
			return
		}
		o[name] = v
	}}
}

func element(l list, i int, pointer string) slot {
	return slot{pointer + "/" + strconv.Itoa(i), l[i], func(v any) { l[i] = v }}
}

// eachSlot visits a value and everything below it.
func eachSlot(s slot, visit func(slot)) {
	visit(s)
	switch v := s.old.(type) {
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachSlot(member(v, name, s.pointer), visit)
		}
	case list:
		for i := range v {
			eachSlot(element(v, i, s.pointer), visit)
		}
	}
}

// validRuns gives every run of the fixtures, and of the vectors where they are, that can support a claim: verify passes it,
// and where its events name retrievals, the retrieval trace is there (V1–V3, E6).
func validRuns(t *testing.T) []run {
	t.Helper()
	runs := runsBelow(t, "../../fixtures")
	if len(runs) < 100 {
		t.Fatalf("%d valid runs in the fixtures", len(runs))
	}
	if _, err := os.Stat(vectorsFolder); err != nil {
		t.Logf("NOT RUN ON VECTORS: %s is not beside this checkout", vectorsFolder)
		return runs
	}
	return append(runs, runsBelow(t, vectorsFolder)...)
}

func runsBelow(t *testing.T, root string) []run {
	t.Helper()
	var runs []run
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "memory_trace.json") {
			return err
		}
		side, err := readSide(path, dialect.Options{})
		if err != nil || slices.ContainsFunc(side.Findings, func(f finding.Finding) bool { return f.Severity == finding.Error }) {
			return nil // not valid, which other tests hold
		}
		r := run{path: path}
		if r.trace, err = decodeFile(path); err != nil {
			return err
		}
		if side.Trace.Retrieval == nil && slices.ContainsFunc(side.Trace.Events, func(e trace.Event) bool { return len(e.Links) > 0 }) {
			return nil
		}
		if side.Trace.Retrieval != nil {
			if r.rows, err = decodeFile(side.Trace.Retrieval.Path); err != nil {
				return err
			}
		}
		if text := string(spelling{}.append(spelling{}.append(nil, r.trace), r.rows)); !seen[text] {
			seen[text] = true
			runs = append(runs, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// differentShapes keeps one run of those that differ only in what their texts say: their mutants would be the same.
func differentShapes(runs []run) []run {
	seen := map[string]bool{}
	return slices.DeleteFunc(runs, func(r run) bool {
		text := shape(r.trace) + shape(r.rows)
		twice := seen[text]
		seen[text] = true
		return twice
	})
}

// shape names the members and types of a value, and what kind of text a text is.
func shape(v any) string {
	var b strings.Builder
	eachSlot(slot{old: v}, func(s slot) {
		text, isText := s.old.(string)
		_, isDigest := canon.ParseDigest(text)
		fmt.Fprintf(&b, "%s %T", s.pointer, s.old)
		if isText {
			fmt.Fprint(&b, isDigest, json.Valid([]byte(text)), len(text) == len([]rune(text)))
		}
	})
	return b.String()
}

func decodeFile(path string) (any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decode(data)
}

// E1–E9: a valid run is equivalent to itself, however its documents are written, with no finding of severity error.
func TestRunIsEquivalentToItself(t *testing.T) {
	for _, r := range validRuns(t) {
		side := r.side(t, spelling{})
		for _, s := range []spelling{{}, {reversed: true}, {escaped: true}, {loose: true}, {reversed: true, escaped: true, loose: true}} {
			got := equiv.Compare(side, r.side(t, s), equiv.Options{})
			if got.Verdict != finding.Equivalent || len(errorsOf(got)) > 0 {
				t.Errorf("%s, %+v: %s, errors %v", r.path, s, got.Verdict, codes(errorsOf(got)))
			}
		}
	}
}
