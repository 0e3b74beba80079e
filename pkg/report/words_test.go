package report_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/report"
)

func TestWordMarks(t *testing.T) {
	long := strings.Repeat("lorem ipsum dolor sit amet ", 20)
	cases := []struct{ name, left, right, want string }{
		{
			"a word", "the quick brown fox jumps over the lazy dog, again and again", "the quick red fox jumps over the lazy dog, again and again",
			`"the quick [-brown-]{+red+} fox jumps over the lazy dog, again and again"`,
		},
		{
			"words are never split", "the session identifier is abcdef and it was accepted", "the session identifier is abcxyz and it was accepted",
			`"the session identifier is [-abcdef-]{+abcxyz+} and it was accepted"`,
		},
		{
			"space between changes joins them", "please list all open issues that nobody has touched", "please list every closed issues that nobody has touched",
			`"please list [-all open-]{+every closed+} issues that nobody has touched"`,
		},
		{
			"inserted and removed", "one two three four five six seven eight nine ten", "one two three and four five six seven eight ten",
			`"one two three {+and +}four five six seven eight[- nine-] ten"`,
		},
		{
			"escapes inside", "first line\\nsecond \\u001b[31m line of the text here", "first line\\nthird \\u001b[31m line of the text here",
			`"first line\n[-second-]{+third+} \u001b[31m line of the text here"`,
		},
		{
			"long equal parts are left out", long + "cats " + long, long + "dogs " + long,
			`"… (540 bytes) …lor sit amet lorem ipsum dolor sit amet [-cats-]{+dogs+} lorem ipsum dolor sit amet lorem ipsum … (541 bytes) …"`,
		},
		{
			"changes at both ends", "alpha " + long + "omega", "beta " + long + "psi",
			`"[-alpha-]{+beta+} lorem ipsum dolor sit amet lorem ipsum … (541 bytes) …lor sit amet lorem ipsum dolor sit amet [-omega-]{+psi+}"`,
		},
		{
			"a long change is cut", "begin of the text " + "and its end", "begin of the text " + strings.Repeat("word ", 100) + "and its end",
			"word … (500 bytes)+}and its end\"",
		},
		{
			"too long to compare word by word", "same start " + strings.Repeat("a b ", 2000) + "same end", "same start " + strings.Repeat("c d ", 2000) + "same end",
			"",
		},
		{"another spelling of the same text", "caf\\u00e9 and a few more words, all the same", "café and a few more words, all the same", ""},
		{"nothing in common", "Lorem ipsum dolor sit amet consectetur", "The answer to every question is fortytwo", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := asText(t, withValues(text(c.left), text(c.right)), report.TextOptions{Width: 40})
			if c.want == "" {
				if strings.Contains(out, "change ") || !strings.Contains(out, "\n    left     \"") {
					t.Errorf("want two lines:\n%s", out)
				}
				return
			}
			if got := lineWith(t, out, "change "); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestVeryLongTextsAreComparedAtTheirEnds(t *testing.T) {
	same := strings.Repeat("a b ", 3000)
	out := asText(t, withValues(text(same+"cats "+same), text(same+"dogs "+same)), report.TextOptions{Width: 80})
	if got := lineWith(t, out, "change "); !strings.Contains(got, "[-cats-]{+dogs+}") {
		t.Errorf("got %s", got)
	}
	huge := strings.Repeat("a b ", 70_000)
	out = asText(t, withValues(text(huge+"cats"), text(huge+"dogs")), report.TextOptions{Width: 80})
	if strings.Contains(out, "change ") || !strings.Contains(out, "… (280006 bytes)") {
		t.Errorf("a text of 280 KB is compared word by word:\n%s", out)
	}
}

func TestMarksAreRedAndGreenWithColor(t *testing.T) {
	out := asText(t, of("diff", reworded()), report.TextOptions{Color: true})
	got := lineWith(t, out, "change ")
	if !strings.Contains(got, "\x1b[31mworst\x1b[0m\x1b[32mmost severe\x1b[0m") || strings.Contains(got, "[-") {
		t.Errorf("got %q", got)
	}
}

// Taking the insertions out of a marked text gives the left text, taking the deletions out the right one.
func TestMarksRebuildBothTexts(t *testing.T) {
	deleted, inserted := regexp.MustCompile(`\[-(.*?)-\]`), regexp.MustCompile(`\{\+(.*?)\+\}`)
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"cat", "dog", "é", "naïve", "日本語", "😀", "x1", "_", ",", ".", "the", "a"}
	sentence := func() []string {
		var out []string
		for range 10 + random.IntN(6) {
			out = append(out, words[random.IntN(len(words))])
		}
		return out
	}
	marked := 0
	for range 2000 {
		l := sentence()
		r := append([]string(nil), l...)
		for range 1 + random.IntN(4) {
			at := random.IntN(len(r))
			r = append(r[:at], append([]string{words[random.IntN(len(words))]}, r[at+random.IntN(2):]...)...)
		}
		left, right := strings.Join(l, " "), strings.Join(r, " ")
		if left == right {
			continue
		}
		out := asText(t, withValues(text(left), text(right)), report.TextOptions{Width: 1})
		if !strings.Contains(out, "    change ") {
			continue
		}
		marked++
		got := strings.TrimPrefix(lineWith(t, out, "change "), "change   ")
		gotLeft := deleted.ReplaceAllString(inserted.ReplaceAllString(got, ""), "$1")
		gotRight := inserted.ReplaceAllString(deleted.ReplaceAllString(got, ""), "$1")
		if gotLeft != `"`+left+`"` || gotRight != `"`+right+`"` {
			t.Fatalf("%s\nleft  %q\nright %q", got, left, right)
		}
	}
	if marked < 500 {
		t.Errorf("only %d of 2000 pairs were marked", marked)
	}
}
