package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Problem says why a database cannot be used as a store. It never has the password.
type Problem struct {
	Detail string
	Err    error
}

// Error gives one line, however many the cause has.
func (p *Problem) Error() string {
	if p.Err == nil {
		return p.Detail
	}
	return p.Detail + ": " + strings.Join(strings.Fields(p.Err.Error()), " ")
}

// Unwrap gives the cause.
func (p *Problem) Unwrap() error { return p.Err }

// faults say what the codes of PostgreSQL mean for a store.
var faults = map[string]string{
	"25006": "the database cannot be written",
	"25P03": "the process was stopped for too long in the middle of a transaction",
	"28000": "the database refuses the user",
	"28P01": "the database refuses the user or the password",
	"3D000": "there is no such database",
	"42501": "the user may not do this in the database",
	"53100": "the disk of the database is full",
	"53300": "the database has too many connections",
	"55P03": "another process has been writing for too long",
	"57P01": "the database is being stopped",
	"57P02": "the database has crashed",
	"57P03": "the database is starting or stopping",
}

// explain says what an error of the driver means. A caller that has given up is told just that.
func explain(detail string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) && !isConnecting(err) {
		return err
	}
	var fault *pgconn.PgError
	if errors.As(err, &fault) {
		if said, known := faults[fault.Code]; known {
			detail = said
		}
	}
	return &Problem{detail, err}
}

// isConnecting tells the driver's own patience from that of the caller.
func isConnecting(err error) bool {
	var connecting *pgconn.ConnectError
	return errors.As(err, &connecting)
}

// explainCommit tells a commit that the database refused from one whose answer was lost, which may have been made (M5: the same
// commit again is no second one).
func explainCommit(err error) error {
	var fault *pgconn.PgError
	if errors.As(err, &fault) && fault.Severity == "ERROR" || errors.Is(err, pgx.ErrTxCommitRollback) {
		return explain("cannot commit", err)
	}
	return &Problem{"the answer to a commit was lost, which is there whole or not at all", err}
}
