package equiv

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/finding"
)

// Audit is one of two debug packages or rolling logs, with what its reader found in it.
type Audit struct {
	Path     string
	Package  *audit.Package // without its records; nil for a log
	Records  []audit.Record
	Findings []finding.Finding
}

// CompareAudits gives the result of comparing two packages or logs, record by record (CONTRACT E12). The result has no name
// and no inputs yet; o.Profiles is not used.
func CompareAudits(left, right *Audit, o Options) finding.Result {
	c := &auditComparer{fileComparer: fileComparer{left: left.Path, right: right.Path}, before: left, after: right}
	c.takeOver("E1.left", left.Findings)
	c.takeOver("E1.right", right.Findings)
	c.eligibility()
	c.records()
	c.result.Ignored = append(c.result.Ignored, neverComparedInRecords()...)
	c.conclude(o)
	if o.Timeline {
		c.result.Timeline = timeline(slices.Values(recordRows("left", left.Records)), slices.Values(recordRows("right", right.Records)))
	}
	for _, f := range c.result.Findings {
		if f.Class == finding.Root && f.EventIndex != finding.NoEvent {
			c.result.Context = append(recordRows("left", nearRecords(left.Records, f.EventIndex)), recordRows("right", nearRecords(right.Records, f.EventIndex))...)
		}
	}
	return c.result
}

type auditComparer struct {
	fileComparer
	before, after *Audit
}

// eligibility holds both sides to one model (CONTRACT E12, E2). A log names none, which its kind does not have (V0).
func (c *auditComparer) eligibility() {
	const id = "E12.model"
	left, right := c.before.Package, c.after.Package
	if left == nil && right == nil {
		c.tally(id, finding.NotApplicable, "a log does not name its model")
		return
	}
	hash := func(p *audit.Package) string {
		if p == nil {
			return ""
		}
		return p.Model.Hash
	}
	detail := ""
	switch {
	case hash(left) == "" || hash(right) == "":
		detail = "a side does not say which model it was made with"
	case left.Model.ModelFileName != right.Model.ModelFileName || left.Model.ModelFileSize != right.Model.ModelFileSize:
		detail = "the models are other files"
	case left.Model.Hash != right.Model.Hash:
		detail = "one model file with other settings"
	case string(left.Model.Preimage()) != string(right.Model.Preimage()):
		detail = "the fingerprints are equal and the models that they name are not"
	default:
		c.tally(id, finding.Passed, "")
		c.packages(left, right)
		return
	}
	at := place{index: finding.NoEvent, leftPointer: "/ModelFingerprint", rightPointer: "/ModelFingerprint"}
	c.differ(finding.AuditDiffModel, at, quoteText(hash(left)), quoteText(hash(right)), detail)
	c.tally(id, finding.Failed, "")
}

// packages notes what packages say of themselves and no record says.
func (c *auditComparer) packages(left, right *audit.Package) {
	for _, m := range []struct{ name, left, right string }{
		{"GameVersion", left.GameVersion, right.GameVersion}, {"SceneName", left.SceneName, right.SceneName},
	} {
		if m.left != m.right {
			at := place{index: finding.NoEvent, leftPointer: "/" + m.name, rightPointer: "/" + m.name}
			c.differ(finding.AuditDiffPackage, at, quoteText(m.left), quoteText(m.right), m.name+" differs")
		}
	}
}

// records pairs the records and compares each pair.
func (c *auditComparer) records() {
	left, leftWhole := readable(c.before.Records)
	right, rightWhole := readable(c.after.Records)
	if len(left)+len(right) == 0 {
		f := finding.New(finding.InputEmptyCorpus)
		f.Artifact, f.Detail, f.Hint = c.left, "no side has a record to compare", finding.Lookup(f.Code).Action
		c.result.Findings = append(c.result.Findings, f)
		c.tally("E12", finding.NotChecked, "no side has a record to compare")
		return
	}
	key := func(r *audit.Record) string { return r.NpcID + "\x00" + strconv.FormatInt(r.InteractionCount, 10) }
	for _, p := range pairUp(left, right, key) {
		switch {
		case p.left != nil && p.right != nil:
			c.record(p.left, p.right)
		case !leftWhole || !rightWhole:
			// E1: it may be the one that cannot be read.
			c.tally("E12", finding.NotChecked, "records of a side are malformed")
		case p.left != nil:
			c.alone(p.left, place{leftFile: p.left.File, leftPointer: p.left.Pointer}, "the right side has no record of this NPC and interaction")
		default:
			c.alone(p.right, place{rightFile: p.right.File, rightPointer: p.right.Pointer}, "the left side has no record of this NPC and interaction")
		}
	}
}

func readable(records []audit.Record) (list []*audit.Record, all bool) {
	for i := range records {
		if !records[i].Malformed {
			list = append(list, &records[i])
		}
	}
	return list, len(list) == len(records)
}

func (c *auditComparer) alone(r *audit.Record, at place, detail string) {
	at.index, at.subject = r.Position, subjectOf(r)
	c.differ(finding.AuditDiffRecord, at, nil, nil, detail)
	c.tally("E12", finding.Failed, "")
}

func subjectOf(r *audit.Record) string {
	return fmt.Sprintf("%s, interaction %d", r.NpcID, r.InteractionCount)
}

// differsInRecord says what a difference of a member is.
var differsInRecord = map[string]finding.Code{
	"SnapshotTimeUtcTicks": finding.AuditDiffInput, "Seed": finding.AuditDiffInput, "PlayerInput": finding.AuditDiffInput,
	"TriggerReason": finding.AuditDiffInput, "TriggerId": finding.AuditDiffInput, "SceneName": finding.AuditDiffInput,
	"MemoryHashBefore": finding.AuditDiffMemory, "PromptHash": finding.AuditDiffPrompt,
	"ConstraintsHash": finding.AuditDiffConstraints, "ConstraintsSerialized": finding.AuditDiffConstraints,
	"RawOutput": finding.AuditDiffOutput, "OutputHash": finding.AuditDiffOutput, "DialogueText": finding.AuditDiffDialogue,
	"ValidationPassed": finding.AuditDiffValidation, "ViolationCount": finding.AuditDiffValidation,
	"MutationsApplied": finding.AuditDiffMutations, "FallbackUsed": finding.AuditDiffFallback, "FallbackReason": finding.AuditDiffFallback,
}

// follows is the table of cascades (CONTRACT E11): a member differs because one of these does, in the order of a turn.
var follows = map[string][]string{
	"ConstraintsHash": {"ConstraintsSerialized"},
	"PromptHash": {
		"PlayerInput", "TriggerReason", "TriggerId", "SnapshotTimeUtcTicks", "MemoryHashBefore", "ConstraintsSerialized", "ConstraintsHash",
	},
	"RawOutput":        {"Seed", "PromptHash"},
	"OutputHash":       {"RawOutput"},
	"DialogueText":     {"RawOutput"},
	"ValidationPassed": {"RawOutput", "ConstraintsSerialized"},
	"ViolationCount":   {"RawOutput", "ConstraintsSerialized"},
	"MutationsApplied": {"RawOutput", "ValidationPassed"},
	"FallbackUsed":     {"ValidationPassed"},
	"FallbackReason":   {"FallbackUsed"},
}

// driftMember is the member that a type of drift is about (llamabrain.md §9).
var driftMember = map[audit.DriftType]string{
	audit.MemoryDrift: "MemoryHashBefore", audit.PromptDrift: "PromptHash", audit.OutputDrift: "OutputHash", audit.ValidationDrift: "ValidationPassed",
}

// record compares every member of two records (CONTRACT E12).
func (c *auditComparer) record(left, right *audit.Record) {
	drift := audit.DriftOf(left, right)
	var differ []string
	for _, f := range audit.Fields() {
		if !f.Ignored && !f.Same(left, right) {
			differ = append(differ, f.Name)
		}
	}
	for _, f := range audit.Fields() {
		if !slices.Contains(differ, f.Name) {
			continue
		}
		at := place{
			index: left.Position, subject: subjectOf(left), leftFile: left.File, rightFile: right.File, leftPointer: left.Pointer, rightPointer: right.Pointer,
		}.member(f.Name)
		detail := f.Name + " differs"
		if driftMember[drift.Type] == f.Name {
			detail = drift.Description
		}
		found := c.differ(differsInRecord[f.Name], at, f.Value(left), f.Value(right), detail+" (drift: "+string(drift.Type)+")")
		if slices.ContainsFunc(follows[f.Name], func(cause string) bool { return slices.Contains(differ, cause) }) {
			found.Class = finding.Cascade
		}
	}
	if len(differ) > 0 {
		c.tally("E12", finding.Failed, "")
		return
	}
	c.tally("E12", finding.Passed, "")
}

// neverComparedInRecords is what no rule of E12 looks at.
func neverComparedInRecords() []finding.Ignored {
	var ignored []finding.Ignored
	for _, f := range audit.Fields() {
		if f.Ignored {
			ignored = append(ignored, finding.Ignored{What: f.Name, Reason: "random, a time or a token count (CONTRACT E12)"})
		}
	}
	return append(
		ignored,
		finding.Ignored{What: "PackageId, CreatedAtUtcTicks, CreatorNotes, totals and integrity hash of a package", Reason: "records are compared (CONTRACT E12); verify checks the rest"},
		finding.Ignored{What: "members that the format does not name", Reason: "the producer leaves them out"},
	)
}

func recordRows(side string, records []audit.Record) []finding.Row {
	rows := make([]finding.Row, len(records))
	for i := range records {
		r := &records[i]
		rows[i] = finding.Row{Side: side, Index: r.Position, Role: r.NpcID, Decision: "interaction " + strconv.FormatInt(r.InteractionCount, 10)}
	}
	return rows
}

func nearRecords(records []audit.Record, index int) []audit.Record {
	return records[min(len(records), max(0, index-around)):min(len(records), index+around+1)]
}
