package dblgateway

import (
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
)

// eachRow calls each for the row of every event, in the order of allColumns, by idx ascending. The error is a
// [dialect.Problem], or what each returned.
func (t *trail) eachRow(each func(row *sqlite.Stmt) error) error {
	row, _, err := t.conn.PrepareTransient("SELECT " + strings.Join(allColumns(), ", ") + " FROM main.events NOT INDEXED ORDER BY idx")
	if err != nil {
		return t.failed(err)
	}
	defer row.Finalize() // it repeats the error of Step
	for {
		there, err := row.Step()
		if err != nil {
			return t.failed(err)
		}
		if !there {
			return nil
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// allColumns are the columns of an event, in the order that rowReader wants.
func allColumns() []string { return slices.Concat(otherColumns, textNames) }
