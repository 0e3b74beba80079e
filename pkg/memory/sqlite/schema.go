package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations make the tables, one version after the other; each runs in a transaction of its own, with the version.
// Documents are opaque here; the columns are what rows are looked for by.
var migrations = []string{
	`CREATE TABLE about (one INTEGER PRIMARY KEY CHECK (one = 1), document BLOB NOT NULL) STRICT;

CREATE TABLE snapshot (
	number INTEGER PRIMARY KEY,
	commit_id TEXT,
	document BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX snapshot_commit ON snapshot (commit_id) WHERE commit_id IS NOT NULL;

CREATE TABLE record (
	sequence INTEGER NOT NULL,
	came INTEGER NOT NULL,
	went INTEGER,
	type TEXT NOT NULL,
	name TEXT NOT NULL,
	document BLOB NOT NULL,
	PRIMARY KEY (sequence, came)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX record_living ON record (sequence) WHERE went IS NULL;
CREATE INDEX record_name ON record (type, name, sequence);
CREATE INDEX record_went ON record (went) WHERE went IS NOT NULL;

CREATE TABLE run (
	id TEXT PRIMARY KEY,
	state TEXT NOT NULL,
	document BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX run_unfinished ON run (state, id) WHERE state IN ('buffer_open', 'commit_pending');

CREATE TABLE buffered_write (
	run TEXT NOT NULL,
	place INTEGER NOT NULL,
	document BLOB NOT NULL,
	PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
	number INTEGER PRIMARY KEY,
	digest TEXT NOT NULL,
	document BLOB NOT NULL
) STRICT;
CREATE TRIGGER ledger_is_never_edited BEFORE UPDATE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;
CREATE TRIGGER ledger_is_never_cut BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger only grows'); END;`,

	// What lives is apart from what is gone, so that reading the newest snapshot is one scan and a commit changes few pages.
	`CREATE TABLE living (
	sequence INTEGER PRIMARY KEY,
	came INTEGER NOT NULL,
	type TEXT NOT NULL,
	name TEXT NOT NULL,
	document BLOB NOT NULL
) STRICT;
CREATE TABLE gone (
	sequence INTEGER NOT NULL,
	came INTEGER NOT NULL,
	went INTEGER NOT NULL,
	type TEXT NOT NULL,
	name TEXT NOT NULL,
	document BLOB NOT NULL
) STRICT;
INSERT INTO living SELECT sequence, came, type, name, document FROM record WHERE went IS NULL ORDER BY sequence;
INSERT INTO gone SELECT sequence, came, went, type, name, document FROM record WHERE went IS NOT NULL ORDER BY went;
DROP TABLE record;
ALTER TABLE living RENAME TO record;
CREATE INDEX record_name ON record (type, name);
CREATE INDEX gone_name ON gone (type, name);
CREATE INDEX gone_went ON gone (went);

CREATE TABLE known (id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, document BLOB NOT NULL) STRICT;
INSERT INTO known SELECT id, state, document FROM run ORDER BY id;
DROP TABLE run;
ALTER TABLE known RENAME TO run;
CREATE INDEX run_unfinished ON run (state, id) WHERE state IN ('buffer_open', 'commit_pending');`,

	"CREATE TABLE home (one INTEGER PRIMARY KEY CHECK (one = 1), place TEXT NOT NULL) STRICT;",
}

// pageSize is that of a new file. A commit changes a few rows in each of a few tables, and writes every page whole that it
// changes: half the usual size writes half as much.
const pageSize = 2048

// migrate brings the file to the newest version, where it is a store or may become one.
func (b *Backend) migrate(ctx context.Context, create bool) error {
	version, err := b.version(ctx, b.write)
	if err != nil {
		return err
	}
	if version == 0 && !create {
		return &Problem{Path: b.path, Detail: "there is no store in this file"}
	}
	if version == 0 {
		if _, err := b.write.ExecContext(ctx, fmt.Sprintf("PRAGMA page_size=%d", pageSize)); err != nil {
			return err
		}
	}
	// WAL is a property of the file: readers go on while one writes, and a commit is one fsync.
	var journal string
	if err := b.write.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&journal); err != nil {
		return err
	}
	if journal != "wal" {
		return &Problem{Path: b.path, Detail: "is on a disk that allows no write-ahead log: the journal is " + journal}
	}
	for ; version < len(migrations); version++ {
		if err := b.migrateTo(ctx, version+1); err != nil {
			return err
		}
	}
	return nil
}

// queryer is a connection or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version gives the version of the tables, 0 for a file without any.
func (b *Backend) version(ctx context.Context, db queryer) (int, error) {
	var mark, version, tables int
	if err := db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM sqlite_schema), application_id, user_version FROM pragma_application_id, pragma_user_version").
		Scan(&tables, &mark, &version); err != nil {
		return 0, err
	}
	switch {
	case tables == 0 && mark == 0:
		return 0, nil
	case mark != applicationID:
		return 0, &Problem{Path: b.path, Detail: "is the database of another program"}
	case version < 1 || version > len(migrations):
		return 0, &Problem{Path: b.path, Detail: fmt.Sprintf("has tables of version %d, and %d is the newest that is known", version, len(migrations))}
	}
	return version, nil
}

// migrateTo takes one step. Another process may have taken it while this one waited.
func (b *Backend) migrateTo(ctx context.Context, version int) (err error) {
	b.at("begin migration")
	tx, err := b.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if undone := ended(tx.Rollback()); err == nil {
			err = undone
		}
	}()
	there, err := b.version(ctx, tx)
	if err != nil || there >= version {
		return err
	}
	for _, statement := range []string{
		migrations[version-1], fmt.Sprintf("PRAGMA application_id=%d", applicationID), fmt.Sprintf("PRAGMA user_version=%d", version),
	} {
		b.at("migration")
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	b.at("commit migration")
	return tx.Commit()
}
