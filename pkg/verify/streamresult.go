package verify

import (
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
)

// beyond is what no check of a stream covers (dbl-gateway.md §9). A test changes every value of a stream and holds this list.
var beyond = []finding.Ignored{
	{What: "/events/*/actor", Reason: "no digest and no check covers it"},
	{What: "/events/*/payload/_obs", Reason: "no digest covers it"},
	{What: "boundary_version, tools_denied, tool_scope_enforced and error_ref of a DECISION", Reason: "no digest and no check covers them"},
	{What: "timing keys in a trace", Reason: "no digest covers them"},
	{What: "a tail cut off and the chain rewritten", Reason: "compare v_digest with one kept elsewhere"},
	{What: "what was asked, decided or answered, rewritten with all digests", Reason: "compare v_digest with one kept elsewhere"},
}

// Result ends the check: contexts are assembled again, the chain is held to what the store states. The result has no
// inputs and no name yet. The error is the source's.
func (s *Stream) Result(source StreamSource) (finding.Result, error) {
	if err := s.deferredReleases(source); err != nil {
		return finding.Result{}, err
	}
	s.memory.forget()
	if err := s.reassemble(source); err != nil {
		return finding.Result{}, err
	}
	s.settle(source)
	s.store(source)
	s.result.Findings = slices.Concat(s.result.Findings, s.listed.All(), source.Shape)
	for i := range s.result.Findings {
		if f := &s.result.Findings[i]; f.Hint == "" {
			f.Hint = finding.Lookup(f.Code).Action
		}
	}
	s.checks(source)
	s.result.Ignored = append(s.result.Ignored, beyond...)
	s.result.Judge(false)
	return s.result, nil
}

// deferredReleases decides about the PROOFs whose DECISION has to be read again.
func (s *Stream) deferredReleases(source StreamSource) error {
	s.rule = s.ruleNamed("release_digest")
	for _, d := range s.deferred {
		raw, err := source.Payload(int(d.decision))
		if err != nil {
			return err
		}
		payload, err := canon.ParseAs(canon.DBL, raw)
		if err != nil {
			return err
		}
		s.at = d.at
		s.proveRelease(newRelease(d.decision, payload), d.guard, d.at.Payload)
	}
	return nil
}

// settle decides about what needed events that did not come (V5): only the whole store shows that there are none.
func (s *Stream) settle(source StreamSource) {
	status, reason := finding.NotChecked, source.Reason
	if source.Whole {
		status, reason = finding.Failed, ""
		s.result.Findings = s.unseen.All()
	}
	for rule, n := range s.waiting {
		for range n {
			s.tally(rule, status, reason)
		}
	}
}

// store holds the stream to what its store states: the chain and the number of events.
func (s *Stream) store(source StreamSource) {
	s.rule = s.ruleNamed("v_digest")
	switch {
	case !source.Whole:
		s.skip(source.Reason)
	case source.VDigest == "":
		s.skip("the store states no v_digest")
	case source.VDigest == s.chain:
		s.pass()
	default:
		s.atStore("/v_digest", textValue(s.chain), textValue(source.VDigest), "the chain over the stored digests gives another v_digest")
	}
	if n := s.memory.count(); source.Whole && source.Length != nil && *source.Length != int64(n) {
		s.rule = s.ruleNamed("index")
		s.atStore("/length", numberValue(n), numberValue(int(*source.Length)), "the store states "+finding.Counted(*source.Length, "event"))
	}
}

// atStore reports what belongs to no event.
func (s *Stream) atStore(pointer string, expected, actual finding.Value, detail string) {
	s.tally(s.rule, finding.Failed, "")
	f := s.found("", expected, actual, detail)
	f.EventIndex, f.Pointer = finding.NoEvent, pointer
	s.listed.Add(f)
}

// checks writes down how every check ended; one without anything to look at is not applicable (V0, V5).
func (s *Stream) checks(source StreamSource) {
	shape := finding.Check{ID: "V1.shape", Status: finding.Passed, Count: 1}
	for _, f := range source.Shape {
		if f.Severity == finding.Error {
			shape.Status = finding.Failed
		}
	}
	s.result.Checks = append(s.result.Checks, shape)
	for i, r := range s.rules {
		outcomes := s.tallies[i]
		if len(outcomes) == 0 {
			outcomes = []finding.Check{{Status: finding.NotApplicable, Count: 1, Reason: "the stream has nothing of the kind"}}
		}
		for _, o := range outcomes {
			o.ID = "X6." + r.name
			s.result.Checks = append(s.result.Checks, o)
		}
	}
	if n := s.decided; n > 0 { // X7
		s.result.Checks = append(s.result.Checks, finding.Check{
			ID: "X7.policy", Status: finding.NotChecked, Count: n, Reason: "the gateway's own policy is not re-run",
		})
	}
	requireCoverage(&s.result, &s.cover, s.o.Coverage, s.o.Path)
}
