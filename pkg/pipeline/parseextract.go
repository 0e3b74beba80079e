package pipeline

import (
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/memory"
)

// extraction takes JSON blocks and markers from a text and keeps what they say (llamabrain.md §6.1, rule 4).
type extraction struct {
	out     *ParsedOutput
	text    string
	numbers memory.Numbers
	scanned int // bytes that removals have gone through
}

// maxScanned bounds the work of removals that have to be done one by one.
const maxScanned = 1 << 29

// found is a block or a marker in a text.
type found struct {
	start, end int
	content    string // between opening and end, trimmed
	ambiguous  bool   // where it ends depends on what follows
}

// markers are looked for in this order, ignoring case.
var markers = []struct {
	name string
	emit func(*extraction, string)
}{
	{"memory", func(x *extraction, c string) { x.mutate(AppendEpisodic, nil, c, 1, c) }},
	{"belief", func(x *extraction, c string) { x.mutate(TransformBelief, new("extracted"), c, 0.8, c) }},
	{"intent", func(x *extraction, c string) { x.intend("extracted", c) }},
	{"action", func(x *extraction, c string) { x.intend("action", c) }},
}

func (x *extraction) mutate(t MutationType, target *string, content string, confidence float64, source string) {
	x.out.Mutations = append(x.out.Mutations, Mutation{
		Type: t, Target: target, Content: &content, Confidence: x.numbers.Round(confidence), SourceText: &source,
	})
}

func (x *extraction) intend(kind, target string) {
	x.out.Intents = append(x.out.Intents, Intent{Type: &kind, Target: &target})
}

func (x *extraction) run() error {
	blocks := findBlocks(x.text)
	for _, b := range blocks {
		x.scan(b.content)
	}
	if len(blocks) > 0 {
		x.out.Metadata = append(x.out.Metadata, Parameter{Name: "has_json", Value: "true"})
	}
	if err := x.remove(blocks, fence, "json"); err != nil {
		return err
	}
	for _, m := range markers {
		list := findMarkers(x.text, m.name)
		for _, f := range list {
			m.emit(x, f.content)
		}
		if err := x.remove(list, "["+m.name+":", m.name+":"); err != nil {
			return err
		}
	}
	return nil
}

// fence opens a block, in small letters.
const fence = "```json"

// findBlocks finds each ```json\s*([\s\S]*?)```.
func findBlocks(text string) []found {
	low := lowerASCII(text)
	var list []found
	for at := 0; ; {
		i := strings.Index(low[at:], fence)
		if i < 0 {
			return list
		}
		start := at + i
		body := skipSpace(text, start+len(fence))
		n := strings.Index(text[body:], "```")
		if n < 0 {
			return list
		}
		at = body + n + len("```")
		list = append(list, found{start: start, end: at, content: dotnet.Trim(text[body : body+n])})
	}
}

// findMarkers finds each \[NAME:\s*(.+?)\], whose content is on one line and not empty.
func findMarkers(text, name string) []found {
	opening := "[" + name + ":"
	low := lowerASCII(text)
	var list []found
	stop := -1 // a bracket or the end of a line; kept, so that no part of the text is searched twice
	for at := 0; ; {
		i := strings.Index(low[at:], opening)
		if i < 0 {
			return list
		}
		start := at + i
		at = start + len(opening)
		content := skipSpace(text, at)
		if content == len(text) {
			return list
		}
		if stop <= content {
			stop = indexFrom(text, "]\n", content+1)
		}
		switch {
		case stop < len(text) && text[stop] == ']':
			list = append(list, found{start, stop + 1, dotnet.Trim(text[content:stop]), false})
			at = stop + 1
		case text[content] == ']' && content > at && text[content-1] != '\n': // the white space is the content
			list = append(list, found{start, content + 1, "", true})
			at = content + 1
		}
	}
}

// indexFrom gives the first place of one of some characters, the length of the text for none.
func indexFrom(text, chars string, from int) int {
	if i := strings.IndexAny(text[from:], chars); i >= 0 {
		return from + i
	}
	return len(text)
}

// lowerASCII makes ASCII letters small; it changes no length.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// scan takes what it knows from the body of a block. It reads no JSON: a quote that is escaped ends the value as well.
func (x *extraction) scan(body string) {
	for _, v := range quoted(body, `"memory"`) {
		x.mutate(AppendEpisodic, nil, v, 1, body)
	}
	for _, v := range quoted(body, `"intent"`, `"action"`) {
		x.intend("json_intent", v)
	}
	for _, v := range quoted(body, `"belief"`) {
		x.mutate(TransformBelief, new("json_belief"), v, 0.8, body)
	}
}

// quoted gives the values of "name"\s*:\s*"([^"]+)" for any of the names, in order.
func quoted(body string, names ...string) []string {
	var values []string
	for at := strings.IndexByte(body, '"'); at >= 0 && at < len(body); at = indexFrom(body, `"`, at+1) {
		i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(body[at:], name) })
		if i < 0 {
			continue
		}
		colon := skipSpace(body, at+len(names[i]))
		if colon == len(body) || body[colon] != ':' {
			continue
		}
		quote := skipSpace(body, colon+1)
		if quote == len(body) || body[quote] != '"' {
			continue
		}
		if n := strings.IndexByte(body[quote+1:], '"'); n > 0 {
			values = append(values, body[quote+1:quote+1+n])
			at = quote + 1 + n
		}
	}
	return values
}

// remove takes what was found out of the text as the original does: for one after the other, every place where the same
// text stands, then the white space at both ends.
//
// Usually that is to cut out what was found. It is so when nothing else can have that text, before or after a removal: no
// opening is left, none is inside, none comes together from what stays, since its word does not, and where each ends does
// not depend on what follows.
func (x *extraction) remove(list []found, opening, word string) error {
	if len(list) == 0 {
		return nil
	}
	var rest strings.Builder
	copied, ambiguous := 0, false
	for _, f := range list {
		rest.WriteString(x.text[copied:f.start])
		copied = f.end
		ambiguous = ambiguous || f.ambiguous
	}
	rest.WriteString(x.text[copied:])
	if !ambiguous && strings.Count(lowerASCII(x.text), opening) == len(list) && !strings.Contains(lowerASCII(rest.String()), word) {
		x.text = dotnet.Pair(dotnet.Trim(rest.String()))
		return nil
	}
	return x.removeOneByOne(list)
}

func (x *extraction) removeOneByOne(list []found) error {
	texts := make([]string, len(list))
	for i, f := range list {
		texts[i] = x.text[f.start:f.end]
	}
	last := "" // what is gone for sure
	for _, text := range texts {
		if text == last {
			continue
		}
		before := len(x.text)
		if x.scanned += len(x.text); x.scanned > maxScanned {
			return &Error{Code: CodeLimit, Detail: "the output has too many markers inside each other to be taken apart"}
		}
		x.text = dotnet.Pair(dotnet.Trim(strings.ReplaceAll(x.text, text, "")))
		if last = ""; len(x.text) == before {
			last = text
		}
	}
	return nil
}
