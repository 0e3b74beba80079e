package canon_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

func seed(f *testing.F) {
	for _, src := range []string{
		everyShape, mixed, `{"a":1,"a":2}`, `{"b":{"d":1,"c":[2,{"z":0,"y":1}]},"a":NaN}`, "{\"\u00e9\":1,\"e\u0301\":2}",
		`[1e3,-0,-0.0,0.0000005,1e308,123e307,1e309,5e-324,1.5E-7,100000000000000000000000]`, "\uFEFF[1]", `["\ud83d\ude42","\ud800"]`,
		"[\"\xed\xa0\x80\",\"\xff\"]", `{"\uffff":1,"\ud800\udc00":2,"\u0000":3}`, "\"a\u0301\u0323\u0344\u1100\u1161\"", `[[[[[{}]]]]]`, `{"k":"v"`, "",
	} {
		f.Add([]byte(src))
	}
}

// checkReader holds what must be true of any input and any profile.
func checkReader(t *testing.T, src []byte) {
	checkParser(t, new(canon.Parser), src)
	valid := canon.Valid(src)
	v, err := canon.Parse(src)
	if codeOf(t, err) != codeOf(t, valid) {
		t.Fatalf("Valid says %v, Parse %v", valid, err)
	}
	if valid == nil {
		if !bytes.Equal(v.Raw(), bytes.Trim(src, " \t\r\n")) {
			t.Fatalf("raw %q", v.Raw())
		}
		var out strings.Builder
		if err := walk(canon.NewReader(src), &out); err != nil {
			t.Fatalf("Valid passes, Members and Elements give %v", err)
		}
	} else {
		e := valid.(*canon.Error)
		if e.Offset < 0 || e.Offset > len(src) || e.Detail == "" || e.Pointer != "" && e.Pointer[0] != '/' {
			t.Fatalf("%+v", e)
		}
	}
	for _, p := range []canon.Profile{canon.JSONv1, canon.JCS} {
		_, err := canon.Append(nil, src, p)
		if code := codeOf(t, err); code != codeOf(t, valid) && code != canon.CodeNumberOutOfRange {
			t.Fatalf("Valid says %v, %s %v", valid, p, err)
		}
	}
}

// checkProfile holds the form against the simple implementation, and against itself: the form of a form is the form.
func checkProfile(t *testing.T, src []byte, p canon.Profile, slow slowForm) {
	out, err := canon.Append(nil, src, p)
	if !beyondSlow(src) {
		tree, slowErr := slowParse(src)
		var want string
		if slowErr == nil {
			want, slowErr = slow.write(tree)
		}
		if (err == nil) != (slowErr == nil) || string(out) != want {
			t.Fatalf("%s of %q:\ngot  %q, error %v\nwant %q, error %v", p, src, out, err, want, slowErr)
		}
	}
	if err != nil {
		var e *canon.Error
		if !errors.As(err, &e) || e.Offset > len(src) {
			t.Fatalf("error %v", err)
		}
		return
	}
	again, err := canon.Append(nil, out, p)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("%s of %q is %q, and of that %q, error %v", p, src, out, again, err)
	}
}

func FuzzReader(f *testing.F) {
	seed(f)
	f.Fuzz(checkReader)
}

func FuzzCanonJSONv1(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) { checkProfile(t, src, canon.JSONv1, slowJSONv1) })
}

func FuzzPySorted(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		checkProfile(t, bytes.TrimPrefix(src, []byte("\uFEFF")), canon.PySorted, slowPy)
	})
}

func FuzzJCS(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) { checkProfile(t, src, canon.JCS, slowJCS) })
}

func FuzzDBL(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) { checkProfile(t, src, canon.DBL, slowDBL) })
}
