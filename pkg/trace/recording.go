package trace

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Recording is what a native run keeps besides its trace: inputs, configuration, the model's answers (CONTRACT D8). It is
// what replay starts from.
type Recording struct {
	Dir      string // the run's folder as typed
	CutShort string // why the recording is not whole (CONTRACT V4); "" for a complete one: else nothing below is filled in

	Manifest, Snapshot, Config Document
	Policies, ProfileSet       Document
	Commit                     Document // not Ok where there is none: only buffered_write has it
	Turns, Outputs             []Document
	ToolResults, Candidates    []Document
	Prompts                    []Document // where prompts are kept
	Profiles                   Profiles   // the tool profiles of ProfileSet
	Files                      []RunFile  // in the order of their paths
}

// RunFile is one file of a run: as the manifest lists it, as it lies there, or both.
type RunFile struct {
	Path        string // as typed
	Name        string // below the run's folder, with /
	Entry       string // pointer of its entry in the manifest; "" where it is not listed
	Stated      Field  // sha256 by the manifest
	StatedBytes Field
	Required    bool // a complete run has it
	Part        bool // of the determinism or the retrieval trace: the caps apply to it (CONTRACT V4)
	Found       bool
	SHA256      string // of the bytes that are there
	Bytes       int64
}

// The caps of a native run's trace (CONTRACT V4).
const (
	MaxPart = 8 << 20   // bytes of one part
	MaxRun  = 100 << 20 // bytes of all parts of a run
)

// Document is one JSON document of a run: a file, or a line of one.
type Document struct {
	Path  string // the file
	At    string // pointer of the document in its file: "" for the file itself, "/3" for the fourth line
	Value canon.Value
}

// Ok says that the document is there and is an object.
func (d Document) Ok() bool { return d.Value.Kind() == canon.Object }

// Field gives a member of the document by its pointer.
func (d Document) Field(pointer string) Field { return fieldAt(d.Value, pointer) }

// Int gives a member that is a whole number of 0 or more, and no list is too short for it.
func (d Document) Int(name string) (int, bool) {
	v, ok := d.Value.Get(name)
	if !ok {
		return 0, false
	}
	n, ok := canon.Integer(v.Raw())
	return int(n), ok && n >= 0 && n < Beyond
}

func fieldAt(v canon.Value, pointer string) Field {
	member, ok := v.At(pointer)
	switch {
	case !ok:
		return Field{}
	case member.Kind() == canon.Null:
		return Field{Raw: member.Raw(), State: Null}
	}
	return Field{Raw: member.Raw(), State: Present}
}

// Turn gives the document of a turn, or false where it is not recorded.
func (r *Recording) Turn(turn int) (Document, bool) { return find(r.Turns, turn, -1, -1) }

// Output gives what the model answered in an attempt of a turn (CONTRACT R2).
func (r *Recording) Output(turn, attempt int) (Document, bool) {
	return find(r.Outputs, turn, attempt, -1)
}

// ToolResult gives what a call of an attempt was answered with.
func (r *Recording) ToolResult(turn, attempt, call int) (Document, bool) {
	return find(r.ToolResults, turn, attempt, call)
}

// Prompt gives the prompt of an attempt, where prompts are kept.
func (r *Recording) Prompt(turn, attempt int) (Document, bool) {
	return find(r.Prompts, turn, attempt, -1)
}

// CandidatesOf gives what a backend returned for a kind of record in a turn (CONTRACT R7).
func (r *Recording) CandidatesOf(turn int, kind string) (Document, bool) {
	for _, d := range r.Candidates {
		if n, ok := d.Int("turn"); ok && n == turn && d.Field("/kind").Is(kind) {
			return d, true
		}
	}
	return Document{}, false
}

// find looks a line up by its numbers; -1 stands for a number that such lines do not have. Lines stand in the order of
// their numbers, so that the search halves them.
func find(lines []Document, turn, attempt, call int) (Document, bool) {
	low, high := 0, len(lines)
	for low < high {
		mid := (low + high) / 2
		if lines[mid].before(turn, attempt, call) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(lines) && !lines[low].after(turn, attempt, call) {
		return lines[low], true
	}
	return Document{}, false
}

func (d Document) before(turn, attempt, call int) bool { return d.compare(turn, attempt, call) < 0 }
func (d Document) after(turn, attempt, call int) bool  { return d.compare(turn, attempt, call) > 0 }

func (d Document) compare(turn, attempt, call int) int {
	for _, n := range []struct {
		name string
		want int
	}{{"turn", turn}, {"attempt", attempt}, {"call", call}} {
		if n.want < 0 {
			continue
		}
		if have, _ := d.Int(n.name); have != n.want {
			return have - n.want
		}
	}
	return 0
}

// Query gives the preimage of D6's fingerprint for a retrieval of a turn: the query is the player's input, NFC, white-space
// runs one space, trimmed; where the turn has topics it is {"text", "topics"}. It is nil where the turn states no input.
func (d Document) Query(version, mode string) []byte {
	input, _ := d.Value.Get("player_input")
	text, ok := input.TextBytes()
	if !ok {
		return nil
	}
	if text = canon.NFC(text); !spaced(text) {
		text = bytes.Join(bytes.Fields(text), []byte(" "))
	}
	topics := d.Field("/topics")
	preimage := append(make([]byte, 0, len(text)+len(text)/8+len(topics.Raw)+len(version)+len(mode)+128), `{"query":`...)
	if topics.Ok() {
		preimage = append(canon.Quote(append(preimage, `{"text":`...), text), `,"topics":`...)
		preimage = append(append(preimage, topics.Raw...), '}')
	} else {
		preimage = canon.Quote(preimage, text)
	}
	preimage = append(preimage, `,"query_normalization_version":`...)
	preimage = append(canon.Quote(preimage, []byte(version)), `,"retrieval_mode":`...)
	return append(canon.Quote(preimage, []byte(mode)), '}')
}

// spaced tells of a text that its white space is single spaces inside it; false where a look at ASCII does not tell.
func spaced(text []byte) bool {
	before := byte(' ')
	for _, c := range text {
		if c < ' ' || c >= utf8.RuneSelf || c == ' ' && before == ' ' {
			return false
		}
		before = c
	}
	return before != ' '
}

// LinePointer gives the pointer of a line in its file.
func LinePointer(line int) string { return "/" + strconv.Itoa(line) }
