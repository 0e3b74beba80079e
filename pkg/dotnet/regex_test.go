package dotnet_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

const miss = "(no match)"

func find(t *testing.T, pattern string, ignoreCase bool, text string) string {
	t.Helper()
	t.Cleanup(regexp2.StopTimeoutClock)
	re, err := dotnet.CompileRegex(pattern, ignoreCase)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	match, found, err := re.Find(dotnet.TextOf(text))
	if err != nil {
		t.Fatalf("%q on %q: %v", pattern, text, err)
	}
	if !found {
		return miss
	}
	return match
}

// The answers are those of .NET's own engine.
func TestRegexesMeanWhatTheyMeanInDotNet(t *testing.T) {
	tests := []struct{ pattern, text, want string }{
		{``, "x", ""},
		{`a.c`, "a\nc", miss},
		{`a.c`, "a\rc", "a\rc"},
		{`\d{3}-\d{4}`, "Call 555-1234", "555-1234"},
		{`\d`, "٣", "٣"},
		{`(?<=the )\w+(?= fox)`, "the quick fox", "quick"},
		{`(\w)\1`, "abccd", "cc"},
		{`<.+?>`, "<a><b>", "<a>"},
		{`x$`, "x\n", "x"},
		{`x\z`, "x\n", miss},
		{`(?<year>\d+)-\k<year>`, "12-12", "12-12"},
		{`(?>a+)ab`, "aaab", miss},
		// One unit at a time.
		{`.`, "😀", lone},
		{`^..$`, "😀", "😀"},
		{`😀`, "a😀", "😀"},
		{`😀+`, "😀\xed\xb8\x80", "😀\xed\xb8\x80"},
		{`😁`, "😀", miss},
		{`(?:😀|😁)x`, "😁x", "😁x"},
		{`[😀]`, "a😁", lone},
		{`[^😀]`, "😀😁", "\xed\xb8\x81"},
		{`\😀`, "😀", "😀"},
		{`[\uD800-\uDBFF][\uDC00-\uDFFF]`, "a😀", "😀"},
		{`\uD83D\uDE00`, "😁😀", "😀"},
		{`[\u0080-\uFFFF]+`, "ab😀c", "😀"},
		{`\p{Cs}`, "a😀", lone},
		{`[^\uD800-\uDFFF]`, "😀b", "b"},
		// Sets.
		{`[\W\d]`, "a5", "5"},
		{`[^\W\d_]+`, "5_ab1", "ab"},
		{`[\S\d]+x`, "12ax", "12ax"},
		{`[\s\S]+`, "a\nb", "a\nb"},
		{`[\P{L}\p{Lu}]+`, "aA1", "A1"},
		{`[a-z-[aeiou]]+`, "aebcd", "bcd"},
		{`[a-z-[b-y-[m]]]+`, "bamz", "amz"},
		{`[^a-c-[x]]`, "axd", "d"},
		{`[a-[b]]`, "ba", "a"},
		{`[\w-[\d]]+`, "12ab", "ab"},
		{`[]a]+`, "b]a", "]a"},
		{`[^]a]`, "]ab", "b"},
		{`[a-]+`, "b-a", "-a"},
		{`[a\-c]+`, "b-ac", "-ac"},
		{`[a-\-]`, "a-", "-"},
		{`[\w-z]+`, " -a", "-a"},
		{`[-a]`, "-", "-"},
		{`[[:alpha:]x]+`, "ax[", "x["},
		{`[[:x]`, ":", ":"},
		{`[\x41\u0042\103\cA\t\]\-\e]+`, "xAB" + "C\x01\t]-\x1b", "ABC\x01\t]-\x1b"},
		{`[\b]`, "a\b", "\b"},
		{`[^\s\S]`, "a", miss},
		{`[\D\d]`, "7", "7"},
		{`\w`, "\u200d_", "_"},
		{`\W\S\D\P{L}`, " a 1", " a 1"},
		{`\W\S\D\P{L}`, "aa1a", miss},
		{`\bb`, "a\u200db b", "b"},
		{`a(?#no [ comment)b`, "ab", "ab"},
		{`(a)(?#x)1`, "a1", "a1"},
		{`\$\cA\x41\101`, "$\x01AA", "$\x01AA"},
		{`\u0130`, "iİ", "İ"},
		{`[\u0100-\u0200]`, "iİ", "İ"},
		{`\p{Lu}`, "iİ", "İ"},
	}
	for _, test := range tests {
		if got := find(t, test.pattern, false, test.text); got != test.want {
			t.Errorf("%s on %q: %q, want %q", test.pattern, test.text, got, test.want)
		}
	}
}

// llamabrain.md §0: case is folded letter by letter without a culture.
func TestRegexesIgnoreCaseWithoutACulture(t *testing.T) {
	tests := []struct{ pattern, text, want string }{
		{`secret`, "A SECRET", "SECRET"},
		{`É`, "é", "é"},
		{`k`, "\u212a", "\u212a"},
		{`s`, "ſ", miss},
		{`σ`, "ς", miss},
		{`Σ`, "σ", "σ"},
		{`i`, "İ", miss},
		{`İ`, "i", miss},
		{`[İ]`, "iİ", "İ"},
		{`i`, "ı", miss},
		{`[a-z]+`, "AB\u212a", "AB\u212a"},
		{`[^a]`, "A", miss},
		{`\p{Lu}`, "aİ", "a"},
		{`\P{Lu}`, "aB1", "1"},
		{`\x41`, "a", "a"},
		{`(a)\1`, "aA", "aA"},
		{`(?-i)a`, "Aa", "a"},
	}
	for _, test := range tests {
		if got := find(t, test.pattern, true, test.text); got != test.want {
			t.Errorf("%s on %q: %q, want %q", test.pattern, test.text, got, test.want)
		}
	}
	if got := find(t, `(?i)a`, false, "A"); got != "A" {
		t.Errorf("the option in the pattern: %q", got)
	}
}

func TestPatternsThatDotNetRefuses(t *testing.T) {
	for _, pattern := range []string{
		`[`, `[a`, `[]`, `[z-a]`, `[a-\d]`, `[a-[b]c]`, `[\p]`, `(`, `)`, `*`, `a**`, `a++`, `\Qa\E`, `\h`, `\pL`, `\p{Nope}`, `\p{L`,
		`\p{Cyrillic}`, `\u12`, `\x4`, `\uzzzz`, `[\u1]`, `[\c1]`, `[\z]`, `\`, `(?#`, `(?[a])`, `(?😀)`, `(?<😀>a)`, `\2`, `(?P<n>a)`, `a{3,1}`,
		`[\`, `[a-`, `[^`, `[a-[`,
	} {
		if _, err := dotnet.CompileRegex(pattern, true); !errors.Is(err, dotnet.ErrPattern) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// What is not read is an error of its own: it is not what .NET would refuse.
func TestPatternsThatAreNotRead(t *testing.T) {
	for name, pattern := range map[string]string{
		"block":    `\p{IsGreek}`,
		"length":   strings.Repeat("a", 1<<15+1),
		"nesting":  strings.Repeat("[a-", 70) + strings.Repeat("]", 70),
		"comments": "(?mx-i)a # [",
	} {
		if _, err := dotnet.CompileRegex(pattern, false); !errors.Is(err, dotnet.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A pattern that never ends has no answer: it is no miss, and the engine's clock ends as well.
func TestAMatchThatTakesTooLongIsGivenUp(t *testing.T) {
	before := runtime.NumGoroutine()
	re, err := dotnet.CompileRegex(`^(a+)+$`, true)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, found, err := re.Find(dotnet.TextOf(strings.Repeat("a", 64) + "!"))
	if !errors.Is(err, dotnet.ErrOutOfTime) || found || time.Since(start) > 30*time.Second {
		t.Errorf("found %v, %v after %s", found, err, time.Since(start))
	}
	regexp2.StopTimeoutClock()
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

func TestALongTextIsNotMatched(t *testing.T) {
	t.Cleanup(regexp2.StopTimeoutClock)
	re, err := dotnet.CompileRegex(`b`, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, found, err := re.Find(dotnet.TextOf(strings.Repeat("a", 1<<20-1) + "b")); !found || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if _, _, err := re.Find(dotnet.TextOf(strings.Repeat("a", 1<<20) + "b")); !errors.Is(err, dotnet.ErrTooLong) {
		t.Errorf("%v", err)
	}
}

// FuzzRegex holds that any pattern compiles or is refused, and that a match is a part of its text.
func FuzzRegex(f *testing.F) {
	for _, pattern := range []string{`[a-z-[aeiou]]`, `[^\W\d_]`, `(?<n>a)\k<n>`, `😀[😁]`, `(?i)\p{Lu}`, `[\`, `(?x)a`} {
		f.Add(pattern, "aA😀İ", true)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, ignoreCase bool) {
		if len(pattern) > 60 || len(text) > 60 {
			t.Skip()
		}
		re, err := dotnet.CompileRegex(pattern, ignoreCase)
		if err != nil {
			if !errors.Is(err, dotnet.ErrPattern) && !errors.Is(err, dotnet.ErrUnsupported) {
				t.Errorf("%q: %v", pattern, err)
			}
			return
		}
		match, found, err := re.Find(dotnet.TextOf(text))
		if err == nil && found && dotnet.Len(match) > dotnet.Len(text) {
			t.Errorf("%q on %q: %q", pattern, text, match)
		}
	})
}
