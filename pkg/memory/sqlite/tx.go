package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/dmpl/dmpl/pkg/memory"
)

// transaction is the rows of a store in one transaction.
type transaction struct {
	ctx     context.Context
	tx      *sql.Tx
	backend *Backend
	writes  bool
}

// prepared gives a statement that the writing connection has prepared, nil for none.
func (t *transaction) prepared(query string) *sql.Stmt {
	if !t.writes {
		return nil
	}
	t.backend.at(query)
	return t.backend.statements.in(t.ctx, t.tx, query)
}

func (t *transaction) execute(query string, args []any) (sql.Result, error) {
	if s := t.prepared(query); s != nil {
		return s.ExecContext(t.ctx, args...)
	}
	return t.tx.ExecContext(t.ctx, query, args...)
}

func (t *transaction) one(query string, args []any) *sql.Row {
	if s := t.prepared(query); s != nil {
		return s.QueryRowContext(t.ctx, args...)
	}
	return t.tx.QueryRowContext(t.ctx, query, args...)
}

func (t *transaction) query(query string, args []any) (*sql.Rows, error) {
	if s := t.prepared(query); s != nil {
		return s.QueryContext(t.ctx, args...)
	}
	return t.tx.QueryContext(t.ctx, query, args...)
}

func (t *transaction) exec(query string, args ...any) (int64, error) {
	result, err := t.execute(query, args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t *transaction) do(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// document gives the first column of the one row, nil for none.
func (t *transaction) document(query string, args ...any) (text []byte, err error) {
	err = t.row(query, args, &text)
	return text, err
}

// row reads the one row of a query; the places stay as they are where there is none.
func (t *transaction) row(query string, args []any, into ...any) error {
	err := t.one(query, args).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// each visits the documents of a query.
func (t *transaction) each(visit func([]byte) error, query string, args ...any) error {
	return t.rows(query, args, func(rows *sql.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		return visit(text)
	})
}

func (t *transaction) rows(query string, args []any, visit func(*sql.Rows) error) (err error) {
	rows, err := t.query(query, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// all reads the documents of a query, so that the connection is free for what is done with them.
func (t *transaction) all(query string, args ...any) (list [][]byte, err error) {
	err = t.each(func(text []byte) error {
		list = append(list, text)
		return nil
	}, query, args...)
	return list, err
}

func (t *transaction) About() ([]byte, error) {
	return t.document("SELECT document FROM about")
}

func (t *transaction) SetAbout(document []byte) error {
	return t.do("INSERT INTO about (one, document) VALUES (1, ?1) ON CONFLICT DO UPDATE SET document = ?1", document)
}

func (t *transaction) Newest() ([]byte, error) {
	return t.document("SELECT document FROM snapshot ORDER BY number DESC LIMIT 1")
}

func (t *transaction) Snapshot(number int64) ([]byte, error) {
	return t.document("SELECT document FROM snapshot WHERE number = ?", number)
}

func (t *transaction) Committed(commitID string) ([]byte, error) {
	return t.document("SELECT document FROM snapshot WHERE commit_id = ?", commitID)
}

func (t *transaction) EachSnapshot(visit func([]byte) error) error {
	return t.each(visit, "SELECT document FROM snapshot ORDER BY number")
}

func (t *transaction) AddSnapshot(number int64, commitID string, document []byte) error {
	return t.do("INSERT INTO snapshot (number, commit_id, document) VALUES (?, nullif(?, ''), ?)", number, commitID, document)
}

func (t *transaction) Find(name memory.Ref) ([][]byte, error) {
	return t.all("SELECT document FROM record WHERE type = ? AND name = ? AND went IS NULL ORDER BY sequence", name.Type, name.Key)
}

func (t *transaction) Highest() (highest int64, err error) {
	err = t.row("SELECT sequence FROM record WHERE went IS NULL ORDER BY sequence DESC LIMIT 1", nil, &highest)
	return highest, err
}

func (t *transaction) Changed(name memory.Ref, after int64) (changed bool, err error) {
	err = t.row("SELECT EXISTS (SELECT 1 FROM record WHERE type = ?1 AND name = ?2 AND (came > ?3 OR went > ?3))",
		[]any{name.Type, name.Key, after}, &changed)
	return changed, err
}

func (t *transaction) Insert(sequence int64, name memory.Ref, came int64, document []byte) error {
	return t.do("INSERT INTO record (sequence, came, type, name, document) VALUES (?, ?, ?, ?, ?)", sequence, came, name.Type, name.Key, document)
}

func (t *transaction) Bury(sequence, went int64) error {
	buried, err := t.exec("DELETE FROM record WHERE sequence = ? AND came = ? AND went IS NULL", sequence, went)
	if err != nil || buried == 1 {
		return err
	}
	buried, err = t.exec("UPDATE record SET went = ? WHERE sequence = ? AND went IS NULL", went, sequence)
	if err == nil && buried != 1 {
		err = fmt.Errorf("no record of the number %d lives", sequence)
	}
	return err
}

func (t *transaction) Records(snapshot int64, visit func([]byte) error) error {
	return t.each(visit, "SELECT document FROM record WHERE came <= ?1 AND (went IS NULL OR went > ?1) ORDER BY sequence, came", snapshot)
}

func (t *transaction) Forget(went int64) (int64, error) {
	return t.exec("DELETE FROM record WHERE went IS NOT NULL AND went <= ?", went)
}

func (t *transaction) Run(id string) ([]byte, error) {
	return t.document("SELECT document FROM run WHERE id = ?", id)
}

func (t *transaction) EachRun(state memory.BufferState, visit func([]byte) error) error {
	return t.each(visit, "SELECT document FROM run WHERE state = ? ORDER BY id", string(state))
}

func (t *transaction) SetRun(id string, state memory.BufferState, document []byte) error {
	return t.do("INSERT INTO run (id, state, document) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET state = ?2, document = ?3", id, string(state), document)
}

func (t *transaction) DropRun(id string) error { return t.do("DELETE FROM run WHERE id = ?", id) }

func (t *transaction) Writes(run string, visit func([]byte) error) error {
	return t.each(visit, "SELECT document FROM buffered_write WHERE run = ? ORDER BY place", run)
}

func (t *transaction) AddWrite(run string, place int64, document []byte) error {
	return t.do("INSERT INTO buffered_write (run, place, document) VALUES (?, ?, ?)", run, place, document)
}

func (t *transaction) DropWrites(run string) error {
	return t.do("DELETE FROM buffered_write WHERE run = ?", run)
}

func (t *transaction) LastRow() (number int64, digest string, err error) {
	err = t.row("SELECT number, digest FROM ledger ORDER BY number DESC LIMIT 1", nil, &number, &digest)
	return number, digest, err
}

func (t *transaction) AddRow(number int64, digest string, document []byte) error {
	return t.do("INSERT INTO ledger (number, digest, document) VALUES (?, ?, ?)", number, digest, document)
}

func (t *transaction) EachRow(visit func(int64, string, []byte) error) error {
	return t.rows("SELECT number, digest, document FROM ledger ORDER BY number", nil, func(rows *sql.Rows) error {
		var number int64
		var digest string
		var text []byte
		if err := rows.Scan(&number, &digest, &text); err != nil {
			return err
		}
		return visit(number, digest, text)
	})
}
