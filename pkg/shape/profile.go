package shape

import (
	"slices"
	"sync"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// profileDocument is a tool profile as its file has it.
type profileDocument struct {
	profile                                                             trace.ToolProfile
	name, version, args, result, sideEffects, hash, normalization, form trace.Field
	datetimes, decimals                                                 trace.Field
}

var profileMembers = sync.OnceValue(func() []member[profileDocument] {
	return []member[profileDocument]{
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
})

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

// ReadProfile reads one tool profile (memory.tool_profile.v1) and gives the findings of its shape. The error is a
// *canon.Error.
func ReadProfile(path string, data []byte) (*trace.ToolProfile, []finding.Finding, error) {
	var d profileDocument
	findings, err := whole(newReader(path, data), profileMembers(), &d)
	d.profile.Path, d.profile.Name, d.profile.Version = path, d.name.Text(), d.version.Text()
	return &d.profile, findings, err
}
