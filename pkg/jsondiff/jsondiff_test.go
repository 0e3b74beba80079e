package jsondiff_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/jsondiff"
)

// canonical parses the json-v1 form of a text; false where it has none.
func canonical(text string) (canon.Value, bool) {
	out, err := canon.Append(nil, []byte(text), canon.JSONv1)
	if err != nil {
		return canon.Value{}, false
	}
	v, err := canon.Parse(out)
	return v, err == nil
}

func value(t *testing.T, text string) canon.Value {
	t.Helper()
	v, ok := canonical(text)
	if !ok {
		t.Fatalf("no canonical form: %s", text)
	}
	return v
}

// told writes differences as "pointer: left → right".
func told(ds []jsondiff.Difference) []string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Pointer+": "+string(d.Left.Raw())+" → "+string(d.Right.Raw()))
	}
	return out
}

// E4, C3, C4, C5: what differs is named at its deepest place, and JSON types are part of a value.
func TestCompare(t *testing.T) {
	tests := []struct {
		name, left, right string
		want              []string
	}{
		{"equal", `{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null}]}`, nil},
		{"spelled otherwise", `{"b":1.0,"a":"\u00e9"}`, `{"a":"e\u0301","b":1}`, nil},
		{"scalars", `1`, `2`, []string{": 1 → 2"}},
		{"types", `true`, `1`, []string{": true → 1"}},
		{"number and text", `{"a":7}`, `{"a":"7"}`, []string{`/a: 7 → "7"`}},
		{"null and missing", `{"a":null}`, `{}`, []string{"/a: null → "}},
		{"missing and null", `{}`, `{"a":null}`, []string{"/a:  → null"}},
		{"empty object and empty list", `{"a":{}}`, `{"a":[]}`, []string{"/a: {} → []"}},
		{"members by name", `{"a":1,"c":3,"d":4}`, `{"b":2,"c":0,"d":4}`, []string{"/a: 1 → ", "/b:  → 2", "/c: 3 → 0"}},
		{"members by code point", `{"\uffff":1,"\ud800\udc00":2}`, `{}`, []string{"/\uffff: 1 → ", "/\U00010000: 2 → "}},
		{"elements by position", `[1,2,3]`, `[2,3]`, []string{"/0: 1 → 2", "/1: 2 → 3", "/2: 3 → "}},
		{"longer list", `[1]`, `[1,[2],3]`, []string{"/1:  → [2]", "/2:  → 3"}},
		{"deep", `{"a":[{"b":{"c":1}}]}`, `{"a":[{"b":{"c":2}}]}`, []string{"/a/0/b/c: 1 → 2"}},
		{"escaped names", `{"a/b":{"~":1}}`, `{"a/b":{"~":2}}`, []string{"/a~1b/~0: 1 → 2"}},
		{"empty name", `{"":1}`, `{"":2}`, []string{"/: 1 → 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := told(jsondiff.Compare(value(t, tt.left), value(t, tt.right))); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			holds(t, value(t, tt.left), value(t, tt.right))
		})
	}
}

// holds checks what is true of every two values: a value has no difference to itself, the exchanged comparison is the
// mirror, and applying the differences to the left value gives the right one.
func holds(t *testing.T, left, right canon.Value) {
	t.Helper()
	if ds := jsondiff.Compare(left, left); len(ds) != 0 {
		t.Errorf("%s differs from itself: %q", left.Raw(), told(ds))
	}
	there, back := jsondiff.Compare(left, right), jsondiff.Compare(right, left)
	if (len(there) == 0) != (string(left.Raw()) == string(right.Raw())) {
		t.Errorf("%s and %s: %q", left.Raw(), right.Raw(), told(there))
	}
	for i := range back {
		back[i].Left, back[i].Right = back[i].Right, back[i].Left
	}
	if !slices.Equal(told(there), told(back)) {
		t.Errorf("%s and %s:\nthere %q\nback  %q", left.Raw(), right.Raw(), told(there), told(back))
	}
	for _, d := range there {
		stands(t, left, d.Pointer, d.Left)
		stands(t, right, d.Pointer, d.Right)
	}
	if got := string(applied(left, "", there)); got != string(right.Raw()) {
		t.Errorf("%s with %q gives %s, want %s", left.Raw(), told(there), got, right.Raw())
	}
}

// stands holds one side of a difference to the value at its pointer; the zero Value is nothing there.
func stands(t *testing.T, v canon.Value, pointer string, want canon.Value) {
	t.Helper()
	got, there := v.At(pointer)
	if there != (want.Kind() != canon.Invalid) || string(got.Raw()) != string(want.Raw()) {
		t.Errorf("%s has %s at %s, the difference says %s", v.Raw(), got.Raw(), pointer, want.Raw())
	}
}

// at gives the difference at a pointer.
func at(ds []jsondiff.Difference, pointer string) (jsondiff.Difference, bool) {
	i := slices.IndexFunc(ds, func(d jsondiff.Difference) bool { return d.Pointer == pointer })
	if i < 0 {
		return jsondiff.Difference{}, false
	}
	return ds[i], true
}

// applied writes a value with the right sides of its differences; nil where the right side has nothing.
func applied(v canon.Value, pointer string, ds []jsondiff.Difference) []byte {
	if d, ok := at(ds, pointer); ok {
		return d.Right.Raw()
	}
	switch v.Kind() {
	case canon.Object:
		return appliedObject(v, pointer, ds)
	case canon.Array:
		return appliedArray(v, pointer, ds)
	}
	return v.Raw()
}

func appliedObject(v canon.Value, pointer string, ds []jsondiff.Difference) []byte {
	members := map[string][]byte{}
	for _, m := range v.Members() {
		members[m.Name] = applied(m.Value, canon.AppendToken(pointer, m.Name), ds)
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, d := range ds {
		i := strings.LastIndexByte(d.Pointer, '/')
		if i >= 0 && d.Pointer[:i] == pointer {
			members[unescape.Replace(d.Pointer[i+1:])] = d.Right.Raw()
		}
	}
	out := []byte{'{'}
	for _, name := range canon.SortedKeys(members) {
		if members[name] == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(canon.Quote(out, []byte(name)), ':'), members[name]...)
	}
	return append(out, '}')
}

func appliedArray(v canon.Value, pointer string, ds []jsondiff.Difference) []byte {
	out := []byte{'['}
	for i := 0; ; i++ {
		place := pointer + "/" + strconv.Itoa(i)
		_, added := at(ds, place)
		if i >= len(v.Elements()) && !added {
			return append(out, ']')
		}
		var element canon.Value
		if i < len(v.Elements()) {
			element = v.Elements()[i]
		}
		raw := applied(element, place, ds)
		if raw != nil && i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
}

// E4: whatever two values are, the differences are complete, true, and the same from both sides.
func FuzzCompare(f *testing.F) {
	seeds := []string{
		`null`, `true`, `7`, `"x"`, `[]`, `{}`, `{"a":[1,{"b":null}]}`, `{"b":1.0,"a":"\u00e9"}`, `{"a/b":{"~":1},"":[[]]}`,
		`[1,2,3]`, `[2,3]`, `{"\uffff":1,"\ud800\udc00":2}`, `{"a":1,"c":3,"d":4}`,
	}
	for _, left := range seeds {
		for _, right := range seeds {
			f.Add(left, right)
		}
	}
	f.Fuzz(func(t *testing.T, left, right string) {
		l, okLeft := canonical(left)
		r, okRight := canonical(right)
		if okLeft && okRight {
			holds(t, l, r)
		}
	})
}
