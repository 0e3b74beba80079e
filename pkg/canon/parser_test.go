package canon_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/dmpl/dmpl/pkg/canon"
)

// checkParser holds a Parser to ParseAs under dbl, and every value that claims to stand in the form of dbl to that form.
func checkParser(t *testing.T, p *canon.Parser, src []byte) {
	t.Helper()
	p.Reset(src, 0)
	v, err := p.Value()
	if err == nil {
		err = p.End()
	}
	if valid := canon.Valid(src); codeOf(t, err) != codeOf(t, valid) {
		t.Fatalf("Valid says %v, the parser %v", valid, err)
	}
	again, lenient := canon.ParseAs(canon.DBL, src)
	if lenient == nil {
		checkInDBL(t, again)
	}
	if err != nil {
		return
	}
	if lenient != nil {
		t.Fatalf("the parser reads what dbl refuses: %v", lenient)
	}
	sameTree(t, v, again)
	p.Reset(src, 0)
	if v, err = p.Sparse("name", "a", "b", ""); err != nil {
		t.Fatalf("folded, it is refused: %v", err)
	}
	sameTree(t, v, again)
	sameNames(t, v)
}

// sameNames holds Get to the members. Names that NFC may change are looked up in NFC.
func sameNames(t *testing.T, v canon.Value) {
	t.Helper()
	names := map[string]bool{}
	for _, m := range v.Members() {
		names[m.Name] = true
		sameNames(t, m.Value)
	}
	for _, m := range v.Members() {
		if strings.ContainsFunc(m.Name, func(r rune) bool { return r > unicode.MaxASCII }) {
			continue
		}
		if got, ok := v.Get(m.Name); !ok || !bytes.Equal(got.Raw(), m.Value.Raw()) {
			t.Fatalf("%q: its member %q is %q (%t)", v.Raw(), m.Name, got.Raw(), ok)
		}
		if _, ok := v.Get(m.Name + "?"); ok != names[m.Name+"?"] {
			t.Fatalf("%q has a member %q: %t", v.Raw(), m.Name+"?", ok)
		}
	}
}

func sameTree(t *testing.T, a, b canon.Value) {
	t.Helper()
	if !bytes.Equal(a.Raw(), b.Raw()) || a.InDBL() != b.InDBL() || len(a.Members()) != len(b.Members()) || len(a.Elements()) != len(b.Elements()) {
		t.Fatalf("%q (in form: %t), %q (in form: %t)", a.Raw(), a.InDBL(), b.Raw(), b.InDBL())
	}
	for i, m := range a.Members() {
		if other := b.Members()[i]; m.Name != other.Name {
			t.Fatalf("names %q and %q", m.Name, other.Name)
		}
		sameTree(t, m.Value, b.Members()[i].Value)
	}
	for i, e := range a.Elements() {
		sameTree(t, e, b.Elements()[i])
	}
}

func checkInDBL(t *testing.T, v canon.Value) {
	t.Helper()
	if v.InDBL() {
		if out, err := canon.Append(nil, v.Raw(), canon.DBL); err != nil || !bytes.Equal(out, v.Raw()) {
			t.Fatalf("%q claims to be in form, which is %q (%v)", v.Raw(), out, err)
		}
	}
	for _, m := range v.Members() {
		checkInDBL(t, m.Value)
	}
	for _, e := range v.Elements() {
		checkInDBL(t, e)
	}
}

// C2: a value in the form of dbl is known by one look at its document.
func TestInDBLKnowsTheForm(t *testing.T) {
	for src, want := range map[string]bool{
		`{"a":[1,-2,true,null,"x"],"b":{}}`: true, `"\u00f6\ud83d\ude42\u0001\u007f\b\"\\"`: true, `"\ud800"`: true, `-7`: true,
		`{"a": 1}`: false, `{ }`: false, `[1, 2]`: false, `[1,2 ]`: false, `{"b":1,"a":2}`: false, `{"a":1,"a":2}`: false, "{\"a\":1\n}": false,
		`"\u00F6"`: false, `"\/"`: false, `"\u0041"`: false, `"\u000a"`: false, `"\ud83d\uDE42"`: false, "\"\u00f6\"": false, "\"\x7f\"": false,
		`-0`: false, `1.0`: false, `1e3`: false, `NaN`: false, `-Infinity`: false, `{"\u00f6":1}`: false,
	} {
		v, err := canon.ParseAs(canon.DBL, []byte(src))
		if err != nil || v.InDBL() != want {
			t.Errorf("%s: in form %t, not %t (%v)", src, v.InDBL(), want, err)
		}
		checkInDBL(t, v)
	}
	inner, err := canon.ParseAs(canon.DBL, []byte(` { "z" : [1,2] , "a" : {"b":"c"} } `))
	if err != nil || inner.InDBL() || !inner.Members()[0].Value.InDBL() || !inner.Members()[1].Value.InDBL() {
		t.Errorf("what is in form in a document that is not: %v", err)
	}
}

// C1: nesting counts what is open around a document, and a Parser goes on after an error.
func TestParserCountsWhatIsOpenAround(t *testing.T) {
	var p canon.Parser
	for depth, want := range map[int]string{canon.MaxDepth - 2: "", canon.MaxDepth - 1: canon.CodeTooDeep} {
		p.Reset([]byte(`[[1]]`), depth)
		if _, err := p.Value(); codeOf(t, err) != want {
			t.Errorf("inside %d: %v", depth, err)
		}
	}
	checkParser(t, &p, []byte(`{"b":[1,{"c":2}],"a":"x"}`))
}

// What is folded is read as strictly, and unfolds where it is asked for.
func TestSparseReadsWhatIsSeldomAskedForAgain(t *testing.T) {
	var p canon.Parser
	for src, want := range map[string]string{
		`{"z":{"deep":{"x":[1,{"y":2}]},"list":[3],"text":"t"},"a":{"x":4}}`: "", `[{"z":1}]`: "", `{"z":[[1],{"x":2}],"a":{}}`: "", `"z"`: "",
		`{"z":{"deep":{"x":1,"x":2}}}`: canon.CodeDuplicateKey, `{"z":{"deep":"\ud800"}}`: canon.CodeLoneSurrogate, `{"z":[nul]}`: canon.CodeInvalidJSON,
		`{"z":1,"z":2}`: canon.CodeDuplicateKey, `{"z":` + strings.Repeat("[", canon.MaxDepth) + `1`: canon.CodeTooDeep,
	} {
		p.Reset([]byte(src), 0)
		v, err := p.Sparse("z")
		if codeOf(t, err) != want {
			t.Errorf("%s: %v", src, err)
		}
		if want != "" {
			continue
		}
		again, err := canon.ParseAs(canon.DBL, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		sameTree(t, v, again)
		for _, pointer := range []string{"/z/deep/x/1/y", "/z/list/0", "/z/list/1", "/z/0/0", "/z/1/x", "/a/x", "/0/z"} {
			got, ok := v.At(pointer)
			if other, also := again.At(pointer); ok != also || !bytes.Equal(got.Raw(), other.Raw()) {
				t.Errorf("%s: at %s is %q, not %q", src, pointer, got.Raw(), other.Raw())
			}
		}
	}
}

// A Parser makes no garbage once it has seen a document of the kind.
func TestParserUsesItsMemoryAgain(t *testing.T) {
	var p canon.Parser
	src := []byte(`{"name":"x","list":[1,2,{"deep":[true,null]}],"more":{"b":1,"a":"\u00f6"}}`)
	if n := testing.AllocsPerRun(100, func() {
		p.Reset(src, 0)
		if _, err := p.Value(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a document", n)
	}
	large := append(append([]byte{'['}, bytes.Repeat([]byte("0,"), 1<<16)...), '0', ']')
	checkParser(t, &p, large)
	checkParser(t, &p, src)
}
