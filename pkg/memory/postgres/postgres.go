// Package postgres keeps a memory store in PostgreSQL, for runs on several machines.
package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/dmpl/dmpl/pkg/memory"
)

// Backend is a store's tables, in the schema that connections see first.
type Backend struct{ pool *pgxpool.Pool }

// Problem says why a database cannot be used as a store. It never has the password.
type Problem struct {
	Detail string
	Err    error
}

// Error gives one line.
func (p *Problem) Error() string {
	if p.Err == nil {
		return p.Detail
	}
	return fmt.Sprintf("%s: %v", p.Detail, p.Err)
}

// Unwrap gives the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Open opens the store of a database. Its tables must be there, unless they are to be created.
func Open(ctx context.Context, url string, create bool) (*Backend, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, &Problem{"the address of the database is wrong", err}
	}
	// A commit is on the disk before it is reported, whatever the server's default.
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, &Problem{"cannot connect", err}
	}
	b := &Backend{pool}
	if err := b.migrate(ctx, create); err != nil {
		pool.Close()
		return nil, err
	}
	return b, nil
}

// Close ends all connections.
func (b *Backend) Close() error {
	b.pool.Close()
	return nil
}

// lock lets one transaction at a time write to the store, of all processes on all machines. It ends with the transaction, also where
// the process that has it dies.
const lock = "SELECT pg_advisory_xact_lock(hashtext('dmpl memory store'), hashtext(current_schema()))"

// Update runs do in a transaction that has the store's lock. Each statement sees all that was committed before the lock was had.
func (b *Backend) Update(ctx context.Context, do func(memory.Tx) error) error {
	return b.run(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lock); err != nil {
			return err
		}
		return do(&transaction{ctx, tx})
	})
}

// View runs do on one state of the database.
func (b *Backend) View(ctx context.Context, do func(memory.Tx) error) error {
	return b.run(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		return do(&transaction{ctx, tx})
	})
}

func (b *Backend) run(ctx context.Context, options pgx.TxOptions, do func(pgx.Tx) error) error {
	tx, err := b.pool.BeginTx(ctx, options)
	if err != nil {
		return explain("the database is out of reach", err)
	}
	if err := do(tx); err != nil {
		// Where the connection is gone, so is the transaction.
		_ = tx.Rollback(context.WithoutCancel(ctx))
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return explain("cannot commit", err)
	}
	return nil
}

func explain(detail string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Problem{detail, err}
}
