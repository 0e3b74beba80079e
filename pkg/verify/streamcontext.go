package verify

import (
	"bytes"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// configPins are where a DECISION states the configuration that its context was built under.
var configPins = [...]string{"/context_spec/retrieval/normalization/config_digest", "/boundary/context_config_digest"}

const (
	resolvedAt  = "/context_spec/retrieval/resolved_refs"
	normativeAt = "/assembled_context/normative_input_digests"
	appliedAt   = "/context_spec/retrieval/normalization/transformations"
)

// X4, X6: a decision with a context pins its configuration in both places. The second is in no digest: a pin that is missing,
// or says that nothing was resolved, would switch checks off.
func checkConfigPins(s *Stream) {
	if nothing(s.member("/context_spec")) {
		s.skip(noContext)
		return
	}
	for _, pointer := range configPins {
		v := s.member(pointer)
		if text, _ := v.TextBytes(); len(text) == 0 || string(text) == resolutionOff {
			s.fail("/payload"+pointer, nil, clone(v.Raw()), "the decision stores a context and does not pin its configuration here")
			return
		}
	}
	s.pass()
}

// X2, X6: what a context admits for governance are INTENTs, no handle among them, and they alone are its normative inputs.
func checkGovernance(s *Stream) {
	if nothing(s.member("/context_spec")) {
		s.skip(noContext)
		return
	}
	var admitted [][]byte
	for i, ref := range s.member(resolvedAt).Elements() {
		purpose, _ := ref.Get("admitted_for")
		if !isText(purpose, thread.Governance) {
			continue
		}
		digest, _ := ref.Get("event_digest")
		text, _ := digest.TextBytes()
		admitted = append(admitted, text)
		if event := s.eventOf(ref); event != nil && (event.kind != intentRow || s.memory.text(event.intentType) == artifactHandle) {
			pointer := "/payload" + resolvedAt + "/" + string(numberValue(i)) + "/admitted_for"
			s.fail(pointer, textValue(thread.ExecutionOnly), clone(purpose.Raw()), "what is no message of a user is admitted for governance")
			return
		}
	}
	var inputs [][]byte
	for _, v := range s.member(normativeAt).Elements() {
		text, _ := v.TextBytes()
		inputs = append(inputs, text)
	}
	slices.SortFunc(admitted, bytes.Compare)
	slices.SortFunc(inputs, bytes.Compare)
	if !slices.EqualFunc(admitted, inputs, bytes.Equal) {
		s.fail("/payload"+normativeAt, nil, clone(s.member(normativeAt).Raw()), "the normative inputs are not the references that are admitted for governance")
		return
	}
	s.pass()
}

// eventOf gives the event that a reference means: its index and its digest agree. What disagrees is for checkReferences to say.
func (s *Stream) eventOf(ref canon.Value) *row {
	value, _ := ref.Get("event_index")
	index, ok := canon.Integer(value.Raw())
	if !ok || int64(int(index)) != index {
		return nil
	}
	event := s.memory.atIndex(int(index))
	digest, _ := ref.Get("event_digest")
	if event == nil || s.memory.statedIn(digest) != event.digest {
		return nil
	}
	return event
}

// X6: every transform of the turn is written down in the normalization of its context.
func checkNormalization(s *Stream) {
	if nothing(s.member("/context_spec")) {
		s.skip(noContext)
		return
	}
	done, written := s.member("/transforms"), s.member(appliedAt)
	if len(done.Elements())+len(written.Elements()) == 0 || sameForm(done, written) {
		s.pass()
		return
	}
	s.fail("/payload"+appliedAt, clone(done.Raw()), clone(written.Raw()), "the transforms of the turn are not those that its context states")
}

// X1, X6: references stand in the order that their context states, whatever the client's was. What was expanded ascends.
func checkReferenceOrder(s *Stream) {
	if nothing(s.member("/context_spec")) {
		s.skip(noContext)
		return
	}
	ordering, _ := s.member("/context_spec/assembly_rules/ordering").Text()
	if len(s.member(appliedAt).Elements()) > 0 {
		ordering = thread.SortAscending
	}
	sign := map[string]int64{thread.SortAscending: 1, thread.SortDescending: -1}[trimmed(ordering)]
	var before int64
	for i, ref := range s.member(resolvedAt).Elements() {
		value, _ := ref.Get("event_index")
		index, ok := canon.Integer(value.Raw())
		if !ok {
			break // checkReferences says so
		}
		if i > 0 && sign*index < sign*before {
			pointer := "/payload" + resolvedAt + "/" + string(numberValue(i)) + "/event_index"
			s.fail(pointer, nil, clone(value.Raw()), "the references are not in the order %s", ordering)
			return
		}
		before = index
	}
	s.pass()
}
