package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

// V6: what is the same in every trace of a folder says nothing.
func TestFolderThatNeverVaries(t *testing.T) {
	hash := func(digit string) string { return strings.Repeat(digit, 64) }
	one := func(interceptor, result, output string) *trace.Trace {
		text := strings.Replace(small("", ""), `"tool_result_fingerprint":"`+noDigest, `"tool_result_fingerprint":"`+result, 1)
		text = strings.Replace(text, `"output_shape_hash":"`+noDigest, `"output_shape_hash":"`+output, 1)
		return parse(t, strings.Replace(text, "after_tool", interceptor, 1), "").Trace
	}
	a, b := hash("a"), hash("b")
	tests := []struct {
		name   string
		traces []*trace.Trace
		want   []string
	}{
		{"nothing", nil, nil},
		{"one trace", []*trace.Trace{one("after_tool", a, a)}, nil},
		{"all alike", []*trace.Trace{one("after_tool", a, a), one("after_tool", a, a)}, []string{"blind.constant_fingerprint", "blind.constant_structure"}},
		{"results vary", []*trace.Trace{one("after_tool", a, a), one("after_tool", b, a)}, []string{"blind.constant_structure"}},
		{"outputs vary", []*trace.Trace{one("after_tool", a, a), one("after_tool", a, b)}, []string{"blind.constant_fingerprint"}},
		{"both vary", []*trace.Trace{one("after_tool", a, a), one("after_tool", b, b)}, nil},
		{"a call before the tool has no result", []*trace.Trace{one("before_tool", a, a), one("before_tool", a, b)}, nil},
		{"outputs missing", []*trace.Trace{{}, {}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var folder verify.Folder
			for _, one := range tt.traces {
				folder.Add(one)
			}
			found := folder.Findings("folder")
			if got := codes(found, func(f finding.Finding) bool { return f.Severity == finding.Warning && f.Artifact == "folder" }); !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// V6: the digest of the type alone says nothing, whatever the type is; neither does that of a text of one section.
func TestBlindStructure(t *testing.T) {
	tests := []struct {
		kind, hash string
		want       bool
	}{
		{"table", digestOf(t, `{"type":"table"}`), true},
		{"table", "sha256:" + digestOf(t, `{"type":"table"}`), true},
		{"text", digestOf(t, `{"sections":["body"],"type":"text"}`), true},
		{"text", digestOf(t, `{"sections":["head"],"type":"text"}`), false},
		{"plan", digestOf(t, `{"sections":["body"],"type":"text"}`), false},
		{"table", "opaque", false},
	}
	for _, tt := range tests {
		text := strings.Replace(small("", ""), `"table","output_shape_hash":"`+noDigest, `"`+tt.kind+`","output_shape_hash":"`+tt.hash, 1)
		a := parse(t, text, "")
		r := verify.Trace(a.Trace, a.Shape, verify.Options{})
		if got := slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Code == finding.BlindStructure }); got != tt.want {
			t.Errorf("%s %s: %v, want %v", tt.kind, tt.hash, got, tt.want)
		}
	}
}
