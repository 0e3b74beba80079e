package dotnet

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// category is a Unicode category, or several of them, as an escape names them: \w, \P{Lu}.
type category struct {
	members string // what stands in a set for it
	negated bool
}

// wordMembers are the categories of \w; the joiners are of \b alone.
const wordMembers = `\p{L}\p{Mn}\p{Nd}\p{Pc}`

func isWord(u rune) bool {
	return unicode.In(u, unicode.L, unicode.Mn, unicode.Nd, unicode.Pc)
}

// IsWord tells whether a rune is of the regular expressions' \w.
func IsWord(r rune) bool { return isWord(r) }

func (c category) set() string {
	if c.negated {
		return "[^" + c.members + "]"
	}
	return "[" + c.members + "]"
}

// category reads what an escape names whose first letter is read already.
func (t *translator) category(u rune) (category, error) {
	switch u {
	case 'w', 'W':
		return category{wordMembers, u == 'W'}, nil
	case 'd', 'D':
		return category{`\p{Nd}`, u == 'D'}, nil
	case 's', 'S':
		return category{`\s`, u == 'S'}, nil
	}
	end := slices.Index(t.units[t.pos:], '}')
	if t.peek(0) != '{' || end < 0 {
		return category{}, fmt.Errorf(`%w: \%c without a name in braces`, ErrPattern, u)
	}
	name := FromUnits(t.units[t.pos+1 : t.pos+end])
	t.pos += end + 1
	if strings.HasPrefix(name, "Is") {
		return category{}, fmt.Errorf("%w: it names the block %s", ErrUnsupported, name)
	}
	if !slices.Contains(strings.Fields(generalCategories), name) {
		return category{}, fmt.Errorf("%w: there is no category %q", ErrPattern, name)
	}
	return category{`\p{` + name + `}`, u == 'P'}, nil
}

const generalCategories = "C Cc Cf Cn Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs"

// charSet is a set in brackets, taken apart.
type charSet struct {
	negated bool
	ranges  []span
	some    []category // of these categories
	others  []category // of no category of each
	without *charSet   // less these: [a-z-[aeiou]]
}

type span struct{ first, last rune }

// set writes a set whose opening bracket is read already.
func (t *translator) set() error {
	s, err := t.parseSet(0)
	if err != nil {
		return err
	}
	t.writeSet(s)
	return nil
}

// maxNesting is how deep sets may be taken from sets.
const maxNesting = 64

// parseSet reads a set as .NET's parser does, unit by unit: what a hyphen or a bracket means depends on what stands
// around it.
func (t *translator) parseSet(depth int) (*charSet, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("%w: its sets are nested too deep", ErrUnsupported)
	}
	s := &charSet{}
	if t.peek(0) == '^' && t.more() {
		t.pos++
		s.negated = true
	}
	inRange, from := false, rune(0)
	for first := true; t.more(); first = false {
		u, literal := t.next(), true
		switch {
		case u == ']' && !first:
			return s, nil
		case u == '\\' && t.more():
			done, err := t.setEscape(s, inRange)
			if err != nil {
				return nil, err
			}
			if done {
				continue
			}
			if u, err = t.character(); err != nil {
				return nil, err
			}
			literal = false
		case u == '[' && !inRange:
			t.skipClassName()
		}
		switch {
		case inRange && u == '[' && literal && !first:
			s.ranges = append(s.ranges, span{from, from})
			return t.without(s, depth)
		case inRange:
			if from > u {
				return nil, fmt.Errorf("%w: a range in reverse order", ErrPattern)
			}
			s.ranges = append(s.ranges, span{from, u})
			inRange = false
		case t.peek(0) == '-' && t.pos+1 < len(t.units) && t.peek(1) != ']':
			inRange, from = true, u
			t.pos++
		case u == '-' && literal && t.peek(0) == '[' && !first:
			t.pos++
			return t.without(s, depth)
		default:
			s.ranges = append(s.ranges, span{u, u})
		}
	}
	return nil, fmt.Errorf("%w: a set without its end", ErrPattern)
}

// setEscape reads an escape in a set that is no single unit.
func (t *translator) setEscape(s *charSet, inRange bool) (bool, error) {
	u := t.peek(0)
	switch {
	case u == '-':
		t.pos++
		s.ranges = append(s.ranges, span{'-', '-'})
		return true, nil
	case !strings.ContainsRune("wWdDsSpP", u) || u == 0:
		return false, nil
	case inRange:
		return false, fmt.Errorf("%w: a category in a range", ErrPattern)
	}
	t.pos++
	c, err := t.category(u)
	if err != nil {
		return false, err
	}
	if c.negated {
		s.others = append(s.others, c)
	} else {
		s.some = append(s.some, c)
	}
	return true, nil
}

// skipClassName leaves out the name of [:name:], which .NET reads and gives no meaning.
func (t *translator) skipClassName() {
	if t.peek(0) != ':' {
		return
	}
	i := t.pos + 1
	for i < len(t.units) && isWord(rune(t.units[i])) {
		i++
	}
	if i+1 < len(t.units) && t.units[i] == ':' && t.units[i+1] == ']' {
		t.pos = i + 2
	}
}

// without reads the set that is taken away, which must be the last part.
func (t *translator) without(s *charSet, depth int) (*charSet, error) {
	less, err := t.parseSet(depth + 1)
	if err != nil {
		return nil, err
	}
	if t.next() != ']' {
		return nil, fmt.Errorf("%w: what is taken from a set is its last part", ErrPattern)
	}
	s.without = less
	return s, nil
}

// writeSet writes a set so that the engine has no more than one way to read it. A set with negated categories is an
// alternative of sets: the engine asks only one category that a unit is in.
func (t *translator) writeSet(s *charSet) {
	if s.without == nil && len(s.others) == 0 {
		t.writePlain(s)
		return
	}
	t.write("(?>")
	if s.without != nil {
		t.write("(?!")
		t.writeSet(s.without)
		t.write(")")
	}
	if s.negated {
		t.write("(?!")
	} else {
		t.write("(?:")
	}
	t.writePlain(&charSet{ranges: s.ranges, some: s.some})
	for _, c := range s.others {
		t.write("|" + c.set())
	}
	t.write(")")
	if s.negated {
		t.write(anyUnit)
	}
	t.write(")")
}

// writePlain writes a set of ranges and categories.
func (t *translator) writePlain(s *charSet) {
	if len(s.ranges)+len(s.some) == 0 {
		if s.negated {
			t.write(anyUnit)
		} else {
			t.write(noUnit)
		}
		return
	}
	t.write("[")
	if s.negated {
		t.write("^")
	}
	surrogates := false
	for _, r := range s.ranges {
		t.writeSpan(r)
		surrogates = surrogates || r.last >= highSurrogate && r.first <= lastSurrogate
	}
	for _, c := range s.some {
		t.write(c.members)
	}
	if surrogates {
		t.sets++
		t.out = append(t.out, setMark+t.sets)
	}
	t.write("]")
}

// writeSpan writes a range, with the rune that stands in for U+0130.
func (t *translator) writeSpan(r span) {
	if r.first <= dottedI && r.last >= dottedI {
		t.writeSpan(span{r.first, dottedI - 1})
		t.out = append(t.out, standIn)
		r.first = dottedI + 1
	}
	if r.first <= r.last {
		t.write(fmt.Sprintf(`\u%04X-\u%04X`, r.first, r.last))
	}
}
