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

// C2: a document is read as its producer reads it.
func TestParseAsReadsAsTheProducerDoes(t *testing.T) {
	many := `{"n0":0,"n1":1,"n2":2,"n3":3,"n4":4,"n5":5,"n6":6,"n7":7,"n8":8,"n9":9,"na":10,"nb":11,"nc":12,"nd":13,"ne":14,"nf":15,"n0":16}`
	tests := []struct {
		name, src string
		profile   canon.Profile
		want      string // names, kinds and raw values in order; or the code of the error
	}{
		{"last duplicate at the first place", `{"a":1,"b":2,"a":{"c":3,"c":4}}`, canon.DBL, `[a object {"c":3,"c":4}] [b number 2]`},
		{"names as they are", "{\"e\u0301\":1,\"\u00e9\":2}", canon.DBL, "[e\u0301 number 1] [\u00e9 number 2]"},
		{"tokens that are no numbers", `{"a":NaN,"b":Infinity,"c":-Infinity}`, canon.DBL, "[a number NaN] [b number Infinity] [c number -Infinity]"},
		{"a lone surrogate", `{"\ud800":"\udc00"}`, canon.DBL, "[\xed\xa0\x80 string \"\\udc00\"]"},
		{"a byte order mark", "\ufeff{}", canon.PySorted, ""},
		{"a byte order mark under dbl", "\ufeff{}", canon.DBL, canon.CodeInvalidJSON},
		{"a duplicate under json-v1", `{"a":1,"a":2}`, canon.JSONv1, canon.CodeDuplicateKey},
		{"text after the end", `{} {}`, canon.DBL, canon.CodeInvalidJSON},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := canon.ParseAs(tt.profile, []byte(tt.src))
			if err != nil {
				if got := codeOf(t, err); got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
				return
			}
			var got []string
			for _, m := range v.Members() {
				got = append(got, "["+m.Name+" "+m.Value.Kind().String()+" "+string(m.Value.Raw())+"]")
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%q, want %q", text, tt.want)
			}
		})
	}
	v, err := canon.ParseAs(canon.DBL, []byte(many))
	if err != nil {
		t.Fatal(err)
	}
	if first := v.Members()[0]; len(v.Members()) != 16 || first.Name != "n0" || string(first.Value.Raw()) != "16" {
		t.Errorf("of many members: %d, the first %s %s", len(v.Members()), first.Name, first.Value.Raw())
	}
}

func TestValueTextResolvesEscapes(t *testing.T) {
	v, err := canon.ParseAs(canon.DBL, []byte(`["plain","a\u00e9\ud83d\ude00\ud800x\n",1]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"plain", "a\u00e9\U0001f600\xed\xa0\x80x\n", ""}
	for i, e := range v.Elements() {
		if got, ok := e.Text(); got != want[i] || ok != (i < 2) {
			t.Errorf("element %d: %q, %t", i, got, ok)
		}
	}
	if got := string(canon.QuoteASCII(nil, []byte(want[1]))); got != `"a\u00e9\ud83d\ude00\ud800x\n"` {
		t.Errorf("written again: %s", got)
	}
}
