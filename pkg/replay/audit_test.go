package replay_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/replay"
)

func opened(t *testing.T, text []byte) *document.Object {
	t.Helper()
	v, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return document.Open(v)
}

// statuses gives how often each check ended how.
func statuses(r finding.Result) map[string]int {
	all := map[string]int{}
	for _, c := range r.Checks {
		all[c.ID+" "+string(c.Status)] += c.Count
	}
	return all
}

// R6: every recorded turn of the chain vectors runs again from its state, and gives what its audit record says.
func TestChainVectorsRunAgain(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "vectors", "llamabrain", "chain.json"))
	if err != nil {
		t.Logf("NOT RUN: the chain vectors are not beside this checkout")
		t.SkipNow()
	}
	var all struct {
		Cases []struct {
			Name  string
			Input struct {
				State              json.RawMessage
				ForbiddenKnowledge []string
			}
			Expected struct {
				AuditRecordJSON, RuntimeBridgeMemoryHash string
			}
		}
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all.Cases) == 0 {
		t.Fatalf("%d cases, %v", len(all.Cases), err)
	}
	for _, c := range all.Cases {
		record := audit.ReadRecord(opened(t, []byte(c.Expected.AuditRecordJSON)))
		state := memory.ReadState(opened(t, c.Input.State), memory.LlamaBrainV1)
		in := &replay.AuditInput{Path: "p", Records: []audit.Record{record}, Personas: []audit.Persona{{Key: record.NpcID, State: state}}}
		want := map[string]int{"R1.memory pass": 1, "R1.dialogue pass": 1, "R1.gate pass": 1, "R1.mutations pass": 1}
		if c.Name == "turn_dev_08" { // forbidden knowledge, which no record keeps
			delete(want, "R1.gate pass")
			want["R1.gate not_checked"] = 1
		}
		for _, hash := range []string{record.MemoryHashBefore, c.Expected.RuntimeBridgeMemoryHash} {
			in.Records[0].MemoryHashBefore = hash
			r := replay.Audit(in)
			got := statuses(r)
			if r.Verdict != finding.Equivalent || len(got) != len(want) {
				t.Errorf("%s: %s, %v, %+v", c.Name, r.Verdict, got, r.Findings)
			}
			for check, n := range want {
				if got[check] != n {
					t.Errorf("%s: %s %d times, want %d", c.Name, check, got[check], n)
				}
			}
		}
	}
}

func fixtureInput(t *testing.T) *replay.AuditInput {
	t.Helper()
	const fixtures = "../../fixtures/audit/"
	p, err := llamabrain.ReadPackage(fixtures+"turns.json", dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := llamabrain.ReadSave(fixtures+"save.llamasave", llamabrain.KindSave, dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &replay.AuditInput{Path: "p", Records: p.Records, Personas: s.Personas, Save: true}
}

// R1: what each change of a record gives; a turn whose memory is not known is not run and said so.
func TestTurnsOfAPackage(t *testing.T) {
	at := func(i int, change func(r *audit.Record)) func(*replay.AuditInput) {
		return func(in *replay.AuditInput) { change(&in.Records[i]) }
	}
	for _, test := range []struct {
		what    string
		change  func(in *replay.AuditInput)
		verdict finding.Verdict
		codes   []string
	}{
		{"nothing", func(*replay.AuditInput) {}, finding.Equivalent, []string{"auditreplay.not_run"}},
		{"dialogue", at(0, func(r *audit.Record) { r.DialogueText = "x" }), finding.Divergent, []string{"root auditreplay.dialogue", "auditreplay.not_run"}},
		{"output", at(0, func(r *audit.Record) { r.RawOutput = "The vault. Hello." }), finding.Divergent, []string{
			"root auditreplay.dialogue", "cascade auditreplay.gate", "auditreplay.not_run",
		}},
		{"dialogue of a turn that is not run", at(2, func(r *audit.Record) { r.DialogueText, r.ValidationPassed, r.FallbackUsed = "x", true, false }), finding.Divergent, []string{"root auditreplay.dialogue", "auditreplay.not_run"}},
		{"mutations", at(0, func(r *audit.Record) { r.MutationsApplied = 3 }), finding.Divergent, []string{"root auditreplay.mutations", "auditreplay.not_run"}},
		{"violations", at(1, func(r *audit.Record) { r.ViolationCount = 1 }), finding.Divergent, []string{"root auditreplay.gate", "auditreplay.not_run"}},
		{"more violations than a package can show", at(1, func(r *audit.Record) { r.ViolationCount, r.ValidationPassed = 1, false }), finding.Equivalent, []string{"auditreplay.not_run"}},
		{"a fallback", at(0, func(r *audit.Record) { r.DialogueText, r.FallbackUsed = "x", true }), finding.Equivalent, []string{"auditreplay.not_run"}},
		{"the final dialogue in place of the output", at(0, func(r *audit.Record) { r.RawOutput = r.DialogueText }), finding.Equivalent, []string{"auditreplay.not_run"}},
		{"another memory", at(0, func(r *audit.Record) { r.MemoryHashBefore = "x" }), finding.Undecided, []string{"root auditreplay.state", "auditreplay.not_run"}},
		{"no memory of the NPC", func(in *replay.AuditInput) { in.Personas = in.Personas[1:] }, finding.Undecided, []string{"root auditreplay.state", "auditreplay.not_run"}},
		{"a snapshot of one NPC", func(in *replay.AuditInput) { in.Personas, in.Save = in.Personas[:1], false }, finding.Equivalent, []string{
			"auditreplay.not_run", "auditreplay.not_run",
		}},
		{"no memory of an NPC that begins with none", func(in *replay.AuditInput) {
			in.Personas = in.Personas[1:]
			in.Records[0].MemoryHashBefore = memory.State{PersonaID: in.Records[0].NpcID, NextSequence: 1}.Hash()
		}, finding.Equivalent, []string{"auditreplay.not_run"}},
		{"a memory that does not load", func(in *replay.AuditInput) {
			facts := in.Personas[0].State.Facts
			facts[1].ID = facts[0].ID
		}, finding.Undecided, []string{"root auditreplay.state", "auditreplay.not_run"}},
		{"no memory at all", func(in *replay.AuditInput) { in.Personas = nil }, finding.Undecided, []string{"root auditreplay.state", "auditreplay.not_run"}}, // the second NPC begins with none
		{"constraints that cannot be read", at(0, func(r *audit.Record) { r.ConstraintsSerialized = "[" }), finding.Undecided, []string{"root auditreplay.state", "auditreplay.not_run"}},
		{"malformed state", func(in *replay.AuditInput) { in.Malformed = true }, finding.Undecided, []string{"root replay.nothing_rebuilt"}},
		{"malformed record", at(1, func(r *audit.Record) { r.Malformed = true }), finding.Equivalent, []string{"auditreplay.not_run"}},
		{"other order", func(in *replay.AuditInput) { slices.Reverse(in.Records) }, finding.Equivalent, []string{"auditreplay.not_run"}},
	} {
		in := fixtureInput(t)
		test.change(in)
		r := replay.Audit(in)
		var codes []string
		for _, f := range r.Findings {
			code := string(f.Code)
			if f.Class != finding.Independent {
				code = string(f.Class) + " " + code
			}
			codes = append(codes, code)
		}
		if r.Verdict != test.verdict || !slices.Equal(codes, test.codes) {
			t.Errorf("%s: %s, %q; want %s, %q", test.what, r.Verdict, codes, test.verdict, test.codes)
		}
	}
}
