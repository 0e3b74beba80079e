package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/memory/memorytest"
)

// The model: what a store of two runs and two workers may do, written down a second time and without the store's code. Both
// runs put the one record "x", so that their commits conflict.
type (
	model struct {
		Runs    [2]modelRun
		By      []int        // who made each snapshot: a run, -1 for the first
		Changed int          // the snapshot that changed x last
		Applied []modelEntry // commits
		Now     int
		Events  []memory.LedgerEvent // of the last operation
	}
	modelRun struct {
		State         memory.BufferState
		Reason        memory.AbortReason
		Start, Writes int
		Owner         int // worker + 1
		Until, Token  int
		Tokens        [2]int // what each worker was given at last
	}
	modelEntry struct{ run, start, writes int }
	modelOp    struct {
		name        string
		run, worker int
	}
)

const leaseSteps = 2 // a lease lasts two steps of the clock

func modelOps() (list []modelOp) {
	for run := range 2 {
		for _, name := range []string{"open", "write", "request", "apply", "reject", "abort", "discard"} {
			list = append(list, modelOp{name, run, 0})
		}
		for worker := range 2 {
			for _, name := range []string{"acquire", "renew", "apply_as", "abort_as"} {
				list = append(list, modelOp{name, run, worker})
			}
		}
	}
	return append(list, modelOp{"wait", 0, 0})
}

func (m *model) clone() *model {
	c := *m
	c.By, c.Applied, c.Events = slices.Clone(m.By), slices.Clone(m.Applied), nil
	return &c
}

func (r *modelRun) held(now int) bool { return r.Owner != 0 && r.Until > now }

// step does an operation and gives the code of a refusal.
func (m *model) step(op modelOp) string {
	r := &m.Runs[op.run]
	event := func(e ...memory.LedgerEvent) { m.Events = append(m.Events, e...) }
	switch op.name {
	case "wait":
		m.Now++
	case "open":
		if r.State != memory.NoBuffer && r.State != memory.CommitApplied {
			return memory.CodeTransition
		}
		*r = modelRun{State: memory.BufferOpen, Start: len(m.By) - 1, Token: r.Token, Tokens: r.Tokens}
		event(memory.RunOpened)
	case "write":
		if r.State != memory.BufferOpen {
			return memory.CodeNotOpen
		}
		r.Writes++
		event(memory.WritesBuffered)
	case "request", "reject":
		if r.State != memory.BufferOpen {
			return memory.CodeTransition
		}
		r.State = memory.CommitPending
		event(memory.CommitRequested)
		if op.name == "reject" {
			r.State, r.Reason = memory.CommitAborted, memory.PolicyRejected
			event(memory.CommitWasAborted)
		}
	case "discard":
		if r.State != memory.BufferOpen {
			return memory.CodeTransition
		}
		*r = modelRun{Token: r.Token, Tokens: r.Tokens}
		event(memory.BufferDiscarded)
	case "acquire":
		switch {
		case r.State != memory.CommitPending:
			return memory.CodeNotPending
		case r.held(m.Now) && r.Owner != op.worker+1:
			return memory.CodeLeaseHeld
		case !r.held(m.Now):
			r.Token++
			event(memory.LeaseTaken)
		}
		r.Owner, r.Until, r.Tokens[op.worker] = op.worker+1, m.Now+leaseSteps, r.Token
	case "renew":
		if !m.holds(op) {
			return memory.CodeLeaseHeld
		}
		r.Until = m.Now + leaseSteps
	case "apply", "abort", "apply_as", "abort_as":
		if r.State != memory.CommitPending {
			return memory.CodeNotPending
		}
		owner := op.name == "apply" || op.name == "abort"
		if owner && r.held(m.Now) || !owner && !m.holds(op) {
			return memory.CodeLeaseHeld
		}
		if op.name == "abort" || op.name == "abort_as" {
			r.State, r.Reason = memory.CommitAborted, memory.StorageApplyFailed
			event(memory.CommitWasAborted)
			return ""
		}
		return m.apply(op.run)
	}
	return ""
}

// holds: the last token that a worker was given is the one in force, and its time is not over.
func (m *model) holds(op modelOp) bool {
	r := m.Runs[op.run]
	return r.Tokens[op.worker] != 0 && r.Tokens[op.worker] == r.Token && r.held(m.Now)
}

func (m *model) apply(run int) string {
	r := &m.Runs[run]
	for _, a := range m.Applied {
		if a.run != run || a.start != r.Start {
			continue
		}
		if a.writes == r.Writes {
			r.State = memory.CommitApplied
			m.Events = append(m.Events, memory.CommitRepeated)
			return ""
		}
		r.State, r.Reason = memory.CommitAborted, memory.PayloadMismatch
		m.Events = append(m.Events, memory.CommitWasAborted)
		return string(memory.PayloadMismatch)
	}
	if r.Writes > 0 && m.Changed > r.Start {
		r.State, r.Reason = memory.CommitAborted, memory.ValidationFailed
		m.Events = append(m.Events, memory.CommitWasAborted)
		return string(memory.ValidationFailed)
	}
	r.State = memory.CommitApplied
	m.By = append(m.By, run)
	if r.Writes > 0 {
		m.Changed = len(m.By) - 1
	}
	m.Applied = append(m.Applied, modelEntry{run, r.Start, r.Writes})
	m.Events = append(m.Events, memory.CommitWasApplied)
	return ""
}

// real is a store that does what the model does.
type real struct {
	backend *memorytest.Backend
	store   *memory.Store
	leases  [2][2]memory.Lease
}

func newReal(b *memorytest.Backend, now *int, leases [2][2]memory.Lease) *real {
	return &real{b, memory.NewStore(b, func() int64 { return int64(*now) }), leases}
}

var modelNames = [2]string{"a", "b"}

func (s *real) step(t *testing.T, op modelOp) error {
	ctx, run := context.Background(), modelNames[op.run]
	var err error
	switch op.name {
	case "open":
		_, err = s.store.Open(ctx, run, "")
	case "write":
		r := memory.Record{Type: "note", Content: fmt.Appendf(nil, `{"by":%q}`, run)}
		r.ID, r.Source = "x", memory.ValidatedOutput
		_, err = s.store.Write(ctx, run, memory.Write{Op: memory.Put, Record: r})
	case "request", "reject":
		known, _ := s.store.Run(ctx, run)
		writes, _ := s.store.Buffered(ctx, run)
		id, fingerprint := must[fingerprint](t)(memory.CommitID(run, known.Start, "p")), must[fingerprint](t)(memory.PayloadFingerprint(writes))
		if op.name == "reject" {
			_, err = s.store.Reject(ctx, run, id.Hex(), fingerprint.Hex(), memory.PolicyRejected, "rule")
		} else {
			_, err = s.store.Request(ctx, run, id.Hex(), fingerprint.Hex())
		}
	case "apply":
		_, err = s.store.Apply(ctx, run, 0)
	case "abort":
		_, err = s.store.Abort(ctx, run, 0, memory.StorageApplyFailed, "")
	case "discard":
		_, err = s.store.Discard(ctx, run)
	case "acquire":
		var lease memory.Lease
		if lease, err = s.store.Acquire(ctx, run, "w"+modelNames[op.worker], leaseSteps); err == nil {
			s.leases[op.run][op.worker] = lease
		}
	case "renew":
		_, err = s.store.Renew(ctx, run, s.leases[op.run][op.worker], leaseSteps)
	case "apply_as":
		_, err = s.store.Apply(ctx, run, s.token(op))
	case "abort_as":
		_, err = s.store.Abort(ctx, run, s.token(op), memory.StorageApplyFailed, "")
	}
	return err
}

// token is what a worker has to show; one that was never there where it has none.
func (s *real) token(op modelOp) int64 {
	if token := s.leases[op.run][op.worker].Token; token != 0 {
		return token
	}
	return -1
}

// compare holds the store to the model: every run, the newest snapshot and what it shows.
func (s *real) compare(m *model) error {
	ctx := context.Background()
	for i, want := range m.Runs {
		got, err := s.store.Run(ctx, modelNames[i])
		if err != nil || got.State != want.State || got.Reason != want.Reason {
			return fmt.Errorf("run %s: %s %s %w, the model has %s %s", modelNames[i], got.State, got.Reason, err, want.State, want.Reason)
		}
	}
	head, err := s.store.Snapshot(ctx, "")
	if err != nil || head.Number != int64(len(m.By)-1) {
		return fmt.Errorf("snapshot %d %w, the model has %d", head.Number, err, len(m.By)-1)
	}
	var x string
	err = s.store.Records(ctx, "", func(text []byte) error { x += string(text); return nil })
	want := ""
	if m.Changed > 0 {
		want = modelNames[m.By[m.Changed]]
	}
	if by := contentBy(x); err != nil || by != want {
		return fmt.Errorf("x is by %q (%s) %w, the model has %q", by, x, err, want)
	}
	return nil
}

func contentBy(text string) string {
	for _, name := range modelNames {
		if n := len(`{"by":"a"}}`); len(text) > n && text[len(text)-n:] == fmt.Sprintf(`{"by":%q}}`, name) {
			return name
		}
	}
	return text
}

// rowsAfter gives the events of the ledger behind a chain, which it follows further.
func (s *real) rowsAfter(t *testing.T, chain *memory.LedgerChain) (events []memory.LedgerEvent) {
	known := chain.Rows
	err := s.store.Ledger(context.Background(), func(number int64, digest string, row []byte) error {
		if number <= known {
			return nil
		}
		events = append(events, memory.LedgerEvent(open(t, string(row)).Text("event", "")))
		return chain.Follow(number, digest, row)
	})
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// M3 to M8: no sequence of up to six operations on two runs by two workers makes the store and the model differ. States that
// were reached before with as many operations left are not gone through again: what follows is the same.
func TestNoSequenceOfOperationsBreaksTheStore(t *testing.T) {
	const length = 6
	type node struct {
		m       *model
		backend *memorytest.Backend
		leases  [2][2]memory.Lease
		chain   memory.LedgerChain
		path    []modelOp
	}
	now := 0
	first := &memorytest.Backend{}
	if _, err := newReal(first, &now, [2][2]memory.Lease{}).store.Create(context.Background(), "model"); err != nil {
		t.Fatal(err)
	}
	level := []node{{m: &model{By: []int{-1}}, backend: first}}
	newReal(first, &now, level[0].leases).rowsAfter(t, &level[0].chain)
	seen := map[string]bool{}
	states, sequences := 0, 0
	for range length {
		var next []node
		for _, n := range level {
			for _, op := range modelOps() {
				sequences++
				m, path := n.m.clone(), append(slices.Clone(n.path), op)
				code := m.step(op)
				now = m.Now
				s := newReal(n.backend.Clone(), &now, n.leases)
				err := s.step(t, op)
				var refused *memory.BufferError
				if errors.As(err, &refused) != (code != "") || code != "" && refused.Code != code {
					t.Fatalf("%v: %v, the model says %q", path, err, code)
				}
				if err := s.compare(m); err != nil {
					t.Fatalf("%v: %v", path, err)
				}
				chain := n.chain
				if events := s.rowsAfter(t, &chain); !slices.Equal(events, m.Events) {
					t.Fatalf("%v: the ledger says %v, the model %v", path, events, m.Events)
				}
				key := fmt.Sprint(s.backend.Rows(), s.leases, m)
				if !seen[key] {
					seen[key] = true
					states++
					next = append(next, node{m, s.backend, s.leases, chain, path})
				}
			}
		}
		level = next
	}
	t.Logf("%d operations in %d states", sequences, states)
	if states < 2_000 {
		t.Errorf("only %d states were reached", states)
	}
}
