package thread

import "slices"

// IntentMessage is an INTENT as admission sees it. It can be made of an INTENT only, so that no EXECUTION can ever
// influence a decision (X7).
type IntentMessage struct {
	index    int
	threadID string
	hasText  bool
}

// AsIntent gives what admission may see of an event; false for every kind but INTENT (X2, X7).
func AsIntent(e Event) (IntentMessage, bool) {
	if e.Kind != Intent {
		return IntentMessage{}, false
	}
	content, err := contentOf(e)
	return IntentMessage{index: e.Index, threadID: e.ThreadID, hasText: err == nil && content != ""}, true
}

func (m IntentMessage) same(other IntentMessage) bool { return m.index == other.index }

// AdmissionRule is one rule of a policy set, as data (X7).
type AdmissionRule struct {
	ID    string // what a refusal names
	Rule  string // max_user_messages
	Limit int    // of the rule: messages
}

// MaxUserMessages is the rule that allows a thread at most Limit user messages, the current one among them (X7).
const MaxUserMessages = "max_user_messages"

// Admission is what the rules say.
type Admission struct {
	Allowed bool
	Reasons []string // ids of the rules that refuse, in their order; empty where allowed
}

// Admit says whether a turn may go on, from its identity, its INTENT and the normative inputs (X7). The error is an
// *Error with CodeUnknownRule: an unknown rule is never a pass (D9).
func Admit(identity Identity, current IntentMessage, inputs []IntentMessage, rules []AdmissionRule) (Admission, error) {
	a := Admission{Allowed: true}
	for _, rule := range rules {
		if rule.Rule != MaxUserMessages {
			return Admission{}, fault(CodeUnknownRule, "", "no admission rule is called "+rule.Rule)
		}
		if userMessages(identity.ThreadID, current, inputs) > rule.Limit {
			a.Allowed = false
			a.Reasons = append(a.Reasons, rule.ID)
		}
	}
	return a, nil
}

// userMessages counts the messages of a thread, each once, with the current one.
func userMessages(threadID string, current IntentMessage, inputs []IntentMessage) int {
	counted := []IntentMessage{current}
	for _, m := range inputs {
		if m.hasText && m.threadID == threadID && !slices.ContainsFunc(counted, m.same) {
			counted = append(counted, m)
		}
	}
	return len(counted)
}
