package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/dmpl/dmpl/pkg/memory"
)

// transaction is the rows of a store in one transaction.
type transaction struct {
	ctx  context.Context
	conn *connection
	at   func(statement string)
}

// prepare gives a statement that is to run now. A transaction that was given up ends between two statements, never within
// one, and needs no goroutine to watch each.
func (t *transaction) prepare(query string) (statement, error) {
	t.at(query)
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	return t.conn.statement(context.Background(), query)
}

func (t *transaction) exec(query string, args ...any) (int64, error) {
	s, err := t.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(context.Background(), named(args))
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
	return t.rows(query, args, func() error { return nil }, into...)
}

// each visits the documents of a query.
func (t *transaction) each(visit func([]byte) error, query string, args ...any) error {
	var text []byte
	return t.rows(query, args, func() error { return visit(text) }, &text)
}

// rows reads the rows of a query into places, one after the other, and visits each.
func (t *transaction) rows(query string, args []any, visit func() error, into ...any) (err error) {
	s, err := t.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), named(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns := make([]driver.Value, len(into))
	for {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		switch err := rows.Next(columns); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := scan(columns, into); err != nil {
			return err
		}
		if err := visit(); err != nil {
			return err
		}
	}
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
	return t.all("SELECT document FROM record WHERE type = ? AND name = ? ORDER BY sequence", name.Type, name.Key)
}

func (t *transaction) Highest() (highest int64, err error) {
	err = t.row("SELECT coalesce(max(sequence), 0) FROM record", nil, &highest)
	return highest, err
}

func (t *transaction) Changed(name memory.Ref, after int64) (changed bool, err error) {
	err = t.row("SELECT EXISTS (SELECT 1 FROM record WHERE type = ?1 AND name = ?2 AND came > ?3)"+
		" OR EXISTS (SELECT 1 FROM gone WHERE type = ?1 AND name = ?2 AND went > ?3)", []any{name.Type, name.Key, after}, &changed)
	return changed, err
}

func (t *transaction) Insert(sequence int64, name memory.Ref, came int64, document []byte) error {
	return t.do("INSERT INTO record (sequence, came, type, name, document) VALUES (?, ?, ?, ?, ?)", sequence, came, name.Type, name.Key, document)
}

func (t *transaction) Bury(sequence, went int64) error {
	if err := t.do("INSERT INTO gone SELECT sequence, came, ?2, type, name, document FROM record WHERE sequence = ?1 AND came < ?2", sequence, went); err != nil {
		return err
	}
	buried, err := t.exec("DELETE FROM record WHERE sequence = ?", sequence)
	if err == nil && buried != 1 {
		err = fmt.Errorf("no record of the number %d lives", sequence)
	}
	return err
}

func (t *transaction) Records(snapshot int64, visit func([]byte) error) error {
	var number int64
	var text []byte
	return t.rows("SELECT sequence, document FROM record WHERE came <= ?1 UNION ALL"+
		" SELECT sequence, document FROM gone WHERE came <= ?1 AND went > ?1 ORDER BY 1", []any{snapshot}, func() error { return visit(text) }, &number, &text)
}

func (t *transaction) EachRecord(visit func(int64, int64, []byte) error) error {
	var sequence, came, went int64
	var text []byte
	return t.rows("SELECT sequence, came, 0, document FROM record UNION ALL SELECT sequence, came, went, document FROM gone ORDER BY 1, 2",
		nil, func() error { return visit(came, went, text) }, &sequence, &came, &went, &text)
}

func (t *transaction) Forget(went int64) (int64, error) {
	return t.exec("DELETE FROM gone WHERE went <= ?", went)
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
	var number int64
	var digest string
	var text []byte
	return t.rows("SELECT number, digest, document FROM ledger ORDER BY number", nil, func() error { return visit(number, digest, text) }, &number, &digest, &text)
}
