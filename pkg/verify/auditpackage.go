package verify

import (
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/finding"
)

// beyondLog is what no hash of a record covers.
var beyondLog = []finding.Ignored{
	{What: "PlayerInput, DialogueText, Seed, trigger, scene, outcome, times and token counts of a record", Reason: "no hash covers them"},
	{What: "MemoryHashBefore and PromptHash themselves", Reason: "their preimages are not in the artifact"},
}

// beyondPackage is what the hashes of a package do not cover either.
var beyondPackage = []finding.Ignored{
	{What: "CreatorNotes, SceneName and ModelPath of a package", Reason: "no hash covers them"},
	{What: "a record or a package made again with all its hashes", Reason: "compare the integrity hash with one kept elsewhere"},
}

// Log ends the check of a rolling log.
func (a *Audit) Log(shape []finding.Finding) finding.Result {
	a.begin(shape, false)
	a.blindChecks()
	a.tally("V5.integrity_hash", finding.NotApplicable, "a log has none")
	return a.end(append(beyondLog, finding.Ignored{
		What: "lines taken out of the log, put in or put elsewhere", Reason: "no hash covers the log as a whole",
	})...)
}

// Package ends the check of a package whose records have been checked.
func (a *Audit) Package(p *audit.Package, shape []finding.Finding, malformed bool) finding.Result {
	if a.begin(shape, malformed) {
		a.fingerprint(p)
		a.whole(p)
	}
	a.blindChecks()
	return a.end(slices.Concat(beyondLog, beyondPackage)...)
}

// whole checks what rests on all records: nothing can be said where one is malformed.
func (a *Audit) whole(p *audit.Package) {
	if slices.ContainsFunc(p.Records, func(r audit.Record) bool { return r.Malformed }) {
		a.tally("V5.package", finding.NotChecked, "a record is malformed")
		return
	}
	a.integrity(p)
	a.counts(p)
	a.npcIDs(p)
	a.bufferIndices(p)
	a.storedOrder(p)
}

// V5: the integrity hash. LlamaBrain refuses a package without one.
func (a *Audit) integrity(p *audit.Package) {
	const id, at = "V5.integrity_hash", "/PackageIntegrityHash"
	computed := hashOf(p.IntegrityPreimage())
	switch p.IntegrityHash {
	case computed:
		a.claim(id, finding.Passed, "")
	case "":
		a.found(finding.AuditIntegrityMissing, finding.NoEvent, at, "the package has no integrity hash")
		a.claim(id, finding.NotChecked, "no hash is stated")
	default:
		a.mismatch(finding.AuditIntegrityHash, finding.NoEvent, at, p.IntegrityHash, computed,
			"the integrity hash is not that of the version, ids, times and output hashes of the package")
		a.claim(id, finding.Failed, "")
	}
}

// V5: the fingerprint of the model, which diff takes for its identity (E12).
func (a *Audit) fingerprint(p *audit.Package) {
	const id, at = "V5.fingerprint_hash", "/ModelFingerprint/FingerprintHash"
	computed := spelled(p.Model.Preimage(), canon.HexPrefix(audit.FingerprintDigits))
	switch p.Model.Hash {
	case computed:
		a.claim(id, finding.Passed, "")
	case "":
		a.found(finding.AuditHashMissing, finding.NoEvent, at, "the package does not state the fingerprint of its model")
		a.claim(id, finding.NotChecked, "no hash is stated")
	default:
		a.mismatch(finding.AuditFingerprint, finding.NoEvent, at, p.Model.Hash, computed, "the fingerprint is not that of the model named")
		a.claim(id, finding.Failed, "")
	}
}

// llamabrain.md §9: the totals, which no hash covers.
func (a *Audit) counts(p *audit.Package) {
	for _, c := range p.Counts() {
		if c.Stated == c.Actual {
			a.tally("V5.counts", finding.Passed, "")
			continue
		}
		f := a.found(finding.AuditCount, finding.NoEvent, "/"+c.Name, "%s is not the number that the records give", c.Name)
		f.Expected, f.Actual = wholeValue(c.Stated), wholeValue(c.Actual)
		a.tally("V5.counts", finding.Failed, "")
	}
}

func wholeValue(n int64) finding.Value { return strconv.AppendInt(nil, n, 10) }

// llamabrain.md §9: NpcIds are the NPCs of the records, each once, in ordinal order. The integrity hash covers what
// stands there and not what should.
func (a *Audit) npcIDs(p *audit.Package) {
	const id, at = "V5.npc_ids", "/NpcIds"
	want := p.DistinctNPCs()
	sorted := slices.Clone(p.NpcIDs)
	slices.SortFunc(sorted, dotnet.Compare)
	if !slices.Equal(sorted, want) {
		f := a.found(finding.AuditNpcIDs, finding.NoEvent, at, "NpcIds are not the NPCs of the records")
		f.Expected, f.Actual = textsValue(p.NpcIDs), textsValue(want)
		a.tally(id, finding.Failed, "")
		return
	}
	if !slices.Equal(p.NpcIDs, want) {
		a.found(finding.AuditStoredOrder, finding.NoEvent, at, "NpcIds are not in ordinal order")
	}
	a.tally(id, finding.Passed, "")
}

func textsValue(texts []string) finding.Value {
	value := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			value = append(value, ',')
		}
		value = canon.QuoteASCII(value, []byte(text))
	}
	return append(value, ']')
}

// llamabrain.md §9: the records of an NPC stand in its buffer at 0, 1, 2 … in the order in which they were captured. A
// package that was not exported by a recorder has 0 everywhere.
func (a *Audit) bufferIndices(p *audit.Package) {
	const id = "V5.buffer_index"
	order := make([]*audit.Record, len(p.Records))
	assigned := false
	for i := range p.Records {
		order[i] = &p.Records[i]
		assigned = assigned || order[i].BufferIndex != 0
	}
	slices.SortStableFunc(order, audit.CompareCapture)
	next, broken := map[string]int64{}, map[string]bool{}
	for _, r := range order {
		want := next[r.NpcID]
		next[r.NpcID]++
		switch {
		case r.BufferIndex == want:
			a.tally(id, finding.Passed, "")
		case assigned && broken[r.NpcID]: // one record too many or too few moves all that follow
			a.tally(id, finding.Failed, "")
		case !assigned:
			if !broken[r.NpcID] {
				a.found(finding.AuditBufferUnset, r.Position, r.Pointer+"/BufferIndex", "BufferIndex is 0 in every record")
			}
			broken[r.NpcID] = true
			a.tally(id, finding.NotChecked, "BufferIndex is 0 in every record")
		default:
			broken[r.NpcID] = true
			f := a.found(finding.AuditBufferIndex, r.Position, r.Pointer+"/BufferIndex", "BufferIndex is not the place among the records of the NPC")
			f.Expected, f.Actual = wholeValue(r.BufferIndex), wholeValue(want)
			a.tally(id, finding.Failed, "")
		}
	}
}

// As in a trace (V2), another order of the list is a note.
func (a *Audit) storedOrder(p *audit.Package) {
	if !slices.IsSortedFunc(p.Records, func(x, y audit.Record) int { return audit.CompareCapture(&x, &y) }) {
		a.found(finding.AuditStoredOrder, finding.NoEvent, "/Records", "the records are not in the order of their capture")
	}
	a.tally("V1.order", finding.Passed, "")
}
