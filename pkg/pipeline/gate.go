package pipeline

import (
	"fmt"
	"strings"

	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/memory"
)

// GateConfig says which checks the gate makes (llamabrain.md §6.3). Custom rules are always checked.
type GateConfig struct {
	CheckConstraints         bool
	CheckCanonicalFacts      bool
	CheckKnowledgeBoundaries bool
	ValidateMutations        bool
}

// gatePresets are the configurations that have a name.
var gatePresets = map[string]GateConfig{
	"Default": {true, true, true, true},
	"Minimal": {CheckConstraints: true},
}

// DefaultGateConfig makes every check.
func DefaultGateConfig() GateConfig { return gatePresets["Default"] }

// GateContext is what an answer is held to. What is not there is not checked.
type GateContext struct {
	Constraints []Constraint
	Facts       []memory.Fact // canonical facts, in the order of the memory
	Forbidden   []string      // what must not be known
	Rules       []CustomRule

	known *recall // what the run knows of the facts; nil for a gate alone
}

// CustomRule is a regular expression that dialogue must not match, or must.
type CustomRule struct {
	ID          *string
	Description string
	Pattern     string
	Prohibition bool
	IgnoreCase  bool
	Severity    Severity
}

// The reasons of failures.
const (
	ReasonInvalidFormat     = "InvalidFormat"
	ReasonProhibition       = "ProhibitionViolated"
	ReasonRequirement       = "RequirementNotMet"
	ReasonFact              = "CanonicalFactContradiction"
	ReasonKnowledge         = "KnowledgeBoundaryViolation"
	ReasonCanonicalMutation = "CanonicalMutationAttempt"
	ReasonCustomRule        = "CustomRuleFailed"
)

// ID names a failure for guardrails_triggered (P7): its reason, and the rule where one is known.
func (f Failure) ID() string {
	if f.ViolatedRule == nil {
		return f.Reason
	}
	return f.Reason + ":" + *f.ViolatedRule
}

// Guardrails gives the ids of the failures, in their order (P7).
func (g GateResult) Guardrails() []string {
	ids := []string{}
	for _, f := range g.Failures {
		ids = append(ids, f.ID())
	}
	return ids
}

// HasCritical tells whether a failure is critical: there is no use in another attempt (seed 001, validation invariant 3).
func (g GateResult) HasCritical() bool { return critical(g.Failures) }

// ShouldRetry tells whether another attempt may do better.
func (g GateResult) ShouldRetry() bool { return !g.Passed && !g.HasCritical() }

// gate is one answer before the gate.
type gate struct {
	out     ParsedOutput
	context GateContext
	search  *search
	text    *dotnet.Text // for regular expressions; nil until one is asked
	result  *GateResult
}

// units gives the dialogue as regular expressions read it.
func (g *gate) units() dotnet.Text {
	if g.text == nil {
		text := dotnet.TextOf(g.search.text)
		g.text = &text
	}
	return *g.text
}

// checks are the stages of the gate in their order; all of them run (P5).
var checks = []struct {
	on  func(GateConfig) bool
	run func(*gate) error
}{
	{func(c GateConfig) bool { return c.CheckConstraints }, (*gate).constraints},
	{func(c GateConfig) bool { return c.CheckCanonicalFacts }, (*gate).facts},
	{func(c GateConfig) bool { return c.CheckKnowledgeBoundaries }, (*gate).knowledge},
	{func(c GateConfig) bool { return c.ValidateMutations }, (*gate).mutations},
	{func(GateConfig) bool { return true }, (*gate).customRules},
}

// Gate holds an answer to its constraints, the canonical facts, what must not be known, the facts' protection and the
// custom rules, and gathers every failure (P5). The error is an *Error: a pattern has no answer.
//
// Intents are approved only when nothing failed at all (seed 001, decision 3). Mutations are approved one by one, and
// executed only when the gate passed.
func Gate(out ParsedOutput, context GateContext, c GateConfig) (GateResult, error) {
	var result GateResult
	if !out.Success {
		result.Failures = []Failure{{Reason: ReasonInvalidFormat, Description: textOr(out.Error, "Parsing failed"), Severity: Hard}}
		return result, nil
	}
	g := &gate{out, context, context.known.searchFor(out.Dialogue), nil, &result}
	if !c.ValidateMutations {
		result.ApprovedMutations = out.Mutations
	}
	for _, check := range checks {
		if !check.on(c) {
			continue
		}
		if err := check.run(g); err != nil {
			return GateResult{}, err
		}
	}
	if result.Passed = len(result.Failures) == 0; result.Passed {
		result.ApprovedIntents, result.HasOutput = out.Intents, true
	}
	return result, nil
}

func (g *gate) fail(f Failure) { g.result.Failures = append(g.result.Failures, f) }

func (g *gate) constraints() error {
	violations, err := g.check()
	for _, v := range violations {
		g.fail(Failure{v.Reason, v.Description, v.Text, v.Constraint.ID, v.Constraint.Severity})
	}
	return err
}

// contradictions are what stands before a fact that is denied.
var contradictions = []string{"not ", "isn't ", "is not ", "wasn't ", "was not ", "don't ", "doesn't ", "never "}

// facts finds up to four ways in which a fact is denied: a word before it, each of two denials inside it, and a text that
// its author says contradicts it.
func (g *gate) facts() error {
	denials := g.context.known.denialsOf(g.context.Facts)
	for i, f := range g.context.Facts {
		low := denials[i].low
		if g.search.has(low) {
			for _, c := range contradictions {
				if g.search.has(c + low) {
					g.contradicted(f, c+low)
					break
				}
			}
		}
		for _, denied := range denials[i].inside {
			if g.search.has(denied) {
				g.contradicted(f, denied)
			}
		}
		for _, k := range f.Keywords {
			if g.search.has(dotnet.Lower(k)) {
				g.contradicted(f, k)
				break
			}
		}
	}
	return g.search.err("the facts")
}

// denial is a fact's text, folded, and how it is denied inside it.
type denial struct {
	low    string
	inside []string
}

func denialOf(f *memory.Fact) denial {
	d := denial{low: dotnet.Lower(f.Text)}
	for _, not := range []string{" is not ", " isn't "} {
		if denied := strings.ReplaceAll(d.low, " is ", not); denied != d.low {
			d.inside = append(d.inside, denied)
		}
	}
	return d
}

func (g *gate) contradicted(f memory.Fact, text string) {
	g.fail(Failure{
		ReasonFact, fmt.Sprintf("Output contradicts canonical fact '%s': %s", f.ID, f.Text), &text, new(f.ID), Critical,
	})
}

func (g *gate) knowledge() error {
	for _, x := range g.context.Forbidden {
		if low := dotnet.Lower(x); g.search.has(low) {
			g.fail(Failure{
				Reason: ReasonKnowledge, Description: "NPC revealed forbidden knowledge: '" + x + "'", ViolatingText: &low, Severity: Hard,
			})
		}
	}
	return g.search.err("what must not be known")
}

// mutations refuses those of canonical facts (M10). Nothing else about them is checked here.
func (g *gate) mutations() error {
	if len(g.out.Mutations) == 0 {
		return nil
	}
	ids := map[string]bool{}
	for _, f := range g.context.Facts {
		ids[f.ID] = true
	}
	for _, m := range g.out.Mutations {
		if m.Target == nil || !ids[*m.Target] {
			g.result.ApprovedMutations = append(g.result.ApprovedMutations, m)
			continue
		}
		g.result.RejectedMutations = append(g.result.RejectedMutations, m)
		g.fail(Failure{
			Reason: ReasonCanonicalMutation, Description: "Attempted to mutate canonical fact: " + *m.Target,
			ViolatedRule: m.Target, Severity: Critical,
		})
	}
	return nil
}

func (g *gate) customRules() error {
	for i, r := range g.context.Rules {
		match, found, err := findRegex(r.Pattern, r.IgnoreCase, g.units())
		if err != nil {
			return regexError(err, fmt.Sprintf("/customRules/%d/Pattern", i))
		}
		switch {
		case found && r.Prohibition:
			g.fail(Failure{ReasonCustomRule, r.Description, &match, r.ID, r.Severity})
		case !found && !r.Prohibition:
			g.fail(Failure{ReasonRequirement, r.Description, nil, r.ID, r.Severity})
		}
	}
	return nil
}
