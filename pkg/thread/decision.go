package thread

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// The members of a decision that its digest covers, beside those that decisionText treats one by one. Each is always
// written, null where it is absent.
var (
	decisionTexts = []string{
		"actor_id", "tenant_id", "trust_class", "identity_issuer", "identity_source", "claims_digest",
		"request_class", "budget_class", "request_semantic_reason", "budget_policy_reason", "slot_class", "cost_class",
		"economic_policy_reason",
	}
	decisionBools = []string{"identity_verified", "reservation_required"}
	decisionLists = []string{
		"request_constraints_applied", "declared_tool_families", "allowed_tool_families", "permitted_tool_families",
		"denied_tool_families", "permitted_tools",
	}
)

// requiredOfDecision are the members that a decision must have, if only as null.
var requiredOfDecision = []string{"policy", "assembly_digest", "context_digest", "result", "reasons", "transforms"}

// DecisionDigest computes the digest of a decision: policy, result, reasons, transforms and the two context digests, and
// nothing that the payload holds beside them. The error is an *Error with CodeInvalidDecision, or a float's code.
func DecisionDigest(decision canon.Value) (Digest, error) {
	for _, name := range requiredOfDecision {
		if _, ok := decision.Get(name); !ok {
			return Digest{}, fault(CodeInvalidDecision, "/"+name, "is missing")
		}
	}
	return decisionEventDigest(decision)
}

// decisionEventDigest is DecisionDigest for the payload of an event: what is missing there counts as null.
func decisionEventDigest(payload canon.Value) (Digest, error) {
	if payload.Kind() != canon.Object {
		return Digest{}, fault(CodeInvalidDecision, "", "a decision is an object, not "+payload.Kind().String())
	}
	w := decisionWriter{from: payload}
	w.policy()
	w.digest("assembly_digest")
	w.digest("context_digest")
	w.result()
	w.entries("reasons", "code")
	w.entries("transforms", "op", "target")
	for _, name := range decisionTexts {
		w.text(name)
	}
	for _, name := range decisionBools {
		w.boolean(name)
	}
	for _, name := range decisionLists {
		w.list(name)
	}
	w.budget()
	if index := member(payload, "intent_index"); countsAsInteger(index) {
		w.to.raw("intent_index", index.Raw())
	}
	if w.err != nil {
		return Digest{}, w.err
	}
	return digestOf(w.to.bytes())
}

// decisionWriter copies members of a decision in their normal form; it keeps the first error.
type decisionWriter struct {
	from canon.Value
	to   object
	err  error
}

func (w *decisionWriter) fail(pointer, detail string) {
	if w.err == nil {
		w.err = fault(CodeInvalidDecision, pointer, detail)
	}
}

func (w *decisionWriter) policy() {
	policy := member(w.from, "policy")
	var o object
	for _, name := range []string{"policy_id", "policy_version"} {
		text, ok := stripped(member(policy, name))
		if !ok {
			w.fail("/policy/"+name, "must be a non-empty string")
		}
		o.text(name, text)
	}
	digest := member(policy, "policy_config_digest")
	if digest.Kind() == canon.String {
		o.raw("policy_config_digest", digest.Raw())
	} else {
		o.raw("policy_config_digest", null)
	}
	w.to.raw("policy", o.bytes())
}

func (w *decisionWriter) digest(name string) {
	v := member(w.from, name)
	if isAbsent(v) {
		w.to.raw(name, null)
		return
	}
	text, ok := stripped(v)
	if !ok {
		w.fail("/"+name, "must be a non-empty string or null")
	}
	if !strings.HasPrefix(text, "sha256:") {
		text = "sha256:" + text
	}
	w.to.text(name, text)
}

func (w *decisionWriter) result() {
	text, _ := member(w.from, "result").Text()
	if text != "ALLOW" && text != "DENY" {
		w.fail("/result", "must be ALLOW or DENY")
	}
	w.to.text("result", text)
}

// entry is one reason or transform in its normal form.
type entry struct {
	keys   []string // what it is sorted by
	params []byte   // canonical; {} where absent
	out    []byte
}

// entries writes a list of objects of which some members are non-blank texts, sorted by these and by their params.
func (w *decisionWriter) entries(name string, keys ...string) {
	v := member(w.from, name)
	if v.Kind() != canon.Array && !isEmpty(v) {
		w.fail("/"+name, "must be a list")
		return
	}
	entries := make([]entry, len(v.Elements()))
	for i, e := range v.Elements() {
		if e.Kind() != canon.Object {
			w.fail("/"+name, "every entry must be an object")
			return
		}
		entries[i] = w.entry("/"+name, e, keys)
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(slices.Compare(a.keys, b.keys), bytes.Compare(a.params, b.params))
	})
	items := make([][]byte, len(entries))
	for i, e := range entries {
		items[i] = e.out
	}
	w.to.raw(name, list(items))
}

func (w *decisionWriter) entry(pointer string, v canon.Value, keys []string) entry {
	e := entry{params: []byte("{}")}
	var o object
	for _, key := range keys {
		text, ok := stripped(member(v, key))
		if !ok {
			w.fail(pointer, key+" must be a non-empty string")
		}
		e.keys = append(e.keys, text)
		o.text(key, text)
	}
	if params := member(v, "params"); !isAbsent(params) {
		if params.Kind() != canon.Object {
			w.fail(pointer, "params must be an object")
		}
		form, err := canonical(params.Raw())
		if err != nil && w.err == nil {
			w.err = err
		}
		e.params = form
		o.raw("params", form)
	}
	e.out = o.bytes()
	return e
}

func (w *decisionWriter) text(name string) {
	v := member(w.from, name)
	if isAbsent(v) {
		w.to.raw(name, null)
		return
	}
	text, ok := stripped(v)
	if !ok {
		w.fail("/"+name, "must be a non-empty string or null")
	}
	w.to.text(name, text)
}

func (w *decisionWriter) boolean(name string) {
	v := member(w.from, name)
	if isAbsent(v) {
		w.to.raw(name, null)
		return
	}
	if v.Kind() != canon.Bool {
		w.fail("/"+name, "must be a boolean or null")
	}
	w.to.raw(name, v.Raw())
}

// list writes the stripped texts of a list, sorted; an empty list differs from null.
func (w *decisionWriter) list(name string) {
	v := member(w.from, name)
	switch v.Kind() {
	case canon.Invalid, canon.Null:
		w.to.raw(name, null)
	case canon.Array:
		texts, err := sortedTexts(v)
		if err != nil && w.err == nil {
			w.err = err
		}
		w.to.raw(name, textList(texts))
	default:
		w.fail("/"+name, "must be a list or null")
	}
}

// sortedTexts gives the stripped texts of a list's elements in the order of their code points, duplicates kept.
func sortedTexts(v canon.Value) ([]string, error) {
	texts := make([]string, len(v.Elements()))
	for i, e := range v.Elements() {
		text, ok := textOf(e)
		if !ok {
			return nil, unverifiableText
		}
		texts[i] = strip(text)
	}
	slices.Sort(texts)
	return texts, nil
}

var unverifiableText = fault(CodeUnverifiable, "", "a list or an object stands where text is due, and how its producer spells it cannot be told")

func (w *decisionWriter) budget() {
	v := member(w.from, "enforced_budget")
	if isAbsent(v) {
		w.to.raw("enforced_budget", null)
		return
	}
	if v.Kind() != canon.Object {
		w.fail("/enforced_budget", "must be an object or null")
	}
	var o object
	for _, name := range []string{"max_tokens", "max_duration_ms"} {
		switch n := member(v, name); {
		case isAbsent(n):
		case countsAsInteger(n):
			o.raw(name, n.Raw())
		default:
			w.fail("/enforced_budget/"+name, "must be an integer")
		}
	}
	if source, ok := stripped(member(v, "source")); ok {
		o.text("source", source)
	}
	w.to.raw("enforced_budget", o.bytes())
}
