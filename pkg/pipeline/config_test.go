package pipeline_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

// configs are the default configurations of LlamaBrain, by their names in defaults.json. Each is read as overrides of a
// preset that differs from it, where there is one, and has to be what dmpl has under the preset's name.
var configs = []struct {
	name, preset, over string
	read               func(*document.Object) any
}{
	{"WorkingMemoryConfig.Default", "", "Expanded", readBounds},
	{"WorkingMemoryConfig.Default", "Default", "Minimal", readBounds},
	{"WorkingMemoryConfig.Minimal", "Minimal", "Expanded", readBounds},
	{"WorkingMemoryConfig.Expanded", "Expanded", "Minimal", readBounds},
	{"PromptAssemblerConfig.Default", "", "LargeContext", readAssembler},
	{"PromptAssemblerConfig.SmallContext", "SmallContext", "LargeContext", readAssembler},
	{"PromptAssemblerConfig.LargeContext", "LargeContext", "SmallContext", readAssembler},
	{"StructuredContextConfig.Default", "", "", readStructured},
	{"StructuredContextConfig.Strict", "Strict", "", readStructured},
	{"KvCacheConfig.Default", "", "Aggressive", readBoundary},
	{"KvCacheConfig.Disabled", "Disabled", "Aggressive", readBoundary},
	{"KvCacheConfig.Aggressive", "Aggressive", "Default", readBoundary},
	{"RetryPolicy.Default", "", "Aggressive", readRetry},
	{"RetryPolicy.Aggressive", "Aggressive", "Default", readRetry},
	{"FallbackConfig", "", "", readFallback},
	{"OutputParserConfig.Default", "", "Minimal", readParser},
	{"OutputParserConfig.Structured", "Structured", "Minimal", readParser},
	{"OutputParserConfig.NativeStructured", "NativeStructured", "Default", readParser},
	{"OutputParserConfig.Minimal", "Minimal", "Default", readParser},
	{"ValidationGateConfig.Default", "", "Minimal", readGate},
	{"ValidationGateConfig.Minimal", "Minimal", "Default", readGate},
}

func readBounds(o *document.Object) any     { return pipeline.ReadBoundConfig(o, "c") }
func readAssembler(o *document.Object) any  { return pipeline.ReadAssembleConfig(o, "c") }
func readStructured(o *document.Object) any { return pipeline.ReadStructuredConfig(o, "c") }
func readBoundary(o *document.Object) any   { return pipeline.ReadCacheBoundary(o, "c") }
func readRetry(o *document.Object) any      { return pipeline.ReadRetryPolicy(o, "c") }
func readFallback(o *document.Object) any   { return pipeline.ReadFallbackConfig(o, "c") }

func readParser(o *document.Object) any {
	return pipeline.ReadParserConfig(o.Object("c"), pipeline.DefaultParserConfig())
}
func readGate(o *document.Object) any { return pipeline.ReadGateConfig(o.Object("c")) }

func TestDefaultsAreThoseOfLlamaBrain(t *testing.T) {
	for _, path := range []string{
		filepath.Join("fixtures", "pipeline", "defaults.json"),
		filepath.Join("..", "shared", "vectors", "llamabrain", "defaults.json"),
	} {
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(pipelinetest.Root(t), path))
			if err != nil && path[0] == '.' {
				t.Skipf("NOT RUN, VECTORS MISSING: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			all, err := canon.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range configs {
				stated, ok := all.At("/defaults/" + c.name)
				if !ok {
					t.Errorf("%s is not there", c.name)
					continue
				}
				over := open(t, `{"c":{`+presetMember(c.over, ",")+string(stated.Raw()[1:])+`}`)
				named := open(t, `{"c":{`+presetMember(c.preset, "")+`}}`)
				want, got := c.read(over), c.read(named)
				if !reflect.DeepEqual(got, want) || named.Err() != nil || over.Err() != nil {
					t.Errorf("%s: %+v (%v), want %+v (%v)", c.name, got, named.Err(), want, over.Err())
				}
			}
		})
	}
}

func presetMember(name, after string) string {
	if name == "" {
		return ""
	}
	return `"preset":"` + name + `"` + after
}

// An unknown setting, a wrong type and a bad value are errors with their pointer.
func TestBadSettingsAreNamed(t *testing.T) {
	tests := []struct {
		stage      func(canon.Value) ([]byte, error)
		src, wants string
	}{
		{bound, `{"config":{"MaxContextCharacter":1}}`, "at /config/MaxContextCharacter: unknown member"},
		{bound, `{"config":{"preset":"minimal"}}`, `at /config/preset: "minimal" is none of Default, Expanded, Minimal`},
		{bound, `{"config":{"MaxBeliefs":"3"}}`, "at /config/MaxBeliefs: expected number, found string"},
		{bound, `{"config":{"MaxBeliefs":4294967296}}`, "at /config/MaxBeliefs: expected a whole number of 32 bits"},
		{bound, `{"config":{"FewShotExamples":[{"PlayerInput":"a","NPCResponse":"b"}]}}`, "at /config/FewShotExamples/0/NPCResponse: unknown member"},
		{bound, `{"snapshot":{"facts":[]}}`, "at /snapshot/facts: unknown member"},
		{bound, `{"snapshot":{"beliefs":["a",null]}}`, "at /snapshot/beliefs/1: expected string, found null"},
		{bound, `{"snapshot":{"attemptNumber":-1}}`, "at /snapshot/attemptNumber: expected a whole number from 0 to 1000"},
		{bound, `[]`, "expected object, found array"},
		{assemble, `{"mode":"plain"}`, `at /mode: "plain" is none of snapshot, workingMemory, cache, structured, minimal`},
		{assemble, `{"assemblerConfig":{"SystemPromptFormat":"{1}"}}`, "at /assemblerConfig/SystemPromptFormat: a format may hold {0}, {{ and }}, and no other brace"},
		{assemble, `{"assemblerConfig":{"PlayerInputFormat":"a}"}}`, "at /assemblerConfig/PlayerInputFormat: a format may hold {0}, {{ and }}, and no other brace"},
		{assemble, `{"assemblerConfig":{"NpcPromptFormat":"{0"}}`, "at /assemblerConfig/NpcPromptFormat: a format may hold {0}, {{ and }}, and no other brace"},
		{assemble, `{"assemblerConfig":{"CharsPerToken":0}}`, "at /assemblerConfig/CharsPerToken: expected a number from 0.001 to 1000000"},
		{assemble, `{"assemblerConfig":{"MaxPromptCharacters":7}}`, "at /assemblerConfig/MaxPromptCharacters: is computed from the tokens and cannot be set"},
		{assemble, `{"assemblerConfig":{"UseKvCache":true}}`, "at /assemblerConfig/UseKvCache: the mode of the input picks the mode"},
		{assemble, `{"assemblerConfig":{"StructuredContextConfig":{}}}`, "at /assemblerConfig/StructuredContextConfig: the settings of a mode stand beside the mode of the input"},
		{assemble, `{"mode":"cache","kvCacheConfig":{"Boundary":4}}`, "at /kvCacheConfig/Boundary: 4 is none of AfterSystemPrompt, AfterCanonicalFacts, AfterWorldState, AfterConstraints"},
		{assemble, `{"mode":"structured","structuredConfig":{"PreferredFormat":2}}`, "at /structuredConfig/PreferredFormat: is none of 0 (text), 1 (JSON)"},
		{assemble, `{"recognition":{"recognized":true,"type":"location"}}`, `at /recognition/type: "location" is none of None, Location, Topic, Conversation`},
		{assemble, `{"recognition":{"recognised":true}}`, "at /recognition/recognised: unknown member"},
		{decide(pipeline.DMPLv1), `{"policy":{"MaxRetries":1001}}`, "at /policy/MaxRetries: expected a whole number from 0 to 1000"},
		{decide(pipeline.DMPLv1), `{"policy":{"MaxAttempts":9}}`, "at /policy/MaxAttempts: is MaxRetries + 1 and cannot be set"},
		{decide(pipeline.DMPLv1), `{"policy":{"Escalation":"Half"}}`, `at /policy/Escalation: "Half" is none of None, AddSpecificProhibition, HardenRequirements, Full`},
		{decide(pipeline.DMPLv1), `{"policy":{"OnRetry":1}}`, "at /policy/OnRetry: code cannot be configured"},
		{parse, `{"mode":"raw"}`, `at /mode: "raw" is none of normalize, parse, structured, auto`},
		{parse, `{"preset":"default"}`, `at /preset: "default" is none of Default, Minimal, NativeStructured, Structured`},
		{parse, `{"config":{"EnforceSingleLines":true}}`, "at /config/EnforceSingleLines: unknown member"},
		{parse, `{"config":{"MetaTextPatterns":["a",1]}}`, "at /config/MetaTextPatterns/1: expected string, found number"},
		{gate, `{"gateConfig":{"CheckFacts":true}}`, "at /gateConfig/CheckFacts: unknown member"},
		{gate, `{"customRules":[{"Pattern":"a"},{"Regex":"a"}]}`, "at /customRules/1/Regex: unknown member"},
		{gate, `{"customRules":[{"Severity":3}]}`, "at /customRules/0/Severity: 3 is none of Soft, Hard, Critical"},
		{gate, `{"parsed":{"ProposedMutations":[{"Type":"Explode"}]}}`, `at /parsed/ProposedMutations/0/Type: "Explode" is none of AppendEpisodic, TransformBelief, TransformRelationship, EmitWorldIntent`},
		{gate, `{"parsed":{"WorldIntents":[{"Parameters":{"a":[{"b":-Infinity}]}}]}}`, "at /parsed/WorldIntents/0/Parameters: NaN and Infinity are no JSON"},
		{pickFallback(pipeline.DMPLv1), `{"config":{"Generic":["x"]}}`, "at /config/Generic: unknown member"},
	}
	for _, test := range tests {
		v, err := canon.ParseAs(canon.DBL, []byte(test.src))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := test.stage(v); err == nil || err.Error() != test.wants {
			t.Errorf("%s:\n got %s, %v\nwant %s", test.src, got, err, test.wants)
		}
	}
}

var (
	bound    = pipeline.BoundStage(pipeline.DMPLv1)
	assemble = pipeline.AssembleStage(pipeline.DMPLv1)
	parse    = pipeline.ParseStage(pipeline.DMPLv1)
	gate     = pipeline.GateStage(pipeline.DMPLv1)
)

func TestFormats(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"plain":         "plain",
		"{0}":           "{0} }}v{{",
		"<{0}|{0}>":     "<{0} }}v{{|{0} }}v{{>",
		"{{{0}}}":       "{{0} }}v{{}",
		"{{0}}":         "{0}",
		"a}}b{{c":       "a}b{c",
		"System: {0}\n": "System: {0} }}v{{\n",
	} {
		f, err := pipeline.ParseFormat(text)
		if err != nil || f.Apply("{0} }}v{{") != want {
			t.Errorf("%q: %q (%v), want %q", text, f.Apply("{0} }}v{{"), err, want)
		}
	}
	for _, text := range []string{"{", "}", "{0", "{}", "{1}", "{0:x}", "{0,5}", "{ 0}", "{00}", "{{{", "}}}", "a{0}}"} {
		if _, err := pipeline.ParseFormat(text); err == nil {
			t.Errorf("%q is no format and was taken", text)
		}
	}
}
