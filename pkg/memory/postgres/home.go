package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A store remembers in which schema of which database it stands. Where that is another one now, it was renamed, or restored from a
// dump, unless the old one still has the same store: then this one is a copy, which may be read and not written. What is committed
// to one, the other would never see, and a lease on one fences nobody from the other.

// place is a schema of a database.
type place struct{ database, schema string }

// settle says where the store stands, and whether that must be written down.
func (b *Backend) settle(ctx context.Context) error {
	var here, home place
	var first string
	err := b.run(ctx, reading, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `SELECT current_database(), current_schema(), coalesce((SELECT database FROM dmpl_home), ''),
			coalesce((SELECT schema FROM dmpl_home), ''), coalesce((SELECT digest FROM dmpl_ledger WHERE number = 1), '')`).
			Scan(&here.database, &here.schema, &home.database, &home.schema, &first)
		if err != nil {
			return explain("cannot look at the tables", err)
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case home == here:
		return nil
	case home.database != "" && first != "" && b.firstRow(ctx, home) == first:
		b.copied = &Problem{Detail: fmt.Sprintf("this is a copy of the store in the schema %q of the database %q: with one id for both, neither would see what is committed to the other", home.schema, home.database)}
		return nil
	}
	b.moved.Store(true)
	return nil
}

// firstRow gives the digest of the first row of a store's ledger, which has the store's id; empty where there is no store.
func (b *Backend) firstRow(ctx context.Context, at place) (digest string) {
	config := b.pool.Config().ConnConfig.Copy()
	config.Database = at.database
	db, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return ""
	}
	table := pgx.Identifier{at.schema, "dmpl_ledger"}.Sanitize()
	if err := db.QueryRow(ctx, "SELECT digest FROM "+table+" WHERE number = 1").Scan(&digest); err != nil {
		digest = ""
	}
	if err := db.Close(ctx); err != nil {
		return ""
	}
	return digest
}

// writeHome writes down where the store stands, in the first transaction that changes something here.
func (b *Backend) writeHome(ctx context.Context, tx pgx.Tx) error {
	if !b.moved.Load() {
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO dmpl_home (one, database, schema) VALUES (1, current_database(), current_schema())
		ON CONFLICT (one) DO UPDATE SET database = excluded.database, schema = excluded.schema`)
	if err != nil {
		return explain("the database failed", err)
	}
	return nil
}
