package thread

import (
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
)

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

// ParseAdmissionRules reads the admission rules of a policy set (D9): a list of {"id","rule","limit"}. What is not known is
// refused, so that no misspelt rule passes for one. The error is an *Error with CodeInvalidRules or CodeUnknownRule and the
// pointer of what is wrong.
func ParseAdmissionRules(v canon.Value) ([]AdmissionRule, error) {
	if v.Kind() != canon.Array {
		return nil, fault(CodeInvalidRules, "", "must be a list")
	}
	rules := make([]AdmissionRule, 0, len(v.Elements()))
	for i, e := range v.Elements() {
		rule, err := parseRule(e)
		if err == nil && slices.ContainsFunc(rules, func(other AdmissionRule) bool { return other.ID == rule.ID }) {
			err = fault(CodeInvalidRules, "/id", "stands twice")
		}
		if err != nil {
			return nil, below("/"+strconv.Itoa(i), err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func parseRule(v canon.Value) (AdmissionRule, error) {
	for _, m := range v.Members() {
		if !slices.Contains([]string{"id", "rule", "limit"}, m.Name) {
			return AdmissionRule{}, fault(CodeInvalidRules, canon.AppendToken("", m.Name), "is no member of an admission rule")
		}
	}
	id, _ := member(v, "id").Text()
	if strip(id) == "" {
		return AdmissionRule{}, fault(CodeInvalidRules, "/id", "must be a non-empty string")
	}
	name, _ := member(v, "rule").Text()
	if name != MaxUserMessages {
		return AdmissionRule{}, fault(CodeUnknownRule, "/rule", "no admission rule is called "+name)
	}
	limit, ok := canon.Integer(member(v, "limit").Raw())
	if !ok || limit < 0 || limit > MostEvents {
		return AdmissionRule{}, fault(CodeInvalidRules, "/limit", "must be an integer from 0 on")
	}
	return AdmissionRule{ID: id, Rule: name, Limit: int(limit)}, nil
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
