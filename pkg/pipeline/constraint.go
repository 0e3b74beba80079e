package pipeline

import (
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/document"
)

// readConstraints reads a list of constraints as a set: of those with one id the first counts (llamabrain.md §3).
func readConstraints(o *document.Object, name string) []Constraint {
	var list []Constraint
	o.Each(name, func(c *document.Object) { list = append(list, readConstraint(c)) })
	return ConstraintSet(list)
}

func readConstraint(o *document.Object) Constraint {
	c := Constraint{
		ID:              o.OptionalText("Id"),
		Type:            ConstraintType(readClosedEnum(o, "Type", int(Prohibition), "Prohibition", "Requirement", "Permission")),
		Severity:        readSeverity(o, "Severity"),
		Description:     o.OptionalText("Description"),
		PromptInjection: o.OptionalText("PromptInjection"),
		Patterns:        o.Texts("ValidationPatterns"),
		UseRegex:        o.Bool("UseRegex", false),
		SourceRule:      o.OptionalText("SourceRule"),
	}
	refuseUnknown(o)
	return c
}

// readSeverity reads a severity by name or number; Hard where there is none.
func readSeverity(o *document.Object, name string) Severity {
	return Severity(readClosedEnum(o, name, int(Hard), severities...))
}

// ConstraintSet puts lists of constraints together and drops each constraint whose id an earlier one has; having none is
// an id too (llamabrain.md §3).
func ConstraintSet(lists ...[]Constraint) []Constraint {
	var set []Constraint
	seen := map[optionalText]bool{}
	for _, c := range slices.Concat(lists...) {
		if id := optional(c.ID); !seen[id] {
			seen[id] = true
			set = append(set, c)
		}
	}
	return set
}

// optionalText is a text that may be missing, for comparing.
type optionalText struct {
	text  string
	there bool
}

func optional(text *string) optionalText { return optionalText{textOr(text, ""), text != nil} }

// constraintGroups are the groups of a set in the order of the block, with the header of each and its name in JSON.
var constraintGroups = []struct {
	of           ConstraintType
	header, name string
}{
	{Prohibition, "You must NOT:", "Prohibitions"},
	{Requirement, "You MUST:", "Requirements"},
	{Permission, "You MAY:", "Permissions"},
}

func ofType(set []Constraint, t ConstraintType) []Constraint {
	var group []Constraint
	for _, c := range set {
		if c.Type == t {
			group = append(group, c)
		}
	}
	return group
}

// ConstraintBlock gives the text that tells the model of its constraints; it begins and ends with LF, and there is none
// for an empty set (llamabrain.md §3).
func ConstraintBlock(set []Constraint) string {
	if len(set) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n[CONSTRAINTS]\n")
	for _, g := range constraintGroups {
		group := ofType(set, g.of)
		if len(group) == 0 {
			continue
		}
		b.WriteString(g.header + "\n")
		for _, c := range group {
			b.WriteString("- " + textOr(c.PromptInjection, "") + "\n")
		}
	}
	b.WriteString("[/CONSTRAINTS]\n")
	return b.String()
}

func textOr(text *string, otherwise string) string {
	if text == nil {
		return otherwise
	}
	return *text
}

// SerializeConstraints gives the JSON of a set that audit records keep as ConstraintsSerialized (llamabrain.md §3).
func SerializeConstraints(set []Constraint) []byte {
	w := document.NewWriter(document.Style{LlamaBrain: true})
	w.Object("", func() {
		writeConstraints(w, "All", set)
		for _, g := range constraintGroups {
			writeConstraints(w, g.name, ofType(set, g.of))
		}
		w.Integer("Count", int64(len(set)))
		w.Bool("HasConstraints", len(set) > 0)
	})
	return w.Bytes()
}

func writeConstraints(w *document.Writer, name string, list []Constraint) {
	w.List(name, func() {
		for _, c := range list {
			writeConstraint(w, c)
		}
	})
}

func writeConstraint(w *document.Writer, c Constraint) {
	w.Object("", func() {
		w.OptionalText("Id", c.ID)
		w.Integer("Type", int64(c.Type))
		w.Integer("Severity", int64(c.Severity))
		w.OptionalText("Description", c.Description)
		w.OptionalText("PromptInjection", c.PromptInjection)
		w.List("ValidationPatterns", func() {
			for _, p := range c.Patterns {
				w.Text("", p)
			}
		})
		w.Bool("UseRegex", c.UseRegex)
		w.OptionalText("SourceRule", c.SourceRule)
	})
}
