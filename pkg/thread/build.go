package thread

import (
	"bytes"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Identity is the place of a turn.
type Identity struct {
	ThreadID     string
	TurnID       string
	ParentTurnID string // empty where HasParent is false
	HasParent    bool
}

// Message is one message for the model.
type Message struct{ Role, Content string }

// Context is what one turn is decided on and answered with.
type Context struct {
	Identity   Identity
	IntentType string
	UserInput  string
	Declared   []Ref
	Resolution Resolution
	Expansion  *Expansion // nil for none
	Messages   []Message
	Config     Config
}

// Build assembles the context of a turn from the payload of its INTENT and the history up to and including it. The error
// is an *Error: a refusal of X1, CodeInvalidIntent or CodeUnverifiable; or it is the history's.
func Build(payload canon.Value, intentType string, c Config, h History, p Profile) (Context, error) {
	ctx, err := newContext(payload, intentType, c)
	if err != nil {
		return Context{}, err
	}
	if err := ctx.resolve(payload, h, p); err != nil {
		return Context{}, err
	}
	ctx.Messages = messagesFor(ctx.Resolution.Refs, ctx.UserInput)
	return ctx, nil
}

// newContext reads the turn itself, in the gateway's order of checks.
func newContext(payload canon.Value, intentType string, c Config) (Context, error) {
	ctx := Context{IntentType: intentType, Config: c}
	if strip(intentType) == "" {
		return ctx, fault(CodeInvalidIntent, "/intent_type", "must be a non-empty string")
	}
	message := member(payload, "message")
	if message.Kind() != canon.String {
		return ctx, fault(CodeInvalidIntent, "/payload/message", "must be a string")
	}
	var ok bool
	if ctx.UserInput, ok = stripped(message); !ok {
		return ctx, fault(CodeInvalidIntent, "/payload/message", "must not be empty")
	}
	if ctx.Identity.ThreadID, ok = stripped(member(payload, "thread_id")); !ok {
		return ctx, fault(CodeInvalidIntent, "/payload/thread_id", "must be a non-empty string")
	}
	if ctx.Identity.TurnID, ok = stripped(member(payload, "turn_id")); !ok {
		return ctx, fault(CodeInvalidIntent, "/payload/turn_id", "must be a non-empty string")
	}
	if parent := member(payload, "parent_turn_id"); !isAbsent(parent) {
		if ctx.Identity.ParentTurnID, ok = textOf(parent); !ok {
			return ctx, unverifiableText
		}
		ctx.Identity.HasParent = true
	}
	var err error
	ctx.Declared, err = cleanRefs(member(payload, "declared_refs"))
	return ctx, err
}

// cleanRefs gives the declared references of a payload, sorted. What is no reference is left out.
func cleanRefs(v canon.Value) ([]Ref, error) {
	var refs []Ref
	for _, e := range v.Elements() {
		typ, hasType := stripped(member(e, "ref_type"))
		id, hasID := stripped(member(e, "ref_id"))
		if !hasType || !hasID {
			continue
		}
		ref := Ref{Type: typ, ID: id}
		if version := member(e, "version"); !isAbsent(version) {
			if ref.Version, ref.HasVersion = textOf(version); !ref.HasVersion {
				return nil, unverifiableText
			}
		}
		refs = append(refs, ref)
	}
	return sortRefs(refs), nil
}

// resolve resolves the references of the turn; where it has none, the gateway may expand its history.
func (ctx *Context) resolve(payload canon.Value, h History, p Profile) error {
	if n, asked := expansionOf(payload, ctx.Config); asked && p == Gateway && len(ctx.Declared) == 0 {
		expanded, err := expand(n, ctx.Config, h)
		if err != nil {
			return err
		}
		if len(expanded.Refs) > 0 {
			ctx.Resolution, ctx.Expansion = expanded, &Expansion{N: n, Count: len(expanded.Refs)}
			return nil
		}
	}
	var err error
	ctx.Resolution, err = Resolve(Query{ctx.Declared, ctx.Identity.ThreadID, ctx.IntentType}, ctx.Config, h, p)
	return err
}

// messagesFor gives the messages for the model: the referenced texts in one block, then what the user asks.
func messagesFor(refs []ResolvedRef, userInput string) []Message {
	user := Message{"user", userInput}
	if block := ReferenceBlock(refs); block != "" {
		return []Message{{"system", block}, user}
	}
	return []Message{user}
}

// ReferenceBlock gives the text that shows the model the referenced events, empty where none has content. Nothing is
// escaped. A pipeline keeps its lines as Snapshot.References (P2 j).
func ReferenceBlock(refs []ResolvedRef) string {
	var b strings.Builder
	for _, ref := range refs {
		if ref.Content != "" {
			b.WriteString("[ref_id=" + ref.ID + " kind=" + string(ref.EventKind) + "]\n" + ref.Content + "\n---\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return blockBegin + b.String() + blockEnd
}

const (
	blockBegin = "DBL_CONTEXT_REFS_BEGIN\nThe following is referenced context from previous events in this conversation.\n\n"
	blockEnd   = "DBL_CONTEXT_REFS_END"
)

// Spec gives context_spec as JSON.
func (ctx Context) Spec() []byte {
	r := takeRoom()
	defer r.leave()
	return bytes.Clone(ctx.spec(r, r.resolved(ctx.Resolution.Refs)).json)
}

func (ctx Context) spec(r *room, refs literal) literal {
	identity := r.object()
	if ctx.Identity.HasParent {
		identity.text("parent_turn_id", ctx.Identity.ParentTurnID)
	} else {
		identity.raw("parent_turn_id", null)
	}
	identity.text("thread_id", ctx.Identity.ThreadID)
	identity.text("turn_id", ctx.Identity.TurnID)
	identityText := identity.literal()
	intent := r.object()
	intent.text("intent_type", ctx.IntentType)
	intent.text("user_input", ctx.UserInput)
	intentText := intent.literal()
	rules := r.object()
	rules.text("ordering", ctx.Config.CanonicalSort)
	rules.text("schema_version", "ctxspec.2")
	rulesText, retrievalText := rules.literal(), ctx.retrieval(r, refs)
	o := r.object()
	o.raw("assembly_rules", rulesText)
	o.raw("identity", identityText)
	o.raw("intent", intentText)
	o.raw("retrieval", retrievalText)
	return o.literal()
}

func (ctx Context) retrieval(r *room, refs literal) literal {
	applied, transforms, declared := r.texts(ctx.Config.Rules), ctx.Expansion.transforms(r), r.declared(ctx.Declared)
	normalization := r.object()
	normalization.raw("applied_rules", applied)
	normalization.text("boundary_version", ctx.Config.SchemaVersion)
	normalization.text("config_digest", ctx.Config.Digest.String()) // X4
	normalization.raw("transformations", transforms)
	normalizationText := normalization.literal()
	o := r.object()
	o.raw("declared_refs", declared)
	o.raw("normalization", normalizationText)
	o.raw("resolved_refs", refs)
	return o.literal()
}

// Assembled gives assembled_context as JSON.
func (ctx Context) Assembled() []byte {
	r := takeRoom()
	defer r.leave()
	return bytes.Clone(ctx.assembled(r, r.resolved(ctx.Resolution.Refs)).json)
}

func (ctx Context) assembled(r *room, refs literal) literal {
	messages := make([]literal, len(ctx.Messages))
	for i, m := range ctx.Messages {
		message := r.object()
		message.text("content", m.Content)
		message.text("role", m.Role)
		messages[i] = message.literal()
	}
	shown, inputs, warnings := r.list(messages), r.texts(ctx.Resolution.InputDigests), r.texts(ctx.Resolution.Warnings)
	o := r.object()
	o.raw("assembled_from", refs)
	o.raw("model_messages", shown)
	o.raw("normative_input_digests", inputs)
	if len(ctx.Resolution.Warnings) > 0 {
		o.raw("warnings", warnings)
	}
	return o.literal()
}

// Transforms gives the transforms that a decision on this context states, as JSON.
func (ctx Context) Transforms() []byte { return ctx.Expansion.transforms(new(room)).json }

// Content digests the whole of a context, what its own digest leaves out included: equal contexts have equal contents. Errors
// as of a float.
func (ctx Context) Content() (Digest, error) {
	r := takeRoom()
	defer r.leave()
	refs := r.resolved(ctx.Resolution.Refs)
	return r.content(ctx.spec(r, refs), ctx.assembled(r, refs))
}

// Content is [Context.Content] for a context as a DECISION stores it.
func Content(spec, assembled canon.Value) (Digest, error) {
	r := takeRoom()
	defer r.leave()
	return r.content(literalOf(spec), literalOf(assembled))
}

func (r *room) content(spec, assembled literal) (Digest, error) {
	return digestOf(r.list([]literal{spec, assembled}))
}

// Digest gives the context digest. Errors as ContextDigest.
func (ctx Context) Digest() (Digest, error) {
	spec, err := Read(ctx.Spec())
	if err != nil {
		return Digest{}, asError(err)
	}
	assembled, err := Read(ctx.Assembled())
	if err != nil {
		return Digest{}, asError(err)
	}
	return ContextDigest(spec, assembled)
}
