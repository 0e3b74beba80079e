package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// A store remembers where its file stands. Two files with one id are one store that was copied: what is committed to one, the other
// never sees, and a lease on one fences nobody from the other. Where the place is another now, the file was moved, unless the old
// place still has the same store: then this one is a copy, which may be read and not written.

// settle says where the file stands, and whether that must be written down.
func (b *Backend) settle(ctx context.Context) error {
	at, err := filepath.Abs(b.path)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	if err != nil {
		return &Problem{b.path, "cannot be looked at", err}
	}
	var home, first string
	err = b.write.QueryRowContext(ctx, "SELECT coalesce((SELECT place FROM home), ''), coalesce((SELECT digest FROM ledger WHERE number = 1), '')").Scan(&home, &first)
	switch {
	case err != nil:
		return err
	case home == at:
		return nil
	case home != "" && first != "" && isOtherFile(home, at) && firstRow(ctx, home) == first:
		b.copied = &Problem{Path: b.path, Detail: fmt.Sprintf("is a copy of the store at %s: with one id for both, neither would see what is committed to the other", home)}
		return nil
	}
	b.moved.Store(&at)
	return nil
}

// isOtherFile tells another file from the same one under another name.
func isOtherFile(home, at string) bool {
	there, err1 := os.Stat(home)
	here, err2 := os.Stat(at)
	return err1 == nil && err2 == nil && !os.SameFile(there, here)
}

// firstRow gives the digest of the first row of a store's ledger, which has the store's id; empty where there is no store.
func firstRow(ctx context.Context, path string) (digest string) {
	db, err := connect(path, "ro", 1)
	if err != nil {
		return ""
	}
	if err := db.QueryRowContext(ctx, "SELECT digest FROM ledger WHERE number = 1").Scan(&digest); err != nil {
		digest = ""
	}
	if err := db.Close(); err != nil {
		return ""
	}
	return digest
}

// writeHome writes down where the file stands, in the first transaction that changes something here.
func (b *Backend) writeHome(tx *transaction) error {
	at := b.moved.Load()
	if at == nil {
		return nil
	}
	return tx.do("INSERT INTO home (one, place) VALUES (1, ?1) ON CONFLICT DO UPDATE SET place = ?1", *at)
}
