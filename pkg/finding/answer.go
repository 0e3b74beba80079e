package finding

// Answer is a code that `dmpl step` and `dmpl digest` give in place of a result: `{"error":{"code":…,"detail":…}}`. It is no
// finding: nothing was judged, the function that was called has no result.
type Answer struct {
	Code    Code
	Rule    string // contract clause
	Refusal bool   // the input is in order and the answer is no: exit code 1, else 2
	Title   string // a clause in lower case, without full stop
	Meaning string
	Action  string
}

// Answers gives all codes of answers, the refusals first. A code is never renamed and never reused.
func Answers() []Answer { return answers }

var answers = []Answer{
	{
		Code: "REF_NOT_FOUND", Rule: "X1", Refusal: true,
		Title:   "a reference names no event",
		Meaning: "No event of the thread has the id of the reference, as correlation id or as turn id.",
		Action:  "Declare the correlation id or the turn id of an earlier event of the thread.",
	},
	{
		Code: "CROSS_THREAD_REF", Rule: "X1", Refusal: true,
		Title:   "a reference leaves its thread",
		Meaning: "The event that the reference names belongs to another thread, and enforce_scope_bound is set.",
		Action:  "Refer to events of the current thread only.",
	},
	{
		Code: "MAX_REFS_EXCEEDED", Rule: "X1", Refusal: true,
		Title:   "too many references",
		Meaning: "The turn declares more references than max_refs. None was looked up.",
		Action:  "Declare fewer references, or raise max_refs.",
	},
	{
		Code: "EMPTY_REFS_DENIED", Rule: "X1", Refusal: true,
		Title:   "no references, and the policy refuses that",
		Meaning: "The turn declares no references, and empty_refs_policy is DENY, or asks for an expansion that is switched off.",
		Action:  "Declare a reference, or allow turns without any.",
	},
	{
		Code: "thread.invalid_event", Rule: "X3",
		Title:   "an event is malformed",
		Meaning: "A member of the event has the wrong type, its kind is unknown, or its correlation id is empty.",
		Action:  "Look at the place that the detail names.",
	},
	{
		Code: "thread.invalid_trace", Rule: "V5",
		Title:   "a trace does not give its digest",
		Meaning: "The EXECUTION has no trace, no trace_digest, or the two do not agree, so that the event has no digest.",
		Action:  "Compare the event with its source.",
	},
	{
		Code: "thread.invalid_decision", Rule: "V5",
		Title:   "a decision is malformed",
		Meaning: "A member that the digest of a decision covers is missing or has the wrong type.",
		Action:  "Look at the place that the detail names.",
	},
	{
		Code: "thread.invalid_context", Rule: "X3",
		Title:   "a context is malformed",
		Meaning: "A member that the digest of a context covers is missing or has the wrong type.",
		Action:  "Look at the place that the detail names.",
	},
	{
		Code: "thread.invalid_config", Rule: "X4",
		Title:   "a context configuration is malformed",
		Meaning: "A member is missing, has the wrong type, or is out of range.",
		Action:  "Correct the member that the detail names; context.config.v1 has its type.",
	},
	{
		Code: "thread.invalid_intent", Rule: "X1",
		Title:   "an INTENT says nothing",
		Meaning: "The intent type, the message, the thread id or the turn id is missing or blank.",
		Action:  "Look at the place that the detail names.",
	},
	{
		Code: "thread.invalid_refs", Rule: "X1",
		Title:   "references are malformed",
		Meaning: "The references are no list, or one of them has no type or no id.",
		Action:  "Give each reference a ref_type and a ref_id.",
	},
	{
		Code: "thread.unverifiable", Rule: "X3",
		Title:   "the result cannot be known from the input",
		Meaning: "Content was fetched over the network, or text is due where a list or an object stands.",
		Action:  "Nothing: what is not in the stream cannot be computed again.",
	},
	{
		Code: "thread.invalid_rules", Rule: "X7",
		Title:   "admission rules are malformed",
		Meaning: "The rules are no list, or a rule has a member that is missing, of the wrong type, or not known.",
		Action:  "Look at the place that the detail names.",
	},
	{
		Code: "thread.unknown_rule", Rule: "X7",
		Title:   "an admission rule is not known",
		Meaning: "No rule has this name. An unknown rule is never a pass.",
		Action:  "Correct the name, or use a version that knows the rule.",
	},
}
