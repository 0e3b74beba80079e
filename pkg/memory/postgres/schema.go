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

	"CREATE TABLE dmpl_home (one integer PRIMARY KEY CHECK (one = 1), database text NOT NULL, schema text NOT NULL)",
}

// migrate brings the tables to the newest version, where they are there or may be made. Where nothing is to be done, nobody is waited for.
func (b *Backend) migrate(ctx context.Context, create bool) error {
	var version int
	err := b.run(ctx, reading, func(tx pgx.Tx) (err error) {
		version, err = versionOf(ctx, tx)
		return err
	})
	switch {
	case err != nil:
		return err
	case version > len(migrations):
		return &Problem{Detail: fmt.Sprintf("the tables are of version %d, and %d is the newest that is known", version, len(migrations))}
	case version == 0 && !create:
		return &Problem{Detail: "there is no store in this database"}
	case version == len(migrations):
		return nil
	}
	return b.locked(ctx, func(tx pgx.Tx) error {
		version, err := versionOf(ctx, tx) // another process may have been here while this one waited
		if err != nil {
			return err
		}
		var statements []string
		if version == 0 {
			statements = append(statements, "CREATE TABLE IF NOT EXISTS dmpl_version (version integer PRIMARY KEY)")
		}
		for ; version < len(migrations); version++ {
			statements = append(statements, migrations[version], fmt.Sprintf("INSERT INTO dmpl_version VALUES (%d)", version+1))
		}
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
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
		return 0, nil
	}
	if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM dmpl_version").Scan(&version); err != nil {
		return 0, explain("cannot look at the tables", err)
	}
	return version, nil
}
