package canon_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The obviously simple second implementation that the fuzz targets hold canon against: the standard library's decoder
// into a tree, and a writer for each profile. It sees no lone surrogates, so it is not asked where there are any.

var errRefused = errors.New("refused")

type slowMember struct {
	name  string
	value any
}

type slowObject []slowMember

// slowParse reads a document into nil, bool, json.Number, string, []any and slowObject.
func slowParse(src []byte) (any, error) {
	if !utf8.Valid(src) || !json.Valid(src) {
		return nil, errRefused
	}
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	return slowValue(d, 0)
}

func slowValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == 256 {
		return nil, errRefused
	}
	list, object := []any{}, slowObject{}
	for d.More() {
		name := ""
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name = key.(string)
		}
		value, err := slowValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		list, object = append(list, value), append(object, slowMember{name, value})
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if delim == '{' {
		return object, nil
	}
	return list, nil
}

// slowForm is one profile in the simple implementation.
type slowForm struct {
	text     func(string) string // what happens to every string
	quote    func(string) string
	compare  func(a, b string) int
	number   func(string) (string, error)
	lastWins bool
}

func (f slowForm) write(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(v), nil
	case json.Number:
		return f.number(v.String())
	case string:
		return f.quote(f.text(v)), nil
	case []any:
		var parts []string
		for _, element := range v {
			part, err := f.write(element)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ",") + "]", nil
	case slowObject:
		return f.writeObject(v)
	}
	return "", fmt.Errorf("unknown %T", v)
}

func (f slowForm) writeObject(object slowObject) (string, error) {
	last, nfc := map[string]any{}, map[string]bool{}
	for _, m := range object {
		name := f.text(m.name)
		if nfc[norm.NFC.String(name)] && !f.lastWins {
			return "", errRefused
		}
		last[name], nfc[norm.NFC.String(name)] = m.value, true
	}
	var names []string
	for name := range last {
		names = append(names, name)
	}
	slices.SortFunc(names, f.compare)
	var parts []string
	for _, name := range names {
		part, err := f.write(last[name])
		if err != nil {
			return "", err
		}
		parts = append(parts, f.quote(name)+":"+part)
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

func same(s string) string { return s }

func slowQuote(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch i := strings.IndexRune("\"\\\b\f\n\r\t", c); {
		case i >= 0:
			b.WriteString(`\` + `"\bfnrt`[i:i+1])
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}

func slowQuoteASCII(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(slowQuote(s))) {
		if unit < 0x7F {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

func compareUnits(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func isInteger(literal string) bool { return !strings.ContainsAny(literal, ".eE") }

func slowInteger(literal string) string {
	n, _ := new(big.Int).SetString(literal, 10)
	return n.String()
}

// bigExponent tells whether a literal is too much for big.Rat.
func bigExponent(literal string) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	e, err := strconv.Atoi(exponent)
	return exponent != "" && (err != nil || e > 2000 || e < -2000)
}

var limit = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(309), nil))

func slowDecimal(literal string) (string, error) {
	if isInteger(literal) {
		return slowInteger(literal), nil
	}
	x, ok := new(big.Rat).SetString(literal)
	if !ok || new(big.Rat).Abs(x).Cmp(limit) >= 0 {
		return "", errRefused
	}
	// Half-even: the floor of x·10⁶ + ½, less one where that is an exact, odd tie.
	scaled := new(big.Rat).Mul(x, new(big.Rat).SetInt64(1_000_000))
	scaled.Add(scaled, big.NewRat(1, 2))
	n := new(big.Int).Div(scaled.Num(), scaled.Denom())
	if scaled.IsInt() && n.Bit(0) == 1 {
		n.Sub(n, big.NewInt(1))
	}
	text := new(big.Rat).SetFrac(n, big.NewInt(1_000_000)).FloatString(6)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	return text, nil
}

func slowPython(literal string) (string, error) {
	if isInteger(literal) {
		return slowInteger(literal), nil
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return "", errRefused
	}
	if size := math.Abs(f); f != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64), nil
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text, nil
}

// slowES6 leans on encoding/json, which formats floats as ECMAScript does but for negative zero.
func slowES6(literal string) (string, error) {
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return "", errRefused
	}
	if f == 0 {
		return "0", nil
	}
	text, err := json.Marshal(f)
	return string(text), err
}

func slowGateway(literal string) (string, error) {
	if !isInteger(literal) {
		return "", errRefused
	}
	return slowInteger(literal), nil
}

var (
	slowJSONv1 = slowForm{text: norm.NFC.String, quote: slowQuote, compare: cmp.Compare[string], number: slowDecimal}
	slowPy     = slowForm{text: same, quote: slowQuote, compare: cmp.Compare[string], number: slowPython, lastWins: true}
	slowDBL    = slowForm{text: same, quote: slowQuoteASCII, compare: cmp.Compare[string], number: slowGateway, lastWins: true}
	slowJCS    = slowForm{text: same, quote: slowQuote, compare: compareUnits, number: slowES6}
)

// beyondSlow tells whether the simple implementation cannot judge a document: surrogate escapes, long runs of marks
// (the norm package breaks them), exponents that big.Rat would write out, NaN and the like.
func beyondSlow(src []byte) bool {
	text := strings.ToLower(string(src))
	if strings.Contains(text, `\ud`) || strings.Contains(text, "nan") || strings.Contains(text, "infinity") {
		return true
	}
	marks := 0
	for _, c := range norm.NFD.String(text) + text {
		if unicode.IsMark(c) {
			marks++
		}
	}
	return marks+strings.Count(text, `\u`) > 25 || slices.ContainsFunc(strings.FieldsFunc(text, func(c rune) bool {
		return !strings.ContainsRune("0123456789.e+-", c)
	}), bigExponent)
}
