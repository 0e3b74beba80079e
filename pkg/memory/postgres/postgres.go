// Package postgres keeps a memory store in PostgreSQL, for runs on several machines.
package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/dmpl/dmpl/pkg/memory"
)

// patience is how long a connection, or another process's transaction, is waited for.
const patience = 30 * time.Second

// parameters hold in every session, whatever the server's default. A commit is on the disk before it is reported. Who waits for
// the store's lock gives up after patience; who has it and is stopped in the middle loses it earlier, so that it stops nobody.
var parameters = map[string]string{
	"synchronous_commit":                  "on",
	"lock_timeout":                        "30s",
	"idle_in_transaction_session_timeout": "20s",
}

// Backend is a store's tables, in the schema that connections see first.
type Backend struct {
	pool   *pgxpool.Pool
	moved  atomic.Bool // the tables do not say where they stand
	copied *Problem    // why nothing may be written, nil where it may
}

// Open opens the store of a database. Its tables must be there, unless they are to be created.
func Open(ctx context.Context, url string, create bool) (*Backend, error) {
	// A server whose machine is gone is missed within a minute.
	alive := net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 10 * time.Second, Count: 3}
	return open(ctx, url, create, (&net.Dialer{KeepAliveConfig: alive}).DialContext)
}

func open(ctx context.Context, url string, create bool, dial func(ctx context.Context, network, address string) (net.Conn, error)) (*Backend, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, &Problem{"the address of the database is wrong", err}
	}
	for name, value := range parameters {
		config.ConnConfig.RuntimeParams[name] = value
	}
	config.ConnConfig.DialFunc = dial
	config.ConnConfig.ConnectTimeout = min(config.ConnConfig.ConnectTimeout, patience)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, explain("cannot connect", err)
	}
	b := &Backend{pool: pool}
	err = b.migrate(ctx, create)
	if err == nil {
		err = b.settle(ctx)
	}
	if err != nil {
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
	if b.copied != nil {
		return b.copied
	}
	err := b.locked(ctx, func(tx pgx.Tx) error {
		if err := do(&transaction{ctx, tx}); err != nil {
			return err
		}
		return b.writeHome(ctx, tx)
	})
	if err == nil {
		b.moved.Store(false)
	}
	return err
}

func (b *Backend) locked(ctx context.Context, do func(pgx.Tx) error) error {
	return b.run(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lock); err != nil {
			return explain("cannot lock the store", err)
		}
		return do(tx)
	})
}

// reading is one state of the database.
var reading = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// View runs do on one state of the database.
func (b *Backend) View(ctx context.Context, do func(memory.Tx) error) error {
	return b.run(ctx, reading, func(tx pgx.Tx) error { return do(&transaction{ctx, tx}) })
}

func (b *Backend) run(ctx context.Context, options pgx.TxOptions, do func(pgx.Tx) error) error {
	tx, err := b.pool.BeginTx(ctx, options)
	if err != nil {
		return explain("the database is out of reach", err)
	}
	open := true
	defer func() { // also where do panics; where the connection is gone, so is the transaction
		if open {
			ending, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer stop()
			_ = tx.Rollback(ending)
		}
	}()
	if err := do(tx); err != nil {
		return err
	}
	open = false
	if err := tx.Commit(ctx); err != nil {
		return explainCommit(err)
	}
	return nil
}
