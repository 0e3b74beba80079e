package dblgateway_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// project writes events into a new trail and gives its path.
func project(t *testing.T, s *dblgateway.Stream, events []thread.Event) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	p, err := dblgateway.Project(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := p.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Commit(s); err != nil {
		t.Fatal(err)
	}
	return path
}

func snapshots(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures, "*", "snapshot.json"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d snapshots, %v", len(files), err)
	}
	if dir, ok := vectorFolder(t, "streams"); ok {
		more, err := filepath.Glob(filepath.Join(dir, "*", "snapshot.json"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	return files
}

// X5: a projection reads back as the stream that it was made of.
func TestProjectionHoldsTheSameStream(t *testing.T) {
	for _, file := range snapshots(t) {
		s, events := read(t, file, dialect.Options{})
		again, projected := read(t, project(t, s, events), dialect.Options{})
		sameEvents(t, events, projected)
		if again.Kind != dblgateway.KindTrail || again.VDigest != s.VDigest || *again.Length != *s.Length || again.Whole != s.Whole {
			t.Errorf("%s: %+v became %+v", file, s, again)
		}
	}
}

// X5: a query answers what the events in memory answer, for every turn and for ids that name nothing.
func TestLedgerAnswersAsTheEventsDo(t *testing.T) {
	for _, file := range snapshots(t) {
		s, events := read(t, file, dialect.Options{})
		trail, projected := read(t, project(t, s, events), dialect.Options{})
		ledger, err := trail.Ledger()
		if err != nil {
			t.Fatal(err)
		}
		logs := map[string]*thread.Log{}
		for position, e := range projected {
			if logs[e.ThreadID] == nil {
				logs[e.ThreadID] = &thread.Log{}
			}
			logs[e.ThreadID].Append(e)
			if e.Kind == thread.Intent {
				sameAnswers(t, logs[e.ThreadID], ledger.History(e.ThreadID, position), projected)
			}
		}
		var listed []thread.Event
		err = ledger.Events(func(e thread.Event) error {
			document, err := e.Read()
			if again, errAgain := thread.Read(e.Payload); err != nil || errAgain != nil || !sameValue(document, again) {
				t.Errorf("the document of event %d is not its payload: %v, %v", e.Index, err, errAgain)
			}
			e.Payload, e.Document = bytes.Clone(e.Payload), canon.Value{}
			listed = append(listed, e)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sameEvents(t, projected, listed)
	}
}

// sameAnswers asks two histories for ids of the whole store and for the edges.
func sameAnswers(t *testing.T, want, got thread.History, events []thread.Event) {
	t.Helper()
	ids := []string{"", "nothing", "' OR 1=1 --"}
	for _, e := range events {
		ids = append(ids, e.CorrelationID, e.TurnID)
	}
	for _, id := range ids {
		a, ok, err := want.Find(id)
		b, found, failed := got.Find(id)
		if ok != found || err != nil || failed != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%q: %v %+v %v, want %v %+v", id, found, b, failed, ok, a)
		}
	}
	for _, n := range []int{1, 2, 20} {
		a, err := want.Edges(n)
		b, failed := got.Edges(n)
		if err != nil || failed != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("edges %d: %d events, %v; want %d", n, len(b), failed, len(a))
		}
	}
}

// X1: of several events of one id the first counts, but the last handle beats it; by correlation id before by turn id.
func TestLedgerPrefersTheLastHandle(t *testing.T) {
	event := func(index int, kind thread.Kind, intentType, turn, correlation string) thread.Event {
		return thread.Event{
			Index: index, Kind: kind, IntentType: intentType, ThreadID: "t", TurnID: turn, CorrelationID: correlation, Payload: []byte("{}"),
		}
	}
	events := []thread.Event{
		event(0, thread.Intent, "chat.message", "1", "a"),
		event(1, thread.Intent, "artifact.handle", "1", "a"),
		event(2, thread.Intent, "artifact.handle", "1", "a"),
		event(3, thread.Execution, "artifact.handle", "1", "a"),
		event(4, thread.Intent, "chat.message", "a", "b"),
		event(7, thread.Intent, "chat.message", "", ""),
		event(9, thread.Intent, "chat.message", "last", "b"),
	}
	trail, projected := read(t, project(t, &dblgateway.Stream{}, events), dialect.Options{})
	ledger, err := trail.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	log := thread.NewLog()
	for position, e := range projected {
		log.Append(e)
		sameAnswers(t, log, ledger.History("t", position), projected)
	}
	if e, ok, err := ledger.History("t", 6).Find("a"); !ok || err != nil || e.Index != 2 {
		t.Errorf("a is %+v, %v, %v", e, ok, err)
	}
}

// X5: what a trail cannot hold, and a file that is there, are problems with a place.
func TestProjectionRefuses(t *testing.T) {
	for _, c := range []struct {
		what    string
		events  []thread.Event
		code    finding.Code
		pointer string
	}{
		{"an index twice", []thread.Event{{Index: 3}, {Index: 3}}, finding.ShapeRange, "/events/1/index"},
		{"an index that descends", []thread.Event{{Index: 3}, {Index: 2}}, finding.ShapeRange, "/events/1/index"},
		{"a lone surrogate", []thread.Event{{TurnID: "\xed\xa0\x80"}}, finding.CanonInvalidUTF8, "/events/0/turn_id"},
		{"a lone surrogate of the parent", []thread.Event{{ParentTurnID: "\xed\xa0\x80", HasParent: true}}, finding.CanonInvalidUTF8, "/events/0/parent_turn_id"},
	} {
		path := filepath.Join(t.TempDir(), "ledger.sqlite")
		p, err := dblgateway.Project(path)
		for _, e := range c.events {
			if err == nil {
				err = p.Add(e)
			}
		}
		var problem *dialect.Problem
		if !errors.As(err, &problem) || problem.Code != c.code || problem.Pointer != c.pointer {
			t.Errorf("%s: %v, want %s at %s", c.what, err, c.code, c.pointer)
		}
		p.Discard()
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the file is still there: %v", c.what, err)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no", "folder.sqlite")} {
		var problem *dialect.Problem
		if _, err := dblgateway.Project(path); !errors.As(err, &problem) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// X5: a ledger is built beside the evidence in memory; the file and its folder stay as they were.
func TestLedgerLeavesTheEvidenceAlone(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(fixtures, "s01_chat_refs", "trail.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "trail.sqlite")
	if err := os.WriteFile(path, data, 0o400); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s, events := read(t, path, dialect.Options{})
	ledger, err := s.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := ledger.History(events[0].ThreadID, len(events)-1).Find(events[0].CorrelationID); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v beside the evidence, %v", entries, err)
	}
	after, err := os.Stat(path)
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the time changed, %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(data) {
		t.Errorf("the bytes changed, %v", err)
	}
	snapshot, _ := read(t, filepath.Join(fixtures, "s01_chat_refs", "snapshot.json"), dialect.Options{})
	if _, err := snapshot.Ledger(); err == nil {
		t.Error("a snapshot has a ledger")
	}
}
