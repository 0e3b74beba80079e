package trace_test

import (
	"errors"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/trace"
)

// D1, C5, C8: what a profile selects, as canonical bytes.
func TestSelect(t *testing.T) {
	two := 2
	tests := []struct {
		name    string
		profile trace.ToolProfile
		raw     string
		entries []string
		want    string
	}{
		{"names", trace.ToolProfile{}, `{"b":2.50,"a":1.0,"c":3}`, []string{"b", "a"}, `{"a":1,"b":2.5}`},
		{"the value itself", trace.ToolProfile{}, `{ "b": 1e1 }`, []string{"*"}, `{"b":10}`},
		{"the value itself, no object", trace.ToolProfile{}, `[1.0]`, []string{"*"}, `[1]`},
		{"a star among others is a name", trace.ToolProfile{}, `{"*":1,"a":2}`, []string{"*", "a"}, `{"*":1,"a":2}`},
		{"pointers are keys as written", trace.ToolProfile{}, `{"a":{"b":[5,6]}}`, []string{"/a/b/1", "/a"}, `{"/a":{"b":[5,6]},"/a/b/1":6}`},
		{"a name that begins with no slash", trace.ToolProfile{}, `{"a/b":1}`, []string{"a/b"}, `{"a/b":1}`},
		{"absent stays absent", trace.ToolProfile{}, `{"a":null}`, []string{"a", "b", "/c/d"}, `{"a":null}`},
		{"a non-object has no fields", trace.ToolProfile{}, `[{"a":1}]`, []string{"a"}, `{}`},
		{"a pointer into a list", trace.ToolProfile{}, `[{"a":1}]`, []string{"/0/a"}, `{"/0/a":1}`},
		{"nothing selected", trace.ToolProfile{}, `{"a":1}`, nil, `{}`},
		{"names in NFC", trace.ToolProfile{}, `{"e\u0301":1}`, []string{"é"}, `{"é":1}`},
		{"stated precision", trace.ToolProfile{Decimals: &two}, `{"a":1.005,"b":1.015}`, []string{"a", "b"}, `{"a":1,"b":1.02}`},
		{
			"datetimes",
			trace.ToolProfile{Datetimes: []string{"/at"}},
			`{"at":"2026-01-01T02:00:00.500+02:00","on":"2026-01-01T02:00:00+02:00"}`,
			[]string{"at", "on"},
			`{"at":"2026-01-01T00:00:00.5Z","on":"2026-01-01T02:00:00+02:00"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.profile.Select([]byte(tt.raw), tt.entries)
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
			hex, err := tt.profile.Fingerprint([]byte(tt.raw), tt.entries)
			sum, errSum := canon.Digest(canon.Raw, []byte(tt.want))
			if err != nil || errSum != nil || hex != sum.Hex() { // D2
				t.Errorf("fingerprint %s, %v; want %s", hex, err, sum.Hex())
			}
		})
	}
}

// C5, C8: a value without a canonical form has no selection.
func TestSelectErrors(t *testing.T) {
	p := trace.ToolProfile{Datetimes: []string{"/at"}}
	tests := []struct {
		raw  string
		code string
	}{
		{`{"n":1e400}`, canon.CodeNumberOutOfRange},
		{`{"at":"yesterday"}`, canon.CodeInvalidDatetime},
		{`{"a":1,"a":2}`, canon.CodeDuplicateKey},
		{`{"a":`, canon.CodeInvalidJSON},
	}
	for _, tt := range tests {
		_, err := p.Select([]byte(tt.raw), []string{"a"})
		var bad *canon.Error
		if !errors.As(err, &bad) || bad.Code != tt.code {
			t.Errorf("%s: %v, want %s", tt.raw, err, tt.code)
		}
		if hex, err := p.Fingerprint([]byte(tt.raw), []string{"a"}); err == nil || hex != "" {
			t.Errorf("%s: fingerprint %q, %v", tt.raw, hex, err)
		}
	}
}

// R1: the profile of the recorded version, or the only one of the tool.
func TestProfileOfACall(t *testing.T) {
	ps := trace.Profiles{{Name: "a", Version: "v1"}, {Name: "a", Version: "v2"}, {Name: "b", Version: "v1"}}
	tests := []struct {
		tool, version      string
		found, replacement string // version; "" for none
	}{
		{"a", "v2", "v2", "v2"},
		{"a", "v3", "", ""},
		{"b", "v1", "v1", "v1"},
		{"b", "v9", "", "v1"},
		{"c", "v1", "", ""},
	}
	for _, tt := range tests {
		found, okFound := ps.For(tt.tool, tt.version)
		replacement, okReplacement := ps.Override(tt.tool, tt.version)
		if okFound != (tt.found != "") || okFound && found.Version != tt.found {
			t.Errorf("%s %s: %+v %v", tt.tool, tt.version, found, okFound)
		}
		if okReplacement != (tt.replacement != "") || okReplacement && (replacement.Version != tt.replacement || replacement.Name != tt.tool) {
			t.Errorf("%s %s in place: %+v %v", tt.tool, tt.version, replacement, okReplacement)
		}
	}
}
