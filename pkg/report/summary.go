package report

import (
	"fmt"
	"strings"

	"github.com/dmpl/dmpl/pkg/finding"
)

// Summary says the whole report in one sentence, e.g.
// "divergent at event 3: arguments differ (1 root, 2 independent, 4 cascades)", or for several results
// "12 results: 10 pass, 1 fail, 1 undecided" (CONTRACT Z4). It may hold text from artifacts: print it through [Visible].
func Summary(r finding.Report) string {
	switch len(r.Results) {
	case 0:
		return "undecided: nothing was looked at"
	case 1:
		return word(r.Results[0]) + conclusion(r.Results[0])
	}
	counted := tally{}
	for _, result := range r.Results {
		counted.add(word(result))
	}
	var parts []string
	for _, c := range counted {
		parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
	}
	return fmt.Sprintf("%d results: %s", len(r.Results), strings.Join(parts, ", "))
}

// trouble is the word for a result that has no verdict because its input could not be read.
const trouble = "trouble"

func word(r finding.Result) string {
	if r.Trouble {
		return trouble
	}
	return string(known(r.Verdict))
}

// known gives the verdict; one that nobody set decides nothing.
func known(v finding.Verdict) finding.Verdict {
	if v == "" {
		return finding.Undecided
	}
	return v
}

// conclusion is what follows the verdict word in the summary of one result.
func conclusion(r finding.Result) string {
	first, found := decisive(r)
	switch word(r) {
	case string(finding.Pass), string(finding.Equivalent):
		return ": " + holds(r)
	case string(finding.Divergent), string(finding.Fail):
		if !found {
			return ""
		}
		return at(first) + ": " + title(first) + " (" + classes(r.Findings) + ")"
	case trouble:
		if !found {
			return ": the input could not be read"
		}
		return ": " + sentence(first) + others(r.Findings)
	}
	if !found {
		return ": nothing was checked"
	}
	return ": " + sentence(first) + others(r.Findings)
}

// holds says what a good verdict rests on.
func holds(r finding.Result) string {
	n := count(r.Checks)
	parts := []string{finding.Counted(n.passed, "check")}
	if r.Verdict == finding.Pass {
		parts[0] = finding.Counted(n.passed, "check") + " hold"
		if n.passed == 1 {
			parts[0] += "s"
		}
	}
	if n.notChecked > 0 {
		parts = append(parts, fmt.Sprintf("%d not checked", n.notChecked))
	}
	if ignored := ignoredCount(r.Ignored); ignored > 0 {
		parts = append(parts, fmt.Sprintf("%d ignored", ignored))
	}
	if w := countOf(r.Findings, finding.Warning); w > 0 {
		parts = append(parts, finding.Counted(w, "warning"))
	}
	if n := observational(r.Findings); n > 0 { // X8: the summary line says it
		parts = append(parts, finding.Counted(n, "context")+" different only in observational text")
	}
	return strings.Join(parts, ", ")
}

func observational(fs []finding.Finding) int {
	n := 0
	for f := range having(fs, finding.Note) {
		if f.Code == finding.StreamDiffObservational {
			n++
		}
	}
	return n
}

// decisive is the finding that the verdict rests on: the root or the first error, but for a divergence the first
// difference, since a violation on a side (CONTRACT E1) may stand before it.
func decisive(r finding.Result) (finding.Finding, bool) {
	effect := finding.Effect("")
	switch {
	case r.Trouble:
		effect = finding.Trouble
	case r.Verdict == finding.Divergent:
		effect = finding.Differs
	}
	for f := range having(r.Findings, finding.Error) {
		if effect != "" && finding.Lookup(f.Code).Effect == effect {
			return f, true
		}
	}
	if i := root(r.Findings); i >= 0 {
		return r.Findings[i], true
	}
	return finding.Finding{}, false
}

// root is the index of the finding that text shows first: the error of class root, else the first error; -1 for none.
func root(fs []finding.Finding) int {
	first := -1
	for i := range fs {
		if fs[i].Severity != finding.Error {
			continue
		}
		if fs[i].Class == finding.Root {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

func at(f finding.Finding) string {
	if f.EventIndex == finding.NoEvent {
		return ""
	}
	return fmt.Sprintf(" at event %d", f.EventIndex)
}

// classes counts the errors of one result by class (CONTRACT E11), or as a plain number where nothing is a root.
func classes(fs []finding.Finding) string {
	var roots, independents, cascades int
	for f := range having(fs, finding.Error) {
		switch f.Class {
		case finding.Root:
			roots++
		case finding.Cascade:
			cascades++
		default:
			independents++
		}
	}
	if roots+cascades == 0 {
		return finding.Counted(independents, "finding")
	}
	return fmt.Sprintf("%d root, %d independent, %s", roots, independents, finding.Counted(cascades, "cascade"))
}

func others(fs []finding.Finding) string {
	if n := countOf(fs, finding.Error); n > 1 {
		return fmt.Sprintf(" (and %d more)", n-1)
	}
	return ""
}

// sentence says where and what, without the values: "event 3, tool call 0 (search): arguments differ at /q".
// What could not be read is one line with path, problem, offset and pointer:
// "a.json: input is not valid JSON: the text ends inside a string at byte 17, at /events/3".
func sentence(f finding.Finding) string {
	if troubled(f) {
		return troubleSentence(f)
	}
	what := f.Detail
	if what == "" {
		what = title(f)
	}
	if place := place(f); place != "" {
		return place + ": " + what
	}
	return what
}

func troubled(f finding.Finding) bool { return finding.Lookup(f.Code).Effect == finding.Trouble }

func troubleSentence(f finding.Finding) string {
	says := title(f)
	if f.Artifact != "" {
		says = f.Artifact + ": " + says
	}
	if f.Detail != "" {
		says += ": " + f.Detail
	}
	if f.Pointer != "" {
		says += ", at " + f.Pointer
	}
	return says
}

func place(f finding.Finding) string {
	if f.EventIndex == finding.NoEvent {
		return f.Subject
	}
	event := fmt.Sprintf("event %d", f.EventIndex)
	if f.Subject == "" {
		return event
	}
	return event + ", " + f.Subject
}

func title(f finding.Finding) string {
	if t := finding.Lookup(f.Code).Title; t != "" {
		return t
	}
	return string(f.Code)
}

// hint is the finding's own, else what its code advises.
func hint(f finding.Finding) string {
	if f.Hint != "" {
		return f.Hint
	}
	return finding.Lookup(f.Code).Action
}

// compared tells a finding about two artifacts from one about a single artifact of a comparison.
func compared(f finding.Finding) bool {
	return f.RightArtifact != "" || f.RightPointer != "" || f.Code.Layer() == "equiv"
}
