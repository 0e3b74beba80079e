package pipelinetest_test

import (
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

func TestDifferenceNamesTheFirstPlace(t *testing.T) {
	tests := []struct{ got, want, place string }{
		{`{"a":[1,2]}`, `{"a":[1,2],"toString":"x"}`, ""},
		{`{"a":5,"b":0.1}`, `{"a":"<wall clock>","b":0.100000001}`, ""},
		{`[1.0,0.5]`, `[1,0.5]`, ""},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, `at : members ["a" "b"], want ["b" "a"]`},
		{`{"a":[1,3]}`, `{"a":[1,2]}`, "at /a/1: 3, want 2"},
		{`[638000000000000001]`, `[638000000000000000]`, "at /0: 638000000000000001, want 638000000000000000"},
		{`[0.1]`, `[0.10000002]`, "at /0: 0.1, want 0.10000002"},
		{`["\ud83d"]`, `["\ufffd"]`, "at /0:\n got \"\\xed\\xa0\\xbd\"\nwant \"\ufffd\""},
		{`[1]`, `[1,2]`, "at : 1 elements, want 2"},
		{`[null]`, `[""]`, `at /0: null, want ""`},
		{`[true]`, `[false]`, "at /0: true, want false"},
	}
	for _, test := range tests {
		if d := pipelinetest.Difference(value(t, test.got), value(t, test.want)); d != test.place {
			t.Errorf("%s and %s: %q, want %q", test.got, test.want, d, test.place)
		}
	}
}

func value(t *testing.T, src string) canon.Value {
	t.Helper()
	v, err := canon.ParseAs(canon.DBL, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
