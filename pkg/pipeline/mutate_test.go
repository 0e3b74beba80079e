package pipeline_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

func text(s string) *string { return &s }

// M4, P2(h): the writes of a batch, applied to the memory before it, give the memory after it, and name no entry that is
// new. Whatever was stored on the way, what a batch leaves is what LlamaBrain leaves, but for ids, numbers and times.
func TestTheWritesOfABatchMakeTheMemoryAfterIt(t *testing.T) {
	wrote := 0
	pipelinetest.Each(t, "mutations", 30, func(t *testing.T, c pipelinetest.Case) {
		data, err := pipeline.MutateStage(pipeline.DMPLv1)(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		in, out := document.Open(c.Input), document.Open(parseDBL(t, data))
		before, err := memory.Load(memory.ReadState(in.Object("state"), pipeline.DMPLv1), pipeline.DMPLv1)
		if err != nil {
			t.Fatal(err)
		}
		writes := memory.ReadWrites(out, "writes")
		after, err := before.Apply(writes, nil)
		if err != nil || out.Err() != nil {
			t.Fatal(err, out.Err())
		}
		digest, err := after.Digest()
		if want := out.Text("state_digest", ""); err != nil || digest.Hex() != want {
			t.Errorf("digest %s, want %s; %v", digest.Hex(), want, err)
		}
		for _, w := range writes {
			wrote++
			if w.Record.ID != "" || w.Record.Sequence != 0 {
				t.Errorf("an inserted entry is named in the write list: %q, %d", w.Record.ID, w.Record.Sequence)
			}
		}
		upstream := memory.ReadState(document.Open(c.Expected).Object("stateAfter"), pipeline.DMPLv1)
		if got, want := nameless(after), nameless(upstream); got != want {
			t.Errorf("memory\n got %s\nwant %s", got, want)
		}
	})
	if wrote == 0 {
		t.Error("no batch wrote anything")
	}
}

// nameless writes a memory without ids, numbers and times.
func nameless(s memory.State) string {
	s.NextSequence = 0
	strip := func(e *memory.Entry) { e.ID, e.Sequence, e.CreatedAt = "", 0, 0 }
	for i := range s.Episodes {
		strip(&s.Episodes[i].Entry)
	}
	for i := range s.Beliefs {
		strip(&s.Beliefs[i].Entry)
	}
	slices.SortFunc(s.Beliefs, func(a, b memory.Belief) int { return strings.Compare(a.Key, b.Key) })
	w := document.NewWriter(document.Style{})
	memory.WriteState(w, "", s, pipeline.DMPLv1)
	return string(w.Bytes())
}

// An episode that a full memory forgets is a delete in the write list.
func TestAForgottenEpisodeIsDeletedByTheWrites(t *testing.T) {
	before := memory.State{NextSequence: 102}
	for i := range 100 {
		e := episode("e", "old", int64(i+2))
		e.Strength = float64(100-i) / 100
		before.Episodes = append(before.Episodes, e)
	}
	y := memory.NewSystem(pipeline.DMPLv1, before, memory.At(noon), nil)
	gate := pipeline.GateResult{Passed: true, ApprovedMutations: []pipeline.Mutation{{Type: pipeline.AppendEpisodic, Content: text("new")}}}
	pipeline.Mutate(y, &gate, "npc", pipeline.DefaultMutationConfig(), pipeline.DMPLv1)
	writes, err := memory.Writes(before, y.State(), memory.ValidatedOutput)
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for _, w := range writes {
		got = append(got, w.Op, w.Record.Sequence)
	}
	if want := []any{memory.Delete, int64(101), memory.Append, int64(0)}; !reflect.DeepEqual(got, want) {
		t.Errorf("writes %v, want %v", got, want)
	}
}

// P5: what a gate did not pass is not executed, whatever its result lists as approved.
func TestAFailedGateMutatesAndEmitsNothing(t *testing.T) {
	y := memory.NewSystem(pipeline.DMPLv1, memory.State{NextSequence: 1}, memory.At(noon), nil)
	before, err := y.State().Digest()
	if err != nil {
		t.Fatal(err)
	}
	gate := pipeline.GateResult{
		ApprovedMutations: []pipeline.Mutation{
			{Type: pipeline.AppendEpisodic, Content: text("c")}, {Type: pipeline.EmitWorldIntent, Target: text("go")},
		},
		ApprovedIntents: []pipeline.Intent{{Type: text("go")}},
	}
	b := pipeline.Mutate(y, &gate, "npc", pipeline.DefaultMutationConfig(), pipeline.DMPLv1)
	after, err := y.State().Digest()
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Results) != 0 || before != after || b.Statistics != (pipeline.Statistics{}) {
		t.Errorf("results %v, statistics %+v, memory changed: %v", b.Results, b.Statistics, before != after)
	}
	if arrived := dispatched(t, b); len(arrived) != 0 {
		t.Errorf("dispatched %v", arrived)
	}
}

func dispatched(t *testing.T, b *pipeline.Batch) []string {
	t.Helper()
	var scene pipeline.Scene
	var arrived []string
	d, err := scene.Open(func(d pipeline.Dispatched) { arrived = append(arrived, *d.Type) })
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Dispatch(b.Emitted()); err != nil {
		t.Fatal(err)
	}
	return arrived
}

// llamabrain.md §7: what EmitWorldIntent asks for arrives before the approved intents, though the batch does not list it.
func TestMutationsEmitBeforeIntents(t *testing.T) {
	y := memory.NewSystem(pipeline.DMPLv1, memory.State{}, memory.At(noon), nil)
	gate := pipeline.GateResult{
		Passed:            true,
		ApprovedMutations: []pipeline.Mutation{{Type: pipeline.EmitWorldIntent, Target: text("wave")}},
		ApprovedIntents:   []pipeline.Intent{{Type: text("bow")}},
	}
	b := pipeline.Mutate(y, &gate, "npc", pipeline.DefaultMutationConfig(), pipeline.DMPLv1)
	if got, want := dispatched(t, b), []string{"wave", "bow"}; !slices.Equal(got, want) {
		t.Errorf("dispatched %v, want %v", got, want)
	}
}

func TestMutateStageRefusesBadInput(t *testing.T) {
	tests := []struct{ input, want string }{
		{`{"controllerConfig":{"Enable":true}}`, "at /controllerConfig/Enable: unknown member"},
		{`{"approvedMutations":[{"Type":"Forget"}]}`, `at /approvedMutations/0/Type: "Forget" is none of AppendEpisodic, TransformBelief, TransformRelationship, EmitWorldIntent`},
		{`{"gatePassed":1}`, "at /gatePassed: expected boolean, found number"},
	}
	for _, test := range tests {
		for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
			_, err := pipeline.MutateStage(v)(parseDBL(t, []byte(test.input)))
			if err == nil || err.Error() != test.want {
				t.Errorf("%s: %s: %v, want %s", v, test.input, err, test.want)
			}
		}
	}
}

func TestMutationDefaultsAreLlamaBrains(t *testing.T) {
	config := upstreamDefaults(t, "MutationControllerConfig")
	o := open(t, `{"c":`+string(config.Raw())+`}`)
	if got, want := pipeline.ReadMutationConfig(o, "c", pipeline.DMPLv1), pipeline.DefaultMutationConfig(); o.Err() != nil || got != want {
		t.Errorf("%+v, want %+v; %v", got, want, o.Err())
	}
	everyMemberIsRead(t, config, func(o *document.Object) { pipeline.ReadMutationConfig(o, "c", pipeline.DMPLv1) })
}
