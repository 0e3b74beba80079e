// Package schema validates documents against the JSON Schemas of package schemas. Only tests import it: the typed
// checks decide at run time (CONTRACT V1), and this package holds them to the schemas.
//
// A JSON Schema is blind where the typed checks are not:
//   - It sees values, not text: 1.0 and 1e0 are integers to it (C4), a duplicate member is the last one (C1), and
//     two spellings of a name that NFC makes equal are two names (C3).
//   - It sees one value at a time: it cannot say that the indices are 0…n-1, that ranks are 1…k and scores descend, or
//     that a link names a row of the other file (V2).
//   - It knows no binary64: a score of 1e400 is a number (V2).
//   - It knows nothing of claims: an identity "unknown", live visibility and a truncation marker are well formed (V3).
//   - It does not digest (V5) and does not measure files (V4).
package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dmpl/dmpl/schemas"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Violation is one place where a document is not what its schema says.
type Violation struct {
	Pointer string // RFC 6901; a missing member is named by the place where it should be
	Message string // English, without the place
}

// Validate holds a JSON document to the schema of that name (see [schemas.Names]) and gives the violations in the
// order of pointer and message; none means that the document is valid. The error says that the name is not known or
// that the document is no JSON at all (CONTRACT V1).
func Validate(name string, doc []byte) ([]Violation, error) {
	schema, err := compiled(name)
	if err != nil {
		return nil, err
	}
	// C4: numbers stay text, so that an integer of any size is one.
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return nil, fmt.Errorf("document is no JSON: %w", err)
	}
	err = schema.Validate(value)
	if err == nil {
		return nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, fmt.Errorf("schema %q: %w", name, err)
	}
	return sorted(leaves(nil, invalid)), nil
}

// leaves appends the causes that have no further cause: the places where something is wrong.
func leaves(violations []Violation, invalid *jsonschema.ValidationError) []Violation {
	for _, cause := range invalid.Causes {
		violations = leaves(violations, cause)
	}
	if len(invalid.Causes) != 0 {
		return violations
	}
	unit := invalid.BasicOutput()
	required, ok := invalid.ErrorKind.(*kind.Required)
	if !ok {
		return append(violations, Violation{unit.InstanceLocation, unit.Error.String()})
	}
	for _, name := range required.Missing {
		violations = append(violations, Violation{member(unit.InstanceLocation, name), "is missing"})
	}
	return violations
}

func sorted(violations []Violation) []Violation {
	slices.SortFunc(violations, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(violations)
}

// member extends an RFC 6901 pointer by a member name.
func member(pointer, name string) string {
	return pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func compiled(name string) (*jsonschema.Schema, error) {
	all, err := compileAll()
	if err != nil {
		return nil, err
	}
	schema, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("no schema %q; there are %s", name, strings.Join(schemas.Names(), ", "))
	}
	return schema, nil
}

// compileAll compiles every schema once: tests validate thousands of mutations against the same few. A schema may refer to
// another, so that all are known before the first is compiled.
var compileAll = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	all := map[string]*jsonschema.Schema{}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	for _, name := range schemas.Names() {
		if err := add(compiler, name); err != nil {
			return nil, fmt.Errorf("schema %q: %w", name, err)
		}
	}
	for _, name := range schemas.Names() {
		schema, err := compiler.Compile(urn(name))
		if err != nil {
			return nil, fmt.Errorf("schema %q: %w", name, err)
		}
		all[name] = schema
	}
	return all, nil
})

func urn(name string) string { return "urn:dmpl:schema:" + name }

func add(compiler *jsonschema.Compiler, name string) error {
	text, err := schemas.Read(name)
	if err != nil {
		return err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return compiler.AddResource(urn(name), doc)
}
