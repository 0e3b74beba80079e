package memory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/memory"
)

// applied gives the digest of what Apply makes, or why there is none.
func applied(start memory.State, list []memory.Write) (canon.Sum, error) {
	after, err := start.Apply(list, nil)
	if err != nil {
		return canon.Sum{}, err
	}
	return after.Digest()
}

// growing holds the digest of a list that grows to the places of until, each asked twice, to that of Apply of the whole list.
func growing(t *testing.T, start memory.State, list []memory.Write, until []int) error {
	t.Helper()
	w := memory.NewWritten(start)
	var wrong error
	for _, n := range until {
		want, errWant := applied(start, list[:n])
		for range 2 {
			got, err := w.Digest(list[:n])
			if got != want || !reflect.DeepEqual(err, errWant) {
				t.Fatalf("%d of the writes to %v:\n got %s, %v\nwant %s, %v\nfrom\n%s\nwith %+v",
					n, until, got.Hex(), err, want.Hex(), errWant, show(t, start), list)
			}
		}
		wrong = errWant
	}
	return wrong
}

// dice makes writes and states of a few names, so that they meet.
type dice struct{ *rand.Rand }

func pick[T any](d dice, from ...T) T { return from[d.IntN(len(from))] }

func (d dice) entry() memory.Entry {
	e := memory.Entry{
		ID: pick(d, "", "", "a", "b", "cafe\u0301", "m00000000000000000009"), CreatedAt: d.Int64N(9), Source: pick(d, memory.Source(100), 100, 100, 100, 75, 50),
		Namespace: pick(d, "", "town"), Tags: pick(d, nil, []string{"x", "\xff"}),
	}
	if d.IntN(8) == 0 {
		e.Trust, e.ExpiresAt = ptr(d.IntN(101)), ptr(d.Int64N(9))
	}
	return e
}

// record gives a record as a program may put it together: with defaults left out, reals that are rounded, halves of pairs.
func (d dice) record() memory.Record {
	r := memory.Record{Entry: d.entry(), Type: pick(d, memory.TypeFact, memory.TypeWorld, memory.TypeEpisode, memory.TypeBelief, "note", "zettel")}
	text := pick(d, "x", "y", "e\u0301", `\ud800`, "\U0001F600")
	content := `{}`
	switch r.Type {
	case memory.TypeFact:
		content = `{"Fact":"` + text + `"}`
	case memory.TypeWorld:
		r.ID = pick(d, "door", "gate", "")
		content = `{"Value":"` + text + `","ModificationCount":` + fmt.Sprint(d.IntN(3)) + `}`
	case memory.TypeEpisode:
		content = `{"Description":"` + text + `","Significance":` + pick(d, "0.1234567", "0.5", "1e300") + `}`
	case memory.TypeBelief:
		content = `{"Key":"` + pick(d, "player", "k", "e\u0301") + `","BeliefContent":"` + text + `","Confidence":0.3333333}`
	default:
		if text == `\ud800` && d.IntN(20) > 0 { // it has no json-v1
			text = "z"
		}
		content = `{"z":"` + text + `","a":[1.50,{"y":null,"b":1}]}`
	}
	r.Content = []byte(content)
	return r
}

func (d dice) write() memory.Write {
	w := memory.Write{Op: pick(d, memory.Append, memory.Append, memory.Put, memory.Put, memory.Delete), Record: d.record()}
	if w.Record.Type == memory.TypeFact && d.IntN(20) > 0 {
		w.Op, w.Record.ID = memory.Append, fmt.Sprint("f", d.IntN(1000))
	}
	if w.Op != memory.Append && d.IntN(3) == 0 {
		w.Record.Sequence = 1 + d.Int64N(20)
	}
	return w
}

// list gives writes of which most can be applied: each is tried on what the ones before have made, one by one.
func (d dice) list(start memory.State, n int) []memory.Write {
	const tries = 40
	var list []memory.Write
	for try := 0; len(list) < n && try < n*tries; try++ {
		w := d.write()
		after, err := start.Apply([]memory.Write{w}, nil)
		if err == nil {
			start = after
		}
		if err == nil || d.IntN(tries) == 0 {
			list = append(list, w)
		}
	}
	return list
}

// state gives a loaded state with gaps between its numbers, and some reals that no load of dmpl-v1 has.
func (d dice) state() memory.State {
	s := memory.State{PersonaID: pick(d, "smith", "", "e\u0301"), NextSequence: 1, InteractionCount: d.Int64N(4)}
	s, err := s.Apply(d.list(s, d.IntN(12)), nil)
	if err != nil {
		return memory.State{NextSequence: 1}
	}
	for i := range s.Episodes {
		s.Episodes[i].Strength = pick(d, 1, float64(float32(0.1)), 0.25)
	}
	return s
}

// E10, M4, M9: a list that is taken turn by turn gives what Apply of the whole list gives: the digest, or the same error.
func TestAListThatGrowsIsAppliedAsAWhole(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(5, 6))}
	outcomes := map[string]int{}
	ops := map[string]int{}
	for range 3000 {
		start := d.state()
		list := d.list(start, d.IntN(16))
		var until []int
		for n := range len(list) + 1 {
			if n == len(list) || d.IntN(3) == 0 {
				until = append(until, n)
			}
		}
		err := growing(t, start, list, until)
		var rejected *memory.Rejection
		outcome := "applied"
		if errors.As(err, &rejected) {
			outcome = "rejected"
		} else if err != nil {
			outcome = "without a digest"
		}
		outcomes[outcome]++
		for _, w := range list {
			ops[string(w.Op)+" "+w.Record.Type]++
		}
	}
	if outcomes["applied"] < 1000 || outcomes["rejected"] < 300 || outcomes["without a digest"] < 50 {
		t.Errorf("%v", outcomes)
	}
	for _, kind := range []string{memory.TypeWorld, memory.TypeEpisode, memory.TypeBelief, "note", "zettel"} {
		for _, op := range []memory.Op{memory.Append, memory.Put, memory.Delete} {
			if n := ops[string(op)+" "+kind]; n < 100 {
				t.Errorf("%d writes are a %s of a %s", n, op, kind)
			}
		}
	}
	if ops["append fact"] < 100 || ops["put fact"]+ops["delete fact"] == 0 {
		t.Errorf("%v", ops)
	}
}

// What a list does to its own entries and to the highest number is told apart by where it is cut.
func TestAListMayBeCutAnywhere(t *testing.T) {
	belief := func(id, text, number string) string {
		return write("put", "belief", id, 50, `{"Key":"player","BeliefContent":"`+text+`"}`, `"sequence_number":`+number)
	}
	lists := map[string][]string{
		"a belief is replaced, replaced again, changed in place and forgotten": {
			belief("", "1", "0"), belief("", "2", "0"), belief("m00000000000000000009", "3", "9"), write("delete", "belief", "", 50, `{"Key":"player"}`, unnumbered),
		},
		"the highest entry goes, and the next has a number behind it": {
			write("append", "note", "n", 50, `{}`, unnumbered), write("delete", "note", "n", 50, `{}`, unnumbered), write("append", "note", "n", 50, `{}`, unnumbered),
		},
		"all notes go":             {write("delete", "note", "note-1", 50, `{}`, unnumbered), write("delete", "note", "note-2", 50, `{}`, unnumbered)},
		"one is forgotten twice":   {write("delete", "note", "note-1", 50, `{}`, unnumbered), write("delete", "note", "note-1", 50, `{}`, unnumbered)},
		"a world state is counted": {write("put", "world", "door", 75, `{"Value":"1"}`, unnumbered), write("put", "world", "door", 75, `{"Value":"2"}`, unnumbered)},
		"a rejected write, and others behind it": {
			write("append", "note", "n", 50, `{}`, unnumbered), write("put", "fact", "king", 100, `{"Fact":"dead"}`, unnumbered), write("append", "note", "o", 50, `{}`, unnumbered),
		},
		"equal ids": {
			write("append", "episodic", "e1", 50, `{}`, unnumbered), write("delete", "episodic", "e1", 50, `{}`, `"sequence_number":8`), write("delete", "episodic", "e1", 50, `{}`, unnumbered),
		},
	}
	for _, name := range canon.SortedKeys(lists) {
		t.Run(name, func(t *testing.T) {
			list := writes(t, strings.Join(lists[name], ","))
			for cuts := range 1 << len(list) {
				var until []int
				for n := range len(list) {
					if cuts>>n&1 == 1 {
						until = append(until, n)
					}
				}
				_ = growing(t, head(t), list, append(until, len(list)))
			}
		})
	}
}

// C1, C5: what has no json-v1 in a snapshot document has no digest, says so in the same words, and is forgiven when it goes.
func TestAListWithARecordThatHasNoDigest(t *testing.T) {
	nested := func(depth int) string { return strings.Repeat(`{"a":`, depth-1) + `{}` + strings.Repeat(`}`, depth-1) }
	of := func(op memory.Op, kind, content string) memory.Write {
		r := memory.Record{Entry: memory.Entry{ID: "bad", Source: memory.Designer}, Type: kind, Content: []byte(content)}
		return memory.Write{Op: op, Record: r}
	}
	const outside = 3 // document, list, record
	for _, c := range []struct {
		kind, content string
		ok            bool
	}{
		{"note", nested(canon.MaxDepth - outside), true},
		{"note", nested(canon.MaxDepth - outside + 1), false},
		{"note", `{"a":1e309}`, false},
		{"note", `{"a":`, false},
		{"note", `{"a":1,"a":2}`, false},
		{memory.TypeEpisode, `{"Description":"x"`, false},
		{memory.TypeEpisode, `{"Description":7}`, false},
		{memory.TypeFact, `{"Unknown":7}`, false},
	} {
		fine := of(memory.Append, "note", `{}`)
		fine.Record.ID = "fine"
		list := []memory.Write{fine, of(memory.Append, c.kind, c.content)}
		if err := growing(t, head(t), list, []int{1, 2}); (err == nil) != c.ok {
			t.Errorf("%.40s: %v", c.content, err)
		}
		if c.kind == memory.TypeFact { // M10: it stays
			continue
		}
		fine.Record.ID = "more"
		list = append(list, of(memory.Delete, c.kind, `{}`), fine)
		if err := growing(t, head(t), list, []int{1, 2, 3, 4}); err != nil {
			t.Errorf("%.40s has gone: %v", c.content, err)
		}
		if err := growing(t, head(t), list, []int{1, 3, 4}); err != nil {
			t.Errorf("%.40s came and went: %v", c.content, err)
		}
	}
	start := head(t)
	start.Others[0].Content = []byte(`{"a":1e309}`)
	drop := of(memory.Delete, "note", `{}`)
	drop.Record.ID = start.Others[0].ID
	if err := growing(t, start, []memory.Write{drop}, []int{0}); err == nil {
		t.Error("a start without a digest has one")
	}
	if err := growing(t, start, []memory.Write{drop}, []int{0, 1}); err != nil {
		t.Error(err)
	}
}

// P2(g): every snapshot of the fixtures has the digest that it has as a whole, and so have the states that its run's commit
// goes through.
func TestSnapshotsOfTheFixturesTakeWrites(t *testing.T) {
	snapshots, commits := 0, 0
	err := filepath.WalkDir("../../fixtures", func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "snapshot.json" {
			return err
		}
		src := must[[]byte](t)(os.ReadFile(path))
		if canon.Valid(src) != nil {
			return nil
		}
		o := open(t, string(src))
		start := memory.ReadSnapshot(o)
		if o.Err() != nil {
			return nil
		}
		snapshots++
		var list []memory.Write
		if src, err := os.ReadFile(filepath.Join(filepath.Dir(path), "commit.json")); err == nil {
			o = open(t, string(src))
			if list = memory.ReadWrites(o, "writes"); o.Err() != nil {
				return nil
			}
			commits++
		}
		until := make([]int, len(list)+1)
		for n := range until {
			until[n] = n
		}
		_ = growing(t, start, list, until)
		if got, err := memory.NewWritten(start).Digest(nil); err != nil || got.Hex() != digest(t, start) {
			t.Errorf("%s: %s, %v", path, got.Hex(), err)
		}
		return nil
	})
	if err != nil || snapshots < 40 || commits < 10 {
		t.Errorf("%d snapshots, %d commits, %v", snapshots, commits, err)
	}
}
