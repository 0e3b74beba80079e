package canon

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The codes an Error may have; pkg/finding explains each (C1, C2, C5, C8).
const (
	CodeInvalidJSON      = "canon.invalid_json"
	CodeInvalidUTF8      = "canon.invalid_utf8"
	CodeDuplicateKey     = "canon.duplicate_key"
	CodeKeyCollision     = "canon.key_collision_after_nfc"
	CodeLoneSurrogate    = "canon.lone_surrogate"
	CodeNonFinite        = "canon.non_finite"
	CodeNumberOutOfRange = "canon.number_out_of_range"
	CodeTooDeep          = "canon.too_deep"
	CodeFloatRefused     = "canon.float_refused"
	CodeInvalidDatetime  = "canon.invalid_datetime"
)

// Error says why a document is no evidence, or has no canonical form (C1).
type Error struct {
	Code    string // one of the Code constants
	Offset  int    // bytes from the start of the document
	Pointer string // RFC 6901: the innermost value that had begun, or was due, at Offset
	Detail  string // what was expected and what was found
}

// Error gives one line: code, place and detail. Text from the document is quoted in it.
func (e *Error) Error() string {
	return fmt.Sprintf("%s at byte %d, pointer %q: %s", e.Code, e.Offset, e.Pointer, e.Detail)
}

// newError places an error. Pointers are found by a second walk, so that reading pays nothing for them.
func newError(src []byte, code string, offset int, detail string) *Error {
	return &Error{Code: code, Offset: offset, Pointer: pointerAt(src, offset), Detail: detail}
}

// found describes the input at an offset for a Detail.
func found(src []byte, offset int) string {
	if offset >= len(src) {
		return "the end of the input"
	}
	r, _ := utf8.DecodeRune(src[offset:])
	return strconv.QuoteRune(r)
}

// level is one open array or object of the walk that pointerAt makes.
type level struct {
	object bool
	index  int    // position in an array
	name   []byte // literal of the member's name; nil while none is read
}

// pointerAt gives the JSON Pointer of the innermost value that had begun, or was due, at offset.
// The input before offset has been read without error.
func pointerAt(src []byte, offset int) string {
	var levels []level
	for i := 0; i < offset; i++ {
		switch src[i] {
		case '{', '[':
			levels = append(levels, level{object: src[i] == '{'})
		case '}', ']':
			levels = levels[:max(0, len(levels)-1)]
		case ',':
			if n := len(levels); n > 0 {
				levels[n-1].index++
				levels[n-1].name = nil
			}
		case '"':
			end := literalEnd(src, i)
			if n := len(levels); end <= offset && n > 0 && levels[n-1].object && levels[n-1].name == nil {
				levels[n-1].name = src[i:end]
			}
			i = end - 1
		}
	}
	pointer := ""
	for _, l := range levels {
		switch {
		case !l.object:
			pointer = AppendToken(pointer, strconv.Itoa(l.index))
		case l.name != nil:
			pointer = AppendToken(pointer, printable(l.name))
		}
	}
	return pointer
}

// literalEnd gives the offset after a string literal, or after the input when the literal is cut off.
func literalEnd(src []byte, start int) int {
	for i := start + 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src) + 1
}

// printable decodes a name literal for a pointer; what is no Unicode text becomes U+FFFD.
func printable(literal []byte) string {
	text := unescape(nil, literal[1:len(literal)-1])
	return string(NFC([]byte(strings.ToValidUTF8(string(text), "\uFFFD"))))
}

// AppendToken adds one reference token to a JSON Pointer (RFC 6901: "~" becomes "~0", "/" becomes "~1").
func AppendToken(pointer, token string) string {
	return pointer + "/" + pointerEscape.Replace(token)
}

var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)
