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
