package dblgateway

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// maxMembers is the most members that a snapshot may have besides its events; the gateway writes four.
const maxMembers = 1000

// snapshot is a JSON snapshot while it is read, and gives its payloads afterwards.
type snapshot struct {
	*source
	scan   *scanner
	each   func(thread.Event) error
	stream *Stream
	limit  *int64
	names  []string
	seen   headNames
	event  eventReader
	places []place
	shape  finding.List
	lone   tolerance
}

// place is where a payload stands in the content: all that is kept of an event.
type place struct {
	start int64
	size  int32
}

func readSnapshot(src *source, each func(thread.Event) error) (*Stream, error) {
	size, err := src.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, dialect.Unreadable(src.path, err)
	}
	s := &snapshot{source: src, each: each, scan: newScanner(src.path, io.NewSectionReader(src.file, 0, size))}
	s.stream = &Stream{Kind: KindSnapshot, content: s}
	s.input.Kind = KindSnapshot
	s.stream.Inputs = []finding.Input{s.input}
	if err := s.document(); err != nil {
		return nil, err
	}
	s.conclude()
	return s.stream, nil
}

func (s *snapshot) document() error {
	first, err := s.scan.peek()
	switch {
	case err != nil:
		return err
	case s.scan.end == 0 || s.scan.pos == s.scan.end:
		return problem(finding.InputUnrecognised, s.path, "is empty")
	case first == 0xEF:
		return misread(s.path, errorOf(canon.Valid(s.scan.buf[s.scan.pos:s.scan.end])), s.scan.offset(), "")
	case first != '{':
		return problem(finding.InputUnrecognised, s.path, "is neither a snapshot (a JSON object) nor a trail (an SQLite file)")
	}
	s.scan.pos++
	if err := s.scan.list('}', "", s.member); err != nil {
		return err
	}
	ended, err := s.scan.ended()
	if err != nil {
		return err
	}
	if !ended {
		return s.scan.unexpected("", "the end of the input")
	}
	if !s.seen.snapshot() {
		return problem(finding.InputUnrecognised, s.path, "has no events with v_digest or length: no snapshot of a gateway")
	}
	return nil
}

func (s *snapshot) member(int) error {
	first, err := s.scan.peek()
	if err != nil {
		return err
	}
	if first != '"' {
		return s.scan.unexpected("", "a member name")
	}
	raw, start, err := s.scan.value()
	if err != nil {
		return err
	}
	text, err := canon.Text(raw)
	if err != nil {
		return misread(s.path, errorOf(err), start, "")
	}
	name := string(canon.NFC(text))
	if slices.Contains(s.names, name) {
		return &dialect.Problem{
			Code: finding.CanonDuplicateKey, Path: s.path, Offset: offset(start), Pointer: canon.AppendToken("", name),
			Detail: "the name stands twice in its object",
		}
	}
	if len(s.names) == maxMembers {
		return problem(finding.InputUnrecognised, s.path, "has too many members: no snapshot of a gateway")
	}
	s.names = append(s.names, name)
	s.seen.add(name)
	if err := s.scan.take(':', "", "a colon"); err != nil {
		return err
	}
	if name == "events" {
		return s.events()
	}
	return s.head(name)
}

// head reads a member besides the events.
func (s *snapshot) head(name string) error {
	pointer := canon.AppendToken("", name)
	raw, start, err := s.scan.value()
	if err != nil {
		return err
	}
	tolerated, err := readTolerant(raw, canon.Valid)
	if err != nil {
		return misread(s.path, errorOf(err), start, pointer)
	}
	if tolerated {
		s.lone.add(finding.NoEvent, pointer)
	}
	switch name {
	case "length":
		s.stream.Length, err = stated(raw, name)
	case "offset":
		s.stream.Offset, err = stated(raw, name)
	case "limit":
		s.limit, err = stated(raw, name)
	case "v_digest":
		err = readText(raw, canon.Span{End: len(raw)}, name, &s.stream.VDigest)
	}
	return s.located(err, start, "")
}

func stated(raw []byte, name string) (*int64, error) {
	n, err := readCount(raw, name)
	count := int64(n)
	return &count, err
}

// located gives an error of a value that starts at a place its path, offset and pointer.
func (s *snapshot) located(err error, start int64, pointer string) error {
	var fault typeFault
	if errors.As(err, &fault) {
		p := fault.problem(s.path, pointer)
		p.Offset = offset(start)
		return p
	}
	if bad := errorOf(err); bad != nil {
		return misread(s.path, bad, start, pointer)
	}
	return err
}

func (s *snapshot) events() error {
	if err := s.scan.take('[', "/events", "an array"); err != nil {
		return err
	}
	return s.scan.list(']', "/events", s.readEvent)
}

func (s *snapshot) readEvent(position int) error {
	pointer := "/events/" + strconv.Itoa(position)
	raw, start, tolerated, err := s.nextEvent(pointer)
	if err != nil {
		return err
	}
	e, err := s.event.event(raw)
	if err != nil {
		return s.located(err, start, pointer)
	}
	if tolerated {
		s.lone.add(e.Index, pointer)
	}
	for _, f := range s.event.authority(raw, e, pointer) {
		s.shape.Add(f)
	}
	s.places = append(s.places, place{start + int64(s.event.payload.Start), int32(len(e.Payload))})
	return s.each(e)
}

// nextEvent reads the event at the cursor strictly. Mostly all of it is in memory already, and one look finds its members and
// its end. Where it does not, its end is found first, and what is wrong with it is said then.
func (s *snapshot) nextEvent(pointer string) (raw []byte, start int64, tolerated bool, err error) {
	if _, err := s.scan.peek(); err != nil {
		return nil, 0, false, err
	}
	if end, err := s.event.readFirst(s.scan.ahead(), s.scan.depth); err == nil && end <= maxValue {
		raw, start = s.scan.pass(end)
		return raw, start, false, nil
	}
	if raw, start, err = s.scan.value(); err != nil {
		return nil, 0, false, err
	}
	if tolerated, err = readTolerant(raw, s.event.read); err != nil {
		err = s.located(err, start, pointer)
	}
	return raw, start, tolerated, err
}

// conclude says what the snapshot is, now that all of it has been read.
func (s *snapshot) conclude() {
	s.scan, s.names, s.each = nil, nil, nil // what follows are payloads at known places
	st := s.stream
	st.Count, st.Shape = len(s.places), s.shape.All()
	for _, m := range []struct {
		name  string
		there bool
	}{{"length", st.Length != nil}, {"offset", st.Offset != nil}, {"v_digest", st.VDigest != ""}, {"events", s.seen.events}} {
		if !m.there {
			f := finding.New(finding.ShapeMissing)
			f.Pointer, f.Detail = "/"+m.name, m.name+" is missing or empty"
			st.Shape = append(st.Shape, f)
		}
	}
	st.Shape = append(st.Shape, s.lone.notes()...)
	for i := range st.Shape {
		st.Shape[i].Artifact = s.path
	}
	st.Reason = s.partial()
	st.Whole = st.Reason == ""
}

// partial says why a snapshot does not hold the whole store; "" when it does (dbl-gateway.md §2).
func (s *snapshot) partial() string {
	count := int64(s.stream.Count)
	if s.stream.Length == nil {
		return "the snapshot does not say how many events the store has"
	}
	length := *s.stream.Length
	holds := fmt.Sprintf("the snapshot holds %d of %s", count, finding.Counted(length, "event"))
	switch {
	case s.stream.Offset != nil && *s.stream.Offset > 0:
		return fmt.Sprintf("%s: a page from offset %d", holds, *s.stream.Offset)
	case count == length:
		return ""
	case count > length:
		return holds + ": more than it states"
	case s.limit != nil && count == *s.limit:
		return fmt.Sprintf("%s: a page of limit %d", holds, *s.limit)
	}
	return holds + " and its limit would allow more: a view of one stream or lane, or events were taken out"
}

func (s *snapshot) payload(position int) ([]byte, error) {
	at := s.places[position]
	raw := make([]byte, at.size)
	if _, err := s.file.ReadAt(raw, at.start); err != nil {
		return nil, dialect.Unreadable(s.path, err)
	}
	return raw, nil
}
