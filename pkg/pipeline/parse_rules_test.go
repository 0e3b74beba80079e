package pipeline_test

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/pipeline"
)

func parsed(t *testing.T, raw string, c pipeline.ParserConfig) pipeline.ParsedOutput {
	t.Helper()
	out, err := pipeline.Parse(raw, false, c, pipeline.DMPLv1)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// space is \s of .NET for Go's expressions.
const space = `[\s\x0b\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]`

// extracted does rule 4 of llamabrain.md §6.1 as it is written there, one removal after the other.
func extracted(text string) (rest string, contents []string) {
	for _, p := range []string{
		"```[Jj][Ss][Oo][Nn]" + space + "*((?s:.*?))```", `\[[Mm][Ee][Mm][Oo][Rr][Yy]:` + space + `*(.+?)\]`,
		`\[[Bb][Ee][Ll][Ii][Ee][Ff]:` + space + `*(.+?)\]`, `\[[Ii][Nn][Tt][Ee][Nn][Tt]:` + space + `*(.+?)\]`,
		`\[[Aa][Cc][Tt][Ii][Oo][Nn]:` + space + `*(.+?)\]`,
	} {
		for _, m := range regexp.MustCompile(p).FindAllStringSubmatch(text, -1) {
			if p[0] == '\\' {
				contents = append(contents, strings.TrimSpace(m[1]))
			}
			text = strings.TrimSpace(strings.ReplaceAll(text, m[0], ""))
		}
	}
	return pipeline.Normalize(text), contents
}

// llamabrain.md §6.1, rule 4: cutting out what was found gives what removing it everywhere gives, also where a removal makes
// a new marker.
func TestMarkersAreRemovedEverywhere(t *testing.T) {
	tokens := [][]string{
		{"```json", "```", "`", "json", "[MEMORY:", "[memory: ", "[Belief:", "[INTENT:", "[ACTION:", "MEMORY:", "[", "]", " ", "\n", "\u2028", "a", "😀"},
		{"[MEMORY:", "]", "a", " ", "[MEMORY: a]", "[MEMORY:b]", "\n", "[M", "EMORY:"},
		{"```json", "```", "a", " ", "```json a```", "```json b```", "\n", "js", "on", "``"},
	}
	r := rand.New(rand.NewPCG(1, 2))
	c := pipeline.ParserConfig{ExtractStructuredData: true}
	for n := range 60000 {
		var b strings.Builder
		for range 1 + r.IntN(14) {
			b.WriteString(tokens[n%3][r.IntN(len(tokens[n%3]))])
		}
		raw := "x " + b.String() + " y."
		rest, contents := extracted(raw)
		out := parsed(t, raw, c)
		var got []string
		for _, m := range out.Mutations {
			got = append(got, *m.Content)
		}
		for _, i := range out.Intents {
			got = append(got, *i.Target)
		}
		if want := strings.Join(strings.Fields(rest), " "); out.Dialogue != want || !reflect.DeepEqual(got, contents) {
			t.Fatalf("%q:\n got %q %q\nwant %q %q", raw, out.Dialogue, got, want, contents)
		}
	}
}

// What is cut out may have stood between the halves of a pair.
func TestHalvesOfAPairComeTogether(t *testing.T) {
	for _, raw := range []string{"Hi \xed\xa0\xbd[MEMORY: x]\xed\xb8\x80.", "Hi \xed\xa0\xbd[x]\xed\xb8\x80.", "Hi \xed\xa0\xbd**\xed\xb8\x80."} {
		if out := parsed(t, raw, pipeline.DefaultParserConfig()); out.Dialogue != "Hi 😀." {
			t.Errorf("%q: %q", raw, out.Dialogue)
		}
	}
}

// CONTRACT P2(c), seed 001, decision 4: raw mode is NormalizeWhitespace, whatever else is configured.
func TestRawModeIsNormalisationAlone(t *testing.T) {
	for _, raw := range []string{
		"\ufeffa \r\nb\r\r\r\rc", "[INTENT: open] *x* Guard: ```json {\"memory\":\"m\"}```", "note: depending on you can", "no end\n", "\xed\xa0\xbd ",
	} {
		for _, c := range []pipeline.ParserConfig{
			{EnforceSingleLine: true, RemoveStageDirections: true, RemoveScriptDirections: true, RemoveSpeakerLabels: true, TrimToCompleteSentence: true, MinimumCharacters: 99, MetaPatterns: []string{""}},
			{},
		} {
			want := pipeline.ParsedOutput{Success: true, Dialogue: pipeline.Normalize(raw), Raw: raw}
			if got := parsed(t, raw, c); !reflect.DeepEqual(got, want) {
				t.Errorf("%q: %+v, want %+v", raw, got, want)
			}
		}
	}
	if got := parsed(t, " \n", pipeline.ParserConfig{}); got.Success || got.Error == nil {
		t.Errorf("an answer of white space: %+v", got)
	}
}

// llamabrain.md §6.1: normalising is idempotent but for a byte order mark behind another one.
func TestNormalizeTwiceChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tokens := []string{"a", " ", "\n", "\r", "\r\n", "\t", "\u00a0", "b\ufeff", "\u2028", "\n\n"}
	for range 20000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(tokens[r.IntN(len(tokens))])
		}
		once := pipeline.Normalize(b.String())
		if twice := pipeline.Normalize(once); twice != once {
			t.Fatalf("%q: %q, then %q", b.String(), once, twice)
		}
	}
}

func structured(t *testing.T, raw string) pipeline.ParsedOutput {
	t.Helper()
	out, err := pipeline.ParseStructured(raw, pipeline.DefaultParserConfig(), pipeline.DMPLv1)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// llamabrain.md §6.1: a value that does not fit leaves the default, numbers may be strings, and a later name wins.
func TestStructuredAnswersAreReadLeniently(t *testing.T) {
	const head = `{"dialogueText":"Hi","proposedMutations":[`
	confidence := map[string]float64{
		`0.25`: 0.25, `"0.25"`: 0.25, `" 1e-1 "`: 0.1, `"x"`: 1, `"1,5"`: 1, `true`: 1, `[]`: 1, `null`: 1, `"0x1p-1"`: 1, `"1_0"`: 1, `1e999`: 1,
		`"NaN"`: 1, `-3`: -3,
	}
	for literal, want := range confidence {
		out := structured(t, head+`{"confidence":`+literal+`}]}`)
		if !out.Success || len(out.Mutations) != 1 || out.Mutations[0].Confidence != want {
			t.Errorf("confidence %s: %+v, want %g", literal, out.Mutations, want)
		}
	}
	types := map[string]pipeline.MutationType{
		`"transformBELIEF"`: 1, `" TransformRelationship "`: 2, `"3"`: 3, `3`: 3, `"99"`: 99, `"-1"`: -1, `"+2"`: 2, `"1,2"`: 0,
		`"TransformBelief, transformrelationship"`: 3, `"TransformBelief,"`: 0, `"TransformBelief,Explode"`: 0, `""`: 0, `"99999999999"`: 0, `{}`: 0,
	}
	for literal, want := range types {
		out := structured(t, head+`{"type":`+literal+`}]}`)
		if len(out.Mutations) != 1 || out.Mutations[0].Type != want {
			t.Errorf("type %s: %+v, want %d", literal, out.Mutations, want)
		}
	}
	out := structured(t, `{"DIALOGUETEXT":"a","dialogueText":"b","dialoguetext":null,"worldIntents":[1,null,{"priority":"7","target":5,"parameters":{"":"","k":["é",true]}},{"priority":1.5,"parameters":[]}],"functionCalls":[{"arguments":{"a":{"b":null}}},{"callId":"c","functionName":true}]}`)
	want := pipeline.ParsedOutput{
		Success: true, Dialogue: "b", Raw: out.Raw, Metadata: []pipeline.Parameter{{Name: "parse_mode", Value: "structured"}},
		Intents: []pipeline.Intent{
			{Type: new(""), Target: new("5"), Priority: 7, Parameters: []pipeline.Parameter{{Name: "", Value: ""}, {Name: "k", JSON: []byte(`["\u00e9",true]`)}}},
			{Type: new("")},
		},
		Calls: []pipeline.FunctionCall{
			{Name: new(""), Arguments: []byte(`{"a":{"b":null}}`)}, {Name: new("true"), Arguments: []byte(`{}`), CallID: new("c")},
		},
	}
	if !reflect.DeepEqual(out, want) {
		t.Errorf("%+v\nwant %+v", out, want)
	}
}

// What the reader of structured answers refuses is parsed as text, as every answer that is no JSON.
func TestStructuredAnswersAreStrictJSON(t *testing.T) {
	for _, raw := range []string{
		`{"dialogueText":"Hi" /* comment */}`, `{'dialogueText':'Hi'}`, `{dialogueText:"Hi"}`, `{"dialogueText":"Hi",}`, `{"dialogueText":"Hi","x":NaN}`,
		"\ufeff" + `{"dialogueText":"Hi"}`, `{"dialogueText":"Hi"} x`, `{"dialogueText":"\` + "\xed\xa0\xbd" + `"}`,
		strings.Repeat("[", 300) + strings.Repeat("]", 300),
	} {
		out := structured(t, raw)
		if reflect.DeepEqual(out.Metadata, []pipeline.Parameter{{Name: "parse_mode", Value: "structured"}}) {
			t.Errorf("%.60q was read as JSON", raw)
		}
	}
	if out := structured(t, `{"dialogueText":"\\`+"\xed\xa0\xbd"+`\ud83d\ude00"}`); out.Dialogue != `\`+"\xed\xa0\xbd😀" {
		t.Errorf("a lone surrogate in JSON: %+v", out)
	}
	if out := structured(t, " "); out.Success || *out.Error != "JSON response is empty or whitespace" {
		t.Errorf("white space: %+v", out)
	}
	if out := structured(t, `{"dialogueText":"`+strings.Repeat("a", 1<<20)+`"}`); out.Metadata != nil || !out.Success {
		t.Error("an answer that is too long was read as JSON")
	}
	c := pipeline.DefaultParserConfig()
	c.MinimumCharacters = 3
	if out, _ := pipeline.ParseStructured(`{"dialogueText":"Hi"}`, c, pipeline.DMPLv1); out.Success || *out.Error != "Dialogue too short (2 chars, minimum 3)" {
		t.Errorf("a short answer: %+v", out)
	}
}
