package postgres

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgxpool"
)

// OpenStepping opens a store that tells of every message to the server, before it is sent and when it is: then the server may have
// done it, and nobody knows yet.
func OpenStepping(ctx context.Context, url string, step func(message string)) (*Backend, error) {
	var dialer net.Dialer
	return open(ctx, url, true, func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, address)
		if err != nil || step == nil {
			return c, err
		}
		return steppingConn{c, step}, nil
	})
}

// OpenImpatient opens a store whose writers lose the lock early, and wait for it for a short time.
func OpenImpatient(ctx context.Context, url, stopped, lockTimeout string) (*Backend, error) {
	b, err := Open(ctx, url, false)
	if err != nil {
		return nil, err
	}
	config := b.pool.Config()
	b.pool.Close()
	b.stopped = stopped
	config.ConnConfig.RuntimeParams["lock_timeout"] = lockTimeout
	b.pool, err = pgxpool.NewWithConfig(ctx, config)
	return b, err
}

// Setting asks a session for a parameter.
func (b *Backend) Setting(ctx context.Context, name string) (value string, err error) {
	err = b.pool.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value)
	return value, err
}

type steppingConn struct {
	net.Conn
	step func(message string)
}

// Write tells of a message.
func (c steppingConn) Write(message []byte) (int, error) {
	c.step("to send " + string(message))
	n, err := c.Conn.Write(message)
	c.step("sent " + string(message))
	return n, err
}
