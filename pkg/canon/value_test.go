package canon_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

func TestValueGivesKindsRawAndMembers(t *testing.T) {
	v, err := canon.Parse([]byte(" {\"b\" : [1, {\"x\":null}], \"e\u0301\":\"t\", \"b\\u002f\":{ } } "))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range v.Members() {
		names = append(names, m.Name+" "+m.Value.Kind().String()+" "+string(m.Value.Raw()))
	}
	want := []string{`b array [1, {"x":null}]`, "\u00e9 string \"t\"", "b/ object { }"}
	if !reflect.DeepEqual(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	b, _ := v.Get("b")
	if n := len(b.Elements()); n != 2 || b.Members() != nil || v.Elements() != nil || v.Kind() != canon.Object {
		t.Errorf("%d elements, members %v", n, b.Members())
	}
	if !strings.HasPrefix(string(v.Raw()), "{") || !strings.HasSuffix(string(v.Raw()), "}") {
		t.Errorf("raw %q", v.Raw())
	}
}

func TestValueAtFollowsPointers(t *testing.T) {
	v, err := canon.Parse([]byte("{\"a\":[10,[20,30]],\"\":1,\"m~n\":2,\"a/b\":3,\"\u00e9\":4,\"0\":5}"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		pointer, want string
		ok            bool
	}{
		{"", string(v.Raw()), true},
		{"/a/0", "10", true},
		{"/a/1/1", "30", true},
		{"/", "1", true},
		{"/m~0n", "2", true},
		{"/a~1b", "3", true},
		{"/e\u0301", "4", true},
		{"/0", "5", true},
		{"/a/2", "", false},
		{"/a/-1", "", false},
		{"/a/01", "", false},
		{"/a/-", "", false},
		{"/a/0/0", "", false},
		{"/none", "", false},
		{"a", "", false},
	}
	for _, tt := range tests {
		if got, ok := v.At(tt.pointer); ok != tt.ok || string(got.Raw()) != tt.want {
			t.Errorf("%q: %s, %t", tt.pointer, got.Raw(), ok)
		}
	}
	if _, ok := (canon.Value{}).At("/x"); ok || (canon.Value{}).Kind() != canon.Invalid {
		t.Error("the zero value holds something")
	}
}

func TestParseIsStrict(t *testing.T) {
	for src, code := range map[string]string{
		``: canon.CodeInvalidJSON, `1 2`: canon.CodeInvalidJSON, `[{"a":1,"a":1}]`: canon.CodeDuplicateKey,
		`{"a":[NaN]}`: canon.CodeNonFinite, `[1,?]`: canon.CodeInvalidJSON,
		strings.Repeat("[", 300): canon.CodeTooDeep,
	} {
		if v, err := canon.Parse([]byte(src)); codeOf(t, err) != code || v.Kind() != canon.Invalid {
			t.Errorf("%.40s: %v, error %v", src, v, err)
		}
	}
}

func TestAppendTokenEscapes(t *testing.T) {
	if got := canon.AppendToken(canon.AppendToken("", "a/b~c"), ""); got != "/a~1b~0c/" {
		t.Error(got)
	}
}

func TestSortedKeysAreBytewise(t *testing.T) {
	got := canon.SortedKeys(map[string]int{"b": 1, "a": 2, "\U00010000": 3, "\uffff": 4, "B": 5})
	if want := []string{"B", "a", "b", "\uffff", "\U00010000"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}
