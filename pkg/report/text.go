package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/finding"
)

// TextOptions say how [Text] writes. The zero value writes everything, without colour, at any width.
type TextOptions struct {
	Color bool // the caller decides by terminal, NO_COLOR and CI
	Quiet bool // one line for the whole report
	Width int  // characters a line; 0 = do not wrap prose, cut values only where they are very long
}

// The longest lists that people are shown; the JSON report has all.
const (
	maxFindings = 20
	maxReasons  = 5
)

// Text writes the report for people. For each result: the verdict, the root finding first (CONTRACT E11), the events
// around it, the independent findings, the cascades as counts, warnings and notes, the alignment, and a footer of what
// was checked, not checked and ignored (V5). A result that holds takes one line where there are several. All text from
// artifacts goes through [Visible] (Z5). The error is that of w.
func Text(w io.Writer, r finding.Report, o TextOptions) error {
	p := &printer{w: bufio.NewWriter(w), palette: palette(o.Color), width: o.Width}
	if o.Quiet {
		p.quiet(r)
		return p.w.Flush()
	}
	several := len(r.Results) != 1
	for _, result := range r.Results {
		if several && result.ExitCode() == finding.ExitHolds {
			p.oneLine(result)
			continue
		}
		p.result(result)
	}
	if several {
		p.gap(false)
		p.line("%s", p.summary(r))
	}
	p.flags(r)
	return p.w.Flush()
}

// printer writes lines. A write error stays in w until Flush gives it back.
type printer struct {
	w *bufio.Writer
	palette
	width   int
	started bool // something was written
	inBlock bool // the line before belongs to a block that wants an empty line after it
	told    tally
}

func (p *printer) line(format string, a ...any) {
	p.started = true
	_, _ = fmt.Fprintf(p.w, format+"\n", a...)
}

// gap sets blocks apart from what stands before and after them.
func (p *printer) gap(block bool) {
	if p.started && (block || p.inBlock) {
		_, _ = p.w.WriteString("\n")
	}
	p.inBlock = block
}

func (p *printer) quiet(r finding.Report) {
	if len(r.Results) == 1 {
		p.line("%s", p.summary(r))
		return
	}
	worst := string(known(r.Verdict()))
	if r.ExitCode() == finding.ExitTrouble {
		worst = trouble
	}
	p.line("%s: %s", p.verdict(worst, worst), Visible(strings.TrimPrefix(Summary(r), worst+": ")))
}

// summary is the report's sentence with its verdict words painted.
func (p *printer) summary(r finding.Report) string {
	if len(r.Results) == 1 {
		return p.verdict(word(r.Results[0]), word(r.Results[0])) + Visible(conclusion(r.Results[0]))
	}
	return p.bold(Visible(Summary(r)))
}

func (p *printer) oneLine(r finding.Result) {
	p.gap(false)
	p.line("%s  %s%s", p.verdict(word(r), word(r)), Visible(name(r)), Visible(conclusion(r)))
}

// name is what the result is called, else its inputs.
func name(r finding.Result) string {
	if r.Name != "" {
		return r.Name
	}
	var paths []string
	for _, in := range r.Inputs {
		paths = append(paths, in.Path)
	}
	return strings.Join(paths, ", ")
}

func (p *printer) result(r finding.Result) {
	p.gap(true)
	p.told = nil
	p.line("%s  %s", p.verdict(word(r), word(r)), p.bold(Visible(name(r))))
	p.errors(r)
	p.remarks("warning", r.Findings, finding.Warning)
	p.remarks("note", r.Findings, finding.Note)
	p.alignment(r.Alignment)
	p.footer(r)
}

func (p *printer) alignment(a *finding.Alignment) {
	if a == nil {
		return
	}
	says := fmt.Sprintf("left has %s, right has %s", finding.Counted(a.LeftEvents, "event"), finding.Counted(a.RightEvents, "event"))
	if a.Note != "" {
		says += ": " + a.Note
	}
	p.line("")
	p.prose("alignment: ", Visible(says))
}

// footer closes a result with the three counts (CONTRACT V5) and what was left out on purpose.
func (p *printer) footer(r finding.Result) {
	n := count(r.Checks)
	checked := fmt.Sprintf("checked: %d", n.passed+n.failed)
	if n.failed > 0 {
		checked += fmt.Sprintf(" (%d failed)", n.failed)
	}
	var open, ignored tally
	var absent, never []string
	for _, c := range r.Checks {
		reason := c.Reason
		if reason == "" {
			reason = c.ID
		}
		switch c.Status {
		case finding.NotChecked:
			open.addN(reason, c.Count)
		case finding.NotApplicable:
			absent = append(absent, c.ID)
		}
	}
	for _, i := range r.Ignored {
		if byFlag := strings.HasPrefix(i.Reason, "--"); byFlag {
			ignored.addN(i.What+", "+i.Reason, i.Count)
		} else {
			never = append(never, i.What)
		}
	}
	parts := []string{
		checked,
		fmt.Sprintf("not checked: %d%s", n.notChecked, open.reasons()),
		fmt.Sprintf("ignored: %d%s", ignoredCount(r.Ignored), ignored.reasons()),
	}
	if len(absent) > 0 {
		parts = append(parts, "not applicable: "+strings.Join(absent, ", "))
	}
	if len(r.Findings) > 0 || r.Alignment != nil {
		p.line("")
	}
	p.prose("", Visible(strings.Join(parts, " · ")))
	if len(never) > 0 {
		p.prose("never compared: ", Visible(strings.Join(never, "; ")))
	}
	if c := r.Coverage; c != nil && c.Claims > 0 {
		p.line("coverage: %d of %s checked (%d %%)", c.Checked, finding.Counted(c.Claims, "claim"), c.Checked*100/c.Claims)
	}
}

// reasons lists what was counted: " (3 no preimage; 1 no profile)".
func (t tally) reasons() string {
	var parts []string
	for i, c := range t {
		if i == maxReasons {
			parts = append(parts, fmt.Sprintf("+%d more", len(t)-i))
			break
		}
		if len(t) == 1 {
			parts = append(parts, c.what) // the count before the bracket is this one's
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// flags says so when a flag changed the exit code, since the verdict alone would mislead (CONTRACT Z2).
func (p *printer) flags(r finding.Report) {
	plain := r
	plain.NoFail, plain.AllowUndecided = false, false
	switch code := r.ExitCode(); {
	case code == plain.ExitCode():
	case plain.ExitCode() == finding.ExitFailed:
		p.line("exit code %d by --no-fail", code)
	default:
		p.line("exit code %d by --allow-undecided", code)
	}
}

// prose writes a label and text, wrapped at the width under the end of the label. The text must be visible already.
func (p *printer) prose(label, s string) {
	indent := utf8.RuneCountInString(label)
	room := max(p.width-indent, 20)
	if p.width == 0 || utf8.RuneCountInString(s) <= room {
		p.line("%s%s", label, s)
		return
	}
	var row string
	for _, w := range strings.Fields(s) {
		if row != "" && utf8.RuneCountInString(row)+1+utf8.RuneCountInString(w) > room {
			p.line("%s%s", label, row)
			label, row = strings.Repeat(" ", indent), ""
		}
		if row != "" {
			row += " "
		}
		row += w
	}
	p.line("%s%s", label, row)
}
