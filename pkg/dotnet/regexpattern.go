package dotnet

import (
	"fmt"
	"slices"
	"strings"
)

// The engine is a port of .NET's, but its runes are no UTF-16 units, and some of its sets are not .NET's. A pattern is
// therefore written anew: every set from its parts, runes beyond U+FFFF as their two units.
//
// Runes beyond U+FFFF never stand in a text of units. They make sets of surrogates distinct, which the engine would
// otherwise take for each other, and one stands in for U+0130 everywhere: the engine would take it for an i where case is
// ignored, and without a culture it has no small letter (llamabrain.md §0).
const (
	dottedI  rune = 0x130
	standIn  rune = 0x1D400  // a capital letter without a small one
	distinct rune = 0x100000 // added to a surrogate: a rune of its own
	setMark  rune = 0xF0000  // added to the number of a set with surrogates: a rune of its own
)

// anyUnit and noUnit are the sets of all units and of none.
const (
	anyUnit = `[\s\S]`
	noUnit  = `(?!)`
)

// translator writes a pattern for the engine.
type translator struct {
	units []uint16
	pos   int
	out   []rune
	sets  rune // how many sets with surrogates there are so far
}

func (t *translator) more() bool { return t.pos < len(t.units) }

// peek gives the unit at a distance; 0 behind the end.
func (t *translator) peek(distance int) rune {
	if t.pos+distance >= len(t.units) {
		return 0
	}
	return rune(t.units[t.pos+distance])
}

func (t *translator) next() rune {
	u := t.peek(0)
	t.pos++
	return u
}

func (t *translator) write(text string) { t.out = append(t.out, []rune(text)...) }

func (t *translator) pattern() error {
	for t.more() {
		var err error
		switch u := t.next(); {
		case u == '\\':
			err = t.escape()
		case u == '[':
			err = t.set()
		case u == '(' && t.peek(0) == '?':
			err = t.group()
		default:
			t.unit(u)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// group writes what opens a group that is more than a capture. A comment stays, without its text: what stands on its two
// sides must not run together.
func (t *translator) group() error {
	t.pos++
	t.write("(?")
	switch u := t.peek(0); {
	case u == '#':
		end := slices.Index(t.units[t.pos:], ')')
		if end < 0 {
			return fmt.Errorf("%w: a comment without its end", ErrPattern)
		}
		t.pos += end + 1
		t.write("#)")
	case u == '[' || u == '\\' || u >= highSurrogate && u <= lastSurrogate:
		return fmt.Errorf("%w: there is no such group", ErrPattern)
	}
	for i := 0; t.peek(i) == '-' || t.peek(i) >= 'a' && t.peek(i) <= 'z'; i++ {
		if t.peek(i) == 'x' && slices.Contains(t.units, '#') {
			return fmt.Errorf("%w: it has the option x and a #, which may begin a comment", ErrUnsupported)
		}
	}
	return nil
}

// unit writes a unit that stands outside a set.
func (t *translator) unit(u rune) {
	switch {
	case u >= highSurrogate && u <= lastSurrogate:
		t.write(fmt.Sprintf(`[\u%04X`, u))
		t.out = append(t.out, distinct+u, ']')
	case u == dottedI:
		t.out = append(t.out, standIn)
	default:
		t.out = append(t.out, u)
	}
}

// escape writes what stands after a backslash outside a set.
func (t *translator) escape() error {
	u := t.peek(0)
	switch {
	case strings.ContainsRune("wWdDsSpP", u) && u != 0:
		t.pos++
		c, err := t.category(u)
		if err != nil {
			return err
		}
		t.write(c.set())
	case u == 'u' || u >= highSurrogate && u <= lastSurrogate:
		u, err := t.character()
		if err != nil {
			return err
		}
		if u == dottedI || u >= highSurrogate && u <= lastSurrogate {
			t.unit(u)
		} else {
			t.write(fmt.Sprintf(`\u%04X`, u))
		}
	default:
		t.out = append(t.out, '\\')
		if t.more() {
			t.out = append(t.out, t.next())
		}
	}
	return nil
}

// character reads what stands after a backslash: an escape that is one unit.
func (t *translator) character() (rune, error) {
	u := t.next()
	switch {
	case u == 'x':
		return t.hex(2)
	case u == 'u':
		return t.hex(4)
	case u == 'c':
		return t.control()
	case u >= '0' && u <= '7':
		t.pos--
		return t.octal(), nil
	}
	if i := strings.IndexRune("abefnrtv", u); i >= 0 {
		return rune("\a\b\x1b\f\n\r\t\v"[i]), nil
	}
	if isWord(u) {
		return 0, fmt.Errorf(`%w: there is no escape \%c`, ErrPattern, u)
	}
	return u, nil
}

func (t *translator) hex(digits int) (rune, error) {
	value := rune(0)
	for range digits {
		i := strings.IndexRune("0123456789abcdef", lower(t.peek(0)))
		if i < 0 || t.peek(0) == 0 {
			return 0, fmt.Errorf("%w: too few hexadecimal digits", ErrPattern)
		}
		t.pos++
		value = value<<4 | rune(i)
	}
	return value, nil
}

// octal reads up to three digits, of which the value's last 8 bits count.
func (t *translator) octal() rune {
	value := rune(0)
	for n := 0; n < 3 && t.peek(0) >= '0' && t.peek(0) <= '7'; n++ {
		value = value<<3 | t.next() - '0'
	}
	return value & 0xFF
}

func (t *translator) control() (rune, error) {
	u := t.next()
	if u >= 'a' && u <= 'z' {
		u -= 'a' - 'A'
	}
	if u < '@' || u > '_' {
		return 0, fmt.Errorf(`%w: \c names no control character`, ErrPattern)
	}
	return u - '@', nil
}

// reason gives what the engine says of a pattern, without the pattern: that one is written anew.
func reason(err error) string {
	text, _, _ := strings.Cut(err.Error(), " in `")
	return strings.TrimPrefix(text, "error parsing regexp: ")
}
