package canon_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

// mixed shows what the profiles treat differently; x is NFD.
const mixed = "{\"b\" : 1.0, \"a\":[ -0 , 1e-7, 123456789012345678901 ],\n\"x\":\"e\u0301\\/\\u0041\u007f😀\"}"

func TestProfilesWriteTheirForms(t *testing.T) {
	tests := []struct {
		name    string
		profile canon.Profile
		src     string
		want    string
	}{
		{"json-v1", canon.JSONv1, mixed, "{\"a\":[0,0,123456789012345678901],\"b\":1,\"x\":\"\u00e9/A\u007f😀\"}"},
		{"py-sorted", canon.PySorted, mixed, "{\"a\":[0,1e-07,123456789012345678901],\"b\":1.0,\"x\":\"e\u0301/A\u007f😀\"}"},
		{"jcs", canon.JCS, mixed, "{\"a\":[0,1e-7,123456789012345680000],\"b\":1,\"x\":\"e\u0301/A\u007f😀\"}"},
		{"raw", canon.Raw, mixed, mixed},
		{"raw takes anything", canon.Raw, "{\xff", "{\xff"},
		{"dbl", canon.DBL, "{\"b\":\"e\u0301\\/\u007f😀~\\\"\\\\\\b\\f\\n\\r\\t\\u0000\",\"a\":-0}", `{"a":0,"b":"e\u0301/\u007f\ud83d\ude00~\"\\\b\f\n\r\t\u0000"}`},
		{"dbl keeps lone surrogates", canon.DBL, `["\ud800","\udfff\ud83d\ud83d\ude42","\uDE42b"]`, `["\ud800","\udfff\ud83d\ud83d\ude42","\ude42b"]`},
		{"dbl sorts surrogates below U+E000", canon.DBL, `{"\ud800\udc00":4,"\ue000":3,"\udfff":2,"\ud800":1}`, `{"\ud800":1,"\udfff":2,"\ue000":3,"\ud800\udc00":4}`},
		{"no white space", canon.JSONv1, " [ \t{ }\r,\n [ ] , \"a b\" ] ", `[{},[],"a b"]`},
		{"long indentation", canon.JSONv1, "[\n" + strings.Repeat(" ", 29) + "1,\n\n\n        2\n" + strings.Repeat(" ", 8) + "]", `[1,2]`},
		{"a blank line feed at the end", canon.JSONv1, "[1\n]\n   ", `[1]`},
		{"escapes are minimal", canon.JSONv1, `"\u0022\u005c\u002f\u0008\u000C\u000a\u000D\u0009\u001F\u007F\u2028"`, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\u007f\u2028\""},
		{"short escapes stay", canon.JSONv1, `"a\"\\\b\f\n\r\tz"`, `"a\"\\\b\f\n\r\tz"`},
		{"an accent after an escape stays alone", canon.JSONv1, "\"\\n\u0301\"", "\"\\n\u0301\""},
		{"an accent after an escaped letter joins", canon.JSONv1, "\"\\u0065\u0301\"", "\"\u00e9\""},
		{"an escaped accent joins", canon.JSONv1, `"e\u0301"`, "\"\u00e9\""},
		{"a surrogate pair is one rune", canon.JSONv1, `"\ud834\udd1e"`, "\"\U0001D11E\""},
		{"null stays", canon.JSONv1, `{"a":null}`, `{"a":null}`},
		{"members by code point", canon.JSONv1, "{\"\U00010000\":1,\"\uffff\":2}", "{\"\uffff\":2,\"\U00010000\":1}"},
		{"members by UTF-16 unit under jcs", canon.JCS, "{\"\uffff\":2,\"\U00010000\":1,\"\ue000\":3,\"\ud7ff\":4,\"a\":5}", "{\"a\":5,\"\ud7ff\":4,\"\U00010000\":1,\"\ue000\":3,\"\uffff\":2}"},
		{"members by their text, not by its escapes", canon.JSONv1, `{"\u00e9":1,"f":2,"\"":3,"#":4,"\n":5,"":6}`, "{\"\":6,\"\\n\":5,\"\\\"\":3,\"#\":4,\"f\":2,\"\u00e9\":1}"},
		{"members by NFC", canon.JSONv1, "{\"\u00e9\":1,\"f\":2,\"e\u0300\":3}", "{\"f\":2,\"\u00e8\":3,\"\u00e9\":1}"},
		{"a longer name after its prefix", canon.JSONv1, `{"abcdefghi":1,"abcdefgh":2,"abcdefg":3,"abcdefgh\u0000":4,"a\u0000":5,"a":6}`, `{"a":6,"a\u0000":5,"abcdefg":3,"abcdefgh":2,"abcdefgh\u0000":4,"abcdefghi":1}`},
		{"a long member moves once", canon.JSONv1, `{"c":1,"b":[11111111,2222222],"a":3,"d":{"z":1,"y":2}}`, `{"a":3,"b":[11111111,2222222],"c":1,"d":{"y":2,"z":1}}`},
		{"the last duplicate wins", canon.PySorted, `{"a":1,"b":[1],"\u0061":{"x":1},"a":2}`, `{"a":2,"b":[1]}`},
		{"no NFC in py-sorted", canon.PySorted, "{\"\u00e9\":1,\"e\u0301\":2}", "{\"e\u0301\":2,\"\u00e9\":1}"},
		{"py-sorted skips one byte order mark", canon.PySorted, "\uFEFF[1]", `[1]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := canon.Append([]byte("before"), []byte(tt.src), tt.profile)
			if err != nil || string(out) != "before"+tt.want {
				t.Errorf("got  %s, error %v\nwant before%s", out, err, tt.want)
			}
		})
	}
}

func TestProfilesRefuse(t *testing.T) {
	tests := []struct {
		name    string
		profile canon.Profile
		src     string
		want    canon.Error
	}{
		{"json-v1: 1e309", canon.JSONv1, `{"a":[1e309]}`, canon.Error{Code: canon.CodeNumberOutOfRange, Offset: 6, Pointer: "/a/0", Detail: "the magnitude of the number is 10^309 or more"}},
		{"jcs: 1e309", canon.JCS, `-1e309`, canon.Error{Code: canon.CodeNumberOutOfRange, Detail: "the number overflows binary64"}},
		{"jcs: a long integer", canon.JCS, `[` + strings.Repeat("9", 400) + `]`, canon.Error{Code: canon.CodeNumberOutOfRange, Offset: 1, Pointer: "/0", Detail: "the number overflows binary64"}},
		{"jcs: equal in NFC", canon.JCS, `{"e\u0301":1,"z":0,"\u00e9":2}`, canon.Error{Code: canon.CodeKeyCollision, Offset: 19, Pointer: "/é", Detail: "the name equals, after NFC, the one at byte 1"}},
		{"py-sorted: 1e309", canon.PySorted, `[1, 1e309]`, canon.Error{Code: canon.CodeNumberOutOfRange, Offset: 4, Pointer: "/1", Detail: "the number overflows binary64"}},
		{"py-sorted: NaN", canon.PySorted, `[NaN]`, canon.Error{Code: canon.CodeNonFinite, Offset: 1, Pointer: "/0", Detail: "NaN cannot be written as JSON"}},
		{"py-sorted: lone surrogate", canon.PySorted, `{"\ud800":1}`, canon.Error{Code: canon.CodeLoneSurrogate, Offset: 2, Detail: "a lone surrogate cannot be written as UTF-8"}},
		{"py-sorted: surrogate in UTF-8", canon.PySorted, "[\"\xed\xa0\x80\"]", canon.Error{Code: canon.CodeLoneSurrogate, Offset: 2, Pointer: "/0", Detail: "a surrogate cannot be written as UTF-8"}},
		{"py-sorted: two byte order marks", canon.PySorted, "\uFEFF\uFEFF1", canon.Error{Code: canon.CodeInvalidJSON, Offset: 3, Detail: `expected a value, found '\ufeff'`}},
		{"py-sorted: half a token", canon.PySorted, "[Infinit]", canon.Error{Code: canon.CodeInvalidJSON, Offset: 8, Pointer: "/0", Detail: "expected the rest of Infinity, found ']'"}},
		{"py-sorted: syntax before what would fail on writing", canon.PySorted, `[NaN,}`, canon.Error{Code: canon.CodeInvalidJSON, Offset: 5, Pointer: "/1", Detail: "expected a value, found '}'"}},
		{"py-sorted: trailing text", canon.PySorted, `1 2`, canon.Error{Code: canon.CodeInvalidJSON, Offset: 2, Detail: "expected the end of the input, found '2'"}},
		{"dbl: byte order mark", canon.DBL, "\uFEFF1", canon.Error{Code: canon.CodeInvalidJSON, Detail: "the input starts with a byte order mark (U+FEFF), which JSON evidence has not"}},
		{"dbl: float", canon.DBL, `{"a":1.0}`, canon.Error{Code: canon.CodeFloatRefused, Offset: 5, Pointer: "/a", Detail: "the profile dbl has no numbers with fraction or exponent"}},
		{"dbl: exponent", canon.DBL, `1E2`, canon.Error{Code: canon.CodeFloatRefused, Detail: "the profile dbl has no numbers with fraction or exponent"}},
		{"dbl: -Infinity", canon.DBL, `-Infinity`, canon.Error{Code: canon.CodeNonFinite, Detail: "-Infinity cannot be written as JSON"}},
		{"dbl: surrogate in UTF-8", canon.DBL, "\"\xed\xa0\x80\"", canon.Error{Code: canon.CodeInvalidUTF8, Offset: 1, Detail: "the bytes are no UTF-8"}},
		{"dbl: too deep", canon.DBL, strings.Repeat(`[`, 257), canon.Error{Code: canon.CodeTooDeep, Offset: 256, Pointer: strings.Repeat("/0", 256), Detail: "arrays and objects nest deeper than 256"}},
		{"the first of several survivors", canon.DBL, `{"a":1.5,"b":[0,{"c":NaN,"c":2.5,"d":NaN},3.5],"a":0,"e":4.5}`, canon.Error{Code: canon.CodeFloatRefused, Offset: 29, Pointer: "/b/1/c", Detail: "the profile dbl has no numbers with fraction or exponent"}},
		{"the last duplicate fails", canon.DBL, `{"a":0,"a":{"x":1.5}}`, canon.Error{Code: canon.CodeFloatRefused, Offset: 16, Pointer: "/a/x", Detail: "the profile dbl has no numbers with fraction or exponent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := canon.Append([]byte("before"), []byte(tt.src), tt.profile)
			if !reflect.DeepEqual(err, error(&tt.want)) || string(out) != "before" {
				t.Errorf("got  %+v, output %q\nwant %+v", err, out, &tt.want)
			}
			if _, err := canon.Digest(tt.profile, []byte(tt.src)); !reflect.DeepEqual(err, error(&tt.want)) {
				t.Errorf("Digest: %v", err)
			}
		})
	}
}

func TestWhatALaterDuplicateReplacesIsNotWritten(t *testing.T) {
	tests := []struct {
		profile   canon.Profile
		src, want string
	}{
		{canon.PySorted, `{"a":NaN,"a":1}`, `{"a":1}`},
		{canon.PySorted, `{"a":[1e999,{"b":"\ud800"}],"z":1,"a":[]}`, `{"a":[],"z":1}`},
		{canon.PySorted, `[{"\ud800x":1,"a":2,"a":3}]`, ""},
		{canon.DBL, `{"a":1.5,"b":{"c":NaN},"b":2,"a":"x"}`, `{"a":"x","b":2}`},
		{canon.DBL, `{"k":{"a":1.5},"k":{"a":1.5,"a":0}}`, `{"k":{"a":0}}`},
	}
	for _, tt := range tests {
		out, err := canon.Append(nil, []byte(tt.src), tt.profile)
		if tt.want == "" && err == nil || tt.want != "" && (err != nil || string(out) != tt.want) {
			t.Errorf("%s %s: %s, error %v, want %q", tt.profile, tt.src, out, err, tt.want)
		}
	}
}

func TestEqualComparesForms(t *testing.T) {
	v1, py := canon.Form{}, canon.Form{Profile: canon.PySorted}
	tests := []struct {
		a, b string
		form canon.Form
		want bool
	}{
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1}`, v1, true},
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1}`, py, false},
		{`1`, `1`, v1, true},
		{`1`, `true`, v1, false},
		{`7`, `"7"`, v1, false},
		{`{"a":null}`, `{}`, v1, false},
		{`[1`, `[1`, v1, false},
		{`1`, `[1`, v1, false},
		{"\xff", "\xff", canon.Form{Profile: canon.Raw}, true},
	}
	for _, tt := range tests {
		if got := canon.Equal([]byte(tt.a), []byte(tt.b), tt.form); got != tt.want {
			t.Errorf("%s, %s under %s: %t", tt.a, tt.b, tt.form.Profile, got)
		}
	}
}

func TestProfileNames(t *testing.T) {
	var names []string
	for _, p := range canon.Profiles() {
		names = append(names, p.String())
		if back, err := canon.ParseProfile(p.String()); err != nil || back != p {
			t.Errorf("%s parses as %s, error %v", p, back, err)
		}
	}
	if want := []string{"json-v1", "py-sorted", "dbl", "jcs", "raw"}; !reflect.DeepEqual(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if _, err := canon.ParseProfile("JSON-V1"); err == nil || !strings.Contains(err.Error(), "json-v1, py-sorted, dbl, jcs, raw") {
		t.Errorf("error %v does not list the names", err)
	}
	if canon.Profile(99).String() != "unknown" {
		t.Error("an unknown profile has a name")
	}
}

func TestFormRefusesOtherPrecisions(t *testing.T) {
	for _, decimals := range []int{-1, 16} {
		out, err := canon.AppendForm([]byte("x"), []byte("1"), canon.Form{Decimals: &decimals})
		var e *canon.Error
		if err == nil || errors.As(err, &e) || string(out) != "x" {
			t.Errorf("%d decimals: %q, error %v", decimals, out, err)
		}
	}
}
