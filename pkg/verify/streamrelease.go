package verify

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// release is what a DECISION lets through, as JSON texts: what PROOF and EXECUTION digest.
type release struct {
	position      int32 // of the DECISION
	messages      []byte
	tools, budget []byte // nil where the digest does not hold them
	inDBL         bool   // all of them stand in the form of dbl
}

// releases keeps what the last decisions let through: the PROOF mostly follows at once.
type releases struct {
	kept []release
	next int
}

const keptReleases = 64

func (r *releases) add(added release) {
	if len(r.kept) < keptReleases {
		r.kept = append(r.kept, added)
		return
	}
	r.kept[r.next] = added
	r.next = (r.next + 1) % keptReleases
}

func (r *releases) of(position int32) (release, bool) {
	i := slices.IndexFunc(r.kept, func(known release) bool { return known.position == position })
	if i < 0 {
		return release{}, false
	}
	return r.kept[i], true
}

func newRelease(position int32, decision canon.Value) release {
	at := func(pointer string) canon.Value { v, _ := decision.At(pointer); return v }
	r := release{position: position, messages: []byte("[]"), inDBL: true}
	if messages := at("/assembled_context/model_messages"); !nothing(messages) {
		r.messages, r.inDBL = bytes.Clone(messages.Raw()), messages.InDBL()
	}
	if tools := at("/permitted_tools"); tools.Kind() == canon.Array {
		r.tools, r.inDBL = sortedList(tools), r.inDBL && tools.InDBL()
	}
	if budget := at("/enforced_budget"); len(budget.Members()) > 0 {
		r.budget, r.inDBL = bytes.Clone(budget.Raw()), r.inDBL && budget.InDBL()
	}
	return r
}

// sortedList gives a list of texts in the order of their code points.
func sortedList(v canon.Value) []byte {
	items := slices.Clone(v.Elements())
	slices.SortStableFunc(items, func(a, b canon.Value) int {
		x, _ := a.Text()
		y, _ := b.Text()
		return strings.Compare(x, y)
	})
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item.Raw()...)
	}
	return append(out, ']')
}

// render is the digest of what the model is shown.
func (r release) render() (canon.Sum, error) {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	*room = join((*room)[:0], `{"messages":`, r.messages, `}`)
	return digestOf(*room, r.inDBL)
}

// proof is the digest of what the model is given. The members stand in the order of dbl.
func (r release) proof(of guard) (canon.Sum, error) {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	text := append((*room)[:0], '{')
	if r.budget != nil {
		text = join(text, `"enforced_budget":`, r.budget, `,`)
	}
	text = join(text, `"messages":`, r.messages, `,"model_id":`, of.model)
	if r.tools != nil {
		text = join(text, `,"permitted_tools":`, r.tools, "")
	}
	*room = join(text, `,"provider":`, of.provider, `}`)
	return digestOf(*room, r.inDBL && of.inDBL)
}

// rooms keeps the memory of one digested text for the next.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

// guard is what a PROOF adds to the release that it digests, as JSON texts.
type guard struct {
	model, provider []byte
	inDBL           bool // both stand in the form of dbl
}

func digestOf(text []byte, inDBL bool) (canon.Sum, error) {
	if inDBL {
		return canon.Digest(canon.Raw, text)
	}
	return canon.Digest(canon.DBL, text)
}

// join appends a value between two texts, and what may follow.
func join(out []byte, before string, value []byte, after string, more ...[]byte) []byte {
	out = append(append(append(out, before...), value...), after...)
	for _, m := range more {
		out = append(out, m...)
	}
	return out
}

func (s *Stream) rememberRelease() {
	r := newRelease(int32(s.at.position), s.at.payload)
	s.releases.add(r)
	if sum, err := r.render(); err == nil {
		s.at.turn.render = stated{sum: sum, form: prefixed}
	} else {
		s.at.turn.render = stated{form: otherValue}
	}
}

// isReleaseGuard tells whether a PROOF states what was released to the model; others prove something else.
func isReleaseGuard(proof canon.Value) bool {
	kind, _ := proof.Get("proof_type")
	return isText(kind, "context_release_guard")
}

// deferredRelease is a PROOF whose DECISION is no longer kept.
type deferredRelease struct {
	at       seen
	decision int32
	guard    guard
}

// X6: a PROOF digests what its DECISION let through, and the EXECUTION repeats the PROOF of its correlation id.
func checkRelease(s *Stream) {
	switch s.at.Kind {
	case thread.Proof:
		s.checkProof()
	case thread.Execution:
		s.checkReleased()
	}
}

func (s *Stream) checkProof() {
	if !isReleaseGuard(s.at.payload) {
		s.skip("the PROOF states no release")
		return
	}
	if s.at.turn.decision < 0 {
		s.missing("", nil, nil, "a release without an earlier DECISION of its turn and correlation id")
		return
	}
	model, provider := s.member("/model_id"), s.member("/provider")
	of := guard{rawOr(model), rawOr(provider), model.InDBL() && provider.InDBL()}
	if r, ok := s.releases.of(s.at.turn.decision); ok {
		s.proveRelease(r, of, s.member("/payload_digest").Raw())
		return
	}
	of.model, of.provider = bytes.Clone(of.model), bytes.Clone(of.provider)
	at := s.at
	at.payload, at.Payload = canon.Value{}, clone(s.member("/payload_digest").Raw())
	s.deferred = append(s.deferred, deferredRelease{at, at.turn.decision, of})
}

func rawOr(v canon.Value) []byte {
	if v.Kind() == canon.Invalid {
		return []byte("null")
	}
	return v.Raw()
}

func (s *Stream) proveRelease(r release, of guard, stored []byte) {
	sum, err := r.proof(of)
	if err != nil {
		s.fail("/payload/payload_digest", nil, clone(stored), "what the DECISION let through has no digest: %s", err)
		return
	}
	want := textValue(canon.PrefixedHex.Spell(sum))
	if bytes.Equal(want, stored) {
		s.pass()
		return
	}
	s.fail("/payload/payload_digest", want, clone(stored), "the PROOF is not about what its DECISION let through")
}

func (s *Stream) checkReleased() {
	v := s.member("/release_digest")
	if nothing(v) {
		s.skip("the EXECUTION states no release")
		return
	}
	const pointer = "/payload/release_digest"
	if s.at.turn.proof.form == notStated {
		s.missing(pointer, nil, clone(v.Raw()), "no earlier PROOF of this correlation id states a release")
		return
	}
	s.repeats(pointer, s.at.turn.proof, v, "the EXECUTION states another release than its PROOF")
}

// repeats passes where a value of the payload is a digest that was stated before.
func (s *Stream) repeats(pointer string, before stated, v canon.Value, detail string) {
	if s.memory.statedIn(v) == before {
		s.pass()
		return
	}
	var want finding.Value
	if text := s.memory.spell(before); text != "" {
		want = textValue(text)
	}
	s.fail(pointer, want, clone(v.Raw()), "%s", detail)
}

// X6: an EXECUTION was shown the messages of its DECISION.
func checkRender(s *Stream) {
	v := s.member("/_obs/render/render_digest")
	switch {
	case nothing(v):
		s.skip("the EXECUTION states no render digest")
	case s.at.turn.decision < 0:
		s.skip("no DECISION of this correlation id is there")
	default:
		s.repeats("/payload/_obs/render/render_digest", s.at.turn.render, v, "the model was shown other messages than the DECISION holds")
	}
}

// X6: an EXECUTION repeats the digest of its DECISION's context.
func checkExecutionContext(s *Stream) {
	v := s.member("/context_digest")
	switch {
	case nothing(v):
		s.skip("the EXECUTION states no context digest")
	case s.at.turn.decision < 0:
		s.skip("no DECISION of this correlation id is there")
	default:
		s.repeats("/payload/context_digest", s.at.turn.assembly, v, "the EXECUTION states another context than its DECISION")
	}
}
