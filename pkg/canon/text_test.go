package canon_test

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/dmpl/dmpl/pkg/canon"
)

func TestTextDecodesALiteral(t *testing.T) {
	tests := []struct{ raw, want, code string }{
		{`""`, "", ""},
		{`"plain é"`, "plain é", ""},
		{`"\"\\\/\b\f\n\r\t\u00e9\u20AC\ud83d\ude42"`, "\"\\/\b\f\n\r\té€🙂", ""},
		{`"\ud800"`, "", canon.CodeLoneSurrogate},
		{"\"\xff\"", "", canon.CodeInvalidUTF8},
		{`"a`, "", canon.CodeInvalidJSON},
		{`"a" "b"`, "", canon.CodeInvalidJSON},
		{` "a"`, "", canon.CodeInvalidJSON},
		{`1`, "", canon.CodeInvalidJSON},
		{``, "", canon.CodeInvalidJSON},
	}
	for _, tt := range tests {
		text, err := canon.Text([]byte(tt.raw))
		if string(text) != tt.want || codeOf(t, err) != tt.code {
			t.Errorf("%s: %q, error %v", tt.raw, text, err)
		}
	}
	raw := []byte(`"abc"`)
	if text, err := canon.Text(raw); err != nil || &text[0] != &raw[1] {
		t.Error("text without escapes is a copy")
	}
}

func TestQuoteIsTheInverseOfText(t *testing.T) {
	for _, text := range []string{"", "a\"b\\c", "\x00\x01\x1f\x7f", "\b\f\n\r\t/", "é日😀\u2028"} {
		back, err := canon.Text(canon.Quote(nil, []byte(text)))
		if err != nil || string(back) != text {
			t.Errorf("%q came back as %q, error %v", text, back, err)
		}
	}
	if got := string(canon.Quote([]byte("x"), []byte("\x00\x1f\"é"))); got != `x"\u0000\u001f\"é"` {
		t.Error(got)
	}
}

func TestNFC(t *testing.T) {
	acute, below := "\u0301", "\u0323"
	many := strings.Repeat
	tests := []struct{ name, text, want string }{
		{"ASCII", "abc", "abc"},
		{"composes", "e\u0301", "\u00e9"},
		{"singleton", "\u212b\u2126", "\u00c5\u03a9"},
		{"exclusion", "\u0958", "\u0915\u093c"},
		{"Hangul", "\u1100\u1161\u11a8", "\uac01"},
		{"orders marks", "a" + acute + below, "\u1ea1" + acute},
		{"40 acutes", "a" + many(acute, 40), "\u00e1" + many(acute, 39)},
		{"40 acutes, then 40 dots below", "a" + many(acute, 40) + many(below, 40), "\u1ea1" + many(below, 39) + many(acute, 40)},
		{"mixed marks", "a" + many(acute+below, 40) + "b", "\u1ea1" + many(below, 39) + many(acute, 40) + "b"},
		{"marks without a starter", many(acute+below, 20), many(below, 20) + many(acute, 20)},
		{"two long runs", "e" + many(acute, 35) + "o" + many(below, 35), "\u00e9" + many(acute, 34) + "\u1ecd" + many(below, 34)},
		{"decomposing marks", "a" + many("\u0344", 20), "\u00e4" + acute + many("\u0308\u0301", 19)},
		{"Tibetan vowel signs of class 0 that decompose", "\u0f40" + many("\u0f73", 20), "\u0f40" + many("\u0f71", 20) + many("\u0f72", 20)},
		{"Hangul in a long run", "\uac00" + many("\u11a8", 40), "\uac01" + many("\u11a8", 39)},
		{"Hangul syllable before marks", "\uac01" + many(acute, 40), "\uac01" + many(acute, 40)},
		{"a blocked mark", "a\u0334" + many("\u0334", 40) + acute, "\u00e1" + many("\u0334", 41)},
		{"a mark of equal class blocks", "a" + many("\u0302", 40) + acute, "\u00e2" + many("\u0302", 39) + acute},
		{"two-part vowel", "\u09c7\u09be" + many("\u09cd", 40), "\u09cb" + many("\u09cd", 40)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(canon.NFC([]byte(tt.text)))
			if got != tt.want {
				t.Errorf("got  %+q\nwant %+q", got, tt.want)
			}
			if again := string(canon.NFC([]byte(got))); again != got {
				t.Errorf("again %+q", again)
			}
		})
	}
	text := []byte("\u00e9t\u00e9")
	if same := canon.NFC(text); &same[0] != &text[0] {
		t.Error("text in NFC is copied")
	}
}

// The norm package knows NFC as long as no run of marks is long; a long run at the end makes canon use its own.
func TestLongRunsAgreeWithShortOnes(t *testing.T) {
	marks := strings.Repeat("\u0301", 8)
	for c := rune(0); c <= 0x10FFFF; c++ {
		if c >= 0xD800 && c <= 0xDFFF {
			continue
		}
		p := norm.NFD.PropertiesString(string(c))
		if p.Decomposition() == nil && p.BoundaryBefore() && c%61 != 0 {
			continue // a plain starter: a sample is enough
		}
		text := string(c) + "\u0301\u0323"
		want := norm.NFC.String(text) + "x"
		got := string(canon.NFC([]byte(text + "x" + marks)))
		if strings.TrimSuffix(got, marks) != want {
			t.Errorf("%U: %+q, want %+q", c, got, want)
		}
	}
}

// Runes that skip the tables must be in NFC whatever stands before them.
func TestWritingAgreesWithNFCForEveryRune(t *testing.T) {
	for c := rune(0x80); c <= 0x10FFFF; c++ {
		if c >= 0xD800 && c <= 0xDFFF {
			continue
		}
		text := "a" + string(c)
		out, err := canon.Append(nil, canon.Quote(nil, []byte(text)), canon.JSONv1)
		if err != nil || string(out) != `"`+norm.NFC.String(text)+`"` {
			t.Fatalf("%U: %+q, error %v", c, out, err)
		}
	}
}

func TestALongRunCostsLinearTime(t *testing.T) {
	const n = 500_000
	text := "a" + strings.Repeat("\u0301\u0323", n)
	want := "\u1ea1" + strings.Repeat("\u0323", n-1) + strings.Repeat("\u0301", n)
	if got := string(canon.NFC([]byte(text))); got != want {
		t.Error("wrong order")
	}
}

// Eight bytes are looked at together: what is escaped, and what is not, does not depend on where among them it stands.
func TestQuotesHaveOneFormWhereverCharactersStand(t *testing.T) {
	for _, letters := range []string{"\"", "\\", "\x00", "\x1f", "\x7f", "\n", "é", "\u009f\u00a2\u009c", "ß\"", "\"é", "日本\\", "\U0001F600"} {
		for n := range 20 {
			text := strings.Repeat("a", n) + letters + strings.Repeat("b", 20-n) + letters
			if got, want := string(canon.Quote(nil, []byte(text))), slowQuote(text); got != want {
				t.Errorf("%q: %s, want %s", text, got, want)
			}
			back, err := canon.Text(canon.QuoteASCII(nil, []byte(text)))
			if err != nil || string(back) != text {
				t.Errorf("%q came back as %q, error %v", text, back, err)
			}
		}
	}
}
