package dotnet

import (
	"errors"
	"fmt"
	"time"

	"github.com/dlclark/regexp2"
)

// The reasons why a regular expression has no answer.
var (
	ErrPattern     = errors.New("not a regular expression of .NET")
	ErrUnsupported = errors.New("a regular expression that is not read")
	ErrTooLong     = errors.New("the text is too long to be matched")
	ErrOutOfTime   = errors.New("the match is given up")
)

// Bounds of a regular expression. What a match remembers to try again grows with the text and with the time.
const (
	maxPattern   = 1 << 15 // UTF-16 units
	maxText      = 1 << 20 // UTF-16 units
	matchTimeout = 2 * time.Second
)

// Regex is a regular expression of .NET over UTF-16 units: `.` is one unit, and a rune beyond U+FFFF is two. Upper and
// lower case are told apart, or not, without a culture.
type Regex struct{ engine *regexp2.Regexp }

// CompileRegex reads a pattern. The error is ErrPattern where .NET has none for it either, ErrUnsupported where .NET may.
func CompileRegex(pattern string, ignoreCase bool) (re *Regex, err error) {
	units := Units(pattern)
	if len(units) > maxPattern {
		return nil, fmt.Errorf("%w: it has more than %d characters", ErrUnsupported, maxPattern)
	}
	p := translator{units: units}
	if err := p.pattern(); err != nil {
		return nil, err
	}
	options := regexp2.RegexOptions(regexp2.None)
	if ignoreCase {
		options = regexp2.IgnoreCase
	}
	engine, err := regexp2.Compile(string(p.out), options)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrPattern, reason(err))
	}
	engine.MatchTimeout = matchTimeout
	return &Regex{engine}, nil
}

// Text is a text in UTF-16 units, made once for many expressions.
type Text struct {
	units []uint16
	runes []rune // as the engine is to see them
}

// TextOf gives the units of a text.
func TextOf(s string) Text {
	text := Text{units: Units(s)}
	text.runes = make([]rune, len(text.units))
	for i, u := range text.units {
		text.runes[i] = rune(u)
		if rune(u) == dottedI {
			text.runes[i] = standIn
		}
	}
	return text
}

// Find gives the first match. The answer is unknown where there is an error, never a miss: ErrTooLong on every machine,
// ErrOutOfTime on some.
func (re *Regex) Find(text Text) (match string, found bool, err error) {
	if len(text.units) > maxText {
		return "", false, fmt.Errorf("%w: it has more than %d characters", ErrTooLong, maxText)
	}
	m, err := re.engine.FindRunesMatch(text.runes)
	if err != nil {
		return "", false, fmt.Errorf("%w: it took more than %s", ErrOutOfTime, matchTimeout)
	}
	if m == nil {
		return "", false, nil
	}
	return FromUnits(text.units[m.Index : m.Index+m.Length]), true, nil
}
