package run

import (
	"bytes"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// joined is the documents of all parts as one JSON list, and where each stands in it.
type joined struct {
	text  []byte
	lines []partLine
}

// partLine is one line of a part, and its span in the list.
type partLine struct {
	path       string
	number     int // from 0
	start, end int
}

// join puts the parts of a folder together in the order of their names.
func (r *reader) join(folder string, before []byte) joined {
	j := joined{text: append(before, '[')}
	for _, name := range canon.SortedKeys(r.content) {
		if !strings.HasPrefix(name, folder+"/") {
			continue
		}
		data := r.content[name]
		j.text = slices.Grow(j.text, len(data)+2)
		for i, s := range split(data) {
			if len(j.lines) > 0 {
				j.text = append(j.text, ',')
			}
			start := len(j.text)
			j.text = append(j.text, bytes.Trim(data[s.Start:s.End], " \t\r")...)
			j.lines = append(j.lines, partLine{path: r.path(name), number: i, start: start, end: len(j.text)})
		}
	}
	j.text = append(j.text, ']')
	return j
}

// fault says which line is no document of its own: the joined text alone cannot tell.
func (j *joined) fault() error {
	for _, l := range j.lines {
		if err := canon.Valid(j.text[l.start:l.end]); err != nil {
			return problem(l.path, 0, trace.LinePointer(l.number), err)
		}
	}
	return nil
}

// holds says that the nth value of the list is the nth line.
func (j *joined) holds(n int, field trace.Field) bool {
	if n >= len(j.lines) {
		return false
	}
	raw := j.text[j.lines[n].start:j.lines[n].end]
	return len(field.Raw) == len(raw) && (len(raw) == 0 || &field.Raw[0] == &raw[0])
}

// trace reads the determinism and the retrieval trace: the files of both hold the envelope and the parts, the model sees one
// document of each.
func (r *reader) trace() error {
	if err := r.events(); err != nil {
		return err
	}
	if err := r.rows(); err != nil {
		return err
	}
	r.run.Trace.TakePreimages()
	return nil
}

func (r *reader) events() error {
	envelope, ok := r.content[TraceFile]
	if !ok {
		return nil
	}
	path := r.path(TraceFile)
	if err := canon.Valid(envelope); err != nil {
		return problem(path, 0, "", err)
	}
	text, joint := envelope, joined{}
	if before, ok := openObject(envelope); ok {
		joint = r.join(traceParts, append(before, `"events":`...))
		joint.text = append(joint.text, '}')
		text = joint.text
	}
	t, findings, err := shape.ReadTrace(path, text, nil)
	if err != nil {
		if at := joint.fault(); at != nil {
			return at
		}
		return problem(path, 0, "", err)
	}
	t.Recording = r.recording
	r.run.Trace = t
	r.note(findings)
	for i := range t.Events {
		if !joint.holds(i, t.Events[i].Field) {
			return oneDocument(&joint, path)
		}
	}
	return nil
}

// openObject gives an object without its closing brace, ready for a further member.
func openObject(object []byte) ([]byte, bool) {
	text, err := withMember(object, "", nil)
	if err != nil {
		return nil, false
	}
	return text[:len(text)-len(`"":}`)], true
}

func (r *reader) rows() error {
	joint := r.join(retrievalParts, nil)
	path := r.path(retrievalParts)
	if len(joint.lines) > 0 && joint.lines[0].path == joint.lines[len(joint.lines)-1].path {
		path = joint.lines[0].path
	}
	retrieval, findings, err := shape.ReadRetrieval(path, joint.text, nil)
	if err != nil {
		if at := joint.fault(); at != nil {
			return at
		}
		return problem(path, 0, "", err)
	}
	for i := range retrieval.Rows {
		if !joint.holds(i, retrieval.Rows[i].Field) {
			return oneDocument(&joint, path)
		}
	}
	r.run.Trace.Retrieval = retrieval
	r.note(findings)
	return nil
}

// oneDocument is the problem of lines that are documents only together.
func oneDocument(j *joined, path string) error {
	if at := j.fault(); at != nil {
		return at
	}
	return &dialect.Problem{Code: finding.CanonInvalidJSON, Path: path, Offset: -1, Detail: "a line holds more than one document"}
}
