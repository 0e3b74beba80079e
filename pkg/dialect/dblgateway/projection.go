package dblgateway

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"zombiezen.com/go/sqlite"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// Projection writes a stream into a fresh SQLite file that [Read] takes for a trail (X5, dbl-gateway.md §2). The caller ends
// it with Commit or Discard.
type Projection struct {
	path     string
	conn     *sqlite.Conn
	insert   *sqlite.Stmt
	position int
	last     int // index of the last event
}

// tables are those of a trail. Times are in no digest and no clock is read, so that created_at_utc stays empty.
var tables = []string{
	"PRAGMA journal_mode = OFF",
	"PRAGMA synchronous = OFF",
	`CREATE TABLE events (idx INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, prev_event_digest TEXT NOT NULL DEFAULT '',
		lane TEXT NOT NULL, thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, parent_turn_id TEXT, actor TEXT NOT NULL,
		intent_type TEXT NOT NULL, stream_id TEXT NOT NULL, correlation_id TEXT NOT NULL, payload_json TEXT NOT NULL,
		digest TEXT NOT NULL, canon_len INTEGER NOT NULL, created_at_utc TEXT NOT NULL DEFAULT '')`,
	"CREATE TABLE v_state (id TEXT PRIMARY KEY, v_digest TEXT NOT NULL, last_index INTEGER NOT NULL)",
}

// Project begins a projection into a new file at path. The error is a [dialect.Problem]: something is there already, or the
// file cannot be made.
func Project(path string) (*Projection, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, problem(finding.InputNotAFile, path, "exists already: a projection never overwrites")
	}
	if err != nil {
		return nil, dialect.Unreadable(path, err)
	}
	p := &Projection{path: path, last: -1}
	if err := errors.Join(f.Close(), p.open()); err != nil {
		p.Discard()
		return nil, p.failed(err)
	}
	return p, nil
}

func (p *Projection) open() error {
	file, err := filepath.Abs(p.path)
	if err != nil {
		return err
	}
	if p.conn, err = connect(file, "", sqlite.OpenReadWrite); err != nil {
		return err
	}
	for _, statement := range append(slices.Clone(tables), "BEGIN") {
		if err := run(p.conn, statement, nil); err != nil {
			return err
		}
	}
	columns := allColumns()
	p.insert, err = p.conn.Prepare("INSERT INTO events (" + strings.Join(columns, ", ") +
		") VALUES (?, ?, CAST(? AS TEXT)" + strings.Repeat(", ?", len(columns)-3) + ")")
	return err
}

// Add writes the next event. The error is a [dialect.Problem]: a trail cannot hold the event, since its index does not
// ascend or one of its texts is no UTF-8; or the file cannot be written.
func (p *Projection) Add(e thread.Event) error {
	at := "/events/" + strconv.Itoa(p.position)
	p.position++
	if e.Index <= p.last {
		return typeFault{finding.ShapeRange, "/index", fmt.Sprintf("index %d follows %d: a trail cannot hold it", e.Index, p.last)}.problem(p.path, at)
	}
	p.last = e.Index
	for i, field := range textFields(&e) {
		if !utf8.ValidString(*field) {
			return typeFault{finding.CanonInvalidUTF8, "/" + textNames[i], "a trail cannot hold a lone surrogate in a column"}.problem(p.path, at)
		}
		p.insert.BindText(len(otherColumns)+i+1, *field)
	}
	if !utf8.ValidString(e.ParentTurnID) {
		return typeFault{finding.CanonInvalidUTF8, "/parent_turn_id", "a trail cannot hold a lone surrogate in a column"}.problem(p.path, at)
	}
	p.insert.BindInt64(1, int64(e.Index)+1)
	p.insert.BindNull(2)
	if e.HasParent {
		p.insert.BindText(2, e.ParentTurnID)
	}
	p.insert.BindBytes(3, e.Payload)
	p.insert.BindInt64(4, int64(e.CanonLen))
	_, err := p.insert.Step()
	return p.failed(errors.Join(err, p.insert.Reset()))
}

// Commit writes what the stream says of its whole store and closes the file. Errors as of Add; the file is gone then.
func (p *Projection) Commit(s *Stream) error {
	last := int64(p.last)
	if s.Length != nil {
		last = *s.Length - 1
	}
	err := run(p.conn, "INSERT INTO v_state VALUES ('current', ?, ?)", nil, s.VDigest, last)
	if err == nil {
		err = run(p.conn, "COMMIT", nil)
	}
	if err == nil {
		conn := p.conn
		p.conn = nil
		err = conn.Close()
	}
	if err != nil {
		p.Discard()
	}
	return p.failed(err)
}

// Discard closes and removes the file. What goes wrong is not told: it follows an error that is.
func (p *Projection) Discard() {
	if p.conn != nil {
		_ = p.conn.Close()
	}
	_ = os.Remove(p.path)
}

func (p *Projection) failed(err error) error {
	if err == nil {
		return nil
	}
	return problem(finding.InputUnreadable, p.path, "cannot be written: "+said(err))
}
