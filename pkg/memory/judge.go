package memory

import (
	"fmt"
	"slices"
)

// Judged is what a commit policy says of a buffer: empty where it may be applied, else the rule that says no and why (D9).
type Judged struct {
	RuleID string
	Detail string
}

// Rejected tells whether the buffer is to be discarded with policy_rejected.
func (j Judged) Rejected() bool { return j.RuleID != "" }

// JudgeCommit judges a whole buffer by the commit policy, rule by rule; the first one that says no decides (D9). Hooks gives
// the hooks that rules may name: each says why it rejects, or nothing. A rule or hook that is not known is an error, never a
// pass.
func (s *PolicySet) JudgeCommit(writes []Write, gatePassed bool, hooks map[string]func([]Write) string) (Judged, error) {
	for _, rule := range s.Commit {
		detail := ""
		switch rule.Rule {
		case "gate_passed":
			if !gatePassed {
				detail = "the gate did not pass"
			}
		case "most_writes":
			if len(writes) > rule.Limit {
				detail = fmt.Sprintf("%s, and at most %d are allowed", counted(len(writes), "write"), rule.Limit)
			}
		case "hook":
			hook := hooks[rule.Hook]
			if hook == nil {
				return Judged{}, fmt.Errorf("no hook is called %q", rule.Hook)
			}
			detail = hook(writes)
		case "record_types", "namespaces", "least_trust":
			detail = rule.everyWrite(writes)
		default:
			return Judged{}, fmt.Errorf("no commit rule is called %q", rule.Rule)
		}
		if detail != "" {
			return Judged{rule.ID, detail}, nil
		}
	}
	return Judged{}, nil
}

// everyWrite says which write a rule about single writes rejects. What a delete names counts as what it writes: its trust is
// that of its source.
func (r CommitRule) everyWrite(writes []Write) string {
	for i, w := range writes {
		trust := w.Record.TrustLevel()
		if w.Op == Delete {
			trust = int(w.Record.Source)
		}
		switch {
		case r.Rule == "record_types" && !slices.Contains(r.Values, w.Record.Type):
			return fmt.Sprintf("write %d is of the type %q", i, w.Record.Type)
		case r.Rule == "namespaces" && !slices.Contains(r.Values, w.Record.Namespace):
			return fmt.Sprintf("write %d is in the namespace %q", i, w.Record.Namespace)
		case r.Rule == "least_trust" && trust < r.Limit:
			return fmt.Sprintf("write %d has the trust %d, and %d is the least", i, trust, r.Limit)
		}
	}
	return ""
}
