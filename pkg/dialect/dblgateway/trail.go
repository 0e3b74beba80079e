package dblgateway

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"modernc.org/sqlite"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// sqliteMagic begins every SQLite file.
const sqliteMagic = "SQLite format 3\x00"

// Columns by name: old files have them in another order (dbl-gateway.md §2). The texts of an event follow these.
var (
	otherColumns = []string{"idx", "parent_turn_id", "payload_json", "canon_len"}
	stateColumns = []string{"id", "v_digest", "last_index"}
)

// trail is an SQLite file while it is read, and gives its payloads afterwards.
type trail struct {
	*store
	db     *sql.DB
	conn   *sql.Conn
	each   func(thread.Event) error
	stream *Stream
	idx    []int64 // by position
	parser canon.Parser
	room   []byte    // of a payload
	again  *sql.Stmt // reads a payload
	lone   tolerance
}

func readTrail(src *source, o dialect.Options, each func(thread.Event) error) (*Stream, error) {
	store, err := openStore(src, o)
	if err != nil {
		return nil, err
	}
	t := &trail{store: store, each: each}
	t.stream = &Stream{Kind: KindTrail, Inputs: store.inputs, Whole: true, content: t}
	if err := t.read(); err != nil {
		t.disconnect()
		store.remove()
		return nil, err
	}
	return t.stream, nil
}

func (t *trail) read() error {
	if err := t.connect(); err != nil {
		return t.failed(err)
	}
	if err := t.checkTable("events", allColumns()); err != nil {
		return err
	}
	if err := t.checkTable("v_state", stateColumns); err != nil {
		return err
	}
	if err := t.readState(); err != nil {
		return err
	}
	if err := t.readEvents(); err != nil {
		return err
	}
	t.stream.Count = len(t.idx)
	t.stream.Shape = t.lone.notes()
	for i := range t.stream.Shape {
		t.stream.Shape[i].Artifact = t.path
	}
	return t.unchanged()
}

// connect opens the store. A schema from evidence is trusted with nothing: its views and functions are not run, and no value
// is larger than an event may be.
func (t *trail) connect() error {
	query := "mode=ro&immutable=1"
	if t.copied {
		query = "mode=rw" // the copy's log is read into it
	}
	name := filepath.ToSlash(t.file)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	dsn := url.URL{Scheme: "file", Path: name, RawQuery: query + "&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_defensive=1"}
	var err error
	if t.db, err = sql.Open("sqlite", dsn.String()); err != nil {
		return err
	}
	t.db.SetMaxOpenConns(1)
	if t.conn, err = t.db.Conn(context.Background()); err != nil {
		return err
	}
	_, err = sqlite.Limit(t.conn, limitLength, maxValue)
	return err
}

// limitLength is SQLite's SQLITE_LIMIT_LENGTH: the most bytes of a text, a blob or a row.
const limitLength = 0

// checkTable wants a table that holds the columns itself: a view or a generated column could be any program.
func (t *trail) checkTable(name string, columns []string) error {
	var kind string
	row := t.conn.QueryRowContext(context.Background(),
		"SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE", name)
	err := row.Scan(&kind)
	if errors.Is(err, sql.ErrNoRows) {
		return problem(finding.InputUnrecognised, t.path, "is an SQLite file without a table "+name+": no trail, or its -wal file is missing")
	}
	if err != nil {
		return t.failed(err)
	}
	if kind != "table" {
		return problem(finding.InputUnrecognised, t.path, fmt.Sprintf("%s is a %s and not a table: no trail", name, kind))
	}
	stored, err := t.storedColumns(name)
	if err != nil {
		return t.failed(err)
	}
	for _, column := range columns {
		if !slices.Contains(stored, column) {
			return problem(finding.InputUnrecognised, t.path, fmt.Sprintf("table %s has no stored column %s: no trail", name, column))
		}
	}
	return nil
}

func (t *trail) storedColumns(table string) ([]string, error) {
	rows, err := t.conn.QueryContext(context.Background(), "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func (t *trail) readState() error {
	var digest, last any
	row := t.conn.QueryRowContext(context.Background(), "SELECT v_digest, last_index FROM v_state WHERE id = 'current'")
	err := row.Scan(&digest, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return &dialect.Problem{
			Code: finding.ShapeMissing, Path: t.path, Offset: -1, Pointer: "/v_digest", Detail: "table v_state has no row with id current",
		}
	}
	if err != nil {
		return t.failed(err)
	}
	if t.stream.VDigest, err = textOf(digest, "v_digest"); err != nil {
		return t.located(err, "")
	}
	n, err := integerOf(last, "last_index")
	if err == nil && n < -1 {
		err = typeFault{finding.ShapeRange, "/last_index", fmt.Sprintf("last_index is %d, less than -1", n)}
	}
	if err != nil {
		return t.located(err, "")
	}
	length, offset := n+1, int64(0)
	t.stream.Length, t.stream.Offset = &length, &offset
	return nil
}

func (t *trail) readEvents() error {
	err := t.eachRow(t.row)
	t.each = nil // and with it what it fills
	return err
}

// row reads one row and passes it on.
func (t *trail) row(values []any) error {
	pointer := "/events/" + strconv.Itoa(len(t.idx))
	idx, e, err := eventOf(values, t.room)
	if err != nil {
		return t.located(err, pointer)
	}
	t.room = e.Payload
	if n := len(t.idx); n > 0 && idx <= t.idx[n-1] {
		// A page that a damaged tree holds twice gives its rows twice, without end where the tree is made for that.
		return problem(finding.InputDatabase, t.path, fmt.Sprintf("is damaged: row %d follows row %d", idx, t.idx[n-1]))
	}
	tolerated, err := readTolerant(e.Payload, func(doc []byte) (err error) {
		t.parser.Reset(doc, 0)
		if e.Document, err = t.parser.Value(); err != nil {
			return err
		}
		return t.parser.End()
	})
	if err != nil {
		return misread(t.path, errorOf(err), -1, pointer+"/payload")
	}
	if err := objectPayload(e.Payload); err != nil {
		return t.located(err, pointer)
	}
	if tolerated {
		t.lone.add(e.Index, pointer)
	}
	t.idx = append(t.idx, idx)
	return t.each(e)
}

func (t *trail) located(err error, pointer string) error {
	var fault typeFault
	if errors.As(err, &fault) {
		return fault.problem(t.path, pointer)
	}
	return err
}

// The result codes of SQLite that are not about the content, and the one for a value over the limit.
const (
	sqlitePerm, sqliteIOErr, sqliteCantOpen, sqliteTooBig = 3, 10, 14, 18
)

// failed turns an error of the driver into a problem.
func (t *trail) failed(err error) error {
	code := finding.InputDatabase
	var known *sqlite.Error
	if errors.As(err, &known) {
		switch known.Code() & 0xff {
		case sqlitePerm, sqliteIOErr, sqliteCantOpen:
			code = finding.InputUnreadable
		case sqliteTooBig:
			code = finding.InputTooLarge
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		code = finding.InputUnreadable
	}
	return problem(code, t.path, "SQLite: "+err.Error())
}

func (t *trail) payload(position int) ([]byte, error) {
	if t.again == nil {
		var err error
		if t.again, err = t.conn.PrepareContext(context.Background(), "SELECT payload_json FROM events WHERE idx = ?"); err != nil {
			return nil, t.failed(err)
		}
	}
	var value any
	if err := t.again.QueryRowContext(context.Background(), t.idx[position]).Scan(&value); err != nil {
		return nil, t.failed(err)
	}
	text, err := textOf(value, "payload_json")
	return trimSpace([]byte(text)), t.located(err, "/events/"+strconv.Itoa(position))
}

func (t *trail) disconnect() error {
	var err error
	if t.again != nil {
		err = t.again.Close()
	}
	if t.conn != nil {
		err = errors.Join(err, t.conn.Close())
	}
	if t.db != nil {
		err = errors.Join(err, t.db.Close())
	}
	return err
}

func (t *trail) close() error {
	return errors.Join(t.disconnect(), t.store.remove(), t.source.close())
}
