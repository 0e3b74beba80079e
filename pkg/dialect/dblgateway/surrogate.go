package dblgateway

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
)

// privateUse are the first code points of three ranges that are as long as the range of surrogates, and that no
// normalisation touches.
var privateUse = [...]uint16{0xE000, 0xE800, 0xF000}

const firstSurrogate, lastSurrogate, firstLow = 0xD800, 0xDFFF, 0xDC00

// readTolerant calls read with doc, by C1. The gateway keeps surrogate escapes that stand alone, and C1 refuses them
// (dbl-gateway.md §1): where one is met, read is called again with a copy of the same length in which they are private-use
// characters. Two names that are equal only in that copy differ in the next one. Tolerated says that a copy was read.
func readTolerant(doc []byte, read func(doc []byte) error) (tolerated bool, err error) {
	err = read(doc)
	if !has(err, canon.CodeLoneSurrogate) {
		return false, err
	}
	for _, first := range privateUse {
		err = read(maskLone(doc, first))
		if !has(err, canon.CodeDuplicateKey) && !has(err, canon.CodeKeyCollision) {
			break
		}
	}
	return true, err
}

func has(err error, code string) bool {
	var bad *canon.Error
	return errors.As(err, &bad) && bad.Code == code
}

// maskLone gives a copy of doc in which every surrogate escape that stands alone is the escape of a private-use character.
func maskLone(doc []byte, first uint16) []byte {
	masked := bytes.Clone(doc)
	for i := 0; i < len(doc); {
		next := bytes.IndexByte(doc[i:], '\\')
		if next < 0 {
			return masked
		}
		i += next
		unit, ok := escapedUnit(doc[i:])
		switch {
		case !ok:
			i += 2 // the escaped character may be a backslash
			continue
		case unit < firstLow && isLow(doc[i+6:]):
			i += 12
			continue
		}
		const hex = "0123456789abcdef"
		for digit, value := 5, unit-firstSurrogate+first; digit >= 2; digit, value = digit-1, value>>4 {
			masked[i+digit] = hex[value&0xf]
		}
		i += 6
	}
	return masked
}

// escapedUnit gives the surrogate that the escape at the start of text names.
func escapedUnit(text []byte) (unit uint16, ok bool) {
	if len(text) < 6 || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return uint16(n), err == nil && n >= firstSurrogate && n <= lastSurrogate
}

func isLow(text []byte) bool {
	if len(text) == 0 || text[0] != '\\' {
		return false
	}
	unit, ok := escapedUnit(text)
	return ok && unit >= firstLow
}
