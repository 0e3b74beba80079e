package cmd_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/thread/threadtest"
	"github.com/dmpl/dmpl/schemas"
)

const configs = fixtures + "/thread/config"

// keyCase is a row of fixtures/thread/config/keys.json: what one key of a configuration decides alone.
type keyCase struct {
	Key, What, Turn, Profile string
	Base                     map[string]any // changes of the seed's configuration for both sides
	Value                    any            // of the key, on the second side
	Before, After            map[string]any // values of the answer by their pointers; null for none
}

func keyCases(t *testing.T) []keyCase {
	t.Helper()
	var cases []keyCase
	readExpected(t, filepath.Join(configs, "keys.json"), &cases)
	return cases
}

// X1, X2, X4: each key of a configuration decides alone: with everything else equal, the context or the refusal is another.
func TestEachKeyOfAConfigurationDecidesAlone(t *testing.T) {
	var turns map[string]map[string]any
	readExpected(t, filepath.Join(configs, "turns.json"), &turns)
	for _, c := range keyCases(t) {
		config := threadtest.Load(t, filepath.Join(configs, "seed.json"))
		for _, at := range slices.Sorted(maps.Keys(c.Base)) {
			config.Apply(threadtest.Edit{At: at, Value: c.Base[at]})
		}
		for _, want := range []map[string]any{c.Before, c.After} {
			input := maps.Clone(turns[c.Turn])
			input["config"] = config.Tree
			answer := stepped(t, input, "build-context", "--profile", c.Profile)
			for at, value := range want {
				if got := answer.At(at); !reflect.DeepEqual(plain(t, got), plain(t, value)) {
					t.Errorf("%s: %s: %s is %v, want %v", c.Key, c.What, at, got, value)
				}
			}
			config.Apply(threadtest.Edit{At: c.Key, Value: c.Value})
		}
		if reflect.DeepEqual(c.Before, c.After) {
			t.Errorf("%s decides nothing", c.Key)
		}
	}
}

// stepped gives the answer of a step to a document.
func stepped(t *testing.T, input map[string]any, step ...string) *threadtest.Snapshot {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(t)
	p.In = bytes.NewReader(text)
	p.Run(append(append([]string{"step"}, step...), "-"))
	return threadtest.Parse(t, p.out.Bytes())
}

// plain makes numbers comparable.
func plain(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// X4: no key of the schema is without a case, so that a new one needs its own.
func TestEachKeyOfTheSchemaHasACase(t *testing.T) {
	var schema map[string]any
	text, err := schemas.Read("context.config.v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	keys := schemaKeys(schema, schema, "")
	if len(keys) < 15 {
		t.Fatalf("only %d keys: %q", len(keys), keys)
	}
	var known []string
	for _, c := range keyCases(t) {
		known = append(known, c.Key)
	}
	if missing := withoutCase(keys, known); len(missing) > 0 {
		t.Errorf("no case for %q", missing)
	}
	context := schema["properties"].(map[string]any)["context"].(map[string]any)["properties"].(map[string]any)
	context["planted"] = map[string]any{"type": "integer"}
	if missing := withoutCase(schemaKeys(schema, schema, ""), known); !slices.Equal(missing, []string{"/context/planted"}) {
		t.Errorf("a planted key: %q", missing)
	}
}

func withoutCase(keys, known []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return slices.ContainsFunc(known, func(k string) bool { return k == key || strings.HasPrefix(k, key+"/") })
	})
}

// schemaKeys gives the pointers of the properties that hold no others, sorted.
func schemaKeys(root, schema map[string]any, at string) []string {
	if ref, ok := schema["$ref"].(string); ok {
		definitions, _ := root["$defs"].(map[string]any)
		schema, _ = definitions[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if then, ok := schema["then"].(map[string]any); ok {
		return schemaKeys(root, then, at)
	}
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) == 0 {
		return []string{at}
	}
	var keys []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		below, _ := properties[name].(map[string]any)
		keys = append(keys, schemaKeys(root, below, at+"/"+name)...)
	}
	return keys
}

// X4: the configuration that the seed prints, letter by letter, has its digest.
func TestTheConfigurationOfTheSeedHasItsDigest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(configs, "seed.json"))
	if err != nil {
		t.Fatal(err)
	}
	p := newProcess(t)
	p.In = strings.NewReader(`{"config":` + string(text) + `}`)
	const want = `"digest":"sha256:09a2bd5213bcfeeb820884c5a6ed2d8a0a6eea108185de2c6866ef3f11b0329f"`
	if code := p.Run([]string{"digest", "config", "-"}); code != 0 || !strings.Contains(p.out.String(), want) {
		t.Errorf("exit %d: %s", code, p.out)
	}
}

// X1, X2: both examples of the seed, through the commands, in the seed's profile and in the gateway's.
func TestTheExamplesOfTheSeedHoldInTheCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "thread", "seed_examples.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for line := range bytes.Lines(text) {
		examples++
		example := threadtest.Parse(t, line)
		for _, profile := range []string{"seed", "gateway"} {
			refs := stepped(t, example.Tree, "resolve-refs", "--profile", profile)
			for _, name := range []string{"resolved_refs", "normative_refs", "normative_input_digests", "warnings"} {
				if got, want := plain(t, refs.Tree[name]), plain(t, example.Tree[name]); got != want {
					t.Errorf("%v, %s: %s\n got %s\nwant %s", example.Tree["id"], profile, name, got, want)
				}
			}
			built := stepped(t, example.Tree, "build-context", "--profile", profile)
			for at, name := range map[string]string{
				"/assembled_context/model_messages": "model_messages", "/assembled_context/assembled_from": "resolved_refs",
				"/assembled_context/normative_input_digests": "normative_input_digests",
			} {
				if got, want := plain(t, built.At(at)), plain(t, example.Tree[name]); got != want {
					t.Errorf("%v, %s: %s\n got %s\nwant %s", example.Tree["id"], profile, at, got, want)
				}
			}
		}
	}
	if examples != 2 {
		t.Errorf("%d examples", examples)
	}
}
