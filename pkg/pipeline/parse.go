package pipeline

import (
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/memory"
)

// Parse makes dialogue, mutations and intents of what the model said (llamabrain.md §6.1, rules 1 to 11). That it cannot be
// parsed is an answer: Success is false. The error is an *Error: a bound was reached.
//
// P2(c): the raw mode of dmpl-v1 is whitespace normalisation and nothing else.
func Parse(raw string, truncated bool, c ParserConfig, v Version) (ParsedOutput, error) {
	if dotnet.Blank(raw) {
		return unparsed(raw, "Response is empty or whitespace"), nil
	}
	if !c.ExtractStructuredData && v != memory.LlamaBrainV1 {
		return ParsedOutput{Success: true, Dialogue: Normalize(raw), Raw: raw}, nil
	}
	out := ParsedOutput{Raw: raw}
	text := raw
	if !c.ExtractStructuredData {
		text = Normalize(text)
	}
	low := dotnet.Lower(text)
	if slices.ContainsFunc(c.MetaPatterns, func(p string) bool { return dotnet.Contains(low, p) }) {
		return unparsed(raw, "Response contains meta-text/explanation instead of dialogue"), nil
	}
	if c.ExtractStructuredData {
		x := extraction{out: &out, text: text, numbers: v.Numbers()}
		if err := x.run(); err != nil {
			return ParsedOutput{}, err
		}
		text = Normalize(x.text)
	}
	dialogue, fault := clean(text, truncated, c)
	if fault != "" {
		return unparsed(raw, fault), nil
	}
	out.Success, out.Dialogue = true, dialogue
	return out, nil
}

// unparsed is the answer to an output that is no dialogue: what was extracted of it is lost.
func unparsed(raw, reason string) ParsedOutput { return ParsedOutput{Raw: raw, Error: &reason} }

// clean takes from a text what is no dialogue (rules 5 to 11). The fault says why nothing is left.
func clean(text string, truncated bool, c ParserConfig) (dialogue, fault string) {
	if c.EnforceSingleLine {
		text = firstLine(text)
	}
	if dotnet.Blank(text) {
		return "", "No dialogue text after single-line extraction"
	}
	if c.RemoveStageDirections {
		text = withoutStageDirections(text)
	}
	if c.RemoveScriptDirections {
		text = withoutScriptDirections(text)
	}
	if c.RemoveSpeakerLabels {
		text = withoutSpeakerLabels(text)
	}
	if text = dotnet.Pair(collapseSpace(text)); text == "" {
		return "", "Dialogue empty after removing directions"
	}
	if c.TrimToCompleteSentence {
		if text, fault = completeSentence(text, truncated); fault != "" {
			return "", fault
		}
	}
	if p := fragmentStart(text); p != "" {
		return "", "Response is a fragment (starts with '" + p + "')"
	}
	text = closed(text)
	if n := dotnet.Len(text); n < c.MinimumCharacters {
		return "", tooShort(n, c.MinimumCharacters)
	}
	return text, ""
}

func tooShort(length, minimum int) string {
	return fmt.Sprintf("Dialogue too short (%d chars, minimum %d)", length, minimum)
}
