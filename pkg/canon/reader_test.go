package canon_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

func TestReaderRefusesWithCodeOffsetAndPointer(t *testing.T) {
	deep := strings.Repeat("[", 257)
	tests := []struct {
		name, src, code string
		offset          int
		pointer, detail string
	}{
		{"empty", "", canon.CodeInvalidJSON, 0, "", "expected a value, found the end of the input"},
		{"white space only", " \n", canon.CodeInvalidJSON, 2, "", "expected a value, found the end of the input"},
		{"byte order mark", "\uFEFF{}", canon.CodeInvalidJSON, 0, "", "the input starts with a byte order mark (U+FEFF), which JSON evidence has not"},
		{"trailing text", "1 x", canon.CodeInvalidJSON, 2, "", "expected the end of the input, found 'x'"},
		{"trailing comma", `{"a":[1,]}`, canon.CodeInvalidJSON, 8, "/a/1", "expected a value, found ']'"},
		{"trailing comma in object", `{"a":1,}`, canon.CodeInvalidJSON, 7, "", "expected a name in double quotes, found '}'"},
		{"no comma", `[1 2]`, canon.CodeInvalidJSON, 3, "/0", "expected ',' or ']', found '2'"},
		{"no colon", `{"a" 1}`, canon.CodeInvalidJSON, 5, "/a", "expected ':' after a name, found '1'"},
		{"bare name", `{a:1}`, canon.CodeInvalidJSON, 1, "", "expected a name in double quotes, found 'a'"},
		{"wrong bracket", `{"x":[1}`, canon.CodeInvalidJSON, 7, "/x/0", "expected ',' or ']', found '}'"},
		{"leading zero", `[01]`, canon.CodeInvalidJSON, 2, "/0", "expected ',' or ']', found '1'"},
		{"no fraction", `[1.]`, canon.CodeInvalidJSON, 3, "/0", "expected a digit, found ']'"},
		{"no exponent", `1e+x`, canon.CodeInvalidJSON, 3, "", "expected a digit, found 'x'"},
		{"minus", `[-]`, canon.CodeInvalidJSON, 2, "/0", "expected a digit, found ']'"},
		{"minus I", `-I`, canon.CodeInvalidJSON, 1, "", "expected a digit, found 'I'"},
		{"half a word", `[tru]`, canon.CodeInvalidJSON, 4, "/0", "expected the rest of true, found ']'"},
		{"nan", `nan`, canon.CodeInvalidJSON, 1, "", "expected the rest of null, found 'a'"},
		{"NaN", `{"a":{"b":[0,NaN]}}`, canon.CodeNonFinite, 13, "/a/b/1", "JSON has no NaN; it can be written as a string"},
		{"Infinity", `Infinity`, canon.CodeNonFinite, 0, "", "JSON has no Infinity; it can be written as a string"},
		{"-Infinity", `[-Infinity]`, canon.CodeNonFinite, 1, "/0", "JSON has no -Infinity; it can be written as a string"},
		{"Name", `Name`, canon.CodeInvalidJSON, 0, "", "expected a value, found 'N'"},
		{"raw tab", "{\"k\":\"a\tb\"}", canon.CodeInvalidJSON, 7, "/k", `a string holds the raw control character '\t'`},
		{"raw NUL in the last bytes", "\"\x00\"", canon.CodeInvalidJSON, 1, "", `a string holds the raw control character '\x00'`},
		{"bad escape", `["\x"]`, canon.CodeInvalidJSON, 2, "/0", "a backslash cannot stand before 'x'"},
		{"bad escape in a name", `{"a":1,"\x":2}`, canon.CodeInvalidJSON, 8, "", "a backslash cannot stand before 'x'"},
		{"bad hex", `"\u12g4"`, canon.CodeInvalidJSON, 5, "", `expected four hexadecimal digits after \u, found 'g'`},
		{"lone surrogate", `{"a":"\ud800"}`, canon.CodeLoneSurrogate, 6, "/a", `a surrogate escape stands alone: \ud800`},
		{"low before high", `"\ude42\ud83d"`, canon.CodeLoneSurrogate, 1, "", `a surrogate escape stands alone: \ude42`},
		{"high twice", `"\ud83d\ud83d\ude42"`, canon.CodeLoneSurrogate, 1, "", `a surrogate escape stands alone: \ud83d`},
		{"high before an escape", `"\ud83d\n"`, canon.CodeLoneSurrogate, 1, "", `a surrogate escape stands alone: \ud83d`},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", canon.CodeInvalidUTF8, 1, "", "the bytes are no UTF-8"},
		{"overlong", "[\"\xc0\x80\"]", canon.CodeInvalidUTF8, 2, "/0", "the bytes are no UTF-8"},
		{"Latin 1", "\"\xe9t\xe9 \"", canon.CodeInvalidUTF8, 1, "", "the bytes are no UTF-8"},
		{"beyond Unicode", "\"\xf4\x90\x80\x80\"", canon.CodeInvalidUTF8, 1, "", "the bytes are no UTF-8"},
		{"two-byte lead alone", "\"\xc3x\"", canon.CodeInvalidUTF8, 1, "", "the bytes are no UTF-8"},
		{"UTF-16", "\xff\xfe\"\x00", canon.CodeInvalidUTF8, 0, "", "the bytes are no UTF-8"},
		{"letter", "é", canon.CodeInvalidJSON, 0, "", "expected a value, found 'é'"},
		{"duplicate", `{"b":{"a/~":1,"c":2,"a/~":3}}`, canon.CodeDuplicateKey, 20, "/b/a~1~0", "the name stands twice in its object, first at byte 6"},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, canon.CodeDuplicateKey, 7, "/a", "the name stands twice in its object, first at byte 1"},
		{"the first of two duplicates", `{"a":1,"b":2,"b":3,"a":4}`, canon.CodeDuplicateKey, 13, "/b", "the name stands twice in its object, first at byte 7"},
		{"equal in NFC", "{\"\u00e9\":1,\"e\u0301\":2}", canon.CodeKeyCollision, 8, "/é", "the name equals, after NFC, the one at byte 1"},
		{"equal in NFC by escape", `{"e\u0301":1,"\u00e9":2}`, canon.CodeKeyCollision, 13, "/é", "the name equals, after NFC, the one at byte 1"},
		{"257 levels", deep, canon.CodeTooDeep, 256, strings.Repeat("/0", 256), "arrays and objects nest deeper than 256"},
		{"100,000 levels", strings.Repeat("[", 100_000), canon.CodeTooDeep, 256, strings.Repeat("/0", 256), "arrays and objects nest deeper than 256"},
		{"100,000 objects", strings.Repeat(`{"a":`, 100_000), canon.CodeTooDeep, 256 * 5, strings.Repeat("/a", 256), "arrays and objects nest deeper than 256"},
		{"after closed values", `{"a":{"x":[1,2]},"b":[{},[3],?]}`, canon.CodeInvalidJSON, 29, "/b/2", "expected a value, found '?'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := &canon.Error{Code: tt.code, Offset: tt.offset, Pointer: tt.pointer, Detail: tt.detail}
			if got := canon.Valid([]byte(tt.src)); !reflect.DeepEqual(got, error(want)) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			for _, p := range []canon.Profile{canon.JSONv1, canon.JCS} {
				if _, err := canon.Append(nil, []byte(tt.src), p); !reflect.DeepEqual(err, error(want)) {
					t.Errorf("%s: got  %+v\nwant %+v", p, err, want)
				}
			}
		})
	}
}

func TestErrorIsOneLineAndQuotesThePointer(t *testing.T) {
	err := canon.Valid([]byte("{\"a\\u001b\\u202e\\n\":?}"))
	want := `canon.invalid_json at byte 19, pointer "/a\x1b\u202e\n": expected a value, found '?'`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// everyShape has each kind of token at least once.
const everyShape = ` { "a" : [ 1 , -2.5e+10 , true , false , null , { } , [ ] ] ,
  "é\n\u00e9\ud83d\ude42" : "plain text that is longer than a word, 日本 😀 \" \/ \\" , "b":{"c":{"d":0}}, "k\/": -0 } `

func TestCutOffInputFailsAtItsEnd(t *testing.T) {
	whole := strings.TrimRight(everyShape, " ")
	if err := canon.Valid([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		var e *canon.Error
		if err := canon.Valid([]byte(whole[:n])); !errors.As(err, &e) || e.Offset != n || !strings.Contains(e.Detail, "the end of the input") {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func TestDepth256IsRead(t *testing.T) {
	src := strings.Repeat("[", 255) + "{}" + strings.Repeat("]", 255)
	if err := canon.Valid([]byte(src)); err != nil {
		t.Error(err)
	}
	siblings := "[" + strings.Repeat("[],{},", 300) + "[]]"
	if err := canon.Valid([]byte(siblings)); err != nil {
		t.Errorf("siblings counted as depth: %v", err)
	}
}

// walk prints what a Reader tells about a document, with Members and Elements all the way down.
func walk(r *canon.Reader, out *strings.Builder) error {
	switch kind := r.Kind(); kind {
	case canon.Object:
		out.WriteString("{")
		err := r.Members(func(name []byte) error {
			fmt.Fprintf(out, "%s=", name)
			return walk(r, out)
		})
		out.WriteString("}")
		return err
	case canon.Array:
		out.WriteString("[")
		err := r.Elements(func(i int) error {
			fmt.Fprintf(out, "%d=", i)
			return walk(r, out)
		})
		out.WriteString("]")
		return err
	default:
		span, err := r.Skip()
		fmt.Fprintf(out, "%s@%d-%d ", kind, span.Start, span.End)
		return err
	}
}

func TestReaderGivesKindsNamesAndSpans(t *testing.T) {
	src := []byte(` {"a": [1, "x" ,{"b\u002f":null}], "é": true}` + "\n")
	r := canon.NewReader(src)
	var out strings.Builder
	if err := walk(r, &out); err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	want := "{a=[0=number@8-9 1=string@11-14 2={b/=null@27-31 }]é=boolean@41-45 }"
	if out.String() != want || r.Offset() != len(src) {
		t.Errorf("got  %s, offset %d\nwant %s", out.String(), r.Offset(), want)
	}
}

func TestReaderKeepsItsFirstError(t *testing.T) {
	r := canon.NewReader([]byte(`[{"a":?},1]`))
	var inner error
	err := r.Elements(func(int) error {
		_, inner = r.Skip()
		return nil
	})
	if err == nil || err != inner {
		t.Fatalf("Elements gave %v, Skip %v", err, inner)
	}
	none := func([]byte) error { return nil }
	_, skip := r.Skip()
	for _, later := range []error{skip, r.End(), r.Members(none), r.Elements(func(int) error { return nil })} {
		if later != inner {
			t.Errorf("later call gave %v", later)
		}
	}
	if r.Kind() != canon.Invalid {
		t.Errorf("kind %s after an error", r.Kind())
	}
	r = canon.NewReader([]byte(`{"a":?}`))
	if err := r.Members(func([]byte) error { _, inner = r.Skip(); return nil }); err == nil || err != inner {
		t.Errorf("Members gave %v, Skip %v", err, inner)
	}
}

func TestReaderGivesBackTheCallersError(t *testing.T) {
	stop := errors.New("stop")
	if err := canon.NewReader([]byte(`{"a":1}`)).Members(func([]byte) error { return stop }); err != stop {
		t.Error(err)
	}
	if err := canon.NewReader([]byte(`[1]`)).Elements(func(int) error { return stop }); err != stop {
		t.Error(err)
	}
}

func TestReaderRefusesAnUnconsumedOrWrongValue(t *testing.T) {
	tests := []struct {
		name string
		err  error
	}{
		{"member left", canon.NewReader([]byte(`{"a":1}`)).Members(func([]byte) error { return nil })},
		{"element left", canon.NewReader([]byte(`[1]`)).Elements(func(int) error { return nil })},
		{"no object", canon.NewReader([]byte(`[]`)).Members(func([]byte) error { return nil })},
		{"no array", canon.NewReader([]byte(` {}`)).Elements(func(int) error { return nil })},
		{"nothing", canon.NewReader(nil).Elements(func(int) error { return nil })},
	}
	for _, tt := range tests {
		if codeOf(t, tt.err) != canon.CodeInvalidJSON {
			t.Errorf("%s: %v", tt.name, tt.err)
		}
	}
}

func TestMembersFindsErrorsInNamesAndAtTheEnd(t *testing.T) {
	for _, tt := range []struct{ src, code string }{
		{`{"a":1,"a":2}`, canon.CodeDuplicateKey},
		{"{\"\u00e9\":1,\"e\u0301\":2}", canon.CodeKeyCollision},
		{`{1:2}`, canon.CodeInvalidJSON},
		{`{"a":1;`, canon.CodeInvalidJSON},
		{`{`, canon.CodeInvalidJSON},
	} {
		r := canon.NewReader([]byte(tt.src))
		err := r.Members(func([]byte) error { _, err := r.Skip(); return err })
		if codeOf(t, err) != tt.code {
			t.Errorf("%s: %v", tt.src, err)
		}
	}
	deep := canon.NewReader([]byte(strings.Repeat(`[`, 300)))
	var down func(int) error
	down = func(int) error { return deep.Elements(down) }
	if err := down(0); codeOf(t, err) != canon.CodeTooDeep {
		t.Error(err)
	}
}

func TestKindsHaveJSONWords(t *testing.T) {
	var got []string
	for _, src := range []string{"null", "true", "-1", `"a"`, "[]", "{}", "?", ""} {
		got = append(got, canon.NewReader([]byte(src)).Kind().String())
	}
	want := []string{"null", "boolean", "number", "string", "array", "object", "invalid", "invalid"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if canon.Kind(99).String() != "invalid" {
		t.Error("unknown kind has a word")
	}
}

func TestManyMembers(t *testing.T) {
	const n = 100_000
	var b strings.Builder
	b.WriteString("{")
	for i := range n {
		fmt.Fprintf(&b, `"k%d":%d,`, (i*7919)%n, i)
	}
	unique := b.String() + `"last":0}`
	if err := canon.Valid([]byte(unique)); err != nil {
		t.Error(err)
	}
	twice := b.String() + `"k4242":0}`
	if err := canon.Valid([]byte(twice)); codeOf(t, err) != canon.CodeDuplicateKey {
		t.Error(err)
	}
	out, err := canon.Append(nil, []byte(unique), canon.JSONv1)
	if err != nil || len(out) != len(unique) || !strings.HasPrefix(string(out), `{"k0":0,"k1":`) {
		t.Errorf("%d bytes of %d, error %v", len(out), len(unique), err)
	}
}

// C1: a value is known but for one string only where all else is the same bytes, and that string is read strictly.
func TestSkipSameButReadsTheOtherString(t *testing.T) {
	const known = `{"id":"a","n":[1]}`
	hole := canon.Span{Start: len(`{"id":`), End: len(`{"id":"a"`)}
	tests := []struct {
		name, text, string, rest string
		same                     bool
	}{
		{"the same", ` {"id":"a","n":[1]} 7`, `"a"`, "7", true},
		{"another", `{"id":"b\u00e9","n":[1]}7`, `"b\u00e9"`, "7", true},
		{"no string", `{"id":1,"n":[1]}`, "", `{"id":1,"n":[1]}`, false},
		{"other bytes before", `{"ID":"a","n":[1]}`, "", `{"ID":"a","n":[1]}`, false},
		{"other bytes behind", `{"id":"b","n":[2]}`, "", `{"id":"b","n":[2]}`, false},
		{"shorter", `{"id"`, "", `{"id"`, false},
	}
	for _, tt := range tests {
		r := canon.NewReader([]byte(tt.text))
		span, same := r.SkipSameBut([]byte(known), hole)
		r.Kind() // passes white space
		if got := tt.text[span.Start:span.End]; got != tt.string || same != tt.same || tt.text[r.Offset():] != tt.rest {
			t.Errorf("%s: %q, %v, then %q", tt.name, got, same, tt.text[r.Offset():])
		}
	}
	r := canon.NewReader([]byte(`{"id":"\x","n":[1]}`))
	if _, same := r.SkipSameBut([]byte(known), hole); same {
		t.Error("a string that is none is passed")
	}
	var bad *canon.Error
	if err := r.End(); !errors.As(err, &bad) || bad.Offset != len(`{"id":"`) || bad.Pointer != "/id" {
		t.Errorf("the error of the string is lost: %v", err)
	}
}
