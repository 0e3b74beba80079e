package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// migrations make the tables, one version after the other. Names are bytes, since a text here holds no NUL and sorts as a locale says.
var migrations = []string{
	`CREATE TABLE dmpl_about (one integer PRIMARY KEY CHECK (one = 1), document bytea NOT NULL);
CREATE TABLE dmpl_snapshot (number bigint PRIMARY KEY, commit_id bytea UNIQUE, document bytea NOT NULL);
CREATE TABLE dmpl_record (
	sequence bigint NOT NULL,
	came bigint NOT NULL,
	went bigint,
	type bytea NOT NULL,
	name bytea NOT NULL,
	document bytea NOT NULL,
	PRIMARY KEY (sequence, came)
);
CREATE UNIQUE INDEX dmpl_record_living ON dmpl_record (sequence) WHERE went IS NULL;
CREATE INDEX dmpl_record_name ON dmpl_record (sha256(type || '\x00'::bytea || name), sequence);
CREATE INDEX dmpl_record_went ON dmpl_record (went) WHERE went IS NOT NULL;
CREATE TABLE dmpl_run (id bytea PRIMARY KEY, state text NOT NULL, document bytea NOT NULL);
CREATE INDEX dmpl_run_unfinished ON dmpl_run (state, id) WHERE state IN ('buffer_open', 'commit_pending');
CREATE TABLE dmpl_buffered_write (run bytea NOT NULL, place bigint NOT NULL, document bytea NOT NULL, PRIMARY KEY (run, place));
CREATE TABLE dmpl_ledger (number bigint PRIMARY KEY, digest text NOT NULL, document bytea NOT NULL);
CREATE FUNCTION dmpl_ledger_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the ledger only grows'; END $$;
CREATE TRIGGER dmpl_ledger_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON dmpl_ledger
	FOR EACH STATEMENT EXECUTE FUNCTION dmpl_ledger_only_grows();`,
}

// migrate brings the tables to the newest version, where they are there or may be made.
func (b *Backend) migrate(ctx context.Context, create bool) error {
	return b.run(ctx, pgx.TxOptions{}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lock); err != nil {
			return explain("cannot lock the store", err)
		}
		version, err := versionOf(ctx, tx)
		switch {
		case err != nil:
			return err
		case version > len(migrations):
			return &Problem{Detail: fmt.Sprintf("the tables are of version %d, and %d is the newest that is known", version, len(migrations))}
		case version == 0 && !create:
			return &Problem{Detail: "there is no store in this database"}
		}
		for ; version < len(migrations); version++ {
			if _, err := tx.Exec(ctx, migrations[version]); err != nil {
				return explain("cannot make the tables", err)
			}
			if _, err := tx.Exec(ctx, "INSERT INTO dmpl_version VALUES ($1)", version+1); err != nil {
				return explain("cannot make the tables", err)
			}
		}
		return nil
	})
}

// versionOf gives the version of the tables, 0 where there are none.
func versionOf(ctx context.Context, tx pgx.Tx) (version int, err error) {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass(quote_ident(current_schema()) || '.dmpl_version') IS NOT NULL").Scan(&there); err != nil {
		return 0, explain("cannot look at the tables", err)
	}
	if !there {
		if _, err := tx.Exec(ctx, "CREATE TABLE dmpl_version (version integer PRIMARY KEY)"); err != nil {
			return 0, explain("cannot make the tables", err)
		}
	}
	if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM dmpl_version").Scan(&version); err != nil {
		return 0, explain("cannot look at the tables", err)
	}
	return version, nil
}
