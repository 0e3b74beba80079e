package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// OpenStepping opens a store that tells of every statement of an update before it runs it.
func OpenStepping(ctx context.Context, path string, step func(statement string)) (*Backend, error) {
	return open(ctx, path, true, step)
}

// Limit lets the file have so many pages and no more: a disk that is full.
func (b *Backend) Limit(ctx context.Context, pages int) error {
	_, err := b.write.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count=%d", pages))
	return err
}

// Pragma asks the writing connection and so many reading ones for a setting.
func (b *Backend) Pragma(ctx context.Context, name string, readers int) (values []string, err error) {
	var open []*sql.Conn
	defer func() {
		for _, c := range open {
			err = errors.Join(err, c.Close())
		}
	}()
	for i := range readers + 1 {
		db := b.read
		if i == 0 {
			db = b.write
		}
		c, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		open = append(open, c)
		var value string
		if err := c.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// OpenAsVersion makes a file as an earlier version of the tables had it.
func OpenAsVersion(ctx context.Context, path string, version int) error {
	newest := migrations
	migrations = newest[:version]
	defer func() { migrations = newest }()
	if err := ready(path, true); err != nil {
		return err
	}
	db, err := connect(path, "rw", 1)
	if err != nil {
		return err
	}
	b := &Backend{path: path, write: db}
	return errors.Join(b.migrate(ctx, true), b.Close())
}
