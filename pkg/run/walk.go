package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Walk reads a run turn by turn beside whoever makes it again: however long the run is, its documents and one turn are in memory. It
// is for a run that is whole, in order, and made again in the same bytes. About any other it gives an error that says no more than
// that: [Read] says what is wrong with a run, and where.
type Walk struct {
	reader
	files   []*trace.RunFile
	opened  []*lines
	turns   *lines
	next    int        // turn
	ofTurns []*ofTurns // files whose lines belong to turns
	events  series
	rows    series
}

// ofTurns is a file whose lines belong to turns, each in its place.
type ofTurns struct {
	kind  kind
	lines *lines
	ahead trace.Document // the line that was read ahead
	turn  int            // that it belongs to; -1 after the last line
}

// series is a list in parts, one after the other.
type series struct {
	now  *lines // nil before the first
	rest []*trace.RunFile
}

// StartWalk begins a walk through the run in a folder. Limit bounds each file, 0 is [dialect.DefaultLimit]. A walk that was
// begun is closed.
func StartWalk(dir string, limit int64) (*Walk, error) {
	w := &Walk{reader: reader{limit: limit, run: &Run{}, recording: &trace.Recording{Dir: dir}, content: map[string][]byte{}}}
	w.run.Trace = &trace.Trace{Path: filepath.Join(dir, TraceFile), Recording: w.recording}
	if err := w.start(); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *Walk) start() error {
	cut, err := w.manifest(nil)
	if err != nil || cut != "" {
		return errors.Join(errNotWalked, err)
	}
	if w.files, err = w.list(); err != nil {
		return err
	}
	for _, f := range w.files {
		if f.Found && known(f.Name) {
			if err := w.begin(f); err != nil {
				return err
			}
		}
	}
	if w.turns == nil {
		return errNotWalked
	}
	if err := w.documents(); err != nil {
		return err
	}
	return w.envelope()
}

// begin reads a document, or opens a file of lines.
func (w *Walk) begin(f *trace.RunFile) error {
	if f.Part {
		list := &w.events
		if filepath.Dir(f.Name) == retrievalParts {
			list = &w.rows
		}
		list.rest = append(list.rest, f)
		return nil
	}
	k := kindOf(f.Name)
	if k.lines == nil {
		return w.load(f)
	}
	in, err := w.openLines(f)
	if err != nil || k.name == TurnsFile {
		w.turns = in
		return err
	}
	w.ofTurns = append(w.ofTurns, &ofTurns{kind: k, lines: in})
	return w.readAhead(w.ofTurns[len(w.ofTurns)-1])
}

func (w *Walk) openLines(f *trace.RunFile) (*lines, error) {
	in, err := openLines(f, w.limit)
	if err == nil {
		w.opened = append(w.opened, in)
	}
	return in, err
}

// envelope reads the trace without its events, which are compared as they are made.
func (w *Walk) envelope() error {
	before, ok := openObject(w.content[TraceFile])
	if !ok || len(w.run.Shape) > 0 {
		return errNotWalked
	}
	t, findings, err := shape.ReadTrace(w.run.Trace.Path, append(before, `"events":[]}`...), nil)
	if err != nil || len(findings) > 0 {
		return errors.Join(errNotWalked, err)
	}
	t.EventList, t.Recording = trace.Field{}, w.recording
	t.TakePreimages()
	w.run.Trace = t
	return nil
}

// Trace gives the run's documents and the envelope of its trace. It has no event, no row, and no line but those of the turn.
func (w *Walk) Trace() *trace.Trace { return w.run.Trace }

// KeepsPrompts says that the run has a file of prompts.
func (w *Walk) KeepsPrompts() bool {
	return slices.ContainsFunc(w.ofTurns, func(f *ofTurns) bool { return f.kind.name == PromptsFile })
}

// Turn reads the next turn, and puts its line and those that belong to it in the place of those of the turn before: outputs, tool
// results, candidates, prompts. The error is io.EOF after the last turn.
func (w *Walk) Turn() error {
	text, err := w.turns.next()
	if err != nil {
		return err
	}
	doc, n, err := w.line(kindOf(TurnsFile), w.turns, text)
	if err != nil || n != w.next {
		return errors.Join(errNotWalked, err)
	}
	w.recording.Turns = []trace.Document{doc}
	for _, f := range w.ofTurns {
		list := f.kind.lines(w.recording)
		for *list = nil; f.turn == w.next; {
			*list = append(*list, f.ahead)
			if err := w.readAhead(f); err != nil {
				return err
			}
		}
	}
	w.next++
	return nil
}

// readAhead reads the next line of a file. One of an earlier turn stays ahead for good, so that it is left at the end.
func (w *Walk) readAhead(f *ofTurns) error {
	text, err := f.lines.next()
	if errors.Is(err, io.EOF) {
		f.turn = -1
		return nil
	}
	if err != nil {
		return err
	}
	f.ahead, f.turn, err = w.line(f.kind, f.lines, text)
	return err
}

// line reads a line and the number of its turn.
func (w *Walk) line(k kind, in *lines, text []byte) (trace.Document, int, error) {
	doc, findings, err := shape.Document(k.schema, in.file.Path, trace.LinePointer(in.count-1), bytes.Clone(text))
	n, ok := doc.Int("turn")
	if err != nil || len(findings) > 0 || !ok {
		return doc, 0, errors.Join(errNotWalked, err)
	}
	return doc, n, nil
}

// Event compares an event that was made with the next one of the trace.
func (w *Walk) Event(made []byte) error { return w.same(&w.events, made) }

// Row compares a row that was made with the next one of the retrieval trace.
func (w *Walk) Row(made []byte) error { return w.same(&w.rows, made) }

func (w *Walk) same(s *series, made []byte) error {
	text, err := w.nextOf(s)
	if err == nil && !bytes.Equal(text, made) {
		err = errNotWalked
	}
	return err
}

// nextOf gives the next line of a list in parts; after the last one the error is io.EOF.
func (w *Walk) nextOf(s *series) (text []byte, err error) {
	for {
		if s.now != nil {
			if text, err = s.now.next(); !errors.Is(err, io.EOF) {
				return text, err
			}
		}
		if len(s.rest) == 0 {
			return nil, io.EOF
		}
		if s.now, err = w.openLines(s.rest[0]); err != nil {
			return nil, err
		}
		s.rest = s.rest[1:]
	}
}

// End compares the envelope of so many events, and says that nothing is left to compare. It gives the run, whose files have their
// digests then.
func (w *Walk) End(envelope []byte, events int) (*Run, error) {
	all := metadata(Counts{Total: events, Kept: events}, w.recording.Manifest.Field("/lane/name").Text())
	text, err := withMember(envelope, "metadata", all)
	if err != nil || !bytes.Equal(append(text, '\n'), w.content[TraceFile]) {
		return nil, errors.Join(errNotWalked, err)
	}
	for _, s := range []*series{&w.events, &w.rows} {
		if _, err := w.nextOf(s); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: lines are left: %w", errNotWalked, err)
		}
	}
	if slices.ContainsFunc(w.ofTurns, func(f *ofTurns) bool { return f.turn >= 0 }) {
		return nil, errNotWalked
	}
	w.forget()
	inputs := w.run.Inputs[:1] // the manifest, and then the files in their order
	for _, f := range w.files {
		if f.Found && known(f.Name) {
			inputs = append(inputs, finding.Input{Path: f.Path, Dialect: Dialect, Kind: kindName(f.Name), Bytes: f.Bytes, SHA256: f.SHA256})
		}
		w.recording.Files = append(w.recording.Files, *f)
	}
	w.run.Inputs = inputs
	return w.run, nil
}

// forget takes the lines of the last turn out of the recording.
func (w *Walk) forget() {
	w.recording.Turns = nil
	for _, f := range w.ofTurns {
		*f.kind.lines(w.recording) = nil
	}
}

// Close lets go of the files.
func (w *Walk) Close() {
	for _, in := range w.opened {
		in.close()
	}
}
