package report

import (
	"bufio"
	"fmt"
	"io"

	"github.com/dmpl/dmpl/pkg/finding"
)

// Explain writes one row of the code table for people, as `dmpl explain CODE` shows it: code, title, clause, severity,
// what it does to a verdict, meaning, causes, what to do. The error is that of w.
func Explain(w io.Writer, e finding.Entry, color bool) error {
	p := &printer{w: bufio.NewWriter(w), palette: palette(color)}
	p.line("%s: %s", p.bold(string(e.Code)), e.Title)
	p.line("")
	for _, row := range []struct{ name, says string }{
		{"clause", "CONTRACT " + e.Rule},
		{"severity", string(e.Severity)},
		{"verdict", outcome(e.Effect)},
		{"meaning", e.Meaning},
		{"causes", e.Causes},
		{"to do", e.Action},
	} {
		p.line("  %s %s", p.faint(fmt.Sprintf("%-9s", row.name)), row.says)
	}
	return p.w.Flush()
}

// ExplainAnswer writes one code of an answer for people, as `dmpl explain CODE` shows it. The error is that of w.
func ExplainAnswer(w io.Writer, a finding.Answer, color bool) error {
	p := &printer{w: bufio.NewWriter(w), palette: palette(color)}
	p.line("%s: %s", p.bold(string(a.Code)), a.Title)
	p.line("")
	for _, row := range [][2]string{{"clause", "CONTRACT " + a.Rule}, {"answer", answered(a)}, {"meaning", a.Meaning}, {"to do", a.Action}} {
		p.line("  %s %s", p.faint(fmt.Sprintf("%-9s", row[0])), row[1])
	}
	return p.w.Flush()
}

// answered says what an answer means for the exit code (CONTRACT X1, Z2).
func answered(a finding.Answer) string {
	if a.Refusal {
		return "a refusal, exit code 1"
	}
	return "no result, exit code 2"
}

// outcome says what an effect does to a verdict (CONTRACT Z1, Z2, E1).
func outcome(e finding.Effect) string {
	switch e {
	case finding.Fails:
		return "fail in verify; undecided in a comparison"
	case finding.Rejects:
		return "undecided"
	case finding.Differs:
		return "divergent"
	case finding.Trouble:
		return "none, exit code 2"
	}
	return "not changed"
}

// Reasons writes docs/reasons.md: every code of the table, layer by layer. The error is that of w.
func Reasons(w io.Writer) error {
	p := &printer{w: bufio.NewWriter(w)}
	p.line("# Reason codes")
	p.line("")
	p.line("Every finding carries one of these codes. A code is `layer.problem`; it is never renamed and never reused.")
	p.line("The clauses are those of the contract. `dmpl explain CODE` shows one row. This page is written from the code table.")
	for _, layer := range finding.Layers() {
		p.line("")
		p.line("## %s", layer.Name)
		p.line("")
		p.line("%s", layer.Meaning)
		for _, e := range finding.Entries() {
			if e.Code.Layer() == layer.Name {
				p.reason(e)
			}
		}
	}
	p.line("")
	p.line("## Answers of single functions")
	p.line("")
	p.line("`dmpl step` and `dmpl digest` give these in place of a result. They are no findings: nothing was judged.")
	for _, a := range finding.Answers() {
		p.line("")
		p.line("### %s", a.Code)
		p.line("")
		p.line("**%s**", a.Title)
		p.line("")
		p.line("- Clause %s: %s.", a.Rule, answered(a))
		p.line("- Meaning: %s", a.Meaning)
		p.line("- What to do: %s", a.Action)
	}
	return p.w.Flush()
}

func (p *printer) reason(e finding.Entry) {
	p.line("")
	p.line("### %s", e.Code)
	p.line("")
	p.line("**%s**", e.Title)
	p.line("")
	p.line("- Clause %s, severity %s. Verdict: %s.", e.Rule, e.Severity, outcome(e.Effect))
	p.line("- Meaning: %s", e.Meaning)
	p.line("- Causes: %s", e.Causes)
	p.line("- What to do: %s", e.Action)
}
