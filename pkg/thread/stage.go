package thread

import (
	"errors"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
)

// Stage answers one input document with one JSON document. Members of the input that it does not read are ignored. The
// error is an *Error; ErrorDocument writes it.
type Stage func(input canon.Value) ([]byte, error)

// DigestContext is the Stage of context digests: `context_spec` and `assembled_context` in, the digest and the one of the
// seed's form out (X3).
func DigestContext(input canon.Value) ([]byte, error) {
	spec, assembled := member(input, "context_spec"), member(input, "assembled_context")
	d, err := ContextDigest(spec, assembled)
	if err != nil {
		return nil, err
	}
	seed, err := SeedDigest(spec, assembled)
	if err != nil {
		return nil, err
	}
	o := digestDocument(d)
	o.text("seed_profile_digest", seed.String())
	return canonical(o.literal())
}

// DigestDecision is the Stage of decision digests: `decision` in, its digest out.
func DigestDecision(input canon.Value) ([]byte, error) {
	return answerDigest(DecisionDigest(member(input, "decision")))
}

// DigestEvent is the Stage of event digests: `kind`, `correlation_id` and `payload` in, the digest out.
func DigestEvent(input canon.Value) ([]byte, error) {
	kind, _ := member(input, "kind").Text()
	correlation, _ := member(input, "correlation_id").Text()
	return answerDigest(EventDigest(Kind(kind), correlation, member(input, "payload")))
}

// DigestConfig is the Stage of configuration digests: `config` in, its digest out (X4).
func DigestConfig(input canon.Value) ([]byte, error) {
	d, err := ConfigDigest(member(input, "config"))
	return answerDigest(d, below("/config", err))
}

func answerDigest(d Digest, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return canonical(digestDocument(d).literal())
}

func digestDocument(d Digest) *object {
	var o object
	o.text("digest", d.String())
	o.integer("canon_len", d.Len)
	return &o
}

// ResolveRefs gives the Stage that resolves `declared_refs` of `thread_id` and `intent_type` against `thread_events` under
// `config` (X1).
func ResolveRefs(p Profile) Stage {
	return func(input canon.Value) ([]byte, error) {
		q, err := queryOf(input)
		if err != nil {
			return nil, err
		}
		c, h, err := surroundings(input)
		if err != nil {
			return nil, err
		}
		r, err := Resolve(q, c, h, p)
		if err != nil {
			return nil, err
		}
		var o object
		var texts room
		o.raw("resolved_refs", texts.resolved(r.Refs))
		o.raw("normative_refs", texts.texts(r.NormativeIDs()))
		o.raw("normative_input_digests", texts.texts(r.InputDigests))
		o.raw("warnings", texts.texts(r.Warnings))
		return canonical(o.literal())
	}
}

// BuildContext gives the Stage that assembles the context of `payload` and `intent_type` from `thread_events` under
// `config` (X1, X3).
func BuildContext(p Profile) Stage {
	return func(input canon.Value) ([]byte, error) {
		c, h, err := surroundings(input)
		if err != nil {
			return nil, err
		}
		intentType, _ := member(input, "intent_type").Text()
		ctx, err := Build(member(input, "payload"), intentType, c, h, p)
		if err != nil {
			return nil, err
		}
		d, err := ctx.Digest()
		if err != nil {
			return nil, err
		}
		var o object
		var texts room
		refs := texts.resolved(ctx.Resolution.Refs)
		o.raw("context_spec", ctx.spec(&texts, refs))
		o.raw("assembled_context", ctx.assembled(&texts, refs))
		o.text("context_digest", d.String())
		o.raw("transforms", ctx.Expansion.transforms(&texts))
		return canonical(o.literal())
	}
}

// queryOf reads references that are clean already: they are taken as they are.
func queryOf(input canon.Value) (Query, error) {
	var q Query
	q.ThreadID, _ = member(input, "thread_id").Text()
	q.IntentType, _ = member(input, "intent_type").Text()
	refs := member(input, "declared_refs")
	if refs.Kind() != canon.Array {
		return q, fault(CodeInvalidRefs, "/declared_refs", "must be a list")
	}
	for _, e := range refs.Elements() {
		typ, hasType := member(e, "ref_type").Text()
		id, hasID := member(e, "ref_id").Text()
		if !hasType || !hasID {
			return q, fault(CodeInvalidRefs, "/declared_refs", "every entry needs ref_type and ref_id, both strings")
		}
		ref := Ref{Type: typ, ID: id}
		if version := member(e, "version"); !isAbsent(version) {
			if ref.Version, ref.HasVersion = textOf(version); !ref.HasVersion {
				return q, unverifiableText
			}
		}
		q.Refs = append(q.Refs, ref)
	}
	return q, nil
}

// surroundings reads what both steps have in common.
func surroundings(input canon.Value) (Config, *Log, error) {
	c, err := ParseConfig(member(input, "config"))
	if err != nil {
		return Config{}, nil, below("/config", err)
	}
	events := member(input, "thread_events")
	if events.Kind() != canon.Array {
		return Config{}, nil, fault(CodeInvalidEvent, "/thread_events", "must be a list")
	}
	h := NewLog()
	for i, v := range events.Elements() {
		e, err := ParseEvent(v)
		if err != nil {
			return Config{}, nil, below("/thread_events/"+strconv.Itoa(i), err)
		}
		h.Append(e)
	}
	return c, h, nil
}

// below puts the place of an *Error below the member that was read.
func below(pointer string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	return fault(e.Code, pointer+e.Pointer, e.Detail)
}

// ErrorDocument writes an error as JSON: `{"error":{"code":…,"detail":…}}`.
func ErrorDocument(code, detail string) []byte {
	var inner, o object
	inner.text("code", code)
	inner.text("detail", detail)
	o.raw("error", inner.literal())
	return o.literal().json
}
