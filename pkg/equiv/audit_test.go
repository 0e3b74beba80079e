package equiv_test

import (
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
)

const auditFixtures = "../../fixtures/audit/"

func readAudit(t *testing.T, name string) *equiv.Audit {
	t.Helper()
	p, err := llamabrain.ReadPackage(auditFixtures+name, dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &equiv.Audit{Path: name, Package: &p.Package, Records: p.Records, Findings: p.Shape}
}

// seen gives each error of a result with its class and pointers.
func seen(r finding.Result) []string {
	var all []string
	for _, f := range r.Findings {
		if f.Severity == finding.Error {
			all = append(all, string(f.Class)+" "+string(f.Code)+" "+f.Pointer)
		}
	}
	return all
}

// E12, E11: every member that is compared gives its finding, and what follows from it is a cascade.
func TestCompareAudits(t *testing.T) {
	at := func(i int, change func(r *audit.Record)) func(*equiv.Audit) {
		return func(a *equiv.Audit) { change(&a.Records[i]) }
	}
	for _, test := range []struct {
		what    string
		change  func(a *equiv.Audit)
		verdict finding.Verdict
		seen    []string
	}{
		{"nothing", func(*equiv.Audit) {}, finding.Equivalent, nil},
		{"memory and what follows", at(1, func(r *audit.Record) {
			r.MemoryHashBefore, r.PromptHash, r.RawOutput, r.OutputHash, r.DialogueText, r.MutationsApplied = "a", "b", "c", "d", "e", 5
		}), finding.Divergent, []string{
			"cascade auditdiff.dialogue /Records/1/DialogueText", "root auditdiff.memory /Records/1/MemoryHashBefore",
			"cascade auditdiff.mutations /Records/1/MutationsApplied", "cascade auditdiff.output /Records/1/OutputHash",
			"cascade auditdiff.prompt /Records/1/PromptHash", "cascade auditdiff.output /Records/1/RawOutput",
		}},
		{"hash of the same output", at(0, func(r *audit.Record) { r.OutputHash = "x" }), finding.Divergent, []string{"root auditdiff.output /Records/0/OutputHash"}},
		{"hash of the same constraints", at(0, func(r *audit.Record) { r.ConstraintsHash = "x" }), finding.Divergent, []string{"root auditdiff.constraints /Records/0/ConstraintsHash"}},
		{"two turns", func(a *equiv.Audit) { a.Records[2].Seed, a.Records[0].ViolationCount = 0, 9 }, finding.Divergent, []string{
			"root auditdiff.validation /Records/0/ViolationCount", "independent auditdiff.input /Records/2/Seed",
		}},
		{"record missing", func(a *equiv.Audit) { a.Records = a.Records[:3] }, finding.Divergent, []string{"root auditdiff.record /Records/3"}},
		{"other model file", func(a *equiv.Audit) { a.Package.Model.ModelFileName = "x" }, finding.Undecided, []string{"root auditdiff.model /ModelFingerprint"}},
		{"other settings", func(a *equiv.Audit) { a.Package.Model.Hash = "x" }, finding.Undecided, []string{"root auditdiff.model /ModelFingerprint"}},
		{"same fingerprint of another model", func(a *equiv.Audit) { a.Package.Model.BatchSize = 1 }, finding.Undecided, []string{"root auditdiff.model /ModelFingerprint"}},
		{"no fingerprint", func(a *equiv.Audit) { a.Package.Model.Hash = "" }, finding.Undecided, []string{"root auditdiff.model /ModelFingerprint"}},
		{"a log", func(a *equiv.Audit) { a.Package = nil }, finding.Undecided, []string{"root auditdiff.model /ModelFingerprint"}},
		{"another build of the game", func(a *equiv.Audit) { a.Package.GameVersion = "2" }, finding.Equivalent, nil},
		{"malformed record", func(a *equiv.Audit) {
			a.Records[3] = audit.Record{Malformed: true}
			a.Findings = append(a.Findings, finding.New(finding.ShapeType))
		}, finding.Undecided, []string{"root shape.type "}},
		{"wrong hash on a side, which verify checks", func(a *equiv.Audit) {
			a.Findings = append(a.Findings, finding.New(finding.AuditIntegrityHash))
		}, finding.Equivalent, nil},
	} {
		right := readAudit(t, "again.json")
		test.change(right)
		r := equiv.CompareAudits(readAudit(t, "package.json"), right, equiv.Options{Timeline: true})
		if got := seen(r); r.Verdict != test.verdict || !slices.Equal(got, test.seen) {
			t.Errorf("%s: %s, %q; want %s, %q", test.what, r.Verdict, got, test.verdict, test.seen)
		}
		if rows := slices.Collect(r.Timeline); len(rows) != 4+len(right.Records) {
			t.Errorf("%s: %d rows", test.what, len(rows))
		}
		mirrored := equiv.CompareAudits(right, readAudit(t, "package.json"), equiv.Options{})
		if mirrored.Verdict != r.Verdict {
			t.Errorf("%s: %s, and %s the other way", test.what, r.Verdict, mirrored.Verdict)
		}
	}
}

// llamabrain.md §9: the drift is that of the turn, by LlamaBrain's own order.
func TestFindingsNameTheDrift(t *testing.T) {
	right := readAudit(t, "again.json")
	right.Records[0].PromptHash, right.Records[0].OutputHash = "longer than eight", "x"
	right.Records[1].DialogueText = "y"
	r := equiv.CompareAudits(readAudit(t, "package.json"), right, equiv.Options{})
	var details []string
	for _, f := range r.Findings {
		details = append(details, f.Detail)
	}
	left := readAudit(t, "package.json").Records[0].PromptHash[:8]
	want := []string{
		"OutputHash differs (drift: Prompt)",
		"Prompt assembly differs from original. Original: " + left + ", Replayed: longer t May indicate template or governance changes. (drift: Prompt)",
		"DialogueText differs (drift: None)",
	}
	if !slices.Equal(details, want) {
		t.Errorf("details %q, want %q", details, want)
	}
}

// E12: records pair by NPC and interaction, repeats in order, wherever they stand; logs need no model.
func TestRecordsPairByNPCAndInteraction(t *testing.T) {
	left := &equiv.Audit{Records: []audit.Record{{NpcID: "a", InteractionCount: 1, Seed: 1}, {NpcID: "b"}, {NpcID: "a", InteractionCount: 1, Seed: 2}}}
	right := &equiv.Audit{Records: []audit.Record{{NpcID: "b"}, {NpcID: "a", InteractionCount: 1, Seed: 1}, {NpcID: "a", InteractionCount: 1, Seed: 2}}}
	if r := equiv.CompareAudits(left, right, equiv.Options{}); r.Verdict != finding.Equivalent {
		t.Errorf("%s: %q", r.Verdict, seen(r))
	}
	right.Records[1].Seed, right.Records[2].Seed = 2, 1
	if r := equiv.CompareAudits(left, right, equiv.Options{}); r.Verdict != finding.Divergent || len(r.Findings) != 2 {
		t.Errorf("%s: %q", r.Verdict, seen(r))
	}
	if r := equiv.CompareAudits(left, right, equiv.Options{Ignore: []string{"auditdiff.input", "/x"}}); r.Verdict != finding.Equivalent {
		t.Errorf("ignored: %s: %q", r.Verdict, seen(r))
	}
	nothing := &equiv.Audit{}
	if r := equiv.CompareAudits(nothing, nothing, equiv.Options{}); r.Verdict != finding.Undecided {
		t.Errorf("nothing to compare: %s", r.Verdict)
	}
}

func readSave(t *testing.T) *equiv.Save {
	t.Helper()
	s, err := llamabrain.ReadSave(auditFixtures+"save.llamasave", llamabrain.KindSave, dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &equiv.Save{Save: s.Save, Path: "s"}
}

// Two states compare entry by entry.
func TestCompareSaves(t *testing.T) {
	const mira = "/PersonaMemories/npc_mira"
	of := func(change func(s *memory.State)) func(*equiv.Save) {
		return func(s *equiv.Save) { change(&s.Personas[0].State) }
	}
	for _, test := range []struct {
		what   string
		change func(s *equiv.Save)
		seen   []string
	}{
		{"nothing", func(*equiv.Save) {}, nil},
		{"times of the wall clock", func(s *equiv.Save) {
			s.SavedAt, s.Personas[0].State.World[0].ModifiedAt, s.Histories[0].Entries[0].Timestamp = 1, 2, 3
		}, nil},
		{"order of the lists", of(func(s *memory.State) { slices.Reverse(s.Facts) }), nil},
		{"strength", of(func(s *memory.State) { s.Episodes[1].Strength = 0 }), []string{"root savediff.member " + mira + "/EpisodicMemories/1/Strength"}},
		{"keywords", of(func(s *memory.State) { s.Facts[0].Keywords = nil }), []string{"root savediff.member " + mira + "/CanonicalFacts/0/ContradictionKeywords"}},
		{"id of an episode", of(func(s *memory.State) { s.Episodes[0].ID = "x" }), []string{"root savediff.member " + mira + "/EpisodicMemories/0/Id"}},
		{"episode gone", of(func(s *memory.State) { s.Episodes = s.Episodes[1:] }), []string{"root savediff.entry " + mira + "/EpisodicMemories/0"}},
		{"state renamed", of(func(s *memory.State) { s.World[0].Key = "x" }), []string{"root savediff.entry ", "independent savediff.entry " + mira + "/WorldState/0"}},
		{"counters", of(func(s *memory.State) { s.NextSequence, s.InteractionCount = 20, 20 }), []string{
			"root savediff.counter " + mira + "/InteractionCount", "independent savediff.counter " + mira + "/NextSequenceNumber",
		}},
		{"persona gone", func(s *equiv.Save) { s.Personas = s.Personas[:1] }, []string{"root savediff.persona /PersonaMemories/npc_ødger"}},
		{"persona renamed inside", of(func(s *memory.State) { s.PersonaID = "x" }), []string{"root savediff.persona " + mira + "/PersonaId"}},
		{"line", func(s *equiv.Save) { s.Histories[0].Entries[1].Text = "x" }, []string{"root savediff.history /ConversationHistories/npc_mira/Entries/1"}},
		{"line gone", func(s *equiv.Save) { s.Histories[0].Entries = s.Histories[0].Entries[:1] }, []string{"root savediff.history /ConversationHistories/npc_mira/Entries"}},
		{"conversation gone", func(s *equiv.Save) { s.Histories = nil }, []string{"root savediff.history /ConversationHistories/npc_mira"}},
		{"metadata", func(s *equiv.Save) { s.Metadata = s.Metadata[:1] }, []string{"root savediff.history /Metadata/chapter"}},
	} {
		right := readSave(t)
		test.change(right)
		want := finding.Equivalent
		if test.seen != nil {
			want = finding.Divergent
		}
		r := equiv.CompareSaves(readSave(t), right, equiv.Options{})
		if got := seen(r); r.Verdict != want || !slices.Equal(got, test.seen) {
			t.Errorf("%s: %s, %q; want %q", test.what, r.Verdict, got, test.seen)
		}
		if mirrored := equiv.CompareSaves(right, readSave(t), equiv.Options{}); mirrored.Verdict != want {
			t.Errorf("%s: %s the other way", test.what, mirrored.Verdict)
		}
	}
	bad := readSave(t)
	bad.Malformed, bad.Findings = true, []finding.Finding{finding.New(finding.ShapeType)}
	if r := equiv.CompareSaves(readSave(t), bad, equiv.Options{}); r.Verdict != finding.Undecided {
		t.Errorf("malformed: %s", r.Verdict)
	}
}
