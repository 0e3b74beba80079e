// Package memorytest has the contract that every store of a memory is held to, and the backend that all others must
// answer like.
package memorytest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/dmpl/dmpl/pkg/memory"
)

// Backend keeps the rows of a store in memory: the reference. The zero value is empty.
type Backend struct {
	mu   sync.Mutex
	rows rows
	fail error // what the next writes give
}

type rows struct {
	about     []byte
	snapshots []snapshotRow
	records   []recordRow
	runs      map[string]runRow
	writes    map[string][][]byte
	ledger    []ledgerRow
}

type (
	snapshotRow struct {
		commitID string
		document []byte
	}
	recordRow struct {
		sequence, came, went int64 // went is 0 where it lives
		name                 memory.Ref
		document             []byte
	}
	runRow struct {
		state    memory.BufferState
		document []byte
	}
	ledgerRow struct {
		digest   string
		document []byte
	}
)

// Fail makes every later commit of a snapshot fail with an error, until it is nil again: a storage that does not work.
func (b *Backend) Fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = err
}

// Clone gives a backend of its own with the same rows.
func (b *Backend) Clone() *Backend {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Backend{rows: b.rows.clone()}
}

// clone shares documents, which nobody changes.
func (r rows) clone() rows {
	r.snapshots, r.records, r.ledger = slices.Clone(r.snapshots), slices.Clone(r.records), slices.Clone(r.ledger)
	r.runs, r.writes = maps.Clone(r.runs), maps.Clone(r.writes)
	for run, list := range r.writes {
		r.writes[run] = slices.Clone(list)
	}
	return r
}

// Update works on a copy, and keeps it where nothing fails.
func (b *Backend) Update(ctx context.Context, do func(memory.Tx) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	tx := &transaction{rows: b.rows.clone(), fail: b.fail}
	if tx.runs == nil {
		tx.runs, tx.writes = map[string]runRow{}, map[string][][]byte{}
	}
	if err := errors.Join(ctx.Err(), do(tx)); err != nil {
		return err
	}
	b.rows = tx.rows
	return nil
}

// View gives do the rows as they are.
func (b *Backend) View(ctx context.Context, do func(memory.Tx) error) error {
	b.mu.Lock()
	r := b.rows
	b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return do(&transaction{rows: r, fail: errors.New("a view changes nothing")})
}

// Close does nothing.
func (b *Backend) Close() error { return nil }

// transaction is one view or one update.
type transaction struct {
	rows
	fail error
}

func (t *transaction) About() ([]byte, error) { return t.about, nil }

func (t *transaction) SetAbout(document []byte) error { t.about = document; return nil }

func (t *transaction) Newest() ([]byte, error) { return t.Snapshot(int64(len(t.snapshots)) - 1) }

func (t *transaction) Snapshot(number int64) ([]byte, error) {
	if number < 0 || number >= int64(len(t.snapshots)) {
		return nil, nil
	}
	return t.snapshots[number].document, nil
}

func (t *transaction) Committed(commitID string) ([]byte, error) {
	for _, s := range t.snapshots {
		if commitID != "" && s.commitID == commitID {
			return s.document, nil
		}
	}
	return nil, nil
}

func (t *transaction) EachSnapshot(visit func([]byte) error) error {
	for _, s := range t.snapshots {
		if err := visit(s.document); err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) AddSnapshot(number int64, commitID string, document []byte) error {
	if t.fail != nil {
		return t.fail
	}
	if number != int64(len(t.snapshots)) {
		return errors.New("snapshots are numbered without a gap")
	}
	t.snapshots = append(t.snapshots, snapshotRow{commitID, document})
	return nil
}

func (t *transaction) Find(name memory.Ref) ([][]byte, error) {
	var list [][]byte
	for _, r := range t.sorted() {
		if r.name == name && r.went == 0 {
			list = append(list, r.document)
		}
	}
	return list, nil
}

func (t *transaction) sorted() []recordRow {
	return slices.SortedStableFunc(slices.Values(t.records), func(a, b recordRow) int { return cmp.Compare(a.sequence, b.sequence) })
}

func (t *transaction) Highest() (highest int64, err error) {
	for _, r := range t.records {
		if r.went == 0 {
			highest = max(highest, r.sequence)
		}
	}
	return highest, nil
}

func (t *transaction) Changed(name memory.Ref, after int64) (bool, error) {
	return slices.ContainsFunc(t.records, func(r recordRow) bool {
		return r.name == name && (r.came > after || r.went > after)
	}), nil
}

func (t *transaction) Insert(sequence int64, name memory.Ref, came int64, document []byte) error {
	t.records = append(t.records, recordRow{sequence: sequence, came: came, name: name, document: document})
	return nil
}

func (t *transaction) Bury(sequence, went int64) error {
	i := slices.IndexFunc(t.records, func(r recordRow) bool { return r.sequence == sequence && r.went == 0 })
	switch {
	case i < 0:
		return errors.New("no record of this number lives")
	case t.records[i].came == went:
		t.records = slices.Delete(t.records, i, i+1)
	default:
		t.records[i].went = went
	}
	return nil
}

func (t *transaction) Records(snapshot int64, visit func([]byte) error) error {
	for _, r := range t.sorted() {
		if r.came <= snapshot && (r.went == 0 || r.went > snapshot) {
			if err := visit(bytes.Clone(r.document)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *transaction) EachRecord(visit func(int64, int64, []byte) error) error {
	for _, r := range t.sorted() {
		if err := visit(r.came, r.went, bytes.Clone(r.document)); err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) Forget(went int64) (int64, error) {
	before := len(t.records)
	t.records = slices.DeleteFunc(t.records, func(r recordRow) bool { return r.went != 0 && r.went <= went })
	return int64(before - len(t.records)), nil
}

func (t *transaction) Run(id string) ([]byte, error) { return t.runs[id].document, nil }

func (t *transaction) EachRun(state memory.BufferState, visit func([]byte) error) error {
	for _, id := range slices.Sorted(maps.Keys(t.runs)) {
		if t.runs[id].state == state {
			if err := visit(t.runs[id].document); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *transaction) SetRun(id string, state memory.BufferState, document []byte) error {
	t.runs[id] = runRow{state, document}
	return nil
}

func (t *transaction) DropRun(id string) error { delete(t.runs, id); return nil }

func (t *transaction) Writes(run string, visit func([]byte) error) error {
	for _, w := range t.writes[run] {
		if err := visit(w); err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) AddWrite(run string, place int64, document []byte) error {
	if place != int64(len(t.writes[run])) {
		return errors.New("writes are placed without a gap")
	}
	t.writes[run] = append(t.writes[run], document)
	return nil
}

func (t *transaction) DropWrites(run string) error { delete(t.writes, run); return nil }

func (t *transaction) LastRow() (int64, string, error) {
	if len(t.ledger) == 0 {
		return 0, "", nil
	}
	return int64(len(t.ledger)), t.ledger[len(t.ledger)-1].digest, nil
}

func (t *transaction) AddRow(number int64, digest string, document []byte) error {
	if number != int64(len(t.ledger))+1 {
		return errors.New("rows are numbered without a gap")
	}
	t.ledger = append(t.ledger, ledgerRow{digest, document})
	return nil
}

func (t *transaction) EachRow(visit func(int64, string, []byte) error) error {
	for i, r := range t.ledger {
		if err := visit(int64(i)+1, r.digest, r.document); err != nil {
			return err
		}
	}
	return nil
}

// Rows gives everything but the ledger as text: two backends with one text are in one state.
func (b *Backend) Rows() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out strings.Builder
	line := func(parts ...[]byte) {
		for _, p := range parts {
			out.Write(p)
			out.WriteByte(' ')
		}
		out.WriteByte('\n')
	}
	t := &transaction{rows: b.rows}
	line(t.about)
	for _, s := range t.snapshots {
		line([]byte(s.commitID), s.document)
	}
	for _, r := range t.sorted() {
		line([]byte(memory.SnapshotID(r.came)), []byte(memory.SnapshotID(r.went)), r.document)
	}
	for _, id := range slices.Sorted(maps.Keys(t.runs)) {
		line([]byte(id), t.runs[id].document)
		line(t.writes[id]...)
	}
	return out.String()
}
