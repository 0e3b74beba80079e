package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// prepared are the statements of the one writing connection that were needed before. One that is new is prepared before the
// next transaction, since the connection is not free within one.
type prepared struct {
	mu     sync.Mutex
	ready  map[string]*sql.Stmt
	wanted []string
}

// catchUp prepares what transactions have asked for.
func (p *prepared) catchUp(ctx context.Context, db *sql.DB) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, query := range p.wanted {
		if p.ready[query] != nil {
			continue
		}
		s, err := db.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		if p.ready == nil {
			p.ready = map[string]*sql.Stmt{}
		}
		p.ready[query] = s
	}
	p.wanted = nil
	return nil
}

// in gives a statement in a transaction, nil where it is not prepared yet.
func (p *prepared) in(ctx context.Context, tx *sql.Tx, query string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.ready[query]
	if s == nil {
		p.wanted = append(p.wanted, query)
		return nil
	}
	return tx.StmtContext(ctx, s)
}

func (p *prepared) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.ready {
		err = errors.Join(err, s.Close())
	}
	p.ready = nil
	return err
}
