package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// connections are the driver's connections that the pools have opened, each with the statements that it has prepared. Pools
// open, keep and lend connections; statements run on the driver, since the locks and goroutines that database/sql needs for
// each cost as much as a short statement itself.
type connections struct {
	mu   sync.Mutex
	open map[driver.Conn]*connection
}

// connection is one of them, lent to one transaction at a time.
type connection struct {
	driver driver.Conn
	ready  map[string]statement
}

// statement is what the driver prepares.
type statement interface {
	driver.StmtExecContext
	driver.StmtQueryContext
	Close() error
}

// lend runs do with a connection of a pool.
func (c *connections) lend(ctx context.Context, pool *sql.DB, do func(*connection) error) (err error) {
	lent, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lent.Close()) }()
	return lent.Raw(func(raw any) error {
		known, back := c.of(raw.(driver.Conn)), false
		defer func() {
			if !back { // do panics, and the pool will close the connection
				_ = c.drop(known)
			}
		}()
		err := do(known)
		back = true
		return err
	})
}

func (c *connections) of(raw driver.Conn) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.open[raw]
	if known == nil {
		if c.open == nil {
			c.open = map[driver.Conn]*connection{}
		}
		known = &connection{raw, map[string]statement{}}
		c.open[raw] = known
	}
	return known
}

// drop gives the statements of a connection back, and forgets it.
func (c *connections) drop(known *connection) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, known.driver)
	for _, s := range known.ready {
		err = errors.Join(err, s.Close())
	}
	return err
}

// close gives all statements back; the pools are closed after it.
func (c *connections) close() (err error) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.open))
	c.mu.Unlock()
	for _, known := range all {
		err = errors.Join(err, c.drop(known))
	}
	return err
}

func (c *connection) begin(ctx context.Context, readOnly bool) (driver.Tx, error) {
	return c.driver.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{ReadOnly: readOnly})
}

// statement gives the prepared form of a query.
func (c *connection) statement(ctx context.Context, query string) (statement, error) {
	if s := c.ready[query]; s != nil {
		return s, nil
	}
	prepared, err := c.driver.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s := prepared.(statement)
	c.ready[query] = s
	return s, nil
}

// named gives arguments the form in which the driver takes them.
func named(args []any) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}

// scan reads the columns of a row. The tables are strict, so that each column has the type that is asked for.
func scan(columns []driver.Value, into []any) error {
	for i, column := range columns {
		var right bool
		switch place := into[i].(type) {
		case *[]byte:
			*place, right = column.([]byte)
		case *string:
			*place, right = column.(string)
		case *int64:
			*place, right = column.(int64)
		case *bool:
			var n int64
			n, right = column.(int64)
			*place = n != 0
		}
		if !right {
			return fmt.Errorf("column %d is a %T, and a %T is read", i, column, into[i])
		}
	}
	return nil
}
