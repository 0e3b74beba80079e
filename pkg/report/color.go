package report

import (
	"github.com/fatih/color"

	"github.com/dmpl/dmpl/pkg/finding"
)

// palette paints, or leaves text as it is. The caller alone decides: no terminal and no environment is asked.
type palette bool

func (p palette) paint(s string, style ...color.Attribute) string {
	if !p || s == "" {
		return s
	}
	c := color.New(style...)
	c.EnableColor()
	return c.Sprint(s)
}

func (p palette) bold(s string) string  { return p.paint(s, color.Bold) }
func (p palette) faint(s string) string { return p.paint(s, color.Faint) }
func (p palette) left(s string) string  { return p.paint(s, color.FgRed) }
func (p palette) right(s string) string { return p.paint(s, color.FgGreen) }

// verdict paints s in the colour of a verdict word.
func (p palette) verdict(word, s string) string {
	switch word {
	case string(finding.Pass), string(finding.Equivalent):
		return p.paint(s, color.Bold, color.FgGreen)
	case string(finding.Fail), string(finding.Divergent):
		return p.paint(s, color.Bold, color.FgRed)
	case string(finding.Undecided):
		return p.paint(s, color.Bold, color.FgYellow)
	}
	return p.paint(s, color.Bold, color.FgMagenta)
}
