package thread

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// ContextDigest computes the digest over context_spec and assembled_context as a DECISION stores them (X3). The error is an
// *Error with CodeInvalidContext, a float's code, or CodeUnverifiable.
func ContextDigest(spec, assembled canon.Value) (Digest, error) {
	return contextForm(spec, assembled, gatewayForm)
}

// contextMask says what a form of the context leaves out (X3).
type contextMask uint8

const (
	gatewayForm contextMask = iota // nothing: the form that is stored
	seedForm                       // model_messages are empty
	maskedForm                     // and the digests of execution-only references are empty
)

func contextForm(spec, assembled canon.Value, mask contextMask) (Digest, error) {
	r := takeRoom()
	defer r.leave()
	s := contextReader{mask: mask, room: r}
	specText := s.spec(spec)
	assembledText := s.assembled(assembled)
	if s.err != nil {
		return Digest{}, s.err
	}
	return digestObject(func(o *object) {
		o.raw("assembled_context", assembledText)
		o.raw("context_spec", specText)
	})
}

// contextReader brings a context into its normal form; it keeps the first error. Checks run in the gateway's order.
type contextReader struct {
	*room
	mask contextMask
	err  error
	refs struct { // the resolved references read last: mostly they stand twice
		from []byte
		form literal
	}
}

func (c *contextReader) fail(pointer, detail string) {
	if c.err == nil {
		c.err = fault(CodeInvalidContext, pointer, detail)
	}
}

// block gives a member that must be an object.
func (c *contextReader) block(v canon.Value, name string) canon.Value {
	block := member(v, name)
	if block.Kind() != canon.Object {
		c.fail("/context_spec/"+name, "must be an object")
	}
	return block
}

// required gives the stripped text of a member that must not be blank.
func (c *contextReader) required(v canon.Value, pointer, name string) literal {
	text, ok := c.stripped(member(v, name))
	if !ok {
		c.fail(pointer+"/"+name, "must be a non-empty string")
	}
	return text
}

// text gives the text of any value.
func (c *contextReader) text(v canon.Value) string {
	text, ok := textOf(v)
	if !ok && c.err == nil {
		c.err = unverifiableText
	}
	return text
}

func (c *contextReader) spec(spec canon.Value) literal {
	identity, intent := c.block(spec, "identity"), c.block(spec, "intent")
	retrieval, rules := c.block(spec, "retrieval"), c.block(spec, "assembly_rules")
	declared := c.declared(member(retrieval, "declared_refs"))

	threadID := c.required(identity, "/context_spec/identity", "thread_id")
	turnID := c.required(identity, "/context_spec/identity", "turn_id")
	i := c.object()
	if parent := member(identity, "parent_turn_id"); isAbsent(parent) {
		i.raw("parent_turn_id", null)
	} else {
		i.text("parent_turn_id", c.text(parent))
	}
	i.raw("thread_id", threadID)
	i.raw("turn_id", turnID)
	identityText := i.literal()
	intentType := c.required(intent, "/context_spec/intent", "intent_type")
	c.required(intent, "/context_spec/intent", "user_input")
	n := c.object()
	n.raw("intent_type", intentType)
	n.raw("user_input", literalOrNull(member(intent, "user_input")))
	intentText := n.literal()
	schema := c.required(rules, "/context_spec/assembly_rules", "schema_version")
	ordering := c.required(rules, "/context_spec/assembly_rules", "ordering")
	resolved := c.resolved(member(retrieval, "resolved_refs"), "/context_spec/retrieval/resolved_refs")
	normalization := c.normalization(member(retrieval, "normalization"))
	r := c.object()
	r.raw("declared_refs", declared)
	r.raw("normalization", normalization)
	r.raw("resolved_refs", resolved)
	retrievalText := r.literal()
	a := c.object()
	if limits := member(rules, "limits"); limits.Kind() == canon.Object {
		a.raw("limits", literalOf(limits))
	} else if !isAbsent(limits) {
		c.fail("/context_spec/assembly_rules/limits", "must be an object when there is one")
	}
	a.raw("ordering", ordering)
	a.raw("schema_version", schema)
	rulesText := a.literal()
	o := c.object()
	o.raw("assembly_rules", rulesText)
	o.raw("identity", identityText)
	o.raw("intent", intentText)
	o.raw("retrieval", retrievalText)
	return o.literal()
}

func literalOrNull(v canon.Value) literal {
	if v.Kind() == canon.Invalid {
		return null
	}
	return literalOf(v)
}

// declared gives the normal form of declared references, sorted by type, id and version.
func (c *contextReader) declared(v canon.Value) literal {
	const pointer = "/context_spec/retrieval/declared_refs"
	if v.Kind() != canon.Array && !isEmpty(v) {
		c.fail(pointer, "must be a list")
	}
	refs := make([]Ref, 0, len(v.Elements()))
	for _, e := range v.Elements() {
		if e.Kind() != canon.Object {
			c.fail(pointer, "every entry must be an object")
		}
		c.required(e, pointer, "ref_type")
		c.required(e, pointer, "ref_id")
		var ref Ref
		ref.Type, _ = stripped(member(e, "ref_type"))
		ref.ID, _ = stripped(member(e, "ref_id"))
		if version := member(e, "version"); !isAbsent(version) {
			ref.Version, ref.HasVersion = c.text(version), true
		}
		refs = append(refs, ref)
	}
	return c.room.declared(sortRefs(refs))
}

// resolvedEntry is one resolved reference in its normal form.
type resolvedEntry struct {
	index   []byte // number literal; 0 where absent
	typ, id string
	out     literal
}

// resolved gives the normal form of resolved references: what is no reference is left out, order never counts.
func (c *contextReader) resolved(v canon.Value, pointer string) literal {
	if len(v.Raw()) > 0 && bytes.Equal(v.Raw(), c.refs.from) {
		return c.refs.form
	}
	if !isEmpty(v) && (v.Kind() == canon.Bool || v.Kind() == canon.Number) {
		c.fail(pointer, "must be a list")
	}
	var entries []resolvedEntry
	for _, e := range v.Elements() {
		typ, isText := member(e, "ref_type").Text()
		id, alsoText := member(e, "ref_id").Text()
		if isText && alsoText {
			entries = append(entries, c.resolvedEntry(e, strip(typ), strip(id)))
		}
	}
	slices.SortStableFunc(entries, func(a, b resolvedEntry) int {
		return cmp.Or(canon.CompareNumbers(a.index, b.index), strings.Compare(a.typ, b.typ), strings.Compare(a.id, b.id))
	})
	items := make([]literal, len(entries))
	for i, e := range entries {
		items[i] = e.out
	}
	c.refs.from, c.refs.form = v.Raw(), c.list(items)
	return c.refs.form
}

func (c *contextReader) resolvedEntry(v canon.Value, typ, id string) resolvedEntry {
	e := resolvedEntry{index: []byte("0"), typ: typ, id: id}
	o := c.object()
	admitted, hasAdmitted := member(v, "admitted_for").Text()
	admitted = strip(admitted)
	if hasAdmitted {
		o.text("admitted_for", admitted)
	}
	if digest, ok := member(v, "event_digest").Text(); ok {
		if c.mask == maskedForm && admitted == ExecutionOnly {
			digest = "" // X3: it changes on every run
		}
		o.text("event_digest", strip(digest))
	}
	if index := member(v, "event_index"); countsAsInteger(index) {
		e.index = integerLiteral(index)
		o.raw("event_index", literalOf(index))
	}
	o.text("ref_id", id)
	o.text("ref_type", typ)
	if version := member(v, "version"); !isAbsent(version) {
		o.text("version", c.text(version))
	}
	e.out = o.literal()
	return e
}

func (c *contextReader) normalization(v canon.Value) literal {
	if v.Kind() != canon.Object {
		o := c.object()
		o.raw("applied_rules", emptyList)
		o.text("boundary_version", "unknown")
		o.text("config_digest", "unknown")
		return o.literal()
	}
	applied := c.texts(member(v, "applied_rules"))
	o := c.object()
	o.raw("applied_rules", applied)
	for _, name := range []string{"boundary_version", "config_digest"} {
		text, ok := member(v, name).Text()
		if !ok {
			text = "unknown"
		}
		o.text(name, strip(text))
	}
	if reason, ok := stripped(member(v, "expansion_reason")); ok {
		o.text("expansion_reason", reason)
	}
	return o.literal()
}

// texts gives the stripped texts of a list, sorted; [] for what is no list.
func (c *contextReader) texts(v canon.Value) literal {
	if v.Kind() != canon.Array {
		return emptyList
	}
	texts, err := c.room.sorted(v)
	if err != nil && c.err == nil {
		c.err = err
	}
	return texts
}

func (c *contextReader) assembled(v canon.Value) literal {
	if v.Kind() != canon.Object {
		c.fail("/assembled_context", "must be an object")
	}
	shown, messages := emptyList, member(v, "model_messages")
	switch {
	case messages.Kind() != canon.Array && !isAbsent(messages):
		c.fail("/assembled_context/model_messages", "must be a list")
	case !isAbsent(messages) && c.mask == gatewayForm:
		shown = literalOf(messages)
	}
	from := member(v, "assembled_from")
	if from.Kind() != canon.Array && !isEmpty(from) {
		c.fail("/assembled_context/assembled_from", "must be a list")
	}
	refs := c.resolved(from, "/assembled_context/assembled_from")
	inputs := c.texts(member(v, "normative_input_digests"))
	o := c.object()
	o.raw("assembled_from", refs)
	o.raw("model_messages", shown)
	o.raw("normative_input_digests", inputs)
	if warnings := member(v, "warnings"); warnings.Kind() == canon.Array {
		o.raw("warnings", literalOf(warnings))
	} else if !isAbsent(warnings) {
		c.fail("/assembled_context/warnings", "must be a list when there is one")
	}
	return o.literal()
}
