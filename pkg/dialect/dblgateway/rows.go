package dblgateway

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"strings"
)

// eachRow calls each with the values of every event, in the order of allColumns, by idx ascending; they are valid during the
// call, which cannot query the trail. The driver is asked itself: what lies between costs as much as SQLite does. The error is
// a [dialect.Problem], or what each returned.
func (t *trail) eachRow(each func(values []any) error) error {
	var failed, stopped error
	err := t.conn.Raw(func(connection any) error {
		failed, stopped = scanRows(connection.(driver.QueryerContext), each)
		return nil
	})
	if failed = errors.Join(err, failed); failed != nil {
		return t.failed(failed)
	}
	return stopped
}

// scanRows tells an error of the driver from one that each returned.
func scanRows(connection driver.QueryerContext, each func(values []any) error) (failed, stopped error) {
	columns := allColumns()
	rows, err := connection.QueryContext(context.Background(), "SELECT "+strings.Join(columns, ", ")+" FROM main.events NOT INDEXED ORDER BY idx", nil)
	if err != nil {
		return err, nil
	}
	defer rows.Close()
	row, values := make([]driver.Value, len(columns)), make([]any, len(columns))
	for {
		if err := rows.Next(row); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err, nil
		}
		for i, value := range row {
			values[i] = value
		}
		if err := each(values); err != nil {
			return nil, err
		}
	}
}

// allColumns are the columns of an event, in the order of eventOf.
func allColumns() []string { return slices.Concat(otherColumns, textNames) }

// cells gives room for the values of a row, and what Scan fills.
func cells() (values, targets []any) {
	values = make([]any, len(otherColumns)+len(textNames))
	targets = make([]any, len(values))
	for i := range values {
		targets[i] = &values[i]
	}
	return values, targets
}
