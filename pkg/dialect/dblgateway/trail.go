package dblgateway

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"zombiezen.com/go/sqlite"

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
	conn   *sqlite.Conn
	each   func(thread.Event) error
	stream *Stream
	idx    []int64 // by position
	parser canon.Parser
	rows   rowReader
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

// pragmas are for a file that nobody vouches for, most of whose pages are looked at once: a small cache of 128 KiB is also the faster one.
var pragmas = []string{"PRAGMA trusted_schema = 0", "PRAGMA cell_size_check = 1", "PRAGMA cache_size = -128"}

// connect opens the store. A schema from evidence is trusted with nothing: its views and functions are not run, and no value
// is larger than an event may be.
func (t *trail) connect() error {
	query, flags := "mode=ro&immutable=1", sqlite.OpenReadOnly
	if t.copied {
		query, flags = "mode=rw", sqlite.OpenReadWrite // the copy's log is read into it
	}
	var err error
	if t.conn, err = connect(t.file, query, flags); err != nil {
		return err
	}
	t.conn.Limit(sqlite.LimitLength, maxValue)
	for _, pragma := range pragmas {
		if err := run(t.conn, pragma, nil); err != nil {
			return err
		}
	}
	return t.conn.SetDefensive(true)
}

// checkTable wants a table that holds the columns itself: a view or a generated column could be any program.
func (t *trail) checkTable(name string, columns []string) error {
	var kind string
	err := run(t.conn, "SELECT type FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE", func(row *sqlite.Stmt) error {
		kind = row.ColumnText(0)
		return nil
	}, name)
	if err != nil {
		return t.failed(err)
	}
	if kind == "" {
		return problem(finding.InputUnrecognised, t.path, "is an SQLite file without a table "+name+": no trail, or its -wal file is missing")
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
	var names []string
	err := run(t.conn, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", func(row *sqlite.Stmt) error {
		names = append(names, row.ColumnText(0))
		return nil
	}, table)
	return names, err
}

func (t *trail) readState() error {
	found := false
	var stated error
	err := run(t.conn, "SELECT v_digest, last_index FROM v_state WHERE id = 'current'", func(row *sqlite.Stmt) error {
		if !found {
			found, stated = true, t.state(row)
		}
		return nil
	})
	if err != nil {
		return t.failed(err)
	}
	if !found {
		return &dialect.Problem{
			Code: finding.ShapeMissing, Path: t.path, Offset: -1, Pointer: "/v_digest", Detail: "table v_state has no row with id current",
		}
	}
	return t.located(stated, "")
}

func (t *trail) state(row *sqlite.Stmt) error {
	if err := t.rows.text(row, 0, "v_digest", &t.stream.VDigest); err != nil {
		return err
	}
	last, err := integerOf(row, 1, "last_index")
	if err != nil {
		return err
	}
	if last < -1 {
		return typeFault{finding.ShapeRange, "/last_index", fmt.Sprintf("last_index is %d, less than -1", last)}
	}
	length, offset := last+1, int64(0)
	t.stream.Length, t.stream.Offset = &length, &offset
	return nil
}

func (t *trail) readEvents() error {
	err := t.eachRow(t.row)
	t.each = nil // and with it what it fills
	return err
}

// row reads one row and passes it on.
func (t *trail) row(row *sqlite.Stmt) error {
	pointer := "/events/" + strconv.Itoa(len(t.idx))
	idx, e, err := t.rows.event(row)
	if err != nil {
		return t.located(err, pointer)
	}
	if n := len(t.idx); n > 0 && idx <= t.idx[n-1] {
		// A page that a damaged tree holds twice gives its rows twice, without end where the tree is made for that.
		return problem(finding.InputDatabase, t.path, fmt.Sprintf("is damaged: row %d follows row %d", idx, t.idx[n-1]))
	}
	tolerated, err := readTolerant(e.Payload, func(doc []byte) (err error) {
		t.parser.Reset(doc, 0)
		if e.Document, err = thread.ReadSparse(&t.parser); err != nil {
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

// failed turns an error of SQLite into a problem.
func (t *trail) failed(err error) error {
	code := finding.InputDatabase
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultPerm, sqlite.ResultIOErr, sqlite.ResultCantOpen:
		code = finding.InputUnreadable
	case sqlite.ResultTooBig:
		code = finding.InputTooLarge
	}
	return problem(code, t.path, "SQLite: "+said(err))
}

func (t *trail) payload(position int) ([]byte, error) {
	row, err := t.conn.Prepare("SELECT payload_json FROM main.events WHERE idx = ?")
	if err != nil {
		return nil, t.failed(err)
	}
	row.BindInt64(1, t.idx[position])
	there, err := row.Step()
	if err != nil {
		return nil, t.failed(err)
	}
	if !there {
		return nil, t.gone(t.idx[position])
	}
	raw, err := appendText(nil, row, 0, "payload_json")
	if err != nil {
		return nil, t.located(err, "/events/"+strconv.Itoa(position))
	}
	if err := row.Reset(); err != nil {
		return nil, t.failed(err)
	}
	return trimSpace(raw), nil
}

// gone says that a row which was read is not found again.
func (t *trail) gone(idx int64) error {
	return problem(finding.InputDatabase, t.path, fmt.Sprintf("is damaged: row %d is not found again", idx))
}

func (t *trail) disconnect() error {
	if t.conn == nil {
		return nil
	}
	return t.conn.Close()
}

func (t *trail) close() error {
	return errors.Join(t.disconnect(), t.store.remove(), t.source.close())
}
