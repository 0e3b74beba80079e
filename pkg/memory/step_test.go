package memory_test

import (
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// llamabrain.md §1: every operation gives what LlamaBrain gives, and leaves the same state and hash.
func TestOperationVectors(t *testing.T) {
	pipelinetest.Each(t, "memory_ops", 10, func(t *testing.T, c pipelinetest.Case) {
		got, err := memory.Step(memory.LlamaBrainV1)(c.Input)
		if err != nil {
			t.Fatal(err)
		}
		pipelinetest.Compare(t, got, c.Expected)
	})
}

// P1: bad input of the stage says where.
func TestBadInputOfTheStageSaysWhere(t *testing.T) {
	tests := []struct{ src, want string }{
		{`[]`, "expected object, found array"},
		{`{"state":7}`, "at /state: expected object, found number"},
		{`{"state":{"CanonicalFacts":[{"Id":"a","SequenceNumber":1},{"Id":"a","SequenceNumber":2}]}}`, `at /state: the fact id "a" is there twice`},
		{`{"ops":[{"op":"forget"}]}`, `at /ops/0/op: "forget" is no operation`},
		{`{"ops":[{"op":"decay","rate":1},{"op":"forget"}]}`, "at /ops/0/rate: is no member that is known here"},
		{`{"ops":[{"op":"setWorldState","source":"Player"}]}`, `at /ops/0/source: "Player" is no known name`},
		{`{"ops":[{"op":"addEpisodic","strength":"1"}]}`, "at /ops/0/strength: expected number, found string"},
		{`{"ops":[{"op":"addEpisodic"},{"op":"merge","state":{"Beliefs":[{}]}}]}`, "at /ops/1/state: what is imported: the sequence number 0 is out of range"},
	}
	for _, tt := range tests {
		for _, v := range []memory.Version{memory.DMPLv1, memory.LlamaBrainV1} {
			if _, err := memory.Step(v)(open(t, tt.src).Value()); err == nil || err.Error() != tt.want {
				t.Errorf("%s: %v, want %s", tt.src, err, tt.want)
			}
		}
	}
}

// llamabrain.md §1: sources are names or numbers; a saved state that cannot be loaded again says so.
func TestOperationsThatTheVectorsLack(t *testing.T) {
	tests := []struct{ ops, want string }{
		{`{"op":"validateMutation","authority":75,"source":74}`, `{"allowed":false}`},
		{`{"op":"validateMutation","authority":"Belief"}`, `{"allowed":true}`},
		{`{"op":"reinforce","id":"none"}`, `{"ok":false}`},
		{`{"op":"markContradicted","key":"none"}`, `{"ok":false}`},
		{`{"op":"merge","state":{"EpisodicMemories":[{"Id":"e","SequenceNumber":7}]}}`, `{"next":2}`},
	}
	for _, tt := range tests {
		got, err := memory.Step(memory.DMPLv1)(open(t, `{"ops":[`+tt.ops+`]}`).Value())
		if want := `{"results":[` + tt.want + `]`; err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s: %s, %v", tt.ops, got, err)
		}
	}
	src := `{"state":{"NextSequenceNumber":0},"ops":[{"op":"addEpisodic"},{"op":"roundTrip"}]}`
	if _, err := memory.Step(memory.LlamaBrainV1)(open(t, src).Value()); err != nil {
		t.Error(err)
	}
}

// P2(h): the list that the stage answers makes the state that it answers, with its digest.
func TestTheStageAnswersItsWriteList(t *testing.T) {
	got, err := memory.Step(memory.DMPLv1)(open(t, `{"clockStart":5,"ops":[{"op":"addEpisodic","description":"x"},
		{"op":"setBelief","key":"k","content":"c"},{"op":"setWorldState","key":"door","value":"open"}]}`).Value())
	if err != nil {
		t.Fatal(err)
	}
	o := open(t, string(got))
	list := memory.ReadWrites(o, "writes")
	s, err := memory.State{PersonaID: "npc", NextSequence: 1}.Apply(list, nil)
	if err != nil || o.Err() != nil || len(list) != 3 || digest(t, s) != o.Text("stateHash", "") {
		t.Errorf("%d writes, %v, %v: %s", len(list), err, o.Err(), show(t, s))
	}
}
