package pipeline

import (
	"strings"
	"unicode/utf8"

	"github.com/dmpl/dmpl/pkg/dotnet"
)

// maxBlankLines is how many blank lines in a row are kept (seed 001, decision 4).
const maxBlankLines = 2

// Normalize makes white space regular: one byte order mark goes, lines end with LF, white space at their ends goes, of blank
// lines in a row two stay, and there is a newline at the end only where there was one (llamabrain.md §6.1).
func Normalize(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	ends := strings.HasSuffix(text, "\n")
	b := make([]byte, 0, len(text))
	blank, first := 0, true
	for line := range strings.SplitSeq(text, "\n") {
		line = dotnet.TrimEnd(line)
		if line != "" {
			blank = 0
		} else if blank++; blank > maxBlankLines {
			continue
		}
		if !first {
			b = append(b, '\n')
		}
		b = append(b, line...)
		first = false
	}
	result := string(b)
	switch {
	case !ends:
		return strings.TrimRight(result, "\n")
	case !strings.HasSuffix(result, "\n"):
		return result + "\n"
	}
	return result
}

// firstLine gives the first line that is not blank, trimmed (rule 5).
func firstLine(text string) string {
	for text != "" {
		line := text
		if end := strings.IndexAny(text, "\r\n"); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = ""
		}
		if line = dotnet.Trim(line); line != "" {
			return line
		}
	}
	return ""
}

// withoutStageDirections takes away \*[^*]*\* (rule 6).
func withoutStageDirections(text string) string {
	if !strings.Contains(text, "*") {
		return text
	}
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(text, "*")
		_, after, found := strings.Cut(rest, "*")
		if !found {
			b.WriteString(text)
			return dotnet.Trim(b.String())
		}
		b.WriteString(before)
		text = after
	}
}

// withoutScriptDirections takes away \[.*?\], each on one line (rule 6).
func withoutScriptDirections(text string) string {
	if !strings.ContainsAny(text, "[]") {
		return text
	}
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '[')
		if start < 0 {
			b.WriteString(text)
			return dotnet.Trim(b.String())
		}
		end := strings.IndexAny(text[start:], "]\n")
		switch {
		case end < 0:
			b.WriteString(text)
			return dotnet.Trim(b.String())
		case text[start+end] == '\n': // nor does any other bracket before it have an end on this line
			b.WriteString(text[:start+end])
		default:
			b.WriteString(text[:start])
			end++
		}
		text = text[start+end:]
	}
}

// withoutSpeakerLabels takes away each ^\s*[A-Z][A-Za-z\s]+:\s* at the start of a line (rule 6). A label that is none ends
// where the letters do: no line that begins before that has one.
func withoutSpeakerLabels(text string) string {
	var b strings.Builder
	copied, at := 0, 0
	for at >= 0 {
		if end, isLabel := labelEnd(text, at); isLabel {
			b.WriteString(text[copied:at])
			copied, at = end, end
			if strings.HasSuffix(text[:end], "\n") && end < len(text) {
				continue // the next line begins here
			}
		} else {
			at = end
		}
		at = nextLine(text, at)
	}
	b.WriteString(text[copied:])
	return dotnet.Trim(b.String())
}

// nextLine gives the place behind the next LF, -1 for none.
func nextLine(text string, from int) int {
	end := strings.IndexByte(text[from:], '\n')
	if end < 0 {
		return -1
	}
	return from + end + 1
}

// labelEnd gives where a label that begins at the start of a line ends, or where it is clear that there is none.
func labelEnd(text string, at int) (int, bool) {
	start := skipSpace(text, at)
	if start == len(text) || text[start] < 'A' || text[start] > 'Z' {
		return start, false
	}
	end := start + 1
	for end < len(text) {
		if c := text[end]; c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			end++
			continue
		}
		next := skipSpace(text, end)
		if next == end {
			break
		}
		end = next
	}
	if end == start+1 || end == len(text) || text[end] != ':' {
		return end, false
	}
	return skipSpace(text, end+1), true
}

// skipSpace gives the place of the first rune that is no white space.
func skipSpace(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !dotnet.IsSpace(r) {
			break
		}
		at += size
	}
	return at
}

// collapseSpace makes each run of white space one space, with none at the ends (rule 7).
func collapseSpace(text string) string {
	return strings.Join(strings.FieldsFunc(text, dotnet.IsSpace), " ")
}

// unfinished are the words that no sentence ends with.
var unfinished = []string{
	"the", "a", "an", "to", "and", "or", "but", "for", "with", "of", "in", "on", "at", "by", "some", "kind",
}

// completeSentence cuts a text behind its last sentence (rule 8).
func completeSentence(text string, truncated bool) (cut, fault string) {
	if dotnet.Len(text) <= 5 {
		return text, ""
	}
	if p := strings.LastIndexAny(text, ".!?"); p > 0 {
		return dotnet.Trim(text[:p+1]), ""
	}
	if !truncated {
		return text, ""
	}
	word := strings.TrimRight(text[strings.LastIndexByte(text, ' ')+1:], ".!?,")
	for _, w := range unfinished {
		if dotnet.EqualFold(word, w) {
			return "", "Truncated output ends mid-sentence with '" + word + "'"
		}
	}
	return "", "Truncated output with no complete sentence"
}

// fragmentStarts are the words that continue a sentence which is not there.
var fragmentStarts = []string{"depending on", "based on", "according to", "in order to", "so that", "such that"}

// fragmentStart gives the words that a fragment starts with; none for a text that is whole (rule 9).
func fragmentStart(text string) string {
	if text[0] < 'a' || text[0] > 'z' {
		return ""
	}
	for _, p := range fragmentStarts {
		if len(text) >= len(p) && dotnet.EqualFold(text[:len(p)], p) {
			return p
		}
	}
	return ""
}

// closed gives a text with an end to its last sentence (rule 10).
func closed(text string) string {
	if strings.HasSuffix(strings.TrimSuffix(text, `"`), ".") || strings.HasSuffix(strings.TrimSuffix(text, `"`), "!") ||
		strings.HasSuffix(strings.TrimSuffix(text, `"`), "?") {
		return text
	}
	return dotnet.TrimEnd(text) + "."
}
