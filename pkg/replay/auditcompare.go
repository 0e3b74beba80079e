package replay

import (
	"strconv"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// compare holds the stages after the model to what the record says of them.
func (r *auditReplay) compare(turn *audit.Record, result *pipeline.TurnResult) {
	last := result.Last()
	mark := len(r.result.Findings)
	r.dialogue(turn, last.Parsed.Dialogue)
	r.gate(turn, last.Gate)
	r.mutations(turn, last.Gate.Passed, int64(result.Batch.Succeeded()))
	for i := mark + 1; i < len(r.result.Findings); i++ {
		r.result.Findings[i].Class = finding.Cascade // E11: every later stage of the turn
	}
}

func (r *auditReplay) dialogue(turn *audit.Record, dialogue string) {
	const id = "R1.dialogue"
	switch {
	case dialogue == turn.DialogueText:
		r.tally(id, finding.Passed, "")
	case turn.FallbackUsed || !turn.ValidationPassed:
		r.tally(id, finding.NotChecked, "a fallback may have been shown")
	case turn.RawOutput == turn.DialogueText:
		r.tally(id, finding.NotChecked, "the record keeps the final dialogue in place of the output")
	default:
		r.differ(finding.AuditReplayDialogue, turn, "DialogueText", canon.QuoteASCII(nil, []byte(turn.DialogueText)),
			canon.QuoteASCII(nil, []byte(dialogue)), "the output parses to another dialogue")
		r.tally(id, finding.Failed, "")
	}
}

func (r *auditReplay) gate(turn *audit.Record, gate pipeline.GateResult) {
	const id = "R1.gate"
	violations := int64(len(gate.Failures))
	switch {
	case violations == turn.ViolationCount && gate.Passed == turn.ValidationPassed:
		r.tally(id, finding.Passed, "")
	case violations < turn.ViolationCount && !turn.ValidationPassed:
		r.tally(id, finding.NotChecked, "forbidden knowledge and custom rules are not in the package")
	default:
		r.differ(finding.AuditReplayGate, turn, "ViolationCount", strconv.AppendInt(nil, turn.ViolationCount, 10),
			strconv.AppendInt(nil, violations, 10), "the gate gives "+finding.Counted(violations, "violation"))
		r.tally(id, finding.Failed, "")
	}
}

func (r *auditReplay) mutations(turn *audit.Record, passed bool, succeeded int64) {
	const id = "R1.mutations"
	switch {
	case succeeded == turn.MutationsApplied:
		r.tally(id, finding.Passed, "")
	case passed != turn.ValidationPassed:
		r.tally(id, finding.NotChecked, "the gate decided otherwise")
	case turn.RawOutput == turn.DialogueText && succeeded == 0:
		r.tally(id, finding.NotChecked, "the record keeps the final dialogue in place of the output")
	default:
		r.differ(finding.AuditReplayMutations, turn, "MutationsApplied", strconv.AppendInt(nil, turn.MutationsApplied, 10),
			strconv.AppendInt(nil, succeeded, 10), "another number of mutations applies")
		r.tally(id, finding.Failed, "")
	}
}

// parsed holds a turn that is not run to what needs no memory: its output parses to the recorded dialogue.
func (r *auditReplay) parsed(turn *audit.Record) {
	run := turnRun{turn: turn, state: memory.State{PersonaID: turn.NpcID, NextSequence: 1}}
	for _, run.structured = range []bool{false, true} {
		if run.structured && !structured(turn.RawOutput) {
			break
		}
		result, err := run.again()
		if err != nil {
			return
		}
		if result.Last().Parsed.Dialogue == turn.DialogueText {
			r.tally("R1.dialogue", finding.Passed, "")
			return
		}
		if run.structured || !structured(turn.RawOutput) {
			r.dialogue(turn, result.Last().Parsed.Dialogue)
		}
	}
}
