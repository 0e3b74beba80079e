package orket

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// profileDocument is a tool profile as its file has it.
type profileDocument struct {
	profile                                                             trace.ToolProfile
	name, version, args, result, sideEffects, hash, normalization, form trace.Field
	datetimes, decimals                                                 trace.Field
}

var profileMembers = []member[profileDocument]{
	text("tool_name", required, func(d *profileDocument) *trace.Field { return &d.name }),
	text("tool_profile_version", required, func(d *profileDocument) *trace.Field { return &d.version }),
	entries("normalized_args_fields", required, func(d *profileDocument) (*trace.Field, *[]string) { return &d.args, &d.profile.Args }),
	entries("tool_result_fingerprint_fields", required,
		func(d *profileDocument) (*trace.Field, *[]string) { return &d.result, &d.profile.Result }),
	entries("side_effect_fingerprint_fields", required,
		func(d *profileDocument) (*trace.Field, *[]string) { return &d.sideEffects, &d.profile.SideEffects }),
	{
		name: "hash_algorithm", need: required, want: canon.String,
		field: func(d *profileDocument) *trace.Field { return &d.hash },
		check: version[profileDocument]("sha256"),
	},
	{
		name: "normalization_version", need: required, want: canon.String,
		field: func(d *profileDocument) *trace.Field { return &d.normalization },
		check: version[profileDocument](trace.NormalizationVersion),
	},
	{
		name: "schema_version", want: canon.String,
		field: func(d *profileDocument) *trace.Field { return &d.form },
		check: version[profileDocument](trace.ToolProfileSchema),
	},
	entries("datetime_fields", optional,
		func(d *profileDocument) (*trace.Field, *[]string) { return &d.datetimes, &d.profile.Datetimes }),
	{
		name: "float_decimals", want: canon.Number,
		field: func(d *profileDocument) *trace.Field { return &d.decimals },
		check: func(r *reader, d *profileDocument, f *trace.Field) {
			n, ok := integer(r, f, 0)
			if ok && n > mostDecimals {
				r.reject(finding.ShapeRange, f, "float_decimals is more than %d", mostDecimals)
			}
			d.profile.Decimals = &n
		},
	},
}

// mostDecimals is the finest precision that a profile may state (CONTRACT C5).
const mostDecimals = 15

// entries is a list of field entries: top-level names or pointers, each once (CONTRACT D1).
func entries(name string, n need, list func(*profileDocument) (*trace.Field, *[]string)) member[profileDocument] {
	return member[profileDocument]{
		name: name, need: n, want: canon.Array,
		field: func(d *profileDocument) *trace.Field { f, _ := list(d); return f },
		read: func(r *reader, d *profileDocument) error {
			var fields []trace.Field
			if err := texts(r, &fields); err != nil {
				return err
			}
			_, out := list(d)
			for i, f := range fields {
				if slices.Contains(*out, f.Text()) {
					r.push(step{index: i})
					r.note(finding.ShapeValue, &f, "the entry is listed twice")
					r.pop()
				}
				*out = append(*out, f.Text())
			}
			return nil
		},
	}
}

// ReadProfiles reads every tool profile (memory.tool_profile.v1) of a folder. A file that is no valid profile, or a
// profile that is there twice, is a [dialect.Problem]: a profile left out in silence would change verdicts.
func ReadProfiles(dir string, limit int64) (trace.Profiles, []finding.Input, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, unusable(dir, "cannot list the folder of tool profiles")
	}
	profiles, inputs := trace.Profiles{}, []finding.Input(nil)
	for _, file := range files {
		if !isProfileFile(file) {
			continue
		}
		f, err := dialect.ReadFile(filepath.Join(dir, file.Name()), nil, limit)
		if err != nil {
			return nil, nil, err
		}
		profile, err := readProfile(f)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range profiles {
			if p.Name == profile.Name && p.Version == profile.Version {
				return nil, nil, unusable(f.Path, fmt.Sprintf("%s %s is also in %s", p.Name, p.Version, p.Path))
			}
		}
		profiles = append(profiles, *profile)
		inputs = append(inputs, f.Input(Name, KindProfile, true))
	}
	if len(profiles) == 0 {
		return nil, nil, unusable(dir, "holds no tool profile (*.json)")
	}
	return profiles, inputs, nil
}

func isProfileFile(file fs.DirEntry) bool {
	return !file.IsDir() && strings.HasSuffix(file.Name(), ".json")
}

func readProfile(f *dialect.File) (*trace.ToolProfile, error) {
	var d profileDocument
	var root trace.Field
	r := newReader(f.Path, f.Data)
	err := element(r, profileMembers, &d, &root)
	if err == nil {
		err = r.src.End()
	}
	if err != nil {
		return nil, syntax(f.Path, err)
	}
	if len(r.findings) > 0 {
		first := r.findings[0]
		return nil, &dialect.Problem{Code: first.Code, Path: f.Path, Offset: -1, Pointer: first.Pointer, Detail: "tool profile: " + first.Detail}
	}
	d.profile.Path, d.profile.Name, d.profile.Version = f.Path, d.name.Text(), d.version.Text()
	return &d.profile, nil
}

func unusable(path, detail string) error {
	return &dialect.Problem{Code: finding.InputUnreadable, Path: path, Offset: -1, Detail: detail}
}
