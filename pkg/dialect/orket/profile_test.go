package orket_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/dialect/orket"
	"github.com/dmpl/dmpl/pkg/finding"
)

const profile = `{"tool_name":"search","tool_profile_version":"v1","normalized_args_fields":["q","/page/size"],
"tool_result_fingerprint_fields":["*"],"side_effect_fingerprint_fields":[],"hash_algorithm":"sha256","normalization_version":"json-v1",
"schema_version":"memory.tool_profile.v1","datetime_fields":["/at"],"float_decimals":3}`

// D1, D2, C5, C8: a profile is read as it is written.
func TestReadProfiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b.json"), profile)
	write(t, filepath.Join(dir, "a.json"), strings.NewReplacer(`"v1"`, `"v2"`, `,"float_decimals":3`, ``).Replace(profile))
	write(t, filepath.Join(dir, "README.md"), "no profile")
	write(t, filepath.Join(dir, "old.json", "c.json"), "no profile either: it lies deeper")
	ps, inputs, err := orket.ReadProfiles(dir, 0)
	if err != nil || len(ps) != 2 || len(inputs) != 2 {
		t.Fatalf("%+v, %+v, %v", ps, inputs, err)
	}
	p := ps[1]
	if p.Path != filepath.Join(dir, "b.json") || p.Name != "search" || p.Version != "v1" || !slices.Equal(p.Args, []string{"q", "/page/size"}) ||
		!slices.Equal(p.Result, []string{"*"}) || len(p.SideEffects) != 0 || !slices.Equal(p.Datetimes, []string{"/at"}) || p.Decimals == nil || *p.Decimals != 3 {
		t.Errorf("profile %+v", p)
	}
	if ps[0].Version != "v2" || ps[0].Decimals != nil || inputs[0].Kind != orket.KindProfile {
		t.Errorf("%+v, %+v", ps[0], inputs[0])
	}
}

// V1: one clear problem for each profile that cannot be used.
func TestProfileProblems(t *testing.T) {
	tests := []struct {
		name, from, to string
		code           finding.Code
		pointer        string
	}{
		{"no JSON", profile, `{`, finding.CanonInvalidJSON, ""},
		{"text behind it", profile, profile + "x", finding.CanonInvalidJSON, ""},
		{"no object", profile, `[]`, finding.ShapeType, ""},
		{"no name", `"tool_name":"search",`, ``, finding.ShapeMissing, "/tool_name"},
		{"empty version", `"v1"`, `""`, finding.ShapeEmpty, "/tool_profile_version"},
		{"no list", `["*"]`, `"*"`, finding.ShapeType, "/tool_result_fingerprint_fields"},
		{"entry no text", `["*"]`, `[7]`, finding.ShapeType, "/tool_result_fingerprint_fields/0"},
		{"entry twice", `["q","/page/size"]`, `["q","q"]`, finding.ShapeValue, "/normalized_args_fields/1"},
		{"entry twice in NFC", `["q","/page/size"]`, `["é","e\u0301"]`, finding.ShapeValue, "/normalized_args_fields/1"},
		{"other hash", `sha256`, `md5`, finding.ShapeVersion, "/hash_algorithm"},
		{"other normalization", `json-v1`, `json-v2`, finding.ShapeVersion, "/normalization_version"},
		{"other schema", `tool_profile.v1`, `tool_profile.v2`, finding.ShapeVersion, "/schema_version"},
		{"too many decimals", `:3}`, `:16}`, finding.ShapeRange, "/float_decimals"},
		{"negative decimals", `:3}`, `:-1}`, finding.ShapeRange, "/float_decimals"},
		{"half a decimal", `:3}`, `:0.5}`, finding.ShapeRange, "/float_decimals"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := write(t, filepath.Join(dir, "p.json"), strings.Replace(profile, tt.from, tt.to, 1))
			_, _, err := orket.ReadProfiles(dir, 0)
			wantProblem(t, err, tt.code, path, "")
			if !strings.Contains(err.Error(), tt.pointer) {
				t.Errorf("%v does not name %s", err, tt.pointer)
			}
		})
	}
}

// V5: a profile left out in silence would change verdicts.
func TestProfileFolderProblems(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	_, _, err := orket.ReadProfiles(none, 0)
	wantProblem(t, err, finding.InputUnreadable, none, "cannot list")
	empty := t.TempDir()
	_, _, err = orket.ReadProfiles(empty, 0)
	wantProblem(t, err, finding.InputUnreadable, empty, "holds no tool profile")
	twice := t.TempDir()
	first, second := write(t, filepath.Join(twice, "a.json"), profile), write(t, filepath.Join(twice, "b.json"), profile)
	_, _, err = orket.ReadProfiles(twice, 0)
	wantProblem(t, err, finding.InputUnreadable, second, "search v1 is also in "+first)
	_, _, err = orket.ReadProfiles(twice, 10)
	wantProblem(t, err, finding.InputTooLarge, first, "10 bytes")
}
