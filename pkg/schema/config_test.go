package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/schema"
	"github.com/dmpl/dmpl/pkg/thread"
)

// X4: what --context-config takes is what the schema of the configuration allows, and both name the same place.
func TestContextConfigIsReadAsItsSchemaSays(t *testing.T) {
	refused, taken := 0, 0
	for _, example := range examplesOf(t, contextConf) {
		for _, m := range schema.Mutations(example) {
			v, err := thread.Read(m.Doc)
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			_, err = thread.ParseConfig(v)
			violations := validate(t, contextConf, m.Doc)
			if (err == nil) != (len(violations) == 0) {
				t.Errorf("%s: read with %v, the schema says %v", m.Name, err, violations)
				continue
			}
			if err == nil {
				taken++
				continue
			}
			refused++
			var wrong *thread.Error
			if !errors.As(err, &wrong) || wrong.Code != thread.CodeInvalidConfig || !names(violations, wrong.Pointer) {
				t.Errorf("%s: read with %v, the schema says %v", m.Name, err, violations)
			}
		}
	}
	if refused < 50 || taken < 30 {
		t.Errorf("%d mutations refused, %d taken: too few to tell", refused, taken)
	}
}

// names tells whether a violation stands at a place or, where the reader names the list, in it. A document that is no
// object has no members to name.
func names(violations []schema.Violation, pointer string) bool {
	for _, v := range violations {
		if v.Pointer == pointer || strings.HasPrefix(v.Pointer, pointer+"/") || v.Pointer == "" {
			return true
		}
	}
	return false
}

// X4: bounds are where both say they are; true counts as 1, as the gateway has it.
func TestContextConfigBounds(t *testing.T) {
	for member, literals := range map[string]map[string]bool{
		"max_refs":                   {"0": false, "1": true, "true": true, "false": false, "123456789012345678901234567890": true, "-123456789012345678901234567890": false},
		"expand_last_n":              {"0": false, "1": true, "21": true, "null": false},
		"workbench_fetch_timeout_ms": {"99": false, "100": true, "true": false},
		"workbench_max_bytes":        {"1023": false, "1024": true},
	} {
		for literal, valid := range literals {
			example := string(examplesOf(t, contextConf)[0])
			from := strings.Index(example, `"`+member+`": `) + len(member) + 4
			to := from + strings.IndexAny(example[from:], ",\n")
			doc := []byte(example[:from] + literal + example[to:])
			v, err := thread.Read(doc)
			if err != nil {
				t.Fatal(err)
			}
			_, err = thread.ParseConfig(v)
			violations := validate(t, contextConf, doc)
			if (err == nil) != valid || (len(violations) == 0) != valid {
				t.Errorf("%s %s: read with %v, the schema says %v; valid=%v", member, literal, err, violations, valid)
			}
		}
	}
}
