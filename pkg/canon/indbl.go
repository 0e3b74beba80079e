package canon

import "bytes"

// InDBL tells whether the value stands in the form of dbl (C2), so that its canonical bytes are Raw. It takes no second look
// at the document: where it is false, the value may have the form, another one, or none.
func (v Value) InDBL() bool {
	const del = 0x7F // the one character that the form escapes and a Reader does not stop at
	return v.inDBL && bytes.IndexByte(v.raw, del) < 0
}

// inDBL tells whether a \u escape is the one that dbl writes: of a unit that needs one, in lowercase digits.
func inDBL(escape []byte, unit rune) bool {
	for _, c := range escape[2:] {
		if c >= 'A' && c <= 'F' {
			return false
		}
	}
	return unit >= 0x7F || unit < ' ' && (unit < '\b' || unit == '\v' || unit > '\r')
}
