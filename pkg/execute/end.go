package execute

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// End is what a run comes to.
type End struct {
	Envelope []byte        // of the determinism trace, without events and metadata
	Commit   []byte        // memory.commit.v1; nil unless writes were buffered
	State    memory.State  // after the commit, or the start where nothing was committed
	Buffer   memory.Buffer // NoBuffer unless writes were buffered
	Rule     string        // of the commit policy, where it refused
	Snapshot string        // that a store's commit made; empty without a store
}

// End judges the buffer by the commit policy, applies or aborts it, and gives the rest of the record (D9, M3). The run has no
// turns after it.
func (r *Run) End() (*End, error) {
	r.scene.End()
	end := &End{State: r.start}
	if r.o.Visibility == BufferedWrite {
		if err := r.commit(end); err != nil {
			return nil, err
		}
	}
	return end, r.envelope(end)
}

// commit takes the buffer through M3.
func (r *Run) commit(end *End) error {
	id, errID := memory.CommitID(r.o.RunID, r.snapshotID, r.policies.ID)
	payload, errPayload := memory.PayloadFingerprint(r.buffer.Writes)
	if err := errors.Join(errID, errPayload); err != nil {
		return err
	}
	if err := r.buffer.Request(id.Hex(), payload.Hex()); err != nil {
		return err
	}
	reason, err := r.decide(end)
	if err != nil {
		return err
	}
	decision := string(memory.CommitApplied)
	if reason == "" {
		_, err = r.buffer.Apply("")
	} else {
		decision, end.State = string(reason), r.start
		err = r.buffer.Abort(reason)
	}
	if err != nil {
		return err
	}
	state, err := end.State.Digest()
	if err != nil {
		return err
	}
	end.Buffer = r.buffer
	end.Commit = r.commitRecord(state, end.Snapshot)
	var rules []string
	if end.Rule != "" {
		rules = []string{end.Rule}
	}
	return r.write(event{interceptor: "commit", decision: decision, role: trace.Agent, guardrails: rules, stage: digest("state_digest", state)})
}

// decide says why the commit is aborted, empty where it is applied: the commit policy (D9), the writes themselves, and last the
// store, which has seen other commits (M4).
func (r *Run) decide(end *End) (reason memory.AbortReason, err error) {
	judged, err := r.policies.JudgeCommit(r.buffer.Writes, !r.refused, nil)
	if err != nil {
		return "", fault(r.documents.Policies, err)
	}
	end.Rule, reason = judged.RuleID, r.o.Refusal
	detail := ""
	if judged.Rejected() {
		reason, detail = memory.PolicyRejected, fmt.Sprintf("rule %q: %s", judged.RuleID, judged.Detail)
	}
	if reason == "" {
		var rejected *memory.Rejection
		if end.State, err = r.start.Apply(r.buffer.Writes, nil); errors.As(err, &rejected) {
			reason, detail = memory.ValidationFailed, rejected.Error()
		} else if err != nil {
			return "", err
		}
	}
	if r.o.Store == nil {
		return reason, nil
	}
	said, err := r.o.Store.Commit(r.buffer.CommitID, r.buffer.Fingerprint, reason, detail)
	end.Snapshot = said.Snapshot
	return said.Reason, err
}

func (r *Run) commitRecord(state canon.Sum, made string) []byte {
	b := &r.buffer
	w := document.NewWriter(memory.DMPLv1.Style())
	w.Object("", func() {
		w.Text("schema_version", "memory.commit.v1")
		w.Text("run_id", r.o.RunID)
		w.Text("memory_snapshot_id", r.snapshotID)
		w.Text("policy_set_id", r.policies.ID)
		r.writeCommit(w)
		memory.WriteWrites(w, "writes", b.Writes)
		w.Text("state_digest_after", state.Hex())
		if made != "" { // a store's, which others commit to: never compared
			w.Text("resulting_snapshot_id", made)
		}
	})
	return w.Bytes()
}

func (r *Run) writeCommit(w *document.Writer) {
	b := &r.buffer
	w.Text("commit_id", b.CommitID)
	w.Text("commit_payload_fingerprint", b.Fingerprint)
	w.Text("buffer_state", string(b.State))
	if b.Reason == "" {
		w.Null("reason_code")
		return
	}
	w.Text("reason_code", string(b.Reason))
}

// envelope writes the determinism trace without its events.
func (r *Run) envelope(end *End) error {
	model, err := r.modelID()
	if err != nil {
		return err
	}
	kind, structure := r.output()
	shape, err := canon.Digest(canon.JSONv1, structure)
	if err != nil {
		return err
	}
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Text("run_id", r.o.RunID)
		w.Text("workflow_id", r.o.WorkflowID)
		w.Text("memory_snapshot_id", r.snapshotID)
		w.Text("visibility_mode", r.o.Visibility)
		w.Text("model_config_id", model)
		w.Text("policy_set_id", r.policies.ID)
		w.Text("determinism_trace_schema_version", trace.SchemaVersion)
		w.Raw("model_config", r.o.ModelConfig)
		w.Object("output", func() {
			w.Text("output_type", kind)
			w.Text("output_shape_hash", shape.Hex())
			w.Text("normalization_version", trace.NormalizationVersion)
			w.Raw("structure", structure)
		})
		if end.Commit != nil {
			w.Object("commit", func() { r.writeCommit(w) })
		}
	})
	end.Envelope = w.Bytes()
	return nil
}

// modelIdentity are the members of a model configuration that its id is made of (D4).
var modelIdentity = []string{"provider_name", "model_name", "model_revision", "decoding", "seed", "stochastic_unseeded", "tool_runtime_profile_hash"}

// modelID gives model_config_id.
func (r *Run) modelID() (string, error) {
	return (&trace.ToolProfile{}).Fingerprint(r.o.ModelConfig, modelIdentity)
}

// output gives type and structure of what the run answered last (D3).
func (r *Run) output() (kind string, structure []byte) {
	w := document.NewWriter(document.Style{})
	kind = "text"
	if r.last.failure != "" {
		kind = "error"
	}
	w.Object("", func() {
		w.Text("type", kind)
		if r.last.failure != "" {
			w.Text("status", "failed")
			w.Text("failure_type", r.last.failure)
			return
		}
		list(w, "sections", sections(r.last.dialogue))
	})
	return kind, w.Bytes()
}

// sections gives the ATX headings of a text outside of code fences, trimmed, in order; body where there are none (D3).
func sections(text string) []string {
	var found []string
	fence := ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case len(line)-len(trimmed) > 3:
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]+" \t") == "" {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		default:
			if heading, ok := heading(trimmed); ok {
				found = append(found, heading)
			}
		}
	}
	if found == nil {
		return []string{"body"}
	}
	return found
}

// heading gives the text of an ATX heading: one to six signs, then a blank or nothing; signs at the end do not count.
func heading(line string) (string, bool) {
	text := strings.TrimLeft(line, "#")
	if level := len(line) - len(text); level < 1 || level > 6 || text != "" && text[0] != ' ' && text[0] != '\t' {
		return "", false
	}
	text = strings.TrimSpace(text)
	if bare := strings.TrimRight(text, "#"); bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		text = strings.TrimSpace(bare)
	}
	return text, true
}
