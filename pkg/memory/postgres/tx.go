package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/dmpl/dmpl/pkg/memory"
)

// transaction is the rows of a store in one transaction.
type transaction struct {
	ctx context.Context
	tx  pgx.Tx
}

func (t *transaction) exec(query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(t.ctx, query, args...)
	if err != nil {
		return 0, explain("the database failed", err)
	}
	return tag.RowsAffected(), nil
}

func (t *transaction) do(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// row reads the one row of a query; the places stay as they are where there is none.
func (t *transaction) row(query string, args []any, into ...any) error {
	err := t.tx.QueryRow(t.ctx, query, args...).Scan(into...)
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return explain("the database failed", err)
}

func (t *transaction) document(query string, args ...any) (text []byte, err error) {
	err = t.row(query, args, &text)
	return text, err
}

func (t *transaction) rows(query string, args []any, visit func(pgx.Rows) error) error {
	rows, err := t.tx.Query(t.ctx, query, args...)
	if err != nil {
		return explain("the database failed", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return explain("the database failed", err)
	}
	return nil
}

// each visits the documents of a query.
func (t *transaction) each(visit func([]byte) error, query string, args ...any) error {
	return t.rows(query, args, func(rows pgx.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return explain("the database failed", err)
		}
		return visit(text)
	})
}

func (t *transaction) About() ([]byte, error) { return t.document("SELECT document FROM dmpl_about") }

func (t *transaction) SetAbout(document []byte) error {
	return t.do("INSERT INTO dmpl_about (one, document) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET document = $1", document)
}

func (t *transaction) Newest() ([]byte, error) {
	return t.document("SELECT document FROM dmpl_snapshot ORDER BY number DESC LIMIT 1")
}

func (t *transaction) Snapshot(number int64) ([]byte, error) {
	return t.document("SELECT document FROM dmpl_snapshot WHERE number = $1", number)
}

func (t *transaction) Committed(commitID string) ([]byte, error) {
	return t.document("SELECT document FROM dmpl_snapshot WHERE commit_id = $1", []byte(commitID))
}

func (t *transaction) EachSnapshot(visit func([]byte) error) error {
	return t.each(visit, "SELECT document FROM dmpl_snapshot ORDER BY number")
}

func (t *transaction) AddSnapshot(number int64, commitID string, document []byte) error {
	return t.do("INSERT INTO dmpl_snapshot (number, commit_id, document) VALUES ($1, nullif($2, ''::bytea), $3)", number, []byte(commitID), document)
}

// named are the records of a name: the index has a digest, since a name may be longer than an index takes.
const named = `sha256(type || '\x00'::bytea || name) = sha256($1::bytea || '\x00'::bytea || $2::bytea) AND type = $1 AND name = $2`

func (t *transaction) Find(name memory.Ref) (list [][]byte, err error) {
	err = t.each(func(text []byte) error {
		list = append(list, text)
		return nil
	}, "SELECT document FROM dmpl_record WHERE "+named+" AND went IS NULL ORDER BY sequence", []byte(name.Type), []byte(name.Key))
	return list, err
}

func (t *transaction) Highest() (highest int64, err error) {
	err = t.row("SELECT sequence FROM dmpl_record WHERE went IS NULL ORDER BY sequence DESC LIMIT 1", nil, &highest)
	return highest, err
}

func (t *transaction) Changed(name memory.Ref, after int64) (changed bool, err error) {
	err = t.row("SELECT EXISTS (SELECT 1 FROM dmpl_record WHERE "+named+" AND (came > $3 OR went > $3))",
		[]any{[]byte(name.Type), []byte(name.Key), after}, &changed)
	return changed, err
}

func (t *transaction) Insert(sequence int64, name memory.Ref, came int64, document []byte) error {
	return t.do("INSERT INTO dmpl_record (sequence, came, type, name, document) VALUES ($1, $2, $3, $4, $5)",
		sequence, came, []byte(name.Type), []byte(name.Key), document)
}

func (t *transaction) Bury(sequence, went int64) error {
	buried, err := t.exec("DELETE FROM dmpl_record WHERE sequence = $1 AND came = $2 AND went IS NULL", sequence, went)
	if err != nil || buried == 1 {
		return err
	}
	buried, err = t.exec("UPDATE dmpl_record SET went = $2 WHERE sequence = $1 AND went IS NULL", sequence, went)
	if err == nil && buried != 1 {
		err = fmt.Errorf("no record of the number %d lives", sequence)
	}
	return err
}

func (t *transaction) Records(snapshot int64, visit func([]byte) error) error {
	return t.each(visit, "SELECT document FROM dmpl_record WHERE came <= $1 AND (went IS NULL OR went > $1) ORDER BY sequence, came", snapshot)
}

func (t *transaction) EachRecord(visit func(int64, int64, []byte) error) error {
	return t.rows("SELECT came, coalesce(went, 0), document FROM dmpl_record ORDER BY sequence, came", nil, func(rows pgx.Rows) error {
		var came, went int64
		var text []byte
		if err := rows.Scan(&came, &went, &text); err != nil {
			return explain("the database failed", err)
		}
		return visit(came, went, text)
	})
}

func (t *transaction) Forget(went int64) (int64, error) {
	return t.exec("DELETE FROM dmpl_record WHERE went IS NOT NULL AND went <= $1", went)
}

func (t *transaction) Run(id string) ([]byte, error) {
	return t.document("SELECT document FROM dmpl_run WHERE id = $1", []byte(id))
}

func (t *transaction) EachRun(state memory.BufferState, visit func([]byte) error) error {
	return t.each(visit, "SELECT document FROM dmpl_run WHERE state = $1 ORDER BY id", string(state))
}

func (t *transaction) SetRun(id string, state memory.BufferState, document []byte) error {
	return t.do("INSERT INTO dmpl_run (id, state, document) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET state = $2, document = $3",
		[]byte(id), string(state), document)
}

func (t *transaction) DropRun(id string) error {
	return t.do("DELETE FROM dmpl_run WHERE id = $1", []byte(id))
}

func (t *transaction) Writes(run string, visit func([]byte) error) error {
	return t.each(visit, "SELECT document FROM dmpl_buffered_write WHERE run = $1 ORDER BY place", []byte(run))
}

func (t *transaction) AddWrite(run string, place int64, document []byte) error {
	return t.do("INSERT INTO dmpl_buffered_write (run, place, document) VALUES ($1, $2, $3)", []byte(run), place, document)
}

func (t *transaction) DropWrites(run string) error {
	return t.do("DELETE FROM dmpl_buffered_write WHERE run = $1", []byte(run))
}

func (t *transaction) LastRow() (number int64, digest string, err error) {
	err = t.row("SELECT number, digest FROM dmpl_ledger ORDER BY number DESC LIMIT 1", nil, &number, &digest)
	return number, digest, err
}

func (t *transaction) AddRow(number int64, digest string, document []byte) error {
	return t.do("INSERT INTO dmpl_ledger (number, digest, document) VALUES ($1, $2, $3)", number, digest, document)
}

func (t *transaction) EachRow(visit func(int64, string, []byte) error) error {
	return t.rows("SELECT number, digest, document FROM dmpl_ledger ORDER BY number", nil, func(rows pgx.Rows) error {
		var number int64
		var digest string
		var text []byte
		if err := rows.Scan(&number, &digest, &text); err != nil {
			return explain("the database failed", err)
		}
		return visit(number, digest, text)
	})
}
