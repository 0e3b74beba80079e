package memorytest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
)

// Open opens the store of a place: each call is another handle on the same rows.
type Open func() memory.Backend

// scenario is a sequence of operations with what each must answer. Commit ids and fingerprints in it are labels, snapshots
// are named by their place in the order.
type scenario struct {
	ID    string
	Steps []map[string]any
}

// Scenarios runs every scenario of a file on a store of its own.
func Scenarios(t *testing.T, file []byte, place func(*testing.T) Open) {
	var list []scenario
	if err := json.Unmarshal(file, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("the file has no scenario")
	}
	for _, s := range list {
		t.Run(s.ID, func(t *testing.T) {
			p := &player{t: t, open: place(t), leases: map[string]memory.Lease{}, payloads: map[string][]memory.Write{}}
			p.handles = map[string]*memory.Store{"": p.store()}
			p.must(p.handles[""].Create(ctx, "scenario"))
			for i, step := range s.Steps {
				got, err := p.play(step)
				var refused *memory.BufferError
				if errors.As(err, &refused) {
					got = map[string]any{"error": refused.Code}
				} else if err != nil {
					t.Fatalf("step %d: %v: %v", i, step, err)
				}
				if want := step["want"]; !reflect.DeepEqual(plain(t, got), want) {
					t.Errorf("step %d: %v: got %v", i, step, got)
				}
			}
		})
	}
}

var ctx = context.Background()

// plain gives a value as JSON reads it.
func plain(t *testing.T, v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// player plays one scenario.
type player struct {
	t        *testing.T
	open     Open
	handles  map[string]*memory.Store
	now      int64
	leases   map[string]memory.Lease
	payloads map[string][]memory.Write // what a fingerprint's label stood for first
}

func (p *player) store() *memory.Store {
	return memory.NewStore(p.open(), func() int64 { return p.now })
}

func (p *player) must(_ bool, err error) {
	if err != nil {
		p.t.Fatal(err)
	}
}

func text(step map[string]any, name string) string {
	s, _ := step[name].(string)
	return s
}

func ticks(step map[string]any, name string) int64 {
	f, _ := step[name].(float64)
	return int64(f * 10_000_000)
}

func (p *player) play(step map[string]any) (any, error) {
	s, run := p.handles[text(step, "store")], text(step, "run_id")
	if _, timed := step["now_ts"]; timed {
		p.now = ticks(step, "now_ts")
	}
	switch op := text(step, "op"); op {
	case "open_buffer":
		opened, err := s.Open(ctx, run, "")
		return ordinal(opened.Start), err
	case "append_write":
		_, err := s.Write(ctx, run, labelled(p.t, step["record"]))
		return nil, err
	case "request_commit":
		return nil, p.request(s, run, text(step, "commit_id"), text(step, "commit_payload_fingerprint"))
	case "apply_commit":
		return outcome(s.Apply(ctx, run, 0))
	case "recover_pending_commit":
		return p.recover(s, run, step)
	case "try_acquire_recovery_lease":
		worker := text(step, "worker_id")
		lease, err := s.Acquire(ctx, run, worker, ticks(step, "lease_seconds"))
		if err == nil {
			p.leases[run+" "+worker] = lease
		}
		return granted(err)
	case "renew_recovery_lease":
		_, err := s.Renew(ctx, run, p.leases[run+" "+text(step, "worker_id")], ticks(step, "lease_seconds"))
		return granted(err)
	case "current_snapshot_id":
		row, err := s.Snapshot(ctx, "")
		return row.Number, err
	case "read_snapshot":
		number, _ := step["snapshot_id"].(float64)
		return p.read(s, memory.SnapshotID(int64(number)))
	case "buffer_state", "buffer_reason_code":
		known, err := s.Run(ctx, run)
		if op == "buffer_state" {
			return known.State, err
		}
		return known.Reason, err
	case "mutate_alias": // what a reader was given is its own: read does the change
		return nil, nil
	case "open_second_handle":
		p.handles[text(step, "name")] = p.store()
		return nil, nil
	case "reopen":
		return nil, p.reopen()
	}
	p.t.Fatalf("no operation %v", step)
	return nil, nil
}

// reopen is what follows a crash: other handles, and a recovery that no run has outlived (M6). Pending commits are left to
// the steps.
func (p *player) reopen() error {
	for _, s := range p.handles {
		if err := s.Close(); err != nil {
			return err
		}
	}
	p.handles = map[string]*memory.Store{"": p.store()}
	_, err := p.handles[""].DiscardIdle(ctx, 0)
	return err
}

// request asks for a commit under labels. A buffer without writes gets those that the labels stood for first.
func (p *player) request(s *memory.Store, run, commit, label string) error {
	writes, err := s.Buffered(ctx, run)
	if err != nil {
		return err
	}
	key := commit + " " + label
	first, known := p.payloads[key]
	switch {
	case !known:
		first = writes
		p.payloads[key] = writes
	case len(writes) == 0 && len(first) > 0:
		if _, err := s.Write(ctx, run, first...); err != nil {
			return err
		}
	}
	fingerprint := label
	if label != "" && label != "whatever" { // those two are no fingerprint of anything
		sum, err := memory.PayloadFingerprint(first)
		if err != nil {
			return err
		}
		fingerprint = sum.Hex()
	}
	_, err = s.Request(ctx, run, commit, fingerprint)
	return err
}

func (p *player) recover(s *memory.Store, run string, step map[string]any) (any, error) {
	lease, err := s.Acquire(ctx, run, text(step, "worker_id"), ticks(step, "lease_seconds"))
	if err != nil {
		return nil, err
	}
	if fail, _ := step["fail_apply"].(bool); fail {
		ended, err := s.Abort(ctx, run, lease.Token, memory.StorageApplyFailed, "asked for")
		return ended.State, err
	}
	return outcome(s.Apply(ctx, run, lease.Token))
}

func (p *player) read(s *memory.Store, id string) (any, error) {
	list := []any{}
	err := s.Records(ctx, id, func(document []byte) error {
		var r struct {
			ID      string `json:"record_id"`
			Content map[string]any
		}
		if err := json.Unmarshal(document, &r); err != nil {
			return err
		}
		r.Content["id"] = r.ID
		list = append(list, r.Content)
		for i := range document { // M1: a reader can do no harm to a snapshot
			document[i] = 'x'
		}
		return nil
	})
	return list, err
}

func ordinal(id string) (n int64) {
	for _, digit := range id {
		n = 10*n + int64(digit-'0')
	}
	return n
}

func outcome(out memory.Outcome, err error) (any, error) {
	if out.Repeated {
		return map[string]any{"repeated": ordinal(out.Snapshot)}, err
	}
	return ordinal(out.Snapshot), err
}

// granted tells a lease that another has from one that nobody could have.
func granted(err error) (any, error) {
	var refused *memory.BufferError
	if errors.As(err, &refused) && refused.Code == memory.CodeLeaseHeld {
		return false, nil
	}
	return err == nil, err
}

// labelled gives the append of a record whose members but the id are its content.
func labelled(t *testing.T, record any) memory.Write {
	members := map[string]any{}
	for name, value := range record.(map[string]any) {
		members[name] = value
	}
	id, _ := members["id"].(string)
	delete(members, "id")
	content, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	r := memory.Record{Type: "note", Content: content}
	r.ID, r.Source = id, memory.ValidatedOutput
	return memory.Write{Op: memory.Append, Record: r}
}
