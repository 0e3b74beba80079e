package pipeline

import (
	"crypto/sha256"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// AuditRecord is what LlamaBrain's recorder keeps of a turn (llamabrain.md §9).
type AuditRecord struct {
	RecordID         string
	NPCID            string
	InteractionCount int64
	BufferIndex      int64
	CapturedAt       int64 // ticks
	SnapshotTime     int64 // ticks
	Seed             int64
	PlayerInput      string
	TriggerReason    int64
	TriggerID        string
	SceneName        string
	MemoryHashBefore string
	PromptHash       string
	ConstraintsHash  string
	Constraints      string // serialised
	RawOutput        string
	OutputHash       string
	Dialogue         string
	ValidationPassed bool
	Violations       int64
	MutationsApplied int64
	FallbackUsed     bool
	FallbackReason   string
	FirstTokenMs     int64
	TotalMs          int64
	PromptTokens     int64
	GeneratedTokens  int64
}

// Text gives the record as LlamaBrain writes it: compact, in its own order and spelling.
func (r *AuditRecord) Text() string {
	w := document.NewWriter(document.Style{LlamaBrain: true})
	w.Object("", func() {
		w.Text("RecordId", r.RecordID)
		w.Text("NpcId", r.NPCID)
		w.Integer("InteractionCount", r.InteractionCount)
		w.Integer("BufferIndex", r.BufferIndex)
		w.Integer("CapturedAtUtcTicks", r.CapturedAt)
		w.Integer("SnapshotTimeUtcTicks", r.SnapshotTime)
		w.Integer("Seed", r.Seed)
		w.Text("PlayerInput", r.PlayerInput)
		w.Integer("TriggerReason", r.TriggerReason)
		w.Text("TriggerId", r.TriggerID)
		w.Text("SceneName", r.SceneName)
		w.Text("MemoryHashBefore", r.MemoryHashBefore)
		w.Text("PromptHash", r.PromptHash)
		w.Text("ConstraintsHash", r.ConstraintsHash)
		w.Text("ConstraintsSerialized", r.Constraints)
		w.Text("RawOutput", r.RawOutput)
		w.Text("OutputHash", r.OutputHash)
		w.Text("DialogueText", r.Dialogue)
		w.Bool("ValidationPassed", r.ValidationPassed)
		w.Integer("ViolationCount", r.Violations)
		w.Integer("MutationsApplied", r.MutationsApplied)
		w.Bool("FallbackUsed", r.FallbackUsed)
		w.Text("FallbackReason", r.FallbackReason)
		w.Integer("TtftMs", r.FirstTokenMs)
		w.Integer("TotalTimeMs", r.TotalMs)
		w.Integer("PromptTokenCount", r.PromptTokens)
		w.Integer("GeneratedTokenCount", r.GeneratedTokens)
	})
	return string(w.Bytes())
}

// audit fills in what the stages of a turn gave.
func (r *TurnResult) audit(a *AuditRecord) {
	last := r.Last()
	a.PromptHash = canon.Base64.Spell(last.Prompt.SHA256())
	a.ConstraintsHash = hashText(ConstraintBlock(last.Constraints))
	a.Constraints = string(SerializeConstraints(last.Constraints))
	a.RawOutput, a.OutputHash = last.Answer.Text, hashText(last.Answer.Text)
	a.Dialogue = last.Parsed.Dialogue
	a.ValidationPassed = last.Gate.Passed
	a.Violations = int64(len(last.Gate.Failures))
	a.MutationsApplied = int64(r.Batch.Succeeded())
	if r.Fallback != nil {
		a.Dialogue, a.FallbackUsed = r.Fallback.Text, true
		a.FallbackReason = FailureKey(&last.Gate.Failures[0].Description)
	}
}

// hashText is LlamaBrain's hash of a text (llamabrain.md §9).
func hashText(text string) string {
	return canon.Base64.Spell(sha256.Sum256([]byte(dotnet.UTF8(text))))
}
