// Package dblgateway reads the event streams of the DBL Gateway, JSON snapshots and SQLite trails, into one model
// (dbl-gateway.md §2). Evidence is never altered: see [Read].
package dblgateway

import (
	"bytes"
	"errors"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// Name is the dialect's name.
const Name = "dblgateway"

// The kinds of input that this dialect reads.
const (
	KindSnapshot = "gateway_snapshot"
	KindTrail    = "gateway_trail"
	KindWAL      = "gateway_trail_wal"
)

// Stream is what Read found besides the events. The caller closes it.
type Stream struct {
	Inputs []finding.Input
	Kind   string // KindSnapshot or KindTrail

	Count   int    // events that are there
	Length  *int64 // events of the whole store, as stated; of a trail: last_index+1. nil: not stated
	Offset  *int64 // of the first event, counted after filtering; of a trail: 0. nil: not stated
	VDigest string // v_digest of the whole store, as stated; "" when not stated

	// Whole says that the whole store is there. Where it is not, Reason says why, and v_digest, neighbouring chain links,
	// references and re-assembly rest on events that cannot be seen (dbl-gateway.md §2, §9).
	Whole  bool
	Reason string

	Shape []finding.Finding // what breaks the schema (V1), and notes on what was tolerated (C1)

	content content
}

// content gives payloads again after the one pass of Read.
type content interface {
	payload(position int) ([]byte, error)
	close() error
}

// Payload reads the payload of the event at a position again, so that a stream need not be kept in memory. Position is that
// of the event, from 0 to Count-1. The error is a [dialect.Problem].
func (s *Stream) Payload(position int) ([]byte, error) { return s.content.payload(position) }

// Close lets go of the input and removes what was copied.
func (s *Stream) Close() error { return s.content.close() }

// Read reads the stream at path, or stdin for "-", and calls each for every event in stored order: of a snapshot its array,
// of a trail idx ascending, its index max(0, idx-1). The types of an event are right and its payload is one object, strict by C1
// but for lone surrogates; nothing else has been checked. The payload is valid during the call only. What the input is, its content says; gzip is recognised by its magic bytes (C1). An event holds at
// most 64 MiB; the stream has no limit.
//
// The input is only read: a trail is opened as immutable where no write-ahead log lies beside it, else both files are copied
// into a private temporary folder and read there. Standard input and what gzip holds are spooled to a private temporary file.
//
// An error is a [dialect.Problem], or what each returned; no stream is open then.
func Read(path string, o dialect.Options, each func(thread.Event) error) (*Stream, error) {
	source, err := open(path, o)
	if err != nil {
		return nil, err
	}
	s, err := readContent(source, o, each)
	if err != nil {
		source.close()
		return nil, err
	}
	return s, nil
}

func readContent(source *source, o dialect.Options, each func(thread.Event) error) (*Stream, error) {
	head, err := source.head()
	if err != nil {
		return nil, err
	}
	if IsTrail(head) {
		return readTrail(source, o, each)
	}
	return readSnapshot(source, each)
}

// IsTrail says whether the first bytes of an input, decompressed, are those of a trail.
func IsTrail(head []byte) bool { return bytes.HasPrefix(head, []byte(sqliteMagic)) }

// Detect says whether a file's content is a stream of this dialect: an SQLite file, or a JSON object with events and v_digest,
// or events and length. An error says that the content cannot be read at all; it is a [dialect.Problem].
func Detect(f *dialect.File) (bool, error) {
	if IsTrail(f.Data) {
		return true, nil
	}
	r := canon.NewReader(f.Data)
	if r.Kind() != canon.Object {
		return false, nil
	}
	var seen headNames
	err := r.Members(func(name []byte) error {
		seen.add(string(name))
		if seen.snapshot() {
			return errFound
		}
		_, err := r.Skip()
		return err
	})
	var bad *canon.Error
	switch {
	case errors.Is(err, errFound):
		return true, nil
	case errors.As(err, &bad) && bad.Code == canon.CodeLoneSurrogate:
		return detectMasked(f)
	case errors.As(err, &bad):
		return false, misread(f.Path, bad, 0, "")
	}
	return false, err
}

// detectMasked looks again without the lone surrogates, which a snapshot may hold.
func detectMasked(f *dialect.File) (bool, error) {
	masked := *f
	masked.Data = maskLone(f.Data, privateUse[0])
	return Detect(&masked)
}

var errFound = errors.New("found")

// headNames are the members of a snapshot that have been seen.
type headNames struct{ events, length, vDigest bool }

func (h *headNames) add(name string) {
	switch name {
	case "events":
		h.events = true
	case "length":
		h.length = true
	case "v_digest":
		h.vDigest = true
	}
}

func (h *headNames) snapshot() bool { return h.events && (h.length || h.vDigest) }
