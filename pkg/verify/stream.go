package verify

import (
	"fmt"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
)

// StreamOptions say how a stream is checked.
type StreamOptions struct {
	Path     string         // of the stream, for findings
	Config   *thread.Config // the context configuration in force; nil: not given, and what needs it is not checked (X4)
	Coverage int            // least percentage of claims that must be checked (V5); 0: none
}

// StreamSource is what a reader knows of a stream once all its events have been passed on.
type StreamSource struct {
	Length  *int64 // events of the whole store, as stated; nil: not stated
	VDigest string // of the whole store, as stated; "" when not stated
	Whole   bool   // the whole store is there
	Reason  string // why it is not
	Shape   []finding.Finding
	// Payload reads the payload of the event at a position again, so that payloads need not be kept.
	Payload func(position int) ([]byte, error)
}

// Stream checks the events of a gateway one after the other (V0, V5, X6, dbl-gateway.md §9). Of an event it keeps what
// later events refer to, and no payload.
type Stream struct {
	o       StreamOptions
	rules   []streamRule
	result  finding.Result
	cover   finding.Coverage
	tallies [][]finding.Check // by rule
	listed  finding.List
	unseen  finding.List // checks that needed an event which did not come: failures where the whole store is there
	waiting []int        // of unseen, by rule
	rule    int          // at work
	at      seen

	chain     string // v_digest so far
	before    string // digest of the event before, as stored
	memory    record
	essences  thread.Essences // where contexts are assembled again
	decisions []decision      // where contexts are assembled again
	decided   int             // DECISIONs
	releases  releases
	deferred  []deferredRelease
}

// seen is the event at work.
type seen struct {
	thread.Event
	position int
	payload  canon.Value
	digest   stated // as stored
	key      turnKey
	turn     *turn
	number   int32 // of turn
	digested bool  // of a DECISION: assembly_digest is right
}

// NewStream starts a check. Add takes the events, Result ends it.
func NewStream(o StreamOptions) *Stream {
	rules := streamRules()
	return &Stream{o: o, rules: rules, tallies: make([][]finding.Check, len(rules)), waiting: make([]int, len(rules)), chain: thread.ChainSeed, before: thread.ChainSeed, memory: newRecord()}
}

// streamRule is one check, of each event of a kind, or at the end.
type streamRule struct {
	name  string // its id without the clause
	code  finding.Code
	kind  thread.Kind // "" for every kind
	claim bool        // it recomputes a stored digest: it counts for coverage (V5)
	run   func(s *Stream)
}

// streamRules are all checks, in the order of dbl-gateway.md §9, then what the seed asserts beyond it. What has no function is decided by another rule or in Result.
func streamRules() []streamRule {
	return []streamRule{
		{"event_digest", finding.StreamEventDigest, "", true, checkEventDigest},
		{"canon_len", finding.StreamCanonLen, "", false, nil},
		{"v_digest", finding.StreamVDigest, "", true, nil},
		{"prev_event_digest", finding.StreamPrevEventDigest, "", false, checkPrevious},
		{"index", finding.StreamIndexGap, "", false, checkIndex},
		{"assembly_digest", finding.StreamAssemblyDigest, thread.Decision, true, checkContextDigests},
		{"context_digest", finding.StreamContextDigest, thread.Decision, true, nil},
		{"exec_context", finding.StreamExecContext, thread.Execution, false, checkExecutionContext},
		{"config_digest", finding.StreamConfigDigest, thread.Decision, true, checkConfigDigests},
		{"reassembly", finding.StreamReassembly, "", false, nil},
		{"reassembly_content", finding.StreamReassemblyContent, "", false, nil},
		{"reassembly_error", finding.StreamReassemblyError, "", false, nil},
		{"ref_digest", finding.StreamRefDigest, thread.Decision, false, checkReferences},
		{"cross_thread", finding.StreamCrossThread, "", false, nil},
		{"normative", finding.StreamNormative, thread.Decision, false, checkNormative},
		{"order", finding.StreamOrder, thread.Execution, false, checkOrder},
		{"trace_digest", finding.StreamTraceDigest, "", true, nil},
		{"intent_link", finding.StreamIntentLink, thread.Decision, false, checkIntentLink},
		{"release_digest", finding.StreamReleaseDigest, "", true, checkRelease},
		{"render_digest", finding.StreamRenderDigest, thread.Execution, true, checkRender},
		{"decision_fields", finding.StreamDecisionFields, thread.Decision, false, checkDecisionFields},
		{"identity_columns", finding.StreamIdentityColumns, "", false, checkIdentityColumns},
		{"turn_columns", finding.StreamTurnColumns, "", false, checkTurnColumns},
		{"spec_refs", finding.StreamSpecRefs, thread.Decision, false, checkSpecReferences},
		{"config_pin", finding.StreamConfigPin, thread.Decision, false, checkConfigPins},
		{"governance", finding.StreamGovernance, thread.Decision, false, checkGovernance},
		{"normalization", finding.StreamNormalization, thread.Decision, false, checkNormalization},
		{"ref_order", finding.StreamRefOrder, thread.Decision, false, checkReferenceOrder},
	}
}

// Add checks the next event of the stream. The payload is not kept.
func (s *Stream) Add(e thread.Event) {
	payload, err := e.Read()
	if err != nil {
		payload = canon.Value{} // it has no digest then, and checkEventDigest says so
	}
	s.at = seen{Event: e, position: s.memory.count(), payload: payload, digest: s.memory.stated(e.Digest), key: s.memory.keyOf(e)}
	s.at.turn, s.at.number = s.memory.turnOf(s.at.key)
	for i, r := range s.rules {
		if r.run != nil && (r.kind == "" || r.kind == e.Kind) {
			s.rule = i
			r.run(s)
		}
	}
	if s.o.Config != nil {
		s.essences.Add(s.at.position, e.Kind, payload)
	}
	s.remember()
	s.before = e.Digest
}

// member gives a value of the payload at work; the zero Value where there is none.
func (s *Stream) member(pointer string) canon.Value {
	v, _ := s.at.payload.At(pointer)
	return v
}

// as lets a function decide for another rule than the one that called it.
func (s *Stream) as(name string, run func()) {
	before := s.rule
	s.rule = s.ruleNamed(name)
	run()
	s.rule = before
}

func (s *Stream) ruleNamed(name string) int {
	for i, r := range s.rules {
		if r.name == name {
			return i
		}
	}
	panic("no stream rule is called " + name)
}

func (s *Stream) tally(rule int, status finding.Status, reason string) {
	if s.rules[rule].claim {
		s.cover.Claims++
		if status != finding.NotChecked {
			s.cover.Checked++
		}
	}
	for i := range s.tallies[rule] {
		if o := &s.tallies[rule][i]; o.Status == status && o.Reason == reason {
			o.Count++
			return
		}
	}
	s.tallies[rule] = append(s.tallies[rule], finding.Check{Status: status, Count: 1, Reason: reason})
}

func (s *Stream) pass()              { s.tally(s.rule, finding.Passed, "") }
func (s *Stream) skip(reason string) { s.tally(s.rule, finding.NotChecked, reason) }

// fail reports the rule at work at a place below the event.
func (s *Stream) fail(pointer string, expected, actual finding.Value, format string, args ...any) {
	s.tally(s.rule, finding.Failed, "")
	s.listed.Add(s.found(pointer, expected, actual, fmt.Sprintf(format, args...)))
}

// missing reports that the rule needs an event which is not among those before.
func (s *Stream) missing(pointer string, expected, actual finding.Value, detail string) {
	s.waiting[s.rule]++
	s.unseen.Add(s.found(pointer, expected, actual, detail))
}

func (s *Stream) found(pointer string, expected, actual finding.Value, detail string) finding.Finding {
	f := finding.New(s.rules[s.rule].code)
	f.Artifact, f.EventIndex = s.o.Path, s.at.Index
	f.Pointer = "/events/" + strconv.Itoa(s.at.position) + pointer
	f.Expected, f.Actual, f.Detail = readable(expected), readable(actual), detail
	f.Hint = finding.Lookup(f.Code).Action
	return f
}

// readable keeps a value that a report may hold (Z5). One with a surrogate that stands alone is no JSON by C1: its text is given.
func readable(v finding.Value) finding.Value {
	if v == nil || canon.Valid(v) == nil {
		return v
	}
	return canon.QuoteASCII(nil, v)
}

// textValue gives a text of a stream, which may hold lone surrogates, as a value of a report.
func textValue(text string) finding.Value { return canon.QuoteASCII(nil, []byte(text)) }

func numberValue(n int) finding.Value { return strconv.AppendInt(nil, int64(n), 10) }
