package thread

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

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
	w := decisionWriters.Get().(*decisionWriter)
	defer decisionWriters.Put(w)
	*w = decisionWriter{from: payload, texts: takeRoom()}
	defer w.texts.leave()
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
		w.put("intent_index", literalOf(index))
	}
	if w.err != nil {
		return Digest{}, w.err
	}
	return digestObject(w.write)
}

// decisionWriter copies members of a decision in their normal form; it keeps the first error. Checks run in the gateway's
// order, and the members are written in the order of dbl.
type decisionWriter struct {
	from    canon.Value
	texts   *room
	members []decisionMember
	room    [32]decisionMember
	err     error
}

// decisionWriters keeps the memory of one writer for the next.
var decisionWriters = sync.Pool{New: func() any { return new(decisionWriter) }}

type decisionMember struct {
	name  string
	value literal
}

func (w *decisionWriter) put(name string, value literal) {
	if w.members == nil {
		w.members = w.room[:0]
	}
	w.members = append(w.members, decisionMember{name, value})
}

func (w *decisionWriter) write(o *object) {
	slices.SortFunc(w.members, func(a, b decisionMember) int { return strings.Compare(a.name, b.name) })
	for _, m := range w.members {
		o.raw(m.name, m.value)
	}
}

func (w *decisionWriter) fail(pointer, detail string) {
	if w.err == nil {
		w.err = fault(CodeInvalidDecision, pointer, detail)
	}
}

func (w *decisionWriter) policy() {
	policy := member(w.from, "policy")
	o := w.texts.object()
	digest := member(policy, "policy_config_digest")
	if digest.Kind() == canon.String {
		o.raw("policy_config_digest", literalOf(digest))
	} else {
		o.raw("policy_config_digest", null)
	}
	for _, name := range []string{"policy_id", "policy_version"} {
		text, ok := w.texts.stripped(member(policy, name))
		if !ok {
			w.fail("/policy/"+name, "must be a non-empty string")
		}
		o.raw(name, text)
	}
	w.put("policy", o.literal())
}

func (w *decisionWriter) digest(name string) {
	v := member(w.from, name)
	if isAbsent(v) {
		w.put(name, null)
		return
	}
	if v.InDBL() && isPlain(v.Raw()) && bytes.HasPrefix(v.Raw(), []byte(`"sha256:`)) {
		w.put(name, literalOf(v))
		return
	}
	text, ok := stripped(v)
	if !ok {
		w.fail("/"+name, "must be a non-empty string or null")
	}
	if !strings.HasPrefix(text, "sha256:") {
		text = "sha256:" + text
	}
	w.put(name, w.texts.quoted(text))
}

func (w *decisionWriter) result() {
	text, _ := member(w.from, "result").Text()
	if text != "ALLOW" && text != "DENY" {
		w.fail("/result", "must be ALLOW or DENY")
	}
	w.put("result", w.texts.quoted(text))
}

// entry is one reason or transform in its normal form.
type entry struct {
	keys   []string // what it is sorted by
	params []byte   // canonical; {} where absent
	out    literal
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
	items := make([]literal, len(entries))
	for i, e := range entries {
		items[i] = e.out
	}
	w.put(name, w.texts.list(items))
}

func (w *decisionWriter) entry(pointer string, v canon.Value, keys []string) entry {
	e := entry{params: []byte("{}")}
	o := w.texts.object()
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
		form, err := canonical(literalOf(params))
		if err != nil && w.err == nil {
			w.err = err
		}
		e.params = form
		o.raw("params", literal{form, err == nil})
	}
	e.out = o.literal()
	return e
}

func (w *decisionWriter) text(name string) {
	v := member(w.from, name)
	if isAbsent(v) {
		w.put(name, null)
		return
	}
	text, ok := w.texts.stripped(v)
	if !ok {
		w.fail("/"+name, "must be a non-empty string or null")
	}
	w.put(name, text)
}

func (w *decisionWriter) boolean(name string) {
	v := member(w.from, name)
	if isAbsent(v) {
		w.put(name, null)
		return
	}
	if v.Kind() != canon.Bool {
		w.fail("/"+name, "must be a boolean or null")
	}
	w.put(name, literalOf(v))
}

// list writes the stripped texts of a list, sorted; an empty list differs from null.
func (w *decisionWriter) list(name string) {
	v := member(w.from, name)
	switch v.Kind() {
	case canon.Invalid, canon.Null:
		w.put(name, null)
	case canon.Array:
		texts, err := w.texts.sorted(v)
		if err != nil && w.err == nil {
			w.err = err
		}
		w.put(name, texts)
	default:
		w.fail("/"+name, "must be a list or null")
	}
}

func (w *decisionWriter) integer(pointer string, v canon.Value) {
	if !isAbsent(v) && !countsAsInteger(v) {
		w.fail(pointer, "must be an integer")
	}
}

func (w *decisionWriter) budget() {
	v := member(w.from, "enforced_budget")
	if isAbsent(v) {
		w.put("enforced_budget", null)
		return
	}
	if v.Kind() != canon.Object {
		w.fail("/enforced_budget", "must be an object or null")
	}
	tokens, duration := member(v, "max_tokens"), member(v, "max_duration_ms")
	w.integer("/enforced_budget/max_tokens", tokens)
	w.integer("/enforced_budget/max_duration_ms", duration)
	o := w.texts.object()
	if !isAbsent(duration) {
		o.raw("max_duration_ms", literalOf(duration))
	}
	if !isAbsent(tokens) {
		o.raw("max_tokens", literalOf(tokens))
	}
	if source, ok := stripped(member(v, "source")); ok {
		o.text("source", source)
	}
	w.put("enforced_budget", o.literal())
}
