package cmd_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/schemas"
)

// requiredMember is a member that a schema requires: where the schema says so, and where a document has it.
type requiredMember struct{ rule, pointer string }

// schemaWalk walks a schema and a document that holds to it, side by side.
type schemaWalk struct {
	name  string
	root  map[string]any
	found []requiredMember
}

func readSchemaTree(t *testing.T, name string) map[string]any {
	t.Helper()
	text, err := schemas.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// requiredIn lists the members of a document that its schema requires, also those of a then and an else: the document holds to
// its schema, so that what is there of both can be tried.
func requiredIn(t *testing.T, name string, document any) []requiredMember {
	t.Helper()
	w := &schemaWalk{name: name, root: readSchemaTree(t, name)}
	w.walk(t, name, w.root, "", document)
	return w.found
}

func (w *schemaWalk) walk(t *testing.T, at string, node map[string]any, pointer string, value any) {
	t.Helper()
	if ref, ok := node["$ref"].(string); ok {
		below, target := w.resolve(t, ref)
		below.walk(t, below.name+strings.TrimPrefix(target, below.name), below.at(t, target), pointer, value)
		if below != w {
			w.found = append(w.found, below.found...)
		}
	}
	for _, branch := range []string{"then", "else"} {
		if below, ok := node[branch].(map[string]any); ok {
			w.walk(t, at+"/"+branch, below, pointer, value)
		}
	}
	all, _ := node["allOf"].([]any)
	for i, below := range all {
		w.walk(t, at+"/allOf/"+strconv.Itoa(i), below.(map[string]any), pointer, value)
	}
	switch v := value.(type) {
	case map[string]any:
		required, _ := node["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; there {
				w.found = append(w.found, requiredMember{at + "/required/" + name.(string), canon.AppendToken(pointer, name.(string))})
			}
		}
		properties, _ := node["properties"].(map[string]any)
		for name, below := range v {
			if schema, ok := properties[name].(map[string]any); ok {
				w.walk(t, at+"/properties/"+name, schema, canon.AppendToken(pointer, name), below)
			}
		}
	case []any:
		if items, ok := node["items"].(map[string]any); ok {
			for i, below := range v {
				w.walk(t, at+"/items", items, fmt.Sprintf("%s/%d", pointer, i), below)
			}
		}
	}
}

// resolve gives the walk of the schema that a reference leads into, and the place there.
func (w *schemaWalk) resolve(t *testing.T, ref string) (*schemaWalk, string) {
	t.Helper()
	if place, ok := strings.CutPrefix(ref, "#"); ok {
		return w, w.name + place
	}
	name, ok := strings.CutPrefix(ref, "urn:dmpl:schema:")
	if !ok {
		t.Fatalf("%s refers to %s", w.name, ref)
	}
	return &schemaWalk{name: name, root: readSchemaTree(t, name)}, name
}

func (w *schemaWalk) at(t *testing.T, place string) map[string]any {
	t.Helper()
	node := w.root
	for _, name := range strings.Split(strings.TrimPrefix(place, w.name), "/")[1:] {
		below, ok := node[name].(map[string]any)
		if !ok {
			t.Fatalf("%s has nothing at %s", w.name, place)
		}
		node = below
	}
	return node
}

// everyRule lists where a schema requires a member: in itself, not in what its conditions ask.
func everyRule(t *testing.T, name string) []string {
	t.Helper()
	var rules []string
	var visit func(at string, node any)
	visit = func(at string, node any) {
		switch v := node.(type) {
		case map[string]any:
			required, _ := v["required"].([]any)
			for _, member := range required {
				rules = append(rules, at+"/required/"+member.(string))
			}
			for key, below := range v {
				if !slices.Contains([]string{"if", "examples", "required", "enum", "const"}, key) {
					visit(at+"/"+key, below)
				}
			}
		case []any:
			for i, below := range v {
				visit(at+"/"+strconv.Itoa(i), below)
			}
		}
	}
	visit(name, readSchemaTree(t, name))
	slices.Sort(rules)
	return rules
}
