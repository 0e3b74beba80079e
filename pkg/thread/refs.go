package thread

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// What a resolved reference is admitted for (X2).
const (
	Governance    = "governance"     // normative: the policy sees it
	ExecutionOnly = "execution_only" // observational: the prompt alone sees it
)

// Ref is a declared reference.
type Ref struct {
	Type       string
	ID         string // a correlation id or a turn id
	Version    string
	HasVersion bool // the version is there, if only as the empty text
}

// sortRefs puts references in the order of type, id and version; the client's order counts for nothing (X1).
func sortRefs(refs []Ref) []Ref {
	slices.SortStableFunc(refs, func(a, b Ref) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID), strings.Compare(a.Version, b.Version))
	})
	return refs
}

// declared writes declared references.
func (r *room) declared(refs []Ref) literal {
	items := make([]literal, len(refs))
	for i, ref := range refs {
		o := r.object()
		o.text("ref_id", ref.ID)
		o.text("ref_type", ref.Type)
		if ref.HasVersion {
			o.text("version", ref.Version)
		}
		items[i] = o.literal()
	}
	return r.list(items)
}

// ResolvedRef is a reference together with the event it names.
type ResolvedRef struct {
	Type        string
	ID          string // as declared
	Version     string // empty for none
	EventIndex  int
	EventDigest string // as the event states it
	EventKind   Kind
	AdmittedFor string // Governance or ExecutionOnly
	Content     string // the event's text, stripped; empty where it has none
}

func (r *room) resolved(refs []ResolvedRef) literal {
	items := make([]literal, len(refs))
	for i, ref := range refs {
		o := r.object()
		o.text("admitted_for", ref.AdmittedFor)
		o.text("content", ref.Content)
		o.text("event_digest", ref.EventDigest)
		o.integer("event_index", ref.EventIndex)
		o.text("event_kind", string(ref.EventKind))
		o.text("ref_id", ref.ID)
		o.text("ref_type", ref.Type)
		if ref.Version != "" {
			o.text("version", ref.Version)
		}
		items[i] = o.literal()
	}
	return r.list(items)
}

// Query is what one turn asks to be resolved.
type Query struct {
	Refs       []Ref
	ThreadID   string
	IntentType string
}

// Resolution is the answer to a Query.
type Resolution struct {
	Refs         []ResolvedRef   // in canonical order
	InputDigests []string        // normative_input_digests: event digests of the governance references
	Warnings     []string        // about handles, in the order of resolution
	Inputs       []IntentMessage // the governance events, each once: all that admission may see (X7)
}

// NormativeIDs gives the ids of the governance references, in the order of Refs.
func (r Resolution) NormativeIDs() []string {
	var ids []string
	for _, ref := range r.Refs {
		if ref.AdmittedFor == Governance {
			ids = append(ids, ref.ID)
		}
	}
	return ids
}

// add takes a reference and, where it is for governance, its event.
func (r *Resolution) add(ref ResolvedRef, e Event) {
	r.Refs = append(r.Refs, ref)
	if ref.AdmittedFor != Governance {
		return
	}
	r.InputDigests = append(r.InputDigests, e.Digest)
	if e.Kind != Intent {
		return // X7
	}
	input := IntentMessage{index: e.Index, threadID: e.ThreadID, hasText: ref.Content != ""}
	if !slices.ContainsFunc(r.Inputs, input.same) {
		r.Inputs = append(r.Inputs, input)
	}
}

// Resolve resolves declared references, or refuses with one of the four codes of X1. Without references the policy for
// empty references decides; nothing is expanded here. The gateway takes them in the order given, which Build has sorted;
// the seed sorts them in any case. The error is an *Error, or the history's.
func Resolve(q Query, c Config, h History, p Profile) (Resolution, error) {
	if len(q.Refs) == 0 {
		return Resolution{}, refuseEmpty(q, c, p)
	}
	if len(q.Refs) > c.MaxRefs {
		return Resolution{}, refusal(CodeMaxRefsExceeded, "%d references are declared, and at most %d may be", len(q.Refs), c.MaxRefs)
	}
	if p == Seed {
		q.Refs = sortRefs(slices.Clone(q.Refs))
	}
	var r Resolution
	for _, ref := range q.Refs {
		if err := r.resolve(ref, q, c, h); err != nil {
			return Resolution{}, err
		}
	}
	switch c.CanonicalSort {
	case SortAscending:
		slices.SortStableFunc(r.Refs, func(a, b ResolvedRef) int { return cmp.Compare(a.EventIndex, b.EventIndex) })
	case SortDescending:
		slices.SortStableFunc(r.Refs, func(a, b ResolvedRef) int { return cmp.Compare(b.EventIndex, a.EventIndex) })
	}
	slices.Sort(r.InputDigests)
	return r, nil
}

// refuseEmpty applies the policy for a turn without references. The gateway lets chat messages through; in the seed the
// refusal knows no intent type, and a policy that asks for expansion asks for what it does not have.
func refuseEmpty(q Query, c Config, p Profile) error {
	switch {
	case c.EmptyRefsPolicy == EmptyDeny && (p == Seed || q.IntentType != chatMessage):
		return refusal(CodeEmptyRefsDenied, "no references are declared, and the policy is DENY")
	case c.EmptyRefsPolicy == EmptyExpand && (p == Seed || !c.ExpandHistory):
		return refusal(CodeEmptyRefsDenied, "no references are declared, and history is not expanded")
	}
	return nil
}

func (r *Resolution) resolve(ref Ref, q Query, c Config, h History) error {
	e, ok, err := h.Find(ref.ID)
	if err != nil {
		return err
	}
	if !ok {
		return refusal(CodeRefNotFound, "no event has the id %q", ref.ID)
	}
	if c.ScopeBound && e.ThreadID != q.ThreadID {
		return refusal(CodeCrossThreadRef, "%q belongs to the thread %q, not to %q", ref.ID, e.ThreadID, q.ThreadID)
	}
	resolved := ResolvedRef{
		Type: ref.Type, ID: ref.ID, Version: ref.Version,
		EventIndex: e.Index, EventDigest: e.Digest, EventKind: e.Kind, AdmittedFor: ExecutionOnly,
	}
	switch {
	case isHandle(e):
		warning, err := handleWarning(e, q.IntentType, c)
		if err != nil {
			return err
		}
		r.Warnings = append(r.Warnings, warning)
	case e.Kind == Intent:
		resolved.AdmittedFor = Governance
		resolved.Content, err = contentOf(e)
	case e.Kind == Execution && !c.AllowExecutionRefs:
		return nil
	case e.Kind == Execution:
		resolved.Content, err = contentOf(e)
	}
	if err != nil {
		return err
	}
	r.add(resolved, e)
	return nil
}

// handleWarning says why the content of a handle is not in the context. Where it was fetched, only the network knows it.
func handleWarning(e Event, intentType string, c Config) (string, error) {
	id := cmp.Or(e.TurnID, e.CorrelationID)
	switch {
	case intentType != chatMessage:
		return "HANDLE_CONTENT_FETCH_DISABLED ref_id=" + id, nil
	case c.HandleMode == "disabled":
		return "HIGH_RISK_CONTEXT_DISABLED ref_id=" + id, nil
	case c.HandleMode == "metadata_only":
		return "HIGH_RISK_CONTEXT_METADATA_ONLY ref_id=" + id, nil
	case !c.FetchHandles:
		return "HANDLE_CONTENT_FETCH_DISABLED ref_id=" + id, nil
	}
	return "", fault(CodeUnverifiable, "", "the content of a handle was fetched over the network, and the stream does not hold it")
}

// contentOf gives the text that an event brings into a context.
func contentOf(e Event) (string, error) {
	payload, err := payloadOf(e)
	if err != nil {
		return "", err
	}
	if e.Kind == Intent {
		return firstText(member(payload, "message"), member(member(payload, "payload"), "message")), nil
	}
	result := member(payload, "result")
	return firstText(member(payload, "output_text"), result, member(result, "text")), nil
}

// payloadOf reads the payload of an event. The error is an *Error with CodeInvalidEvent.
func payloadOf(e Event) (canon.Value, error) {
	payload, err := e.Read()
	if err != nil {
		return canon.Value{}, fault(CodeInvalidEvent, "/payload", err.Error())
	}
	return payload, nil
}

// firstText gives the first of some values that is a text and not blank, stripped.
func firstText(values ...canon.Value) string {
	for _, v := range values {
		if text, ok := stripped(v); ok {
			return text
		}
	}
	return ""
}
