package dblgateway

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// Ledger answers references by query (X5). It belongs to its Stream and ends with it.
type Ledger struct{ trail *trail }

// keys are the ids of the events under indices of our own: those of the evidence may leave out what its table holds.
var keys = []string{
	`CREATE TEMP TABLE dmpl_keys (idx INTEGER PRIMARY KEY, thread_id TEXT, turn_id TEXT, correlation_id TEXT, handle INTEGER)`,
	`INSERT INTO dmpl_keys SELECT idx, thread_id, turn_id, correlation_id, kind = 'INTENT' COLLATE BINARY AND intent_type = 'artifact.handle' COLLATE BINARY
		FROM main.events NOT INDEXED ORDER BY idx`,
	"CREATE INDEX temp.dmpl_correlation ON dmpl_keys (correlation_id, thread_id, idx)",
	"CREATE INDEX temp.dmpl_turn ON dmpl_keys (turn_id, thread_id, idx)",
	"CREATE INDEX temp.dmpl_thread ON dmpl_keys (thread_id, idx)",
}

// manyKeys is from how many events on the keys no longer stand in memory, but in a temporary file that SQLite removes.
const manyKeys = 50_000

// Ledger makes a trail answer queries. The evidence stays as it is: what is built for it stands in memory or in a temporary file. The error
// is a [dialect.Problem]: the stream is no trail, or SQLite fails.
func (s *Stream) Ledger() (*Ledger, error) {
	t, ok := s.content.(*trail)
	if !ok {
		return nil, problem(finding.InputUnrecognised, s.Inputs[0].Path, "is a snapshot: it has no ledger until it is projected")
	}
	statements := keys
	if s.Count < manyKeys {
		statements = append([]string{"PRAGMA temp_store = MEMORY"}, keys...)
	}
	for _, statement := range statements {
		if _, err := t.conn.ExecContext(context.Background(), statement); err != nil {
			return nil, t.failed(err)
		}
	}
	return &Ledger{t}, nil
}

// Events calls each for every event in stored order, as [Read] does. The error is a [dialect.Problem], or what each returned.
func (l *Ledger) Events(each func(thread.Event) error) error {
	var room []byte
	return l.trail.eachRow(func(values []any) error {
		_, e, err := eventOf(values, room)
		if err != nil {
			return l.trail.located(err, "")
		}
		room = e.Payload
		return each(e)
	})
}

// History gives the events of a thread up to and including the event at a position of the store, from 0.
func (l *Ledger) History(threadID string, position int) thread.History {
	return history{l, threadID, l.trail.idx[position]}
}

// history is a thread.History over SQL.
type history struct {
	*Ledger
	threadID string
	last     int64 // idx
}

// Find gives the event that a reference names, as thread.History wants it. The error is a [dialect.Problem].
func (h history) Find(id string) (thread.Event, bool, error) {
	if id == "" {
		return thread.Event{}, false, nil // empty ids name nothing
	}
	for _, column := range []string{"correlation_id", "turn_id"} {
		var idx int64
		// The first counts, but the last handle beats it (X1).
		row := h.trail.conn.QueryRowContext(context.Background(), "SELECT idx FROM temp.dmpl_keys WHERE "+column+` = ? AND thread_id = ? AND idx <= ?
			ORDER BY handle DESC, CASE WHEN handle THEN -idx ELSE idx END LIMIT 1`, id, h.threadID, h.last)
		err := row.Scan(&idx)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return thread.Event{}, false, h.trail.failed(err)
		}
		e, err := h.event(idx)
		return e, err == nil, err
	}
	return thread.Event{}, false, nil
}

// Edges gives the events of the first turn and of the last n turns, as thread.History wants it. The error is a [dialect.Problem].
func (h history) Edges(n int) ([]thread.Event, error) {
	rows, err := h.trail.conn.QueryContext(context.Background(), `
		WITH seen AS (SELECT turn_id, idx FROM temp.dmpl_keys WHERE thread_id = ?1 AND idx <= ?2),
			turns AS (SELECT turn_id, MIN(idx) AS first FROM seen GROUP BY turn_id)
		SELECT idx FROM seen WHERE turn_id IN (
			SELECT turn_id FROM (SELECT turn_id FROM turns ORDER BY first LIMIT 1)
			UNION SELECT turn_id FROM (SELECT turn_id FROM turns ORDER BY first DESC LIMIT ?3)
		) ORDER BY idx`, h.threadID, h.last, n)
	if err != nil {
		return nil, h.trail.failed(err)
	}
	defer rows.Close()
	var chosen []int64
	for rows.Next() {
		var idx int64
		if err := rows.Scan(&idx); err != nil {
			return nil, h.trail.failed(err)
		}
		chosen = append(chosen, idx)
	}
	if err := rows.Err(); err != nil {
		return nil, h.trail.failed(err)
	}
	var events []thread.Event
	for _, idx := range chosen {
		e, err := h.event(idx)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// event reads one row.
func (l *Ledger) event(idx int64) (thread.Event, error) {
	values, targets := cells()
	row := l.trail.conn.QueryRowContext(context.Background(), "SELECT "+strings.Join(allColumns(), ", ")+" FROM main.events WHERE idx = ?", idx)
	if err := row.Scan(targets...); err != nil {
		return thread.Event{}, l.trail.failed(err)
	}
	_, e, err := eventOf(values, nil)
	return e, l.trail.located(err, "")
}
