package pipeline

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
)

// maxStructured is how long a JSON answer may be, in UTF-16 units; a longer one is parsed as text.
const maxStructured = 1 << 20

// ParseAuto parses an answer as JSON where that was asked for and it looks like it, else, and where that fails, as text
// (llamabrain.md §6.1).
func ParseAuto(raw string, structured bool, c ParserConfig, v Version) (ParsedOutput, error) {
	trimmed := dotnet.Trim(raw)
	if (structured || c.UseStructuredOutput) && strings.HasPrefix(trimmed, "{") {
		if _, ok := readStructured(trimmed); ok {
			if out, err := ParseStructured(trimmed, c, v); err != nil || out.Success {
				return out, err
			}
		}
	}
	return Parse(raw, false, c, v)
}

// ParseStructured parses an answer that is to be JSON. What is no JSON is parsed as text (llamabrain.md §6.1).
func ParseStructured(raw string, c ParserConfig, v Version) (ParsedOutput, error) {
	if dotnet.Blank(raw) {
		return unparsed(raw, "JSON response is empty or whitespace"), nil
	}
	root, ok := readStructured(raw)
	if !ok || root.Kind() == canon.Null || dotnet.Len(raw) > maxStructured {
		return Parse(raw, false, c, v)
	}
	if root.Kind() != canon.Object {
		return unparsed(raw, "Failed to deserialize JSON response"), nil
	}
	o := answer{root}
	dialogue := o.text("dialogueText", "")
	if dotnet.Blank(dialogue) {
		return unparsed(raw, "Dialogue text is empty in structured response"), nil
	}
	if n := dotnet.Len(dialogue); n < c.MinimumCharacters {
		return unparsed(raw, tooShort(n, c.MinimumCharacters)), nil
	}
	return ParsedOutput{
		Success: true, Dialogue: dialogue, Raw: raw,
		Mutations: o.mutations(v), Intents: o.intents(), Calls: o.calls(),
		Metadata: []Parameter{{Name: "parse_mode", Value: "structured"}},
	}, nil
}

// readStructured reads an answer as JSON, strictly but for duplicate names and lone surrogates.
func readStructured(raw string) (canon.Value, bool) {
	if len(raw) > 3*maxStructured { // no unit is longer in UTF-8
		return canon.Value{}, false
	}
	v, err := canon.ParseAs(canon.DBL, escapeSurrogates(raw))
	return v, err == nil && finite(v)
}

// escapeSurrogates writes halves of pairs, which are no UTF-8, as the escapes that mean the same in a JSON string.
// Behind an unfinished escape they stay, and the reader refuses them.
func escapeSurrogates(raw string) []byte {
	if dotnet.UTF8(raw) == raw {
		return []byte(raw)
	}
	var dst []byte
	escaping := false
	for i := 0; i < len(raw); {
		if i+2 < len(raw) && raw[i] == 0xED && raw[i+1] >= 0xA0 && !escaping {
			u := dotnet.Units(raw[i : i+3])[0]
			dst = append(append(dst, `\u`...), strconv.FormatUint(uint64(u), 16)...)
			i += 3
			continue
		}
		escaping = raw[i] == '\\' && !escaping
		dst = append(dst, raw[i])
		i++
	}
	return dst
}

// answer is an object of a structured answer. Names are compared ignoring case, and a later one wins; null, and a value
// that does not fit, leave the default.
type answer struct{ value canon.Value }

func (o answer) member(name string) canon.Value {
	var found canon.Value
	for _, m := range o.value.Members() {
		if m.Value.Kind() != canon.Null && dotnet.EqualFold(m.Name, name) {
			found = m.Value
		}
	}
	return found
}

// text gives a string; numbers and booleans count as their literal.
func (o answer) text(name, otherwise string) string {
	v := o.member(name)
	switch v.Kind() {
	case canon.String:
		text, _ := v.Text()
		return text
	case canon.Number, canon.Bool:
		return string(v.Raw())
	}
	return otherwise
}

func (o answer) optionalText(name string) *string {
	switch o.member(name).Kind() {
	case canon.String, canon.Number, canon.Bool:
		return new(o.text(name, ""))
	}
	return nil
}

// number gives the literal of a number, or of a string that holds one.
func (o answer) number(name string) string {
	v := o.member(name)
	if text, ok := v.Text(); ok {
		return dotnet.Trim(text)
	}
	if v.Kind() == canon.Number {
		return string(v.Raw())
	}
	return ""
}

func (o answer) real(name string, otherwise float64, v Version) float64 {
	literal := o.number(name)
	if strings.ContainsAny(literal, "xXpP_nNiI") { // forms that Go reads and .NET does not, and what is not finite
		return otherwise
	}
	x, err := strconv.ParseFloat(literal, 64)
	if x = v.Numbers().Round(x); err != nil || math.IsInf(x, 0) {
		return otherwise
	}
	return x
}

func (o answer) integer(name string) int {
	n, err := strconv.ParseInt(o.number(name), 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// each calls visit for the objects of a list.
func (o answer) each(name string, visit func(answer)) {
	for _, e := range o.member(name).Elements() {
		if e.Kind() == canon.Object {
			visit(answer{e})
		}
	}
}

func (o answer) mutations(v Version) (list []Mutation) {
	o.each("proposedMutations", func(m answer) {
		list = append(list, Mutation{
			Type:       parseMutationType(m.text("type", "")),
			Target:     m.optionalText("target"),
			Content:    new(m.text("content", "")),
			Confidence: m.real("confidence", 1, v),
		})
	})
	return list
}

func (o answer) intents() (list []Intent) {
	o.each("worldIntents", func(i answer) {
		list = append(list, Intent{
			Type:       new(i.text("intentType", "")),
			Target:     i.optionalText("target"),
			Priority:   i.integer("priority"),
			Parameters: parametersOf(i.member("parameters")),
		})
	})
	return list
}

func (o answer) calls() (list []FunctionCall) {
	o.each("functionCalls", func(c answer) {
		list = append(list, FunctionCall{
			Name:      new(c.text("functionName", "")),
			Arguments: appendObject(nil, c.member("arguments").Members()),
			CallID:    c.optionalText("callId"),
		})
	})
	return list
}

// parseMutationType reads a name ignoring case and outer white space, a number, or names joined by commas, whose values
// are OR-ed. Anything else is AppendEpisodic.
func parseMutationType(text string) MutationType {
	text = dotnet.Trim(text)
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return MutationType(n)
	}
	sum := 0
	for name := range strings.SplitSeq(text, ",") {
		name = dotnet.Trim(name)
		i := slices.IndexFunc(mutationTypes, func(known string) bool { return dotnet.EqualFold(known, name) })
		if i < 0 {
			return AppendEpisodic
		}
		sum |= i
	}
	return MutationType(sum)
}
