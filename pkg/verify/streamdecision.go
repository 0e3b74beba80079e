package verify

import (
	"bytes"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// resolutionOff stands in place of a configuration digest where the gateway resolved no context (dbl-gateway.md §9).
const resolutionOff = "CONTEXT_RESOLUTION_DISABLED"

// artifactHandle is the intent type whose decisions have no context and no intent_index.
const artifactHandle = "artifact.handle"

const noContext = "the decision stores no context"

func nothing(v canon.Value) bool { return len(v.Raw()) == 0 || v.Kind() == canon.Null }

// isText tells that a value is a string of that text.
func isText(v canon.Value, text string) bool {
	stated, ok := v.TextBytes()
	return ok && string(stated) == text
}

// X3, X6: assembly_digest is the digest of the stored context; context_digest is the same for ALLOW, null for DENY.
func checkContextDigests(s *Stream) {
	assembly, context := s.member("/assembly_digest"), s.member("/context_digest")
	denied := isText(s.member("/result"), "DENY")
	spec, assembled := s.member("/context_spec"), s.member("/assembled_context")
	if nothing(spec) && nothing(assembled) && nothing(assembly) {
		s.skip(noContext)
		s.as("context_digest", func() {
			if nothing(context) {
				s.skip(noContext)
				return
			}
			s.fail("/payload/context_digest", nil, clone(context.Raw()), "a context digest without a context")
		})
		return
	}
	d, err := thread.ContextDigest(spec, assembled)
	s.at.digested = err == nil && s.memory.statedIn(assembly) == computed(d)
	if err != nil {
		s.fail("/payload/assembly_digest", nil, clone(assembly.Raw()), "the stored context has no digest: %s", err)
	} else {
		s.compareDigest("/payload/assembly_digest", d, assembly, "assembly_digest is not the digest of the stored context")
	}
	s.as("context_digest", func() {
		switch {
		case denied && nothing(context):
			s.pass()
		case denied:
			s.fail("/payload/context_digest", finding.Value("null"), clone(context.Raw()), "a refused turn has no context digest")
		case err != nil:
			s.fail("/payload/context_digest", nil, clone(context.Raw()), "the stored context has no digest")
		default:
			s.compareDigest("/payload/context_digest", d, context, "context_digest is not the digest of the stored context")
		}
	})
}

// compareDigest passes where a value of the payload is the computed digest.
func (s *Stream) compareDigest(pointer string, d thread.Digest, v canon.Value, detail string) {
	if s.memory.statedIn(v) == computed(d) {
		s.pass()
		return
	}
	s.fail(pointer, textValue(d.String()), clone(v.Raw()), "%s", detail)
}

// X4, X6: both pins are the digest of the configuration given; without one they are held to each other.
func checkConfigDigests(s *Stream) {
	stated := make([][]byte, 0, len(configPins))
	for _, pointer := range configPins {
		v := s.member(pointer)
		if nothing(v) {
			continue
		}
		text, _ := v.TextBytes()
		if string(text) == resolutionOff {
			s.skip("context resolution was off") // where a context is stored, checkConfigPins fails
			return
		}
		stated = append(stated, text)
		if s.o.Config != nil && s.memory.statedIn(v) != computed(s.o.Config.Digest) {
			s.fail("/payload"+pointer, textValue(s.o.Config.Digest.String()), clone(v.Raw()), "the decision rests on another context configuration")
			return
		}
	}
	switch {
	case len(stated) == 0:
		s.skip("the decision states no configuration")
	case len(stated) == 2 && !bytes.Equal(stated[0], stated[1]):
		s.fail("/payload"+configPins[1], textValue(string(stated[0])), textValue(string(stated[1])), "the two pins of the configuration differ")
	case s.o.Config == nil:
		s.skip(noConfig)
	default:
		s.pass()
	}
}

const noConfig = "no context configuration was given (--context-config)"

// X6: every resolved reference is an event of the thread as it stands, before the decision.
func checkReferences(s *Stream) {
	cross := s.ruleNamed("cross_thread")
	threadID := s.at.key.thread
	for i, ref := range s.member("/context_spec/retrieval/resolved_refs").Elements() {
		pointer := "/payload/context_spec/retrieval/resolved_refs/" + string(numberValue(i))
		value, _ := ref.Get("event_index")
		index, ok := canon.Integer(value.Raw())
		if !ok || int64(int(index)) != index {
			s.fail(pointer+"/event_index", nil, clone(value.Raw()), "a reference without an event index")
			continue
		}
		event := s.memory.atIndex(int(index))
		if event == nil {
			s.missing(pointer+"/event_index", nil, clone(value.Raw()), "no earlier event has the index of the reference")
			continue
		}
		s.refersTo(pointer, ref, event)
		before := s.rule
		s.rule = cross
		if of := s.memory.key(event).thread; of == threadID {
			s.pass()
		} else {
			s.fail(pointer, textValue(s.at.ThreadID), s.memory.column(of), "the reference is to an event of another thread")
		}
		s.rule = before
	}
}

func (s *Stream) refersTo(pointer string, ref canon.Value, event *row) {
	digest, _ := ref.Get("event_digest")
	kind, _ := ref.Get("event_kind")
	if s.memory.statedIn(digest) != event.digest {
		s.fail(pointer+"/event_digest", textValue(s.memory.spell(event.digest)), clone(digest.Raw()), "the reference states another digest than its event")
		return
	}
	if text, _ := kind.TextBytes(); string(text) != string(rowKinds[event.kind]) {
		s.fail(pointer+"/event_kind", textValue(string(rowKinds[event.kind])), clone(kind.Raw()), "the reference states another kind than its event")
		return
	}
	s.pass()
}

// X2, X6: every normative input is an earlier INTENT of the thread.
func checkNormative(s *Stream) {
	threadID := s.at.key.thread
	for i, v := range s.member("/assembled_context/normative_input_digests").Elements() {
		if _, ok := s.memory.intents[normativeKey{threadID, s.memory.statedIn(v)}]; ok {
			s.pass()
			continue
		}
		s.missing("/payload/assembled_context/normative_input_digests/"+string(numberValue(i)), nil, clone(v.Raw()),
			"a normative input is no earlier INTENT of the thread")
	}
}

// X6: intent_index is the INTENT of the same thread, turn and correlation id.
func checkIntentLink(s *Stream) {
	v := s.member("/intent_index")
	if nothing(v) {
		if s.at.IntentType == artifactHandle {
			s.skip("decisions on handles have no intent_index")
			return
		}
		s.skip("the decision states no intent_index")
		return
	}
	const pointer = "/payload/intent_index"
	index, ok := canon.Integer(v.Raw())
	if !ok || int64(int(index)) != index {
		s.fail(pointer, nil, clone(v.Raw()), "intent_index is no index")
		return
	}
	event := s.memory.atIndex(int(index))
	switch {
	case event == nil:
		s.missing(pointer, nil, clone(v.Raw()), "no earlier event has this index")
	case event.kind != intentRow, event.turn != s.at.number:
		s.fail(pointer, nil, clone(v.Raw()), "the event of this index is not the INTENT of the turn")
	default:
		s.pass()
	}
}

// X6: what a DECISION says twice it says alike.
func checkDecisionFields(s *Stream) {
	pairs := [...][2]string{{"/decision", "/result"}, {"/policy_id", "/policy/policy_id"}, {"/policy_version", "/policy/policy_version"}}
	stated := 0
	for _, p := range pairs {
		flat, block := s.member(p[0]), s.member(p[1])
		if flat.Kind() == canon.Invalid {
			continue
		}
		stated++
		if !sameForm(flat, block) {
			s.fail("/payload"+p[0], clone(block.Raw()), clone(flat.Raw()), "%s contradicts %s", p[0][1:], p[1][1:])
			return
		}
	}
	if codes := s.member("/reason_codes"); codes.Kind() != canon.Invalid {
		stated++
		if !sameCodes(codes.Elements(), s.member("/reasons").Elements()) {
			s.fail("/payload/reason_codes", nil, clone(codes.Raw()), "reason_codes are not the codes of reasons")
			return
		}
	}
	if stated == 0 {
		s.skip("the decision repeats nothing")
		return
	}
	s.pass()
}

func sameForm(a, b canon.Value) bool {
	if a.InDBL() && b.InDBL() {
		return bytes.Equal(a.Raw(), b.Raw())
	}
	return a.Kind() != canon.Invalid && b.Kind() != canon.Invalid && canon.Equal(a.Raw(), b.Raw(), canon.Form{Profile: canon.DBL})
}

func sameCodes(codes, reasons []canon.Value) bool {
	if len(codes) != len(reasons) {
		return false
	}
	for i, code := range codes {
		if of, ok := reasons[i].Get("code"); !ok || !sameForm(code, of) {
			return false
		}
	}
	return true
}

// X6: the references of the context are those that it was assembled from.
func checkSpecReferences(s *Stream) {
	declared, from := s.member("/context_spec/retrieval/resolved_refs"), s.member("/assembled_context/assembled_from")
	if declared.Kind() == canon.Invalid && from.Kind() == canon.Invalid {
		s.skip(noContext)
		return
	}
	if sameForm(declared, from) {
		s.pass()
		return
	}
	s.fail("/payload/assembled_context/assembled_from", nil, nil, "resolved_refs and assembled_from differ")
}

// decision is what is kept of a DECISION for the assembly of its context.
type decision struct {
	position, intent int32 // intent -1: there is none
	assembly         stated
	content          canon.Sum // of context_spec and assembled_context as stored
	hasContent       bool      // the content has a form
	digested         bool      // assembly is its digest
	off, denied      bool
	reason           int32 // id of the code of the only reason; -1 for none or several
}

// rememberDecision keeps what is needed once all events are there.
func (s *Stream) rememberDecision(of turnOnly) {
	e, r := &s.at, &s.memory
	assembly := r.statedIn(s.member("/assembly_digest"))
	e.turn.assembly = assembly
	s.decided++
	if s.o.Config == nil {
		s.rememberRelease()
		return
	}
	d := decision{
		position: int32(e.position), intent: e.turn.intent, assembly: assembly,
		off:      isText(s.member("/boundary/context_config_digest"), resolutionOff) && nothing(s.member("/context_spec")),
		digested: e.digested, denied: isText(s.member("/result"), "DENY"), reason: -1,
	}
	if d.intent < 0 {
		if position, ok := r.asked[of]; ok {
			d.intent = position
		}
	}
	if reasons := s.member("/reasons").Elements(); len(reasons) == 1 {
		if code, ok := reasons[0].Get("code"); ok {
			text, _ := code.Text()
			d.reason = r.id(text)
		}
	}
	if spec, assembled := s.member("/context_spec"), s.member("/assembled_context"); len(spec.Raw()) > 0 && len(assembled.Raw()) > 0 {
		content, err := thread.Content(spec, assembled)
		d.content, d.hasContent = content.Sum, err == nil
	}
	s.decisions = append(s.decisions, d)
	s.rememberRelease()
}
