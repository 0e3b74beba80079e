package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/finding"
)

// The room for values, in characters, where the width does not say otherwise.
const (
	roomShort  = 40  // both values of one line, at any width
	roomInline = 100 // both values of one line
	roomBlock  = 400 // one value on a line of its own
)

// errors writes what the verdict rests on: root, context, independent findings, cascades as counts.
func (p *printer) errors(r finding.Result) {
	first := root(r.Findings)
	if first < 0 {
		return
	}
	p.line("")
	p.finding(r.Findings[first], true)
	p.context(r.Context, marked(r, r.Findings[first]))

	var cascades tally
	var others []finding.Finding
	left := 0
	for i, f := range r.Findings {
		switch {
		case i == first || f.Severity != finding.Error:
		case f.Class == finding.Cascade:
			cascades.add(fmt.Sprintf("%s (%s)", title(f), f.Code))
		case len(others) == maxFindings:
			left++
		default:
			others = append(others, f)
		}
	}
	if n := len(others) + left; n > 0 && r.Findings[first].Class == finding.Root {
		p.line("")
		p.line("%s:", finding.Counted(n, "independent finding"))
	}
	for _, f := range others {
		p.line("")
		p.finding(f, false)
	}
	if left > 0 {
		p.line("")
		p.line("+%d more, see --format json", left)
	}
	p.cascades(cascades)
}

func (p *printer) cascades(t tally) {
	if len(t) == 0 {
		return
	}
	n := 0
	var parts []string
	for _, c := range t {
		n += c.n
		parts = append(parts, fmt.Sprintf("%d × %s", c.n, c.what))
	}
	verb := "cascades follow"
	if n == 1 {
		verb = "cascade follows"
	}
	p.line("")
	p.prose(fmt.Sprintf("%d %s from these: ", n, verb), Visible(strings.Join(parts, ", ")))
}

// finding writes one finding: what, where, and once for each code what to do about it.
func (p *printer) finding(f finding.Finding, isRoot bool) {
	says := "  " + Visible(sentence(f))
	values, fits := p.inline(f, utf8.RuneCountInString(says))
	if isRoot {
		says = p.bold(says)
	}
	p.line("%s%s", says, values)
	if fits {
		p.where(f)
	} else {
		p.block(f)
	}
	if advice := hint(f); p.firstTime(advice) {
		p.prose(label("hint"), Visible(advice))
	}
	if p.firstTime(string(f.Code)) {
		code := fmt.Sprintf("%s (%s)", f.Code, f.Rule())
		if f.Rule() == "" {
			code = string(f.Code)
		}
		p.line("%s%s", label("code"), p.faint(Visible(code)))
	}
}

// marked is the index of the event to mark: the root's, or where the root belongs to no event the one that decided.
func marked(r finding.Result, root finding.Finding) int {
	if root.EventIndex != finding.NoEvent {
		return root.EventIndex
	}
	f, _ := decisive(r)
	return f.EventIndex
}

// label begins a line under a finding.
func label(name string) string { return fmt.Sprintf("    %-9s", name) }

// firstTime says whether the result has not said s yet.
func (p *printer) firstTime(s string) bool {
	if s == "" {
		return false
	}
	before := len(p.told)
	p.told.add(s)
	return len(p.told) > before
}

// inline gives the end of the finding's first line: both values where they fit behind the sentence, else a colon.
// Short values stay in the line at any width.
func (p *printer) inline(f finding.Finding, sentence int) (end string, fits bool) {
	if f.Expected == nil && f.Actual == nil {
		return "", true
	}
	left, right := sides(f)
	room := roomInline
	if p.width > 0 {
		room = max(roomShort, p.width-sentence-len(left)-len(right)-len(":  ,  "))
	}
	l, r := show(f.Expected, roomBlock), show(f.Actual, roomBlock)
	if utf8.RuneCountInString(l)+utf8.RuneCountInString(r) > room {
		return ":", false
	}
	return ": " + p.values(f, l, r), true
}

// block writes the values under the finding: as word marks where both are texts that have words in common, else each
// on a line of its own, cut to the width.
func (p *printer) block(f finding.Finding) {
	if marked, ok := p.marks(f.Expected, f.Actual); ok {
		p.line("%s%s", label("change"), marked)
		p.where(f)
		return
	}
	room := roomBlock
	if p.width > 0 {
		room = max(p.width-len(label("")), 20)
	}
	left, right := sides(f)
	l, r := p.left(show(f.Expected, room)), p.right(show(f.Actual, room))
	if compared(f) {
		p.line("%s%s", label(left), l)
		p.place("", f.Artifact, f.Pointer)
		p.line("%s%s", label(right), r)
		p.place("", f.RightArtifact, f.RightPointer)
		return
	}
	if f.Expected != nil {
		p.line("%s%s", label(left), l)
	}
	if f.Actual != nil {
		p.line("%s%s", label(right), r)
	}
	p.where(f)
}

// values gives `left "cats", right "dogs"`; a finding about one artifact may have one value only.
func (p *printer) values(f finding.Finding, l, r string) string {
	left, right := sides(f)
	switch {
	case f.Actual == nil && !compared(f):
		return left + " " + p.left(l)
	case f.Expected == nil && !compared(f):
		return right + " " + p.right(r)
	}
	return left + " " + p.left(l) + ", " + right + " " + p.right(r)
}

// sides names the two values of a finding.
func sides(f finding.Finding) (left, right string) {
	switch {
	case compared(f):
		return "left", "right"
	case (f.Code.Layer() == "digest" || f.Code.Layer() == "audit") && f.Expected != nil:
		return "stated", "computed"
	}
	return "expected", "found"
}

// where writes path and pointer, never cut: they are for copying.
func (p *printer) where(f finding.Finding) {
	if troubled(f) {
		return // the sentence has it all
	}
	if !compared(f) {
		p.place("in", f.Artifact, f.Pointer)
		return
	}
	p.place("left", f.Artifact, f.Pointer)
	p.place("right", f.RightArtifact, f.RightPointer)
}

func (p *printer) place(name, artifact, pointer string) {
	at := strings.TrimSpace(Visible(artifact) + " " + Visible(pointer))
	if at != "" {
		p.line("%s%s", label(name), at)
	}
}

// remarks writes warnings or notes: they change no verdict, so the first of each code stands for the others.
func (p *printer) remarks(noun string, fs []finding.Finding, s finding.Severity) {
	var codes tally
	for f := range having(fs, s) {
		codes.add(string(f.Code))
	}
	n := countOf(fs, s)
	for i, c := range codes {
		if i == 0 {
			p.line("")
			p.line("%s:", finding.Counted(n, noun))
		}
		for f := range having(fs, s) {
			if string(f.Code) == c.what {
				p.remark(f, c.n-1)
				break
			}
		}
	}
}

func (p *printer) remark(f finding.Finding, more int) {
	says := "  " + Visible(sentence(f))
	if f.Expected != nil || f.Actual != nil {
		says += ": " + p.values(f, show(f.Expected, roomShort), show(f.Actual, roomShort))
	}
	code := string(f.Code)
	if more > 0 {
		code += fmt.Sprintf(", and %d more", more)
	}
	p.line("%s %s", says, p.faint("["+Visible(code)+"]"))
	p.where(f)
}
