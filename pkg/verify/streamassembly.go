package verify

import (
	"cmp"
	"errors"
	"slices"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// reassemble builds the context of every decision again from the events up to its INTENT (X3, X6). The error is the
// source's, which could not give a payload again.
func (s *Stream) reassemble(source StreamSource) error {
	skip := ""
	switch {
	case !source.Whole:
		skip = source.Reason
	case s.o.Config == nil:
		skip = noConfig
	}
	if skip != "" {
		for range s.decided {
			s.as("reassembly", func() { s.skip(skip) })
		}
		return nil
	}
	slices.SortStableFunc(s.decisions, func(a, b decision) int { return cmp.Compare(a.intent, b.intent) })
	payload := func(position int) ([]byte, error) {
		if essence, ok := s.essences.Get(position); ok {
			return essence, nil
		}
		return source.Payload(position)
	}
	h := newHistories(&s.memory, payload, s.o.Config.ExpandHistory)
	next := 0
	for ; next < len(s.decisions) && s.decisions[next].intent < 0; next++ {
		s.place(s.decisions[next].position)
		s.as("reassembly", func() { s.missing("", nil, nil, "a DECISION without an INTENT of its turn") })
	}
	for position := range s.memory.count() {
		log := h.append(int32(position))
		for ; next < len(s.decisions) && int(s.decisions[next].intent) == position; next++ {
			if err := s.assemble(s.decisions[next], log); err != nil {
				return err
			}
		}
	}
	return nil
}

// place puts an earlier event to work again.
func (s *Stream) place(position int32) {
	s.at = seen{position: int(position)}
	s.at.Index = int(s.memory.row(int(position)).index)
}

func (s *Stream) assemble(d decision, h *history) error {
	s.place(d.position)
	s.rule = s.ruleNamed("reassembly")
	intent := h.of.memory.row(int(d.intent))
	switch intentType := s.memory.text(intent.intentType); {
	case intentType == artifactHandle && d.assembly.form == notStated: // no digest covers the column: a context counts more
		s.skip("handles have no context")
		return nil
	case d.off:
		s.skip("context resolution was off")
		return nil
	default:
		raw, err := h.of.payload(int(d.intent))
		if err != nil {
			return err
		}
		payload, err := h.of.intent.read(raw)
		if err != nil {
			s.skip("the payload of the INTENT cannot be read")
			return nil
		}
		built, err := thread.Build(payload, intentType, *s.o.Config, h, thread.Gateway)
		if err != nil {
			return s.unbuilt(d, err)
		}
		s.built(d, built)
		return nil
	}
}

// unbuilt decides where the stream gives no context: a refusal must be the decision's only reason.
func (s *Stream) unbuilt(d decision, err error) error {
	var e *thread.Error
	if !errors.As(err, &e) {
		return err
	}
	if !thread.Refused(err) {
		if d.assembly.form != notStated && e.Code == thread.CodeInvalidIntent {
			s.fail("/payload/assembly_digest", nil, textValue(s.memory.spell(d.assembly)), "the INTENT gives no context: %s", err)
			return nil
		}
		s.skip("the stream does not hold what the context is made of: " + e.Code)
		return nil
	}
	s.rule = s.ruleNamed("reassembly_error")
	if d.denied && d.assembly.form == notStated && d.reason >= 0 && s.memory.text(d.reason) == e.Code {
		s.pass()
		return nil
	}
	s.fail("/payload/reasons", textValue(e.Code), s.onlyReason(d), "the references of the INTENT are refused, and the DECISION does not say so: %s", err)
	return nil
}

func (s *Stream) onlyReason(d decision) finding.Value {
	if d.reason < 0 {
		return nil
	}
	return textValue(s.memory.text(d.reason))
}

// built compares the context that the stream gives with what the decision states.
func (s *Stream) built(d decision, c thread.Context) {
	if d.assembly.form == notStated {
		switch {
		case d.reason >= 0 && thread.Refused(&thread.Error{Code: s.memory.text(d.reason)}):
			s.rule = s.ruleNamed("reassembly_error")
			s.fail("/payload/reasons", nil, s.onlyReason(d), "the DECISION refuses the references, and the stream resolves them")
		case d.denied:
			s.skip(noContext)
		default:
			s.fail("/payload/assembly_digest", nil, finding.Value("null"), "a turn was allowed without a context")
		}
		return
	}
	content, err := c.Content()
	same := err == nil && d.hasContent && content.Sum == d.content
	if same && d.digested { // equal contexts have equal digests, and this one's was computed before
		s.pass()
		s.as("reassembly_content", s.pass)
		return
	}
	digest, err := c.Digest()
	if err != nil {
		s.skip("the context that the stream gives has no digest")
		return
	}
	if computed(digest) != d.assembly {
		s.fail("/payload/assembly_digest", textValue(digest.String()), textValue(s.memory.spell(d.assembly)), "the stream gives another context")
		s.as("reassembly_content", func() { s.skip("the digests differ already") })
		return
	}
	s.pass()
	s.rule = s.ruleNamed("reassembly_content")
	if same {
		s.pass()
		return
	}
	s.fail("/payload/assembled_context", nil, nil, "the stored context is not, member by member, what the stream gives")
}
