package dblgateway

import (
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/dmpl/dmpl/pkg/canon"
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
		if err := run(t.conn, statement, nil); err != nil {
			return nil, t.failed(err)
		}
	}
	return &Ledger{t}, nil
}

// Events calls each for every event in stored order, as [Read] does. The error is a [dialect.Problem], or what each returned.
func (l *Ledger) Events(each func(thread.Event) error) error {
	var rows rowReader
	var parser canon.Parser
	return l.trail.eachRow(func(row *sqlite.Stmt) error {
		_, e, err := rows.event(row)
		if err != nil {
			return l.trail.located(err, "")
		}
		parser.Reset(e.Payload, 0)
		e.Document, _ = thread.ReadSparse(&parser) // what it refuses, who reads the event reads as the gateway does
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

// findQueries give the event that an id names: the first counts, but the last handle beats it (X1).
var findQueries = [...]string{findQuery("correlation_id"), findQuery("turn_id")}

func findQuery(column string) string {
	return "SELECT idx FROM temp.dmpl_keys WHERE " + column + ` = ? AND thread_id = ? AND idx <= ?
		ORDER BY handle DESC, CASE WHEN handle THEN -idx ELSE idx END LIMIT 1`
}

// Find gives the event that a reference names, as thread.History wants it. The error is a [dialect.Problem].
func (h history) Find(id string) (thread.Event, bool, error) {
	if id == "" {
		return thread.Event{}, false, nil // empty ids name nothing
	}
	for _, query := range findQueries {
		found, err := h.indices(query, id, h.threadID, h.last)
		if err != nil {
			return thread.Event{}, false, err
		}
		if len(found) > 0 {
			e, err := h.event(found[0])
			return e, err == nil, err
		}
	}
	return thread.Event{}, false, nil
}

// edgesQuery gives the events of the first turn of a thread and of the last ones.
const edgesQuery = `
	WITH seen AS (SELECT turn_id, idx FROM temp.dmpl_keys WHERE thread_id = ?1 AND idx <= ?2),
		turns AS (SELECT turn_id, MIN(idx) AS first FROM seen GROUP BY turn_id)
	SELECT idx FROM seen WHERE turn_id IN (
		SELECT turn_id FROM (SELECT turn_id FROM turns ORDER BY first LIMIT 1)
		UNION SELECT turn_id FROM (SELECT turn_id FROM turns ORDER BY first DESC LIMIT ?3)
	) ORDER BY idx`

// Edges gives the events of the first turn and of the last n turns, as thread.History wants it. The error is a [dialect.Problem].
func (h history) Edges(n int) ([]thread.Event, error) {
	chosen, err := h.indices(edgesQuery, h.threadID, h.last, n)
	if err != nil {
		return nil, err
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

// indices gives the idx of each row of a query, which is kept for the next time.
func (l *Ledger) indices(query string, args ...any) ([]int64, error) {
	var found []int64
	err := sqlitex.Execute(l.trail.conn, query, &sqlitex.ExecOptions{Args: args, ResultFunc: func(row *sqlite.Stmt) error {
		found = append(found, row.ColumnInt64(0))
		return nil
	}})
	if err != nil {
		return nil, l.trail.failed(err)
	}
	return found, nil
}

// eventQuery reads one row.
var eventQuery = "SELECT " + strings.Join(allColumns(), ", ") + " FROM main.events WHERE idx = ?"

func (l *Ledger) event(idx int64) (thread.Event, error) {
	var e thread.Event
	var bad error
	there := false
	err := sqlitex.Execute(l.trail.conn, eventQuery, &sqlitex.ExecOptions{Args: []any{idx}, ResultFunc: func(row *sqlite.Stmt) error {
		there = true
		_, e, bad = new(rowReader).event(row)
		return nil
	}})
	if err != nil {
		return e, l.trail.failed(err)
	}
	if !there {
		return e, l.trail.gone(idx)
	}
	return e, l.trail.located(bad, "")
}
