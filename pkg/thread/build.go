package thread

import (
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
func (ctx Context) Spec() []byte { return ctx.spec(resolvedList(ctx.Resolution.Refs)).json }

func (ctx Context) spec(refs literal) literal {
	var identity, intent, normalization, retrieval, rules, o object
	if ctx.Identity.HasParent {
		identity.text("parent_turn_id", ctx.Identity.ParentTurnID)
	} else {
		identity.raw("parent_turn_id", null)
	}
	identity.text("thread_id", ctx.Identity.ThreadID)
	identity.text("turn_id", ctx.Identity.TurnID)
	intent.text("intent_type", ctx.IntentType)
	intent.text("user_input", ctx.UserInput)
	normalization.raw("applied_rules", textList(ctx.Config.Rules))
	normalization.text("boundary_version", ctx.Config.SchemaVersion)
	normalization.text("config_digest", ctx.Config.Digest.String()) // X4
	normalization.raw("transformations", ctx.Expansion.transforms())
	retrieval.raw("declared_refs", declaredList(ctx.Declared))
	retrieval.raw("normalization", normalization.literal())
	retrieval.raw("resolved_refs", refs)
	rules.text("ordering", ctx.Config.CanonicalSort)
	rules.text("schema_version", "ctxspec.2")
	o.raw("assembly_rules", rules.literal())
	o.raw("identity", identity.literal())
	o.raw("intent", intent.literal())
	o.raw("retrieval", retrieval.literal())
	return o.literal()
}

// Assembled gives assembled_context as JSON.
func (ctx Context) Assembled() []byte { return ctx.assembled(resolvedList(ctx.Resolution.Refs)).json }

func (ctx Context) assembled(refs literal) literal {
	messages := make([]literal, len(ctx.Messages))
	for i, m := range ctx.Messages {
		var message object
		message.text("content", m.Content)
		message.text("role", m.Role)
		messages[i] = message.literal()
	}
	var o object
	o.raw("assembled_from", refs)
	o.raw("model_messages", list(messages))
	o.raw("normative_input_digests", textList(ctx.Resolution.InputDigests))
	if len(ctx.Resolution.Warnings) > 0 {
		o.raw("warnings", textList(ctx.Resolution.Warnings))
	}
	return o.literal()
}

// Transforms gives the transforms that a decision on this context states, as JSON.
func (ctx Context) Transforms() []byte { return ctx.Expansion.transforms().json }

// Content digests the whole of a context, what its own digest leaves out included: equal contexts have equal contents. Errors
// as of a float.
func (ctx Context) Content() (Digest, error) {
	refs := resolvedList(ctx.Resolution.Refs)
	return contentOfContext(ctx.spec(refs), ctx.assembled(refs))
}

// Content is [Context.Content] for a context as a DECISION stores it.
func Content(spec, assembled canon.Value) (Digest, error) {
	return contentOfContext(literalOf(spec), literalOf(assembled))
}

func contentOfContext(spec, assembled literal) (Digest, error) {
	return digestOf(list([]literal{spec, assembled}))
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
