package pipeline

import (
	"crypto/sha256"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// auditText gives the record as LlamaBrain writes it: compact, in its own order and spelling.
func auditText(r *audit.Record) string {
	w := document.NewWriter(document.Style{LlamaBrain: true})
	r.Write(w, "")
	return string(w.Bytes())
}

// audit fills in what the stages of a turn gave.
func (r *TurnResult) audit(a *audit.Record) {
	last := r.Last()
	a.PromptHash = canon.Base64.Spell(last.Prompt.SHA256())
	a.ConstraintsHash = hashText(ConstraintBlock(last.Constraints))
	a.ConstraintsSerialized = string(SerializeConstraints(last.Constraints))
	a.RawOutput, a.OutputHash = last.Answer.Text, hashText(last.Answer.Text)
	a.DialogueText = last.Parsed.Dialogue
	a.ValidationPassed = last.Gate.Passed
	a.ViolationCount = int64(len(last.Gate.Failures))
	a.MutationsApplied = int64(r.Batch.Succeeded())
	if r.Fallback != nil {
		a.DialogueText, a.FallbackUsed = r.Fallback.Text, true
		a.FallbackReason = FailureKey(&last.Gate.Failures[0].Description)
	}
}

// hashText is LlamaBrain's hash of a text (llamabrain.md §9).
func hashText(text string) string {
	return canon.Base64.Spell(sha256.Sum256([]byte(dotnet.UTF8(text))))
}
