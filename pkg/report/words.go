package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/dmpl/dmpl/pkg/finding"
)

const (
	maxText    = 256 << 10 // bytes of a text that is looked at word by word; so the words fit the runes
	maxWork    = 1 << 22   // words left × words right, above which only the common ends are found
	keepAround = 40        // characters of equal text kept beside a change
	maxChange  = 200       // characters of one changed piece
)

// piece is a run of words that both texts have, or only one.
type piece struct {
	kind diffmatchpatch.Operation
	text string
}

// marks shows two texts as one with the changed words marked: [-old-]{+new+}, or red and green. It is false where a
// value is no text, or the texts have everything or so little in common that marks would not help.
func (p *printer) marks(left, right finding.Value) (string, bool) {
	l, isText := text(left)
	r, isTextToo := text(right)
	if !isText || !isTextToo || max(len(l), len(r)) > maxText {
		return "", false
	}
	pieces := diffWords(l, r)
	if l == r || !alikeEnough(pieces, min(len(l), len(r))) {
		return "", false
	}
	var out strings.Builder
	for i, piece := range pieces {
		switch piece.kind {
		case diffmatchpatch.DiffEqual:
			out.WriteString(elide(piece.text, i > 0, i < len(pieces)-1))
		case diffmatchpatch.DiffDelete:
			out.WriteString(p.mark(piece.text, "[-", "-]", p.left))
		case diffmatchpatch.DiffInsert:
			out.WriteString(p.mark(piece.text, "{+", "+}", p.right))
		}
	}
	return `"` + out.String() + `"`, true
}

// alikeEnough asks for a quarter of the shorter text in common, in bytes.
func alikeEnough(pieces []piece, shorter int) bool {
	common := 0
	for _, p := range pieces {
		if p.kind == diffmatchpatch.DiffEqual {
			common += len(strings.TrimSpace(p.text))
		}
	}
	return common > 0 && common*4 >= shorter
}

func (p *printer) mark(s, before, after string, paint func(string) string) string {
	shown := inside(s)
	if n := utf8.RuneCountInString(shown); n > maxChange {
		shown = fmt.Sprintf("%s… (%d bytes)", head(s, maxChange), len(s))
	}
	if p.palette {
		return paint(shown)
	}
	return before + shown + after
}

// inside gives text as it stands inside a JSON string.
func inside(s string) string {
	quoted := appendText(nil, s)
	return string(quoted[1 : len(quoted)-1])
}

// elide drops the middle, or the far end, of a long run that is equal.
func elide(s string, changeBefore, changeAfter bool) string {
	keep := 0
	var begin, end string
	if changeBefore {
		keep += keepAround
		begin = head(s, keepAround)
	}
	if changeAfter {
		keep += keepAround
		end = tail(s, keepAround)
	}
	if utf8.RuneCountInString(s) <= keep+len("… (9 bytes) …") {
		return inside(s)
	}
	return begin + fmt.Sprintf("… (%d bytes) …", len(s)) + end
}

func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return inside(s[:i])
		}
		n--
	}
	return inside(s)
}

func tail(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return inside(s[i:])
}

// diffWords compares two texts word by word: each different word becomes one rune, so that the character diff of
// go-diff cannot split a word. It has no time limit, which would make reports depend on the machine.
func diffWords(left, right string) []piece {
	words := &vocabulary{runes: map[string]rune{}}
	l, r := words.encode(left), words.encode(right)
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0
	var diffs []diffmatchpatch.Diff
	if len(l)*len(r) <= maxWork {
		diffs = dmp.DiffMainRunes(l, r, false)
	} else {
		diffs = endsOnly(l, r)
	}
	var pieces []piece
	for _, d := range diffs {
		pieces = append(pieces, piece{d.Type, words.decode(d.Text)})
	}
	return joinChanges(pieces)
}

// endsOnly is the diff of two texts too long for a real one: what they share at both ends, and one change.
func endsOnly(l, r []rune) []diffmatchpatch.Diff {
	begin := 0
	for begin < len(l) && begin < len(r) && l[begin] == r[begin] {
		begin++
	}
	end := 0
	for end < len(l)-begin && end < len(r)-begin && l[len(l)-1-end] == r[len(r)-1-end] {
		end++
	}
	return []diffmatchpatch.Diff{
		{Type: diffmatchpatch.DiffEqual, Text: string(l[:begin])},
		{Type: diffmatchpatch.DiffDelete, Text: string(l[begin : len(l)-end])},
		{Type: diffmatchpatch.DiffInsert, Text: string(r[begin : len(r)-end])},
		{Type: diffmatchpatch.DiffEqual, Text: string(l[len(l)-end:])},
	}
}

// joinChanges gives each change as one deletion and one insertion, and takes white space between two changes into
// them: "[-a b-]{+c d+}" reads better than word by word.
func joinChanges(pieces []piece) []piece {
	var out []piece
	var del, ins string
	flush := func() {
		if del != "" {
			out = append(out, piece{diffmatchpatch.DiffDelete, del})
		}
		if ins != "" {
			out = append(out, piece{diffmatchpatch.DiffInsert, ins})
		}
		del, ins = "", ""
	}
	for i, p := range pieces {
		switch {
		case p.kind == diffmatchpatch.DiffDelete:
			del += p.text
		case p.kind == diffmatchpatch.DiffInsert:
			ins += p.text
		case del != "" && ins != "" && i < len(pieces)-1 && strings.TrimSpace(p.text) == "":
			del += p.text
			ins += p.text
		case p.text != "":
			flush()
			out = append(out, p)
		}
	}
	flush()
	return out
}

// vocabulary maps words to runes, above and below the surrogates, which a Go string cannot hold.
type vocabulary struct {
	words []string
	runes map[string]rune
}

func (v *vocabulary) encode(s string) []rune {
	var out []rune
	for s != "" {
		n := wordLength(s)
		r, known := v.runes[s[:n]]
		if !known {
			r = wordRune(len(v.words))
			v.runes[s[:n]] = r
			v.words = append(v.words, s[:n])
		}
		out = append(out, r)
		s = s[n:]
	}
	return out
}

func (v *vocabulary) decode(s string) string {
	var out strings.Builder
	for _, r := range s {
		out.WriteString(v.words[wordIndex(r)])
	}
	return out.String()
}

const surrogates = 0x800

// wordRune gives the rune of the i-th word; maxText keeps i under the number of runes.
func wordRune(i int) rune {
	if r := rune(i + 1); r < 0xd800 {
		return r
	}
	return rune(i + 1 + surrogates)
}

func wordIndex(r rune) int {
	if r >= 0xd800 {
		r -= surrogates
	}
	return int(r) - 1
}

// wordLength measures the word at the beginning of s, in bytes: letters and digits, white space, or one other character.
func wordLength(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	kind := wordKind(r)
	if kind == other {
		return size
	}
	for size < len(s) {
		next, n := utf8.DecodeRuneInString(s[size:])
		if wordKind(next) != kind {
			break
		}
		size += n
	}
	return size
}

const (
	other = iota
	letters
	space
)

func wordKind(r rune) int {
	switch {
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_':
		return letters
	case unicode.IsSpace(r):
		return space
	}
	return other
}
