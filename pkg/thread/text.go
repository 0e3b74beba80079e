package thread

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
)

// strip takes white space from both ends, as the gateway's language defines it: U+001C to U+001F count, which Go's own
// trimming does not know.
func strip(s string) string {
	if n := len(s); n > 0 && isVisible(s[0]) && isVisible(s[n-1]) {
		return s
	}
	return strings.TrimFunc(s, isSpace)
}

func isVisible(c byte) bool { return c > ' ' && c < 0x7F }

func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r >= 0x1C && r <= ' ', r == 0x85, r == 0xA0, r == 0x1680,
		r >= 0x2000 && r <= 0x200A, r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000:
		return true
	}
	return false
}

// textOf gives a value as the gateway turns it into text: strings as they are, everything else as Python writes it.
// It is false where that cannot be told.
func textOf(v canon.Value) (string, bool) {
	if text, ok := v.Text(); ok {
		return text, true
	}
	out, ok := appendPython(nil, v)
	return string(out), ok
}

// appendPython appends the literal of a value in Python's syntax.
func appendPython(dst []byte, v canon.Value) ([]byte, bool) {
	switch v.Kind() {
	case canon.Null:
		return append(dst, "None"...), true
	case canon.Bool:
		if isTrue(v) {
			return append(dst, "True"...), true
		}
		return append(dst, "False"...), true
	case canon.Number:
		return append(dst, pythonNumber(v)...), true
	case canon.String:
		text, _ := v.Text()
		return appendPythonString(dst, text)
	case canon.Array:
		return appendPythonList(dst, v)
	case canon.Object:
		return appendPythonObject(dst, v)
	}
	return dst, false
}

func appendPythonList(dst []byte, v canon.Value) ([]byte, bool) {
	dst = append(dst, '[')
	for i, e := range v.Elements() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		var ok bool
		if dst, ok = appendPython(dst, e); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

func appendPythonObject(dst []byte, v canon.Value) ([]byte, bool) {
	dst = append(dst, '{')
	for i, m := range v.Members() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		var ok bool
		if dst, ok = appendPythonString(dst, m.Name); !ok {
			return dst, false
		}
		if dst, ok = appendPython(append(dst, ": "...), m.Value); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

// pythonNumber gives a number as Python prints it. What overflows binary64 is infinite there.
func pythonNumber(v canon.Value) string {
	out, err := canon.Append(nil, v.Raw(), canon.PySorted)
	switch {
	case err == nil:
		return string(out)
	case v.Raw()[0] == 'N':
		return "nan"
	case v.Raw()[0] == '-':
		return "-inf"
	}
	return "inf"
}

// appendPythonString appends a string literal. Beyond Latin-1 it depends on the Unicode version which runes are escaped,
// so there it cannot be told.
func appendPythonString(dst []byte, text string) ([]byte, bool) {
	quote := byte('\'')
	if strings.IndexByte(text, '\'') >= 0 && strings.IndexByte(text, '"') < 0 {
		quote = '"'
	}
	dst = append(dst, quote)
	for _, r := range text {
		switch {
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r == '\\', r == rune(quote):
			dst = append(dst, '\\', byte(r))
		case r < ' ', r >= 0x7F && r <= 0xA0, r == 0xAD:
			dst = append(dst, '\\', 'x')
			if r < 0x10 {
				dst = append(dst, '0')
			}
			dst = strconv.AppendInt(dst, int64(r), 16)
		case r <= 0xFF:
			dst = append(dst, string(r)...)
		default:
			return dst, false
		}
	}
	return append(dst, quote), true
}

func isTrue(v canon.Value) bool { return v.Kind() == canon.Bool && v.Raw()[0] == 't' }

// isEmpty tells whether a value counts as nothing in the gateway: absent, null, false, zero, or an empty text, list or
// object.
func isEmpty(v canon.Value) bool {
	switch v.Kind() {
	case canon.Invalid, canon.Null:
		return true
	case canon.Bool:
		return !isTrue(v)
	case canon.Number:
		n := pythonNumber(v)
		return n == "0" || n == "0.0" || n == "-0.0"
	case canon.String:
		return len(v.Raw()) == len(`""`)
	case canon.Array:
		return len(v.Elements()) == 0
	}
	return len(v.Members()) == 0
}

// isInteger tells whether a value is a number literal without fraction and exponent.
func isInteger(v canon.Value) bool {
	return v.Kind() == canon.Number && strings.Trim(string(v.Raw()), "-0123456789") == ""
}

// countsAsInteger tells whether the gateway takes a value for an integer: booleans pass for 1 and 0.
func countsAsInteger(v canon.Value) bool { return isInteger(v) || v.Kind() == canon.Bool }

// integerLiteral gives the number that an integer or a boolean stands for.
func integerLiteral(v canon.Value) []byte {
	switch {
	case isInteger(v):
		return v.Raw()
	case isTrue(v):
		return []byte("1")
	}
	return []byte("0")
}

// isAbsent tells whether a value is missing or null, which the gateway does not tell apart.
func isAbsent(v canon.Value) bool { return v.Kind() == canon.Invalid || v.Kind() == canon.Null }

// member gives a member of an object; the zero Value where there is none.
func member(v canon.Value, name string) canon.Value {
	found, _ := v.Get(name)
	return found
}

// stripped gives the text of a string without white space around it; false where it is no string or blank.
func stripped(v canon.Value) (string, bool) {
	text, _ := v.Text()
	text = strip(text)
	return text, text != ""
}

// sortedTexts gives the stripped texts of a list's elements in the order of their code points, duplicates kept.
func sortedTexts(v canon.Value) ([]string, error) {
	texts := make([]string, len(v.Elements()))
	for i, e := range v.Elements() {
		text, ok := textOf(e)
		if !ok {
			return nil, unverifiableText
		}
		texts[i] = strip(text)
	}
	slices.Sort(texts)
	return texts, nil
}

var unverifiableText = &Error{
	Code: CodeUnverifiable, Detail: "a list or an object stands where text is due, and how its producer spells it cannot be told",
}
