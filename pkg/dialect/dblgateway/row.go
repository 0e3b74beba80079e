package dblgateway

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"zombiezen.com/go/sqlite"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// rowReader reads rows whose columns are in the order of allColumns. The payload of one takes the place of that before.
type rowReader struct {
	before  thread.Event // its texts mostly stand again in the next one
	payload []byte
	column  []byte
}

func (r *rowReader) event(row *sqlite.Stmt) (idx int64, e thread.Event, err error) {
	if idx, err = integerOf(row, 0, "idx"); err != nil {
		return idx, e, err
	}
	e = r.before
	e.PrevEventDigest = e.Digest
	e.Index = int(max(0, idx-1))
	if idx-1 > thread.MostEvents {
		return idx, e, typeFault{finding.ShapeRange, "/index", fmt.Sprintf("idx is %d, more than a stream can have", idx)}
	}
	for i, field := range textFields(&e) {
		if err = r.text(row, len(otherColumns)+i, textNames[i], field); err != nil {
			return idx, e, err
		}
	}
	if e.HasParent = row.ColumnType(1) != sqlite.TypeNull; !e.HasParent {
		e.ParentTurnID = ""
	} else if err = r.text(row, 1, "parent_turn_id", &e.ParentTurnID); err != nil {
		return idx, e, err
	}
	if r.payload, err = appendText(r.payload[:0], row, 2, "payload_json"); err != nil {
		return idx, e, err
	}
	n, err := integerOf(row, 3, "canon_len")
	if err == nil && (n < 0 || n > thread.MostEvents) {
		err = typeFault{finding.ShapeRange, "/canon_len", fmt.Sprintf("canon_len is %d, not a number of bytes", n)}
	}
	e.CanonLen = int(n)
	r.before = e
	e.Payload = trimSpace(r.payload)
	return idx, e, err
}

// text reads a column into a field that may hold the same text already.
func (r *rowReader) text(row *sqlite.Stmt, column int, name string, field *string) (err error) {
	if r.column, err = appendText(r.column[:0], row, column, name); err == nil && *field != string(r.column) {
		*field = string(r.column)
	}
	return err
}

// appendText appends the text of a column. That a column is no text, or no UTF-8, is a typeFault.
func appendText(dst []byte, row *sqlite.Stmt, column int, name string) ([]byte, error) {
	if row.ColumnType(column) != sqlite.TypeText {
		return dst, typeFault{finding.ShapeType, "/" + name, fmt.Sprintf("column %s is %s, not TEXT", name, storage(row, column))}
	}
	from, size := len(dst), row.ColumnLen(column) // asked first: it turns what a store keeps as UTF-16 into UTF-8
	dst = slices.Grow(dst, size)[:from+size]
	row.ColumnBytes(column, dst[from:])
	if !utf8.Valid(dst[from:]) {
		return dst, typeFault{finding.CanonInvalidUTF8, "/" + name, "column " + name + " is no UTF-8"}
	}
	return dst, nil
}

func integerOf(row *sqlite.Stmt, column int, name string) (int64, error) {
	if row.ColumnType(column) != sqlite.TypeInteger {
		return 0, typeFault{finding.ShapeType, "/" + name, fmt.Sprintf("column %s is %s, not INTEGER", name, storage(row, column))}
	}
	return row.ColumnInt64(column), nil
}

// storage names the class of a value in SQLite's words.
func storage(row *sqlite.Stmt, column int) string {
	switch row.ColumnType(column) {
	case sqlite.TypeNull:
		return "NULL"
	case sqlite.TypeInteger:
		return "INTEGER"
	case sqlite.TypeFloat:
		return "REAL"
	case sqlite.TypeText:
		return "TEXT"
	}
	return "BLOB"
}

// trimSpace takes JSON's white space from both ends.
func trimSpace(text []byte) []byte { return bytes.Trim(text, " \t\r\n") }
