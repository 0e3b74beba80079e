package shape

import (
	"bytes"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// The checks that rows of a schema name.

func nonEmpty[T any](r *reader, _ *T, f *trace.Field) {
	if len(f.Raw) == len(`""`) {
		r.reject(finding.ShapeEmpty, f, "%s is empty", r.at[len(r.at)-1].name)
	}
}

func version[T any](known string) func(*reader, *T, *trace.Field) {
	return func(r *reader, t *T, f *trace.Field) {
		nonEmpty(r, t, f)
		if f.Ok() && !textIs(f, known) {
			r.reject(finding.ShapeVersion, f, "%s is not %q, the version that is known", r.at[len(r.at)-1].name, known)
		}
	}
}

func oneOf[T any](values ...string) func(*reader, *T, *trace.Field) {
	return func(r *reader, t *T, f *trace.Field) {
		nonEmpty(r, t, f)
		if f.Ok() && !slices.ContainsFunc(values, func(v string) bool { return textIs(f, v) }) {
			r.reject(finding.ShapeValue, f, "%s is none of %s", r.at[len(r.at)-1].name, strings.Join(values, ", "))
		}
	}
}

// count accepts an integer of 0 or more.
func count[T any](r *reader, _ *T, f *trace.Field) { integer(r, f, 0) }

// integer accepts a literal without fraction and exponent, at least least: 1.0 is a number, and no index (CONTRACT C4).
// An integer of any size is one; those that no list is long enough for are all [trace.Beyond].
func integer(r *reader, f *trace.Field, least int64) (int, bool) {
	n, ok := canon.Integer(f.Raw)
	if !ok && f.Raw[0] != '-' && !bytes.ContainsAny(f.Raw, ".eE") {
		n, ok = trace.Beyond, true
	}
	if !ok || n < least {
		r.reject(finding.ShapeRange, f, "%s is not an integer of %d or more", r.at[len(r.at)-1].name, least)
		return 0, false
	}
	return int(min(n, trace.Beyond)), true
}

// textIs compares a JSON string with a plain ASCII text.
func textIs(f *trace.Field, want string) bool {
	if len(f.Raw) == len(want)+2 {
		return string(f.Raw[1:len(f.Raw)-1]) == want
	}
	if !bytes.ContainsRune(f.Raw, '\\') {
		return false
	}
	text, err := canon.Text(f.Raw)
	return err == nil && string(text) == want
}
