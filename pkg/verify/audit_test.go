package verify_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/verify"
)

const auditFixtures = "../../fixtures/audit/"

func readPackage(t *testing.T) *llamabrain.Package {
	t.Helper()
	p, err := llamabrain.ReadPackage(auditFixtures+"package.json", dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func verifyPackage(p *llamabrain.Package, o verify.AuditOptions) finding.Result {
	check := verify.NewAudit(o)
	for i := range p.Records {
		check.Record(&p.Records[i])
	}
	return check.Package(&p.Package, p.Shape, p.Malformed)
}

// placed gives each code of a result with its pointer, in their order.
func placed(r finding.Result) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, string(f.Code)+" "+f.Pointer)
	}
	return all
}

func repaired(p *audit.Package) {
	sum, err := canon.Digest(canon.Raw, p.IntegrityPreimage())
	if err != nil {
		panic(err)
	}
	p.IntegrityHash = canon.Base64.Spell(sum)
}

// V5: what each change of a package gives.
func TestPackageChecks(t *testing.T) {
	for _, test := range []struct {
		what    string
		change  func(p *llamabrain.Package)
		verdict finding.Verdict
		codes   []string
	}{
		{"nothing", func(*llamabrain.Package) {}, finding.Pass, nil},
		{"output", func(p *llamabrain.Package) { p.Records[1].RawOutput += "!" }, finding.Fail, []string{"audit.output_hash /Records/1/OutputHash"}},
		{"output hash that is no SHA-256", func(p *llamabrain.Package) {
			p.Records[1].OutputHash = "x"
			repaired(&p.Package)
		}, finding.Fail, []string{"audit.output_hash /Records/1/OutputHash"}},
		{"no output hash", func(p *llamabrain.Package) {
			p.Records[1].OutputHash = ""
			repaired(&p.Package)
		}, finding.Undecided, []string{"audit.output_hash_missing /Records/1/OutputHash"}},
		{"neither output nor hash", func(p *llamabrain.Package) {
			p.Records[1].OutputHash, p.Records[1].RawOutput = "", ""
			repaired(&p.Package)
		}, finding.Pass, nil},
		{"integrity hash", func(p *llamabrain.Package) { p.PackageID = "x" }, finding.Fail, []string{"audit.integrity_hash /PackageIntegrityHash"}},
		{"no integrity hash", func(p *llamabrain.Package) { p.IntegrityHash = "" }, finding.Fail, []string{"audit.integrity_missing /PackageIntegrityHash"}},
		{"constraints", func(p *llamabrain.Package) { p.Records[0].Constraints.Block = []byte("x") }, finding.Fail, []string{"audit.constraints_hash /Records/0/ConstraintsHash"}},
		{"constraints and no hash", func(p *llamabrain.Package) { p.Records[0].ConstraintsHash = "" }, finding.Pass, []string{"audit.hash_missing /Records/0/ConstraintsHash"}},
		{"no constraints", func(p *llamabrain.Package) { p.Records[0].Constraints = audit.Constraints{Reason: "none"} }, finding.Pass, nil},
		{"neither constraints nor hash", func(p *llamabrain.Package) {
			p.Records[0].ConstraintsHash, p.Records[0].Constraints = "", audit.Constraints{}
		}, finding.Pass, nil},
		{"opaque hash of no set", func(p *llamabrain.Package) {
			p.Records[0].ConstraintsHash, p.Records[0].Constraints.Whole = "cons", false
		}, finding.Pass, []string{"digest.opaque /Records/0/ConstraintsHash"}},
		{"malformed set", func(p *llamabrain.Package) { p.Records[0].Constraints.Deviant = "is odd" }, finding.Fail, []string{"audit.constraints_form /Records/0/ConstraintsSerialized"}},
		{"fingerprint", func(p *llamabrain.Package) { p.Model.GpuLayers++ }, finding.Fail, []string{"audit.fingerprint_hash /ModelFingerprint/FingerprintHash"}},
		{"no fingerprint", func(p *llamabrain.Package) {
			p.Model.Hash = ""
			repaired(&p.Package)
		}, finding.Pass, []string{"audit.hash_missing /ModelFingerprint/FingerprintHash"}},
		{"total", func(p *llamabrain.Package) { p.TotalInteractions++ }, finding.Fail, []string{"audit.count /TotalInteractions"}},
		{"NPCs", func(p *llamabrain.Package) {
			p.NpcIDs = append(p.NpcIDs, "z")
			repaired(&p.Package)
		}, finding.Fail, []string{"audit.npc_ids /NpcIds"}},
		{"order of NPCs", func(p *llamabrain.Package) { slices.Reverse(p.NpcIDs) }, finding.Pass, []string{"audit.stored_order /NpcIds"}},
		{"order of records", func(p *llamabrain.Package) { p.Records[0], p.Records[1] = p.Records[1], p.Records[0] }, finding.Pass, []string{"audit.stored_order /Records"}},
		{"buffer index, once for an NPC", func(p *llamabrain.Package) { p.Records[2].BufferIndex, p.Records[3].BufferIndex = 5, 6 }, finding.Fail, []string{"audit.buffer_index /Records/2/BufferIndex"}},
		{"no buffer indices", func(p *llamabrain.Package) { p.Records[2].BufferIndex, p.Records[3].BufferIndex = 0, 0 }, finding.Pass, []string{"audit.buffer_index_unset /Records/2/BufferIndex"}},
		{"record twice", func(p *llamabrain.Package) {
			p.Records[3].RecordID = p.Records[0].RecordID
			repaired(&p.Package)
		}, finding.Fail, []string{"audit.record_twice /Records/3/RecordId"}},
		{"malformed record", func(p *llamabrain.Package) { p.Records[3] = audit.Record{Malformed: true} }, finding.Pass, nil},
		{"malformed package", func(p *llamabrain.Package) {
			p.Malformed, p.Shape = true, []finding.Finding{finding.New(finding.ShapeType)}
		}, finding.Fail, []string{"shape.type "}},
		{"constant hashes", func(p *llamabrain.Package) {
			for i := range p.Records {
				p.Records[i].PromptHash, p.Records[i].MemoryHashBefore = "p", "m"
			}
		}, finding.Pass, []string{"blind.constant_hash ", "blind.constant_hash "}},
		{"no hashes of memory and prompt", func(p *llamabrain.Package) {
			for i := range p.Records {
				p.Records[i].PromptHash, p.Records[i].MemoryHashBefore = "", ""
			}
		}, finding.Pass, nil},
	} {
		p := readPackage(t)
		test.change(p)
		r := verifyPackage(p, verify.AuditOptions{Path: "p"})
		if got := placed(r); r.Verdict != test.verdict || !slices.Equal(got, test.codes) {
			t.Errorf("%s: %s, %q; want %s, %q", test.what, r.Verdict, got, test.verdict, test.codes)
		}
	}
}

// V5: what no package can prove is counted, with its reason.
func TestPackageCoverage(t *testing.T) {
	r := verifyPackage(readPackage(t), verify.AuditOptions{Path: "p", Coverage: 60})
	if *r.Coverage != (finding.Coverage{Checked: 10, Claims: 18}) || r.Verdict != finding.Fail && r.Verdict != finding.Undecided {
		t.Errorf("%+v, %s", *r.Coverage, r.Verdict)
	}
	want := map[string]finding.Check{
		"V5.memory_hash":    {ID: "V5.memory_hash", Status: finding.NotChecked, Count: 4, Reason: "the memory before the turn is not in the record"},
		"V5.prompt_hash":    {ID: "V5.prompt_hash", Status: finding.NotChecked, Count: 4, Reason: "the prompt is not in the record"},
		"V5.output_hash":    {ID: "V5.output_hash", Status: finding.Passed, Count: 4},
		"V5.integrity_hash": {ID: "V5.integrity_hash", Status: finding.Passed, Count: 1},
	}
	for _, c := range r.Checks {
		if w, ok := want[c.ID]; ok && c != w {
			t.Errorf("%+v, want %+v", c, w)
		}
		delete(want, c.ID)
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
}

// A log has no integrity hash, which is said and not held against it (V0).
func TestLogChecks(t *testing.T) {
	check := verify.NewAudit(verify.AuditOptions{Path: "l"})
	log, err := llamabrain.ReadLog(auditFixtures+"log.jsonl", dialect.Options{}, func(r *audit.Record) error {
		check.Record(r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r := check.Log(log.Shape)
	if r.Verdict != finding.Pass || len(r.Findings) > 0 {
		t.Errorf("%s, %q", r.Verdict, placed(r))
	}
	if !slices.ContainsFunc(r.Checks, func(c finding.Check) bool { return c.ID == "V5.integrity_hash" && c.Status == finding.NotApplicable }) {
		t.Errorf("%+v", r.Checks)
	}
}

func readSave(t *testing.T) verify.SaveSource {
	t.Helper()
	s, err := llamabrain.ReadSave(auditFixtures+"save.llamasave", llamabrain.KindSave, dialect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return verify.SaveSource{Save: s.Save, Shape: s.Shape, Malformed: s.Malformed}
}

// M9, M10: what each change of a save file gives.
func TestSaveChecks(t *testing.T) {
	const mira = "/PersonaMemories/npc_mira"
	for _, test := range []struct {
		what    string
		change  func(s *memory.State)
		verdict finding.Verdict
		codes   []string
	}{
		{"nothing", func(*memory.State) {}, finding.Pass, nil},
		{"next number", func(s *memory.State) { s.NextSequence = 8 }, finding.Fail, []string{"save.next_sequence " + mira + "/NextSequenceNumber"}},
		{"number twice", func(s *memory.State) { s.Beliefs[1].Sequence = 5 }, finding.Pass, []string{"save.sequence_twice " + mira + "/Beliefs/1/SequenceNumber"}},
		{"fact twice", func(s *memory.State) { s.Facts[1].ID = "harbour" }, finding.Fail, []string{"save.fact_twice " + mira + "/CanonicalFacts/1/Id"}},
		{"key twice", func(s *memory.State) { s.Beliefs[1].Key = "player" }, finding.Pass, []string{"save.key_twice " + mira + "/Beliefs/1/Key"}},
		{"strength", func(s *memory.State) { s.Episodes[1].Strength = 0 }, finding.Fail, []string{"save.no_strength " + mira + "/EpisodicMemories/1/Strength"}},
		{"order", func(s *memory.State) { s.Episodes[0].Sequence = 7 }, finding.Pass, []string{"save.order " + mira + "/EpisodicMemories/1"}},
		{"persona", func(s *memory.State) { s.PersonaID = "x" }, finding.Fail, []string{"save.persona_id " + mira + "/PersonaId"}},
		{"authority", func(s *memory.State) { s.World[0].Source = memory.ValidatedOutput }, finding.Fail, []string{"save.authority " + mira + "/WorldState/0/Source"}},
		{"kind of an episode", func(s *memory.State) { s.Episodes[0].Type = 9 }, finding.Fail, []string{"shape.value " + mira + "/EpisodicMemories/0/EpisodeType"}},
		{"kind of a belief", func(s *memory.State) { s.Beliefs[0].Type = -1 }, finding.Fail, []string{"shape.value " + mira + "/Beliefs/0/BeliefType"}},
	} {
		s := readSave(t)
		test.change(&s.Personas[0].State)
		r := verify.Save(s, verify.AuditOptions{Path: "s"})
		if got := placed(r); r.Verdict != test.verdict || !slices.Equal(got, test.codes) {
			t.Errorf("%s: %s, %q; want %s, %q", test.what, r.Verdict, got, test.verdict, test.codes)
		}
	}
	s := readSave(t)
	s.Malformed, s.Shape = true, []finding.Finding{finding.New(finding.ShapeType)}
	if r := verify.Save(s, verify.AuditOptions{}); r.Verdict != finding.Fail || len(r.Findings) != 1 {
		t.Errorf("malformed: %s, %q", r.Verdict, placed(r))
	}
	alone := verify.SaveSource{Save: audit.Save{Personas: readSave(t).Personas[:1]}, Alone: true}
	alone.Personas[0].State.NextSequence = 0
	if r := verify.Save(alone, verify.AuditOptions{}); fmt.Sprint(placed(r)) != "[save.next_sequence /NextSequenceNumber]" {
		t.Errorf("a snapshot: %q", placed(r))
	}
}
