// Package sqlite keeps a memory store in one SQLite file, which any number of processes on one machine may use.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/dmpl/dmpl/pkg/memory"
)

// applicationID marks the files of this package ("dmpl" as four bytes), so that no other program's database is taken for one.
const applicationID = 0x646d706c

// patience is how long another process that writes is waited for. SQLite itself waits for short times, between which a caller who
// has given up is heard.
const patience = 30 * time.Second

// pragmas hold on every connection. FULL: a commit is on the disk before it is reported, also against a loss of power. The log
// shrinks again after a commit that was large.
const pragmas = "_pragma=busy_timeout(200)&_pragma=synchronous(FULL)&_pragma=journal_size_limit(2097152)&_pragma=foreign_keys(1)&_pragma=trusted_schema(0)&_txlock=immediate"

// Backend is a store's file.
type Backend struct {
	path  string
	write *sql.DB // one connection: SQLite has one writer
	read  *sql.DB
	step  func(statement string) // before every statement of an update; nil but in crash tests

	connections connections
	file        os.FileInfo            // that was opened
	moved       atomic.Pointer[string] // where the file stands, nil where the file says so
	copied      *Problem               // why nothing may be written, nil where it may
}

// Problem says why a file cannot be used as a store.
type Problem struct {
	Path   string
	Detail string
	Err    error
}

// Error gives one line.
func (p *Problem) Error() string {
	if p.Err == nil {
		return p.Path + ": " + p.Detail
	}
	return fmt.Sprintf("%s: %s: %v", p.Path, p.Detail, p.Err)
}

// Unwrap gives the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Open opens the file of a store. It must be there, unless it is to be created: then the file, its folder and its tables are
// made as far as they are missing. A database that is no store is left as it is.
func Open(ctx context.Context, path string, create bool) (*Backend, error) {
	return open(ctx, path, create, nil)
}

func open(ctx context.Context, path string, create bool, step func(string)) (*Backend, error) {
	if err := ready(path, create); err != nil {
		return nil, err
	}
	b := &Backend{path: path, step: step}
	var err error
	if b.write, err = connect(path, "rw", 1); err != nil {
		return nil, err
	}
	if b.read, err = connect(path, "rw", 4); err != nil {
		return nil, err
	}
	prepare := func() error {
		if err := b.migrate(ctx, create); err != nil {
			return err
		}
		return b.settle(ctx)
	}
	if err := patient(ctx, prepare); err != nil {
		return nil, errors.Join(b.explain("cannot open the store", err), b.Close())
	}
	if b.file, err = os.Stat(path); err != nil {
		return nil, errors.Join(&Problem{path, "cannot be looked at", err}, b.Close())
	}
	return b, nil
}

// ready makes the file where it may, since SQLite would make one anywhere.
func ready(path string, create bool) error {
	at, err := os.Stat(path)
	switch {
	case err == nil && at.IsDir():
		return &Problem{Path: path, Detail: "is a folder, and a store is one file"}
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrNotExist):
		return &Problem{path, "cannot be looked at", err}
	case !create:
		return &Problem{Path: path, Detail: "there is no store"}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return &Problem{path, "the folder cannot be made", err}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return &Problem{path, "cannot be made", err}
	}
	return f.Close()
}

func connect(path, mode string, most int) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, &Problem{path, "is no path", err}
	}
	absolute = filepath.ToSlash(absolute)
	if !strings.HasPrefix(absolute, "/") {
		absolute = "/" + absolute
	}
	name := url.URL{Scheme: "file", Path: absolute, RawQuery: "mode=" + mode + "&" + pragmas}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, &Problem{path, "cannot be opened", err}
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most) // else a connection would go with its statements unclosed
	return db, nil
}

// Close ends all connections.
func (b *Backend) Close() error {
	errs := []error{b.connections.close()}
	for _, db := range []*sql.DB{b.write, b.read} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Update runs do in an immediate transaction: SQLite lets one write at a time, of all processes.
func (b *Backend) Update(ctx context.Context, do func(memory.Tx) error) error {
	if b.copied != nil {
		return b.copied
	}
	if err := b.present(); err != nil {
		return err
	}
	return b.connections.lend(ctx, b.write, func(c *connection) (err error) {
		b.at("begin")
		var begun driver.Tx
		err = patient(ctx, func() (err error) {
			begun, err = c.begin(ctx, false)
			return err
		})
		if err != nil {
			return b.explain("cannot begin to write", err)
		}
		open := true
		defer func() { // also where do panics
			if open {
				err = errors.Join(err, begun.Rollback())
			}
		}()
		tx := &transaction{ctx, c, b.at}
		if err := do(tx); err != nil {
			return b.explainFault(err)
		}
		if err := b.writeHome(tx); err != nil {
			return b.explainFault(err)
		}
		b.at("commit")
		open = false
		if err := begun.Commit(); err != nil { // the driver has rolled back
			return b.explain("cannot commit", err)
		}
		b.moved.Store(nil)
		b.at("committed")
		return nil
	})
}

// View runs do in a deferred transaction, which keeps one state of the file in sight.
func (b *Backend) View(ctx context.Context, do func(memory.Tx) error) error {
	if err := b.present(); err != nil {
		return err
	}
	return b.connections.lend(ctx, b.read, func(c *connection) (err error) {
		begun, err := c.begin(ctx, true)
		if err != nil {
			return b.explain("cannot begin to read", err)
		}
		defer func() { err = errors.Join(err, begun.Rollback()) }()
		return b.explainFault(do(&transaction{ctx, c, func(string) {}}))
	})
}

// present says that the file at the path is still the one that was opened: what is written to one that was removed or replaced
// meanwhile is lost.
func (b *Backend) present() error {
	now, err := os.Stat(b.path)
	switch {
	case err != nil:
		return &Problem{b.path, "is gone since it was opened", err}
	case !os.SameFile(now, b.file):
		return &Problem{Path: b.path, Detail: "was replaced by another file since it was opened"}
	}
	return nil
}

// patient tries again while another process has the file, until patience or the caller's is at its end.
func patient(ctx context.Context, try func() error) error {
	for end := time.Now().Add(patience); ; {
		err := try()
		var fault *sqlite.Error
		if !errors.As(err, &fault) || fault.Code()&0xff != codes.SQLITE_BUSY || time.Now().After(end) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// ended passes over that a transaction is at its end already.
func ended(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// at marks the place before a statement, where a crash test may end the process.
func (b *Backend) at(statement string) {
	if b.step != nil {
		b.step(statement)
	}
}

// explainFault names the file in errors of the database, and leaves the store's own as they are.
func (b *Backend) explainFault(err error) error {
	var fault *sqlite.Error
	if errors.As(err, &fault) {
		return b.explain("the database failed", err)
	}
	return err
}

// faults say what the codes of SQLite mean for a store.
var faults = map[int]string{
	codes.SQLITE_NOTADB:   "is no SQLite database",
	codes.SQLITE_CORRUPT:  "is a damaged SQLite database",
	codes.SQLITE_READONLY: "cannot be written",
	codes.SQLITE_FULL:     "the disk is full",
	codes.SQLITE_CANTOPEN: "cannot be opened",
	codes.SQLITE_BUSY:     "another process has been writing for too long",
	codes.SQLITE_IOERR:    "the disk failed",

	codes.SQLITE_IOERR_SHMSIZE: "the disk is full", // no room for the index of the log
}

func (b *Backend) explain(detail string, err error) error {
	var known *Problem
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var fault *sqlite.Error
	if errors.As(err, &fault) {
		detail = cmp.Or(faults[fault.Code()], faults[fault.Code()&0xff], detail)
	}
	return &Problem{b.path, detail, err}
}
