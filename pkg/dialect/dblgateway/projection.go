package dblgateway

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// Projection writes a stream into a fresh SQLite file that [Read] takes for a trail (X5, dbl-gateway.md §2). The caller ends
// it with Commit or Discard.
type Projection struct {
	path     string
	db       *sql.DB
	tx       *sql.Tx
	insert   *sql.Stmt
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
	name := filepath.ToSlash(file)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	dsn := url.URL{Scheme: "file", Path: name}
	if p.db, err = sql.Open("sqlite", dsn.String()); err != nil {
		return err
	}
	p.db.SetMaxOpenConns(1)
	for _, statement := range tables {
		if _, err := p.db.ExecContext(context.Background(), statement); err != nil {
			return err
		}
	}
	if p.tx, err = p.db.BeginTx(context.Background(), nil); err != nil {
		return err
	}
	columns := allColumns()
	p.insert, err = p.tx.PrepareContext(context.Background(), "INSERT INTO events ("+strings.Join(columns, ", ")+
		") VALUES (?"+strings.Repeat(", ?", len(columns)-1)+")")
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
	parent := any(nil)
	if e.HasParent {
		parent = e.ParentTurnID
	}
	values := []any{int64(e.Index) + 1, parent, string(e.Payload), e.CanonLen}
	for i, field := range textFields(&e) {
		if !utf8.ValidString(*field) {
			return typeFault{finding.CanonInvalidUTF8, "/" + textNames[i], "a trail cannot hold a lone surrogate in a column"}.problem(p.path, at)
		}
		values = append(values, *field)
	}
	if !utf8.ValidString(e.ParentTurnID) {
		return typeFault{finding.CanonInvalidUTF8, "/parent_turn_id", "a trail cannot hold a lone surrogate in a column"}.problem(p.path, at)
	}
	_, err := p.insert.ExecContext(context.Background(), values...)
	return p.failed(err)
}

// Commit writes what the stream says of its whole store and closes the file. Errors as of Add; the file is gone then.
func (p *Projection) Commit(s *Stream) error {
	last := int64(p.last)
	if s.Length != nil {
		last = *s.Length - 1
	}
	_, err := p.tx.ExecContext(context.Background(), "INSERT INTO v_state VALUES ('current', ?, ?)", s.VDigest, last)
	if err == nil {
		err = errors.Join(p.insert.Close(), p.tx.Commit())
	}
	if err == nil {
		err = p.db.Close()
	}
	if err != nil {
		p.Discard()
	}
	return p.failed(err)
}

// Discard closes and removes the file. What goes wrong is not told: it follows an error that is.
func (p *Projection) Discard() {
	if p.tx != nil {
		_ = p.tx.Rollback()
	}
	if p.db != nil {
		_ = p.db.Close()
	}
	_ = os.Remove(p.path)
}

func (p *Projection) failed(err error) error {
	if err == nil {
		return nil
	}
	return problem(finding.InputUnreadable, p.path, "cannot be written: "+err.Error())
}
