package pipeline

import (
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// RetryPolicy says what follows an answer that the gate refused (llamabrain.md §8).
type RetryPolicy struct {
	MaxRetries       int // attempts after the first
	Escalation       Escalation
	PreviousAnswer   bool // the feedback quotes the refused answer
	ViolationsListed bool // the feedback lists what was violated
}

// Escalation says which constraints a retry adds.
type Escalation int

// The escalations.
const (
	NoEscalation Escalation = iota
	AddSpecificProhibition
	HardenRequirements
	FullEscalation // both
)

// retryPresets are the named policies.
var retryPresets = map[string]RetryPolicy{
	"Default":    {MaxRetries: 2, Escalation: AddSpecificProhibition, PreviousAnswer: true, ViolationsListed: true},
	"Aggressive": {MaxRetries: 3, Escalation: FullEscalation, PreviousAnswer: true, ViolationsListed: true},
}

// DefaultRetryPolicy gives the policy that holds where nothing is said.
func DefaultRetryPolicy() RetryPolicy { return retryPresets["Default"] }

// MaxAttempts gives how many answers a turn may ask for.
func (p RetryPolicy) MaxAttempts() int { return p.MaxRetries + 1 }

// CanRetry tells whether another attempt may follow one, counted from 0.
func (p RetryPolicy) CanRetry(attempt int) bool { return attempt < p.MaxRetries }

// GateDecision is what follows a gate result, with the decision types of P7 as names.
type GateDecision int

// The decisions.
const (
	GatePassed   GateDecision = iota
	GateRetry                 // assemble again, with feedback
	GateFallback              // a fallback stands for the answer
)

// String gives the decision type of the gate's event (P7).
func (d GateDecision) String() string { return [...]string{"passed", "retry", "fallback"}[d] }

// After says what follows the gate result of an attempt, counted from 0. P2(f): after a critical failure dmpl-v1 goes to
// the fallback at once; LlamaBrain's loop asks again until its attempts run out (llamabrain.md §8).
func (p RetryPolicy) After(g GateResult, attempt int, v Version) GateDecision {
	switch {
	case g.Passed:
		return GatePassed
	case !p.CanRetry(attempt), v == DMPLv1 && g.HasCritical():
		return GateFallback
	}
	return GateRetry
}

func critical(failures []Failure) bool {
	for _, f := range failures {
		if f.Severity == Critical {
			return true
		}
	}
	return false
}

// Retry is what the next attempt is made of.
type Retry struct {
	Feedback string
	Added    []Constraint
	Snapshot Snapshot // of the next attempt, with the added constraints
}

// Next prepares the attempt after the one of a snapshot, whose answer had these failures. Memory and dialogue stay those
// of the snapshot (llamabrain.md §3, ForRetry).
func (p RetryPolicy) Next(s Snapshot, failures []Failure, answer string) Retry {
	r := Retry{Feedback: p.feedback(s.Attempt, failures, answer), Added: p.escalate(s, failures), Snapshot: s}
	r.Snapshot.Attempt++
	r.Snapshot.Constraints = ConstraintSet(s.Constraints, r.Added)
	return r
}

// feedback tells the model what was wrong with its answer.
func (p RetryPolicy) feedback(attempt int, failures []Failure, answer string) string {
	lines := []string{"[RETRY ATTEMPT " + strconv.Itoa(attempt+2) + "]"}
	if p.ViolationsListed && len(failures) > 0 {
		lines = append(lines, "Your previous response violated the following constraints:")
		for _, f := range failures {
			lines = append(lines, "- "+f.Description)
		}
	}
	if p.PreviousAnswer && answer != "" {
		lines = append(lines, `Previous response (rejected): "`+shorten(answer, 200)+`"`)
	}
	return strings.Join(append(lines, "Please provide a new response that satisfies ALL constraints."), "\n")
}

// shorten cuts a text that is longer than some UTF-16 units, and shows it.
func shorten(text string, units int) string {
	if dotnet.Len(text) <= units {
		return text
	}
	return dotnet.Cut(text, 0, units) + "..."
}

// escalate gives the constraints that a retry adds: for each broken constraint what must not be said, or what must.
func (p RetryPolicy) escalate(s Snapshot, failures []Failure) []Constraint {
	var added []Constraint
	attempt, byRule := strconv.Itoa(s.Attempt), rules(s.Constraints)
	for _, f := range failures {
		broken, ok := byRule[rule{f.Reason, optional(f.ViolatedRule)}]
		if !ok {
			continue // another check's: it is told to the model and adds nothing
		}
		id, description := "RetryEscalation_"+textOr(broken.ID, "Unknown"), textOr(broken.Description, "")
		if p.Escalation == AddSpecificProhibition || p.Escalation == FullEscalation {
			added = append(added, prohibitionOf(broken, description, f.ViolatingText, id+"_"+attempt))
		}
		if broken.Type == Requirement && (p.Escalation == HardenRequirements || p.Escalation == FullEscalation) {
			added = append(added, told(Requirement, id+"_Req_"+attempt, "MUST "+description))
		}
	}
	return added
}

// rule is what a failure of the constraint check says of its constraint.
type rule struct {
	reason string
	id     optionalText
}

// reasonOf names the failures of the constraint check by the type of the constraint (llamabrain.md §6.3).
var reasonOf = map[ConstraintType]string{Prohibition: ReasonProhibition, Requirement: ReasonRequirement}

// rules finds the constraints of a set by what a failure says of them.
func rules(set []Constraint) map[rule]Constraint {
	byRule := map[rule]Constraint{}
	for _, c := range set {
		byRule[rule{reasonOf[c.Type], optional(c.ID)}] = c
	}
	return byRule
}

func prohibitionOf(broken Constraint, description string, violating *string, id string) Constraint {
	text := textOr(violating, "")
	switch {
	case text != "":
		c := told(Prohibition, id, `Do not say or imply: "`+shorten(text, 100)+`"`)
		c.Patterns = []string{text}
		return c
	case broken.Type == Requirement:
		return told(Prohibition, id, "Do not fail to: "+description)
	}
	return told(Prohibition, id, "STRICTLY "+description)
}

// told is a constraint whose description is what the model is told.
func told(t ConstraintType, id, text string) Constraint {
	return Constraint{ID: &id, Type: t, Severity: Hard, Description: &text, PromptInjection: &text}
}

// mostRetries bounds a policy.
const mostRetries = 1000

// ReadRetryPolicy reads overrides of a preset, or of the defaults where none is named. The limits on time are known and
// not kept: time is no input of a turn (P4).
func ReadRetryPolicy(o *document.Object, name string) RetryPolicy {
	o = o.Object(name)
	if o.Empty() {
		return DefaultRetryPolicy()
	}
	p := preset(o, DefaultRetryPolicy(), retryPresets)
	if p.MaxRetries = o.Int("MaxRetries", p.MaxRetries); p.MaxRetries < 0 || p.MaxRetries > mostRetries {
		o.Fail("MaxRetries", "expected a whole number from 0 to 1000")
	}
	p.Escalation = Escalation(readClosedEnum(o, "Escalation", int(p.Escalation), "None", "AddSpecificProhibition", "HardenRequirements", "Full"))
	p.PreviousAnswer = o.Bool("IncludePreviousResponse", p.PreviousAnswer)
	p.ViolationsListed = o.Bool("IncludeViolationFeedback", p.ViolationsListed)
	if o.Integer("MaxAttempts", int64(p.MaxAttempts())) != int64(p.MaxAttempts()) {
		o.Fail("MaxAttempts", "is MaxRetries + 1 and cannot be set")
	}
	o.Int("RetryDelayMs", 0)
	o.Int("MaxTotalTimeMs", 0)
	if o.Has("OnRetry") {
		o.Fail("OnRetry", "code cannot be configured")
	}
	refuseUnknown(o)
	return p
}
