package pipeline

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Violation is a constraint that a text does not keep.
type Violation struct {
	Constraint  Constraint
	Reason      string
	Description string
	Text        *string // what broke a prohibition
}

// CheckConstraints holds a text to a set of constraints: the prohibitions first, then the requirements (llamabrain.md
// §6.2). A blank text is InvalidFormat and breaks none. The outcome is Valid, or the reason of the first violation.
func CheckConstraints(text string, set []Constraint) (outcome string, violations []Violation, err error) {
	if dotnet.Blank(text) {
		return ReasonInvalidFormat, nil, nil
	}
	g := &gate{context: GateContext{Constraints: set}, search: newSearch(text)}
	violations, err = g.check()
	if len(violations) > 0 {
		return violations[0].Reason, violations, err
	}
	return "Valid", violations, err
}

// check holds the dialogue to the constraints.
func (g *gate) check() ([]Violation, error) {
	if dotnet.Blank(g.search.text) {
		return nil, nil
	}
	var violations []Violation
	for _, c := range ofType(g.context.Constraints, Prohibition) {
		broken, err := g.prohibition(c)
		if err != nil {
			return nil, err
		}
		if broken != nil {
			violations = append(violations, *broken)
		}
	}
	for _, c := range ofType(g.context.Constraints, Requirement) {
		met, err := g.requirement(c)
		if err != nil {
			return nil, err
		}
		if !met {
			violations = append(violations, Violation{
				c, ReasonRequirement, "Response does not meet requirement: " + textOr(c.Description, ""), nil,
			})
		}
	}
	return violations, g.search.err("the constraints")
}

// prohibition looks for the first pattern that hits. A regular expression that misses, or is none, is a keyword as well.
func (g *gate) prohibition(c Constraint) (*Violation, error) {
	for _, p := range patternsOf(c) {
		if expression, ok := regexForm(p); ok {
			match, found, err := g.find(c, p, expression)
			if err != nil && !errors.Is(err, dotnet.ErrPattern) {
				return nil, err
			}
			if found {
				return &Violation{c, ReasonProhibition, "Response contains prohibited pattern: " + textOr(c.Description, ""), &match}, nil
			}
		}
		if text, found := g.search.window(p); found {
			return &Violation{c, ReasonProhibition, "Response contains prohibited content: " + textOr(c.Description, ""), &text}, nil
		}
	}
	return nil, nil
}

// requirement is met by any pattern. A regular expression that is none does not meet it.
func (g *gate) requirement(c Constraint) (bool, error) {
	patterns := patternsOf(c)
	for _, p := range patterns {
		expression, isRegex := regexForm(p)
		if !isRegex {
			if g.search.has(dotnet.Lower(p)) {
				return true, nil
			}
			continue
		}
		_, found, err := g.find(c, p, expression)
		if err != nil && !errors.Is(err, dotnet.ErrPattern) {
			return false, err
		}
		if found {
			return true, nil
		}
	}
	return len(patterns) == 0, nil
}

// find looks for /…/. The pattern "/" alone has no second slash: LlamaBrain stops there with an exception.
func (g *gate) find(c Constraint, pattern, expression string) (match string, found bool, err error) {
	if pattern == "/" {
		return "", false, &Error{
			Code: CodeInvalidInput, Pointer: "/context/constraints",
			Detail: "constraint " + named(c.ID) + ` has the pattern "/", a regular expression without its end; write /…/, or another word`,
		}
	}
	match, found, err = findRegex(expression, true, g.units())
	if err != nil && !errors.Is(err, dotnet.ErrPattern) {
		err = regexError(err, "/context/constraints")
	}
	return match, found, err
}

func named(id *string) string {
	if id == nil {
		return "without an id"
	}
	return "'" + *id + "'"
}

// regexForm gives the expression of a pattern that starts and ends with a slash.
func regexForm(pattern string) (string, bool) {
	if !strings.HasPrefix(pattern, "/") || !strings.HasSuffix(pattern, "/") {
		return "", false
	}
	return strings.TrimSuffix(pattern[1:], "/"), true
}

// patternsOf gives the patterns of a constraint, or those that its description names.
func patternsOf(c Constraint) []string {
	if len(c.Patterns) > 0 || c.Description == nil {
		return c.Patterns
	}
	return append(quotations(*c.Description), topics(*c.Description)...)
}

// quotation is "([^"]+)"|'([^']+)'.
var quotation = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([^"]+)"|'([^']+)'`) })

// quotations gives what stands in quotes and is not blank.
func quotations(text string) []string {
	var list []string
	for _, m := range quotation().FindAllStringSubmatch(text, -1) {
		if q := m[1] + m[2]; !dotnet.Blank(q) {
			list = append(list, q)
		}
	}
	return list
}

// topicWords come before what a constraint is about, in the order of the alternatives.
var topicWords = []string{"about", "mention", "say", "discuss", "reveal", "tell"}

// topics gives each word (?:about|mention|say|discuss|reveal|tell)\s+(\w+), ignoring case, that is longer than two units.
func topics(text string) []string {
	var list []string
	low := lowerASCII(text)
	for at := 0; at < len(text); {
		i := slices.IndexFunc(topicWords, func(w string) bool { return strings.HasPrefix(low[at:], w) })
		if i < 0 {
			at++
			continue
		}
		end := at + len(topicWords[i])
		start := skipSpace(text, end)
		stop := skipWord(text, start)
		if start == end || stop == start {
			at++
			continue
		}
		if word := text[start:stop]; dotnet.Len(word) > 2 {
			list = append(list, word)
		}
		at = stop
	}
	return list
}

// skipWord gives the place behind the units of \w. A rune beyond U+FFFF is two units, and neither is of \w.
func skipWord(text string, at int) int {
	for i, r := range text[at:] {
		if r > 0xFFFF || !dotnet.IsWord(r) {
			return at + i
		}
	}
	return len(text)
}

func findRegex(expression string, ignoreCase bool, text dotnet.Text) (match string, found bool, err error) {
	re, err := dotnet.CompileRegex(expression, ignoreCase)
	if err != nil {
		return "", false, err
	}
	return re.Find(text)
}

// regexError says where an expression stands that has no answer.
func regexError(err error, pointer string) error {
	code := CodeInvalidInput
	switch {
	case errors.Is(err, dotnet.ErrOutOfTime):
		code = CodeRegexTimeout
	case errors.Is(err, dotnet.ErrTooLong):
		code = CodeLimit
	}
	return &Error{Code: code, Pointer: pointer, Detail: err.Error()}
}
