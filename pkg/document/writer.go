package document

import (
	"encoding/hex"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// Style is how a Writer spells values. The zero Style is compact ASCII, in which a lone surrogate survives.
type Style struct {
	LlamaBrain bool // text and floats as LlamaBrain writes them: non-ASCII raw, binary32 (llamabrain.md §0, NJ form)
	Indent     bool // two spaces, LF, `"key": value`
	UTF8       bool // non-ASCII raw, as json-v1 has it, in every text that is UTF-8: fewer bytes for a digest to read
	OmitNull   bool // members that are null are left out
	Binary32   bool // reals are binary32, as the shortest text that is the same binary32 again
}

// Writer puts a JSON document together. Every method that takes a name writes a member; inside a list the name is empty
// and the value stands alone.
type Writer struct {
	style Style
	dst   []byte
	depth int
	empty bool // nothing stands yet in the innermost object or list
}

// usual is the size that most documents stay below.
const usual = 256

// NewWriter starts a document.
func NewWriter(s Style) *Writer { return &Writer{style: s, dst: make([]byte, 0, usual)} }

// Bytes gives the document. It is valid until Reset.
func (w *Writer) Bytes() []byte { return w.dst }

// Reset starts another document in the memory of the last one.
func (w *Writer) Reset() { w.dst, w.depth, w.empty = w.dst[:0], 0, false }

// start begins a member or an element, and gives the document for its value.
func (w *Writer) start(name string) []byte {
	dst := w.dst
	if w.depth > 0 {
		if !w.empty {
			dst = append(dst, ',')
		}
		dst = w.newline(dst)
	}
	w.empty = false
	if name == "" {
		return dst
	}
	dst = append(w.quote(dst, name), ':')
	if w.style.Indent {
		dst = append(dst, ' ')
	}
	return dst
}

func (w *Writer) newline(dst []byte) []byte {
	if !w.style.Indent {
		return dst
	}
	dst = append(dst, '\n')
	for range w.depth {
		dst = append(dst, "  "...)
	}
	return dst
}

func (w *Writer) quote(dst []byte, s string) []byte {
	switch {
	case plain(s):
		return append(append(append(dst, '"'), s...), '"')
	case w.style.LlamaBrain:
		return dotnet.Quote(dst, s)
	case w.style.UTF8 && utf8.ValidString(s):
		return canon.Quote(dst, []byte(s))
	}
	return canon.QuoteASCII(dst, []byte(s))
}

// spelt are the bytes that a style may write in another way.
var spelt = func() (of [256]bool) {
	for c := range of {
		of[c] = c < ' ' || c >= 0x7F || c == '"' || c == '\\'
	}
	return of
}()

// plain tells that a text is short and as it is in every style, as nearly all names are.
func plain(s string) bool {
	const short = 32
	if len(s) > short {
		return false
	}
	for i := range len(s) {
		if spelt[s[i]] {
			return false
		}
	}
	return true
}

func (w *Writer) nest(name string, opening, closing byte, fill func()) {
	w.dst = append(w.start(name), opening)
	w.depth++
	w.empty = true
	fill()
	w.depth--
	if !w.empty {
		w.dst = w.newline(w.dst)
	}
	w.dst = append(w.dst, closing)
	w.empty = false
}

// Object writes an object whose members fill writes.
func (w *Writer) Object(name string, fill func()) { w.nest(name, '{', '}', fill) }

// List writes a list whose elements fill writes, each with an empty name.
func (w *Writer) List(name string, fill func()) { w.nest(name, '[', ']', fill) }

// Null writes null, or nothing where the style leaves nulls out.
func (w *Writer) Null(name string) {
	if name != "" && w.style.OmitNull {
		return
	}
	w.dst = append(w.start(name), "null"...)
}

// Text writes a string.
func (w *Writer) Text(name, value string) {
	w.dst = w.quote(w.start(name), value)
}

// Numbered writes a string: letters of ASCII, and a number behind them.
func (w *Writer) Numbered(name, letters string, number int64) {
	dst := append(append(w.start(name), '"'), letters...)
	w.dst = append(strconv.AppendInt(dst, number, 10), '"')
}

// OptionalText writes a string or null.
func (w *Writer) OptionalText(name string, value *string) {
	if value == nil {
		w.Null(name)
		return
	}
	w.Text(name, *value)
}

// Texts writes a list of strings, null for nil.
func (w *Writer) Texts(name string, values []string) {
	if values == nil {
		w.Null(name)
		return
	}
	w.List(name, func() {
		for _, value := range values {
			w.Text("", value)
		}
	})
}

// Integer writes a whole number.
func (w *Writer) Integer(name string, value int64) {
	w.dst = strconv.AppendInt(w.start(name), value, 10)
}

// OptionalInteger writes a whole number or null.
func (w *Writer) OptionalInteger(name string, value *int64) {
	if value == nil {
		w.Null(name)
		return
	}
	w.Integer(name, *value)
}

// Bool writes a boolean.
func (w *Writer) Bool(name string, value bool) {
	w.dst = strconv.AppendBool(w.start(name), value)
}

// Real writes a finite number: the shortest text that is the same binary64 again, or the same binary32 where the style
// says so.
func (w *Writer) Real(name string, value float64) {
	dst := w.start(name)
	switch {
	case w.style.LlamaBrain:
		w.dst = dotnet.AppendFloat(dst, float32(value))
	case w.style.Binary32:
		w.dst = strconv.AppendFloat(dst, value, 'f', -1, 32)
	default:
		w.dst = AppendReal(dst, value)
	}
}

// AppendReal appends a finite number as Real does in the zero Style.
func AppendReal(dst []byte, value float64) []byte {
	// P2(i): most reals are millionths. Where no more than 15 digits are, no other number of so few is the same binary64, so that
	// these digits are the shortest text.
	const most = 1e15
	millionths := math.RoundToEven(float64(value * 1e6))
	if !(math.Abs(millionths) < most) || millionths/1e6 != value || value == 0 && math.Signbit(value) {
		return strconv.AppendFloat(dst, value, 'f', -1, 64)
	}
	if value < 0 {
		dst, millionths = append(dst, '-'), -millionths
	}
	n := uint64(millionths)
	dst = strconv.AppendUint(dst, n/1e6, 10)
	rest := n % 1e6
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := uint64(1e5); rest > 0; unit /= 10 {
		dst = append(dst, '0'+byte(rest/unit))
		rest %= unit
	}
	return dst
}

// Sum writes a digest as C9 spells it.
func (w *Writer) Sum(name string, value canon.Sum) {
	w.dst = append(hex.AppendEncode(append(w.start(name), '"'), value[:]), '"')
}

// Raw writes a value that is JSON already.
func (w *Writer) Raw(name string, value []byte) {
	w.dst = append(w.start(name), value...)
}
