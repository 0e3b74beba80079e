package verify

import (
	"cmp"
	"fmt"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
)

// AuditOptions say how a debug package, a rolling log or a save file is checked.
type AuditOptions struct {
	Path     string // of the input, for findings
	Coverage int    // least percentage of claims that must be checked (V5); 0: none
}

// tallies counts the outcomes of checks, and reports what fails.
type tallies struct {
	o      AuditOptions
	result finding.Result
	cover  finding.Coverage
	file   string // that findings stand in; empty for the input's own path
}

func (t *tallies) tally(id string, status finding.Status, reason string) {
	for i := range t.result.Checks {
		if c := &t.result.Checks[i]; c.ID == id && c.Status == status && c.Reason == reason {
			c.Count++
			return
		}
	}
	t.result.Checks = append(t.result.Checks, finding.Check{ID: id, Status: status, Count: 1, Reason: reason})
}

// found adds a finding. Index is that of a record, or finding.NoEvent.
func (t *tallies) found(code finding.Code, index int, pointer, format string, args ...any) *finding.Finding {
	f := finding.New(code)
	f.Artifact, f.EventIndex, f.Pointer = cmp.Or(t.file, t.o.Path), index, pointer
	f.Detail, f.Hint = fmt.Sprintf(format, args...), finding.Lookup(code).Action
	t.result.Findings = append(t.result.Findings, f)
	return &t.result.Findings[len(t.result.Findings)-1]
}

// claim says how a recomputed digest ended (V5). One that is not checked counts as a claim all the same.
func (t *tallies) claim(id string, status finding.Status, reason string) {
	t.cover.Claims++
	if status != finding.NotChecked {
		t.cover.Checked++
	}
	t.tally(id, status, reason)
}

// begin takes over what the reader found; false where the artifact is malformed and nothing more can be said.
func (t *tallies) begin(shape []finding.Finding, malformed bool) bool {
	t.result.Findings = append(t.result.Findings, shape...)
	status := finding.Passed
	for _, f := range shape {
		if f.Severity == finding.Error {
			status = finding.Failed
		}
	}
	t.tally("V1.shape", status, "")
	if malformed {
		t.tally("V5", finding.NotChecked, "a member has the wrong type")
	}
	return !malformed
}

func (t *tallies) end(ignored ...finding.Ignored) finding.Result {
	requireCoverage(&t.result, &t.cover, t.o.Coverage, t.o.Path)
	t.result.Ignored = append(t.result.Ignored, ignored...)
	t.result.Judge(false)
	return t.result
}

// Audit checks the records of a debug package or a rolling log one after the other (V0, V5, llamabrain.md §9). Of a record
// it keeps its id and what the blind checks need.
type Audit struct {
	tallies
	seen  map[string]int // position of each record id
	blind []*constantHash
}

// NewAudit starts a check. Record takes the records, Log or Package ends it.
func NewAudit(o AuditOptions) *Audit {
	return &Audit{tallies: tallies{o: o}, seen: map[string]int{}, blind: constantHashes()}
}

// Record checks the next record.
func (a *Audit) Record(r *audit.Record) {
	a.file = r.File
	defer func() { a.file = "" }()
	if r.Malformed {
		a.tally("V5", finding.NotChecked, "a member has the wrong type")
		return
	}
	a.recordID(r)
	a.output(r)
	a.constraints(r)
	a.absent("V5.memory_hash", r.MemoryHashBefore, "the memory before the turn is not in the record")
	a.absent("V5.prompt_hash", r.PromptHash, "the prompt is not in the record")
	for _, b := range a.blind {
		b.add(r)
	}
}

// V1: a record stands once.
func (a *Audit) recordID(r *audit.Record) {
	if first, again := a.seen[r.RecordID]; again && r.RecordID != "" {
		a.found(finding.AuditRecordTwice, r.Position, r.Pointer+"/RecordId", "the record id is that of record %d", first)
		a.tally("V1.record_id", finding.Failed, "")
		return
	}
	a.seen[r.RecordID] = r.Position
	a.tally("V1.record_id", finding.Passed, "")
}

// llamabrain.md §9: OutputHash is the hash of RawOutput. One formula is all there is, so a text that is no SHA-256 is wrong
// and not opaque. The integrity hash trusts it.
func (a *Audit) output(r *audit.Record) {
	const id = "V5.output_hash"
	computed := hashOf([]byte(r.RawOutput))
	switch {
	case r.OutputHash == computed:
		a.claim(id, finding.Passed, "")
	case r.OutputHash != "":
		a.mismatch(finding.AuditOutputHash, r.Position, r.Pointer+"/OutputHash", r.OutputHash, computed,
			"OutputHash is not the hash of RawOutput")
		a.claim(id, finding.Failed, "")
	case r.RawOutput == "":
		a.tally(id, finding.NotApplicable, "the record has no output")
	default:
		a.found(finding.AuditOutputHashMissing, r.Position, r.Pointer+"/OutputHash", "the record has an output and no hash of it")
		a.claim(id, finding.NotChecked, "no hash is stated")
	}
}

// llamabrain.md §9: ConstraintsHash is the hash of the constraint block, which ConstraintsSerialized gives.
func (a *Audit) constraints(r *audit.Record) {
	const id = "V5.constraints_hash"
	at := r.Pointer + "/ConstraintsHash"
	c := r.Constraints
	if c.Deviant != "" {
		a.found(finding.AuditConstraintsForm, r.Position, r.Pointer+"/ConstraintsSerialized", "%s", c.Deviant).Actual = textValue(r.ConstraintsSerialized)
		a.tally("V1.constraints", finding.Failed, "")
	} else {
		a.tally("V1.constraints", finding.Passed, "")
	}
	switch {
	case r.ConstraintsHash == "" && c.Block == nil:
		a.tally(id, finding.NotApplicable, "the record has no constraints")
	case r.ConstraintsHash == "":
		a.found(finding.AuditHashMissing, r.Position, at, "the record has constraints and no hash of them")
		a.claim(id, finding.NotChecked, "no hash is stated")
	case c.Block == nil:
		a.claim(id, finding.NotChecked, c.Reason)
	case r.ConstraintsHash == hashOf(c.Block):
		a.claim(id, finding.Passed, "")
	case !c.Whole && !isHash(r.ConstraintsHash):
		a.found(finding.DigestOpaque, r.Position, at, "the hash is no SHA-256 and no constraint set is kept").Actual = textValue(r.ConstraintsHash)
		a.claim(id, finding.NotChecked, "the hash is no SHA-256 digest")
	default:
		a.mismatch(finding.AuditConstraintsHash, r.Position, at, r.ConstraintsHash, hashOf(c.Block),
			"ConstraintsHash is not the hash of the block that ConstraintsSerialized gives")
		a.claim(id, finding.Failed, "")
	}
}

// absent counts a claim whose preimage no package holds.
func (a *Audit) absent(id, stated, reason string) {
	if stated == "" {
		a.tally(id, finding.NotApplicable, "no hash is stated")
		return
	}
	a.claim(id, finding.NotChecked, reason)
}

func (t *tallies) mismatch(code finding.Code, index int, pointer, stated, computed, detail string) {
	f := t.found(code, index, pointer, "%s", detail)
	f.Expected, f.Actual = textValue(stated), textValue(computed)
}

// hashOf gives a hash as LlamaBrain spells it.
func hashOf(preimage []byte) string { return spelled(preimage, canon.Base64) }

func spelled(preimage []byte, e canon.Encoding) string {
	sum, _ := canon.Digest(canon.Raw, preimage) // bytes as they stand always have a digest
	return e.Spell(sum)
}

// isHash tells whether a text is a hash as LlamaBrain spells it.
func isHash(stated string) bool {
	return canon.Claim{Profile: canon.Raw, Encoding: canon.Base64, Stated: stated}.Check().Status != canon.StatusOpaque
}
