package dotnet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// lone is the first half of U+1F600 by itself.
const lone = "\xed\xa0\xbd"

// everyRune calls test with each code point that a text may hold, halves of pairs included.
func everyRune(test func(r rune, text string)) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r <= 0xDFFF {
			test(r, dotnet.FromUnits([]uint16{uint16(r)}))
		} else {
			test(r, string(r))
		}
	}
}

// llamabrain.md §0: lengths and slices are in UTF-16 units, for each code point as unicode/utf16 has it.
func TestEveryRuneIsItsUnits(t *testing.T) {
	everyRune(func(r rune, text string) {
		want := utf16.AppendRune(nil, r)
		if r >= 0xD800 && r <= 0xDFFF {
			want = []uint16{uint16(r)}
		}
		if got := dotnet.Units(text); !slices.Equal(got, want) || dotnet.Len(text) != len(want) || dotnet.FromUnits(want) != text {
			t.Errorf("%U: units %x, length %d, text %q; want %x of %q", r, got, dotnet.Len(text), dotnet.FromUnits(want), want, text)
		}
	})
}

func TestCutMaySplitAPair(t *testing.T) {
	tests := []struct {
		text     string
		from, to int
		want     string
	}{
		{"hello", 1, 3, "el"},
		{"é😀x", 0, 2, "é" + lone},
		{"é😀x", 2, 4, "\xed\xb8\x80x"},
		{"é😀x", 1, 3, "😀"},
		{"", 0, 0, ""},
	}
	for _, test := range tests {
		if got := dotnet.Cut(test.text, test.from, test.to); got != test.want {
			t.Errorf("Cut(%q, %d, %d) = %q, want %q", test.text, test.from, test.to, got, test.want)
		}
	}
}

func TestHalvesThatStandTogetherAreAPair(t *testing.T) {
	for text, want := range map[string]string{
		lone + "\xed\xb8\x80": "😀", "é😀": "é😀", "\xed\xb8\x80" + lone: "\xed\xb8\x80" + lone, lone + "a\xed\xb8\x80": lone + "a\xed\xb8\x80", "": "",
	} {
		if got := dotnet.Pair(text); got != want {
			t.Errorf("Pair(%q) = %q, want %q", text, got, want)
		}
	}
}

// A text is looked for unit by unit, so half of a pair is found in the pair.
func TestIndexIsInUnits(t *testing.T) {
	tests := []struct {
		s, text string
		want    int
	}{
		{"abc", "", 0},
		{"é😀b", "b", 3},
		{"é😀b", "😀", 1},
		{"é😀b", lone, 1},
		{"é😀b", "\xed\xb8\x80b", 2},
		{"é😀b", "\xed\xb8\x81", -1},
		{"é😀b", "c", -1},
		{"aaab😀", "aab" + lone, 1},
		{"abab😁abab😀", "abab" + lone + "\xed\xb8", -1},
		{"xabxabab😀", "abab" + lone, 4},
		{"", lone, -1},
	}
	for _, test := range tests {
		if got := dotnet.Index(test.s, test.text); got != test.want || dotnet.Contains(test.s, test.text) != (test.want >= 0) {
			t.Errorf("Index(%q, %q) = %d, want %d", test.s, test.text, got, test.want)
		}
	}
}

// P3: ids are ordered by UTF-16 unit, which is not the order of their UTF-8 bytes.
func TestCompareIsTheOrderOfUnits(t *testing.T) {
	texts := []string{"", "a", "ab", "b", "é", "\ud7ff", lone, lone + "a", "😀", "😀a", "😁", "\ue000", "\uffff", "a😀", "a\ue000", "\U0010ffff"}
	for _, a := range texts {
		for _, b := range texts {
			want := slices.Compare(dotnet.Units(a), dotnet.Units(b))
			if got := dotnet.Compare(a, b); sign(got) != want {
				t.Errorf("Compare(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

// llamabrain.md §0: folding is one to one, keeps U+0130, and never changes the length in units. The digest is the whole
// table: another Unicode version is a decision, not an accident (docs/decisions/0013).
func TestLowerIsOneTable(t *testing.T) {
	const want = "f294f1f83646ee6d7c355ec3a7d7d682e765c5dc8408ded4fc527df244700bc4"
	sum := sha256.New()
	everyRune(func(r rune, text string) {
		low := dotnet.Lower(text)
		if dotnet.Len(low) != dotnet.Len(text) || dotnet.Lower(low) != low {
			t.Errorf("%U becomes %q", r, low)
		}
		sum.Write([]byte(low))
	})
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("the letters of Unicode %s are folded by another table: %s", unicode.Version, got)
	}
}

func TestLowerKeepsWhatHasNoSmallLetter(t *testing.T) {
	tests := []struct{ text, want string }{
		{"abc 1", "abc 1"},
		{"ABC", "abc"},
		{"aBÉ", "abé"},
		{"İIıi", "İiıi"},
		{"ΑΣ", "ασ"},
		{"ẞß", "ßß"},
		{lone + "A", lone + "a"},
		{"\u212a", "k"},
	}
	for _, test := range tests {
		if got := dotnet.Lower(test.text); got != test.want {
			t.Errorf("Lower(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestEqualFoldMakesNoLetterAnASCIIOne(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"", "", true},
		{"World", "wORLD", true},
		{"é", "É", true},
		{"σ", "ς", true},
		{"i", "İ", false},
		{"i", "ı", false},
		{"s", "ſ", false},
		{"k", "\u212a", false},
		{"a", "ab", false},
		{"ab", "a", false},
		{"a", "b", false},
		{lone, lone, true},
	}
	for _, test := range tests {
		if got := dotnet.EqualFold(test.a, test.b); got != test.want {
			t.Errorf("EqualFold(%q, %q) = %v", test.a, test.b, got)
		}
	}
}

// llamabrain.md §0: white space is Unicode's; a byte order mark and U+200B are none.
func TestWhiteSpaceIsUnicodes(t *testing.T) {
	const spaces = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
	everyRune(func(r rune, text string) {
		want := strings.ContainsRune(spaces, r) && r != utf8.RuneError
		if dotnet.IsSpace(r) != want || dotnet.Blank(text) != want {
			t.Errorf("%U: white space %v, want %v", r, dotnet.IsSpace(r), want)
		}
	})
	if got := dotnet.Trim("\u3000 a\u200b\u00a0"); got != "a\u200b" {
		t.Errorf("Trim: %q", got)
	}
	if got := dotnet.TrimEnd(" a " + lone + "\u0085"); got != " a "+lone {
		t.Errorf("TrimEnd: %q", got)
	}
	if !dotnet.Blank("") || dotnet.Blank(" . ") {
		t.Error("blank")
	}
}

func TestUTF8ReplacesHalvesOfPairs(t *testing.T) {
	for text, want := range map[string]string{
		"é😀": "é😀", "a" + lone: "a\ufffd", lone + "\xed\xb8\x80": "\ufffd\ufffd", "\xff": "\ufffd", "\xed\xa0": "\ufffd\ufffd",
	} {
		if got := dotnet.UTF8(text); got != want {
			t.Errorf("UTF8(%q) = %q, want %q", text, got, want)
		}
	}
}

// Bytes that are no text count one by one as U+FFFD: nothing is lost in a length.
func TestBrokenBytesAreReplacementCharacters(t *testing.T) {
	if got := dotnet.Units("a\xff\xed\xa0b"); !slices.Equal(got, []uint16{'a', 0xFFFD, 0xFFFD, 0xFFFD, 'b'}) || dotnet.Len("a\xff\xed\xa0b") != 5 {
		t.Errorf("units %x", got)
	}
}

// llamabrain.md §0, NJ form.
func TestQuoteIsTheFormOfNewtonsoft(t *testing.T) {
	got := string(dotnet.Quote(nil, "\"\\\b\f\n\r\t\x00\x1f\u0085\u2028\u2029<&/\x7fé😀"+lone))
	want := `"\"\\\b\f\n\r\t\u0000\u001f\u0085\u2028\u2029<&/` + "\x7fé😀\ufffd\""
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFloatsAlwaysHaveAPointOrAnExponent(t *testing.T) {
	for want, x := range map[string]float32{
		"1.0": 1, "0.33333334": 1.0 / 3, "1E-05": 1e-5, "-0.5": -0.5, "0.0": 0, "1E+21": 1e21, "16777216.0": 1 << 24, "1.5E-07": 1.5e-7,
		"0.0001": 1e-4, "1000000.0": 1e6, "1234567.0": 1234567, "1E+07": 1e7, "1234567.5": 1234567.5, "-3.4028235E+38": -math.MaxFloat32,
		"1.2345679E+08": 123456789, "-100.0": -100,
	} {
		if got := string(dotnet.AppendFloat([]byte("x"), x)); got != "x"+want {
			t.Errorf("%g: %s, want x%s", x, got, want)
		}
	}
}

// FuzzUnits holds what every function promises to any bytes: units come back as they were, and folding keeps lengths.
func FuzzUnits(f *testing.F) {
	f.Add("a😀"+lone, "İ\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		units := dotnet.Units(a)
		text := dotnet.FromUnits(units)
		if !slices.Equal(dotnet.Units(text), units) || dotnet.Len(a) != len(units) {
			t.Errorf("%q: units %x, then %x", a, units, dotnet.Units(text))
		}
		if low := dotnet.Lower(a); dotnet.Len(low) != len(units) || dotnet.Lower(low) != low {
			t.Errorf("%q: folded %q", a, low)
		}
		if got, want := dotnet.Compare(a, b), slices.Compare(units, dotnet.Units(b)); utf8.ValidString(a) && utf8.ValidString(b) && sign(got) != want {
			t.Errorf("Compare(%q, %q) = %d, want %d", a, b, got, want)
		}
		if !utf8.ValidString(dotnet.UTF8(a)) {
			t.Errorf("%q is written as no UTF-8", a)
		}
	})
}

// Eight bytes are looked at together: what is no ASCII counts wherever it stands among them.
func TestLengthsDoNotDependOnWhereLettersStand(t *testing.T) {
	for n := range 20 {
		for _, letter := range []string{"é", "\U0001F600", "\xed\xa0\x80", "\xff"} {
			text := strings.Repeat("a", n) + letter + strings.Repeat("B", 20-n)
			if got, want := dotnet.Len(text), len(dotnet.Units(text)); got != want {
				t.Errorf("%q: length %d, want %d", text, got, want)
			}
			if got, want := dotnet.Lower(text), strings.Repeat("a", n)+letter+strings.Repeat("b", 20-n); letter != "\xff" && got != want {
				t.Errorf("%q: small letters %q, want %q", text, got, want)
			}
		}
	}
}
