package pipeline_test

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// turnVectors runs the turn stage of dmpl-v1 on the input of every vector of whole turns.
func turnVectors(t *testing.T, change func(canon.Value) []byte) [][]byte {
	t.Helper()
	stage := pipeline.TurnStage(pipeline.DMPLv1)
	var answers [][]byte
	for _, c := range pipelinetest.Read(t, pipelinetest.Root(t)+"/fixtures/pipeline/chain.json") {
		input := c.Input
		if change != nil {
			input = parseDBL(t, change(input))
		}
		got, err := stage(input)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		answers = append(answers, got)
	}
	if len(answers) == 0 {
		t.Fatal("no vectors")
	}
	return answers
}

func sameAnswers(t *testing.T, got, want [][]byte) {
	t.Helper()
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("turn %d\n got %s\nwant %s", i, got[i], want[i])
		}
	}
}

// Seed 001, tripwire A: one snapshot at two wall clocks, years apart, gives the same bytes.
func TestTripwireTheWallClockIsNoInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		then, first := time.Now(), turnVectors(t, nil)
		time.Sleep(5 * 365 * 24 * time.Hour) // of the bubble's clock
		if time.Since(then) < time.Hour {
			t.Fatal("the clock stands still")
		}
		sameAnswers(t, turnVectors(t, nil), first)
	})
}

// P2(e): the clock that llamabrain-v1 reads has no hand in dmpl-v1.
func TestTripwireTheClockOfAnEarlierVersionIsNoInput(t *testing.T) {
	later := func(input canon.Value) []byte {
		return edited(t, input, func(o map[string]any) {
			o["clockStart"], o["clockStep"], o["idStart"] = json.Number("638999999999999999"), json.Number("7"), json.Number("4000")
		})
	}
	sameAnswers(t, turnVectors(t, later), turnVectors(t, nil))
}

// edited gives an input with changed members, and its members in another order.
func edited(t *testing.T, input canon.Value, change func(map[string]any)) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(input.Raw()))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		t.Fatal(err)
	}
	change(o)
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Seed 001, tripwire B: memories in any order of insertion, members in any order, give the same bytes.
func TestTripwireTheOrderOfInsertionIsNoInput(t *testing.T) {
	random := rand.New(rand.NewSource(5))
	want := turnVectors(t, nil)
	for range 20 {
		sameAnswers(t, turnVectors(t, func(input canon.Value) []byte {
			return edited(t, input, func(o map[string]any) {
				state := o["state"].(map[string]any)
				for _, name := range []string{"CanonicalFacts", "WorldState", "EpisodicMemories", "Beliefs"} {
					list := state[name].([]any)
					random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				}
			})
		}), want)
	}
}

// Retrieval does not even need the lists to be sorted first.
func TestTripwireRetrievalOrdersWhatIsListed(t *testing.T) {
	random := rand.New(rand.NewSource(6))
	stage := pipeline.RetrieveStage(pipeline.DMPLv1)
	pipelinetest.Each(t, "retrieval", 40, func(t *testing.T, c pipelinetest.Case) {
		var want []byte
		for i := range 5 {
			got, err := stage(parseDBL(t, edited(t, c.Input, func(o map[string]any) {
				o["load"] = "listed"
				state := o["state"].(map[string]any)
				for _, name := range []string{"CanonicalFacts", "WorldState", "EpisodicMemories", "Beliefs"} {
					list := state[name].([]any)
					random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				}
			})))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Fatalf("another order, another answer\n got %s\nwant %s", got, want)
			}
		}
	})
}

// Seed 001, tripwire C: scores 1e-12 apart are equal, and the next key decides.
func TestTripwireNearlyEqualScoresAreTies(t *testing.T) {
	ranked := func(nearly float64, candidates []pipeline.Candidate) []string {
		s := village()
		s.Episodes = []memory.Episode{episode("a", "same", 4), episode("b", "same", 5)}
		s.Episodes[1].Significance += nearly
		in, c := turnInput(), turnConfig()
		in.Query.Candidates.Episodes = candidates
		var scene pipeline.Scene
		d, err := scene.Open(func(pipeline.Dispatched) {})
		if err != nil {
			t.Fatal(err)
		}
		y := memory.NewSystem(pipeline.DMPLv1, s, memory.At(noon), nil)
		r, err := pipeline.RunTurn(y, &in, &c, pipeline.Recorded([]pipeline.Answer{{Text: "Good day."}}), d, pipeline.DMPLv1)
		if err != nil {
			t.Fatal(err)
		}
		return ids(&r.Retrieval.Episodes)
	}
	if got := ranked(1e-12, nil); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("a score that is 1e-12 higher: %v", got)
	}
	if got := ranked(1e-3, nil); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("a score that is 1e-3 higher: %v", got)
	}
	if got := ranked(0, []pipeline.Candidate{{"b", 0.5 + 1e-12}, {"a", 0.5}}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("a candidate whose score is 1e-12 higher: %v", got)
	}
}

// Seed 001, tripwire D: a memory that was written and loaded again gives the same turn, in either form.
func TestTripwireAReloadedMemoryGivesTheSameTurn(t *testing.T) {
	run := func(s memory.State) (prompt string, digest canon.Sum) {
		in, c := turnInput(), turnConfig()
		c.StoreDialogue = true
		var scene pipeline.Scene
		d, err := scene.Open(func(pipeline.Dispatched) {})
		if err != nil {
			t.Fatal(err)
		}
		y := memory.NewSystem(pipeline.DMPLv1, s, memory.At(noon), nil)
		r, err := pipeline.RunTurn(y, &in, &c, pipeline.Recorded([]pipeline.Answer{{Text: "[MEMORY: asked] Good day."}}), d, pipeline.DMPLv1)
		if err != nil {
			t.Fatal(err)
		}
		digest, err = r.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return r.Attempts[0].Prompt.Text, digest
	}
	s, err := memory.Load(village(), pipeline.DMPLv1)
	if err != nil {
		t.Fatal(err)
	}
	prompt, digest := run(s)
	for name, again := range map[string]memory.State{"persona": throughPersona(t, s), "snapshot": throughSnapshot(t, s)} {
		if p, d := run(again); p != prompt || d != digest {
			t.Errorf("through a %s: another turn\n%s\nwant\n%s", name, p, prompt)
		}
	}
}

func throughPersona(t *testing.T, s memory.State) memory.State {
	t.Helper()
	w := document.NewWriter(pipeline.DMPLv1.Style())
	memory.WriteState(w, "", s, pipeline.DMPLv1)
	o := open(t, string(w.Bytes()))
	again, err := memory.Load(memory.ReadState(o, pipeline.DMPLv1), pipeline.DMPLv1)
	if err != nil || o.Err() != nil {
		t.Fatal(err, o.Err())
	}
	return again
}

func throughSnapshot(t *testing.T, s memory.State) memory.State {
	t.Helper()
	w := document.NewWriter(document.Style{})
	w.Object("", func() { memory.WriteSnapshot(w, s) })
	o := open(t, string(w.Bytes()))
	again := memory.ReadSnapshot(o)
	if o.Err() != nil {
		t.Fatal(o.Err())
	}
	return again
}
