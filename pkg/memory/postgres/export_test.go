package postgres

import (
	"context"
	"maps"
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

// OpenWith opens a store with other parameters of its sessions.
func OpenWith(ctx context.Context, url string, other map[string]string) (*Backend, error) {
	b, err := Open(ctx, url, false)
	if err != nil {
		return nil, err
	}
	config := b.pool.Config()
	b.pool.Close()
	maps.Copy(config.ConnConfig.RuntimeParams, other)
	b.pool, err = pgxpool.NewWithConfig(ctx, config)
	return b, err
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
