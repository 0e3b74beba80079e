package document_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

func open(t *testing.T, src string) *document.Object {
	t.Helper()
	v, err := canon.ParseAs(canon.DBL, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return document.Open(v)
}

func TestMissingAndNullGiveTheDefault(t *testing.T) {
	o := open(t, `{"a":null}`)
	o.Object("o").Each("none", func(*document.Object) { t.Error("a missing list has an element") })
	if o.Text("a", "x") != "x" || o.Int("b", 7) != 7 || !o.Bool("c", true) || o.Real("d", 0.5) != 0.5 || o.Texts("e") != nil ||
		o.OptionalText("a") != nil || o.OptionalInteger("a") != nil || o.Object("o").Text("p", "y") != "y" || o.Has("a") {
		t.Error("a missing member did not give its default")
	}
	if err := o.Err(); err != nil {
		t.Error(err)
	}
}

func TestTheFirstComplaintIsKeptWithItsPointer(t *testing.T) {
	tests := []struct{ src, want string }{
		{`[]`, "expected object, found array"},
		{`{"t":1}`, "at /t: expected string, found number"},
		{`{"i":1.5}`, "at /i: expected a whole number of 64 bits"},
		{`{"n":2147483648}`, "at /n: expected a whole number of 32 bits"},
		{`{"b":"true"}`, "at /b: expected boolean, found string"},
		{`{"r":1e999}`, "at /r: expected a finite number"},
		{`{"l":["a",1]}`, "at /l/1: expected string, found number"},
		{`{"o":3}`, "at /o: expected object, found number"},
		{`{"e":[{"t":"x"},{"t":true}]}`, "at /e/1/t: expected string, found boolean"},
		{`{"e":[1]}`, "at /e/0: expected object, found number"},
		{`{"w":"up"}`, `at /w: "up" is none of left, right`},
		{`{"e":{},"t":1}`, "at /t: expected string, found number"},
	}
	for _, test := range tests {
		o := open(t, test.src)
		o.Text("t", "")
		o.Integer("i", 0)
		o.Int("n", 0)
		o.Bool("b", false)
		o.Real("r", 0)
		o.Texts("l")
		o.Object("o")
		o.Each("e", func(e *document.Object) { e.Text("t", "") })
		o.Word("w", "left", "left", "right")
		if err := o.Err(); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.src, err, test.want)
		}
	}
}

func TestUnknownMembersAreThoseThatNobodyAskedFor(t *testing.T) {
	o := open(t, `{"b":1,"a":null,"c":2}`)
	o.Text("a", "")
	o.Int("c", 0)
	if got := o.Unknown(); len(got) != 1 || got[0] != "b" {
		t.Errorf("unknown: %q", got)
	}
}

func write(w *document.Writer) string {
	w.Object("", func() {
		w.Text("t", "é\xed\xa0\xbd\"\u2028")
		w.OptionalText("n", nil)
		w.Real("r", 1)
		w.Real("s", 0.00001)
		w.Real("f", float64(float32(0.1)))
		w.List("l", func() {
			w.Integer("", 1)
			w.Bool("", false)
			w.Object("", func() {})
		})
		w.Texts("x", nil)
		w.Texts("y", []string{"a"})
		w.Raw("z", []byte("[]"))
		w.OptionalInteger("i", nil)
	})
	return string(w.Bytes())
}

func TestStylesSpellTheSameDocument(t *testing.T) {
	tests := []struct {
		style document.Style
		want  string
	}{
		{document.Style{}, `{"t":"\u00e9\ud83d\"\u2028","n":null,"r":1,"s":0.00001,"f":0.10000000149011612,"l":[1,false,{}],"x":null,"y":["a"],"z":[],"i":null}`},
		{document.Style{Binary32: true, OmitNull: true}, `{"t":"\u00e9\ud83d\"\u2028","r":1,"s":0.00001,"f":0.1,"l":[1,false,{}],"y":["a"],"z":[]}`},
		{document.Style{LlamaBrain: true, OmitNull: true}, `{"t":"é�\"\u2028","r":1.0,"s":1E-05,"f":0.1,"l":[1,false,{}],"y":["a"],"z":[]}`},
		{document.Style{LlamaBrain: true, Indent: true, OmitNull: true}, "{\n  \"t\": \"é�\\\"\\u2028\",\n  \"r\": 1.0,\n  \"s\": 1E-05,\n  \"f\": 0.1,\n  \"l\": [\n    1,\n    false,\n    {}\n  ],\n  \"y\": [\n    \"a\"\n  ],\n  \"z\": []\n}"},
	}
	for _, test := range tests {
		if got := write(document.NewWriter(test.style)); got != test.want {
			t.Errorf("%+v:\n%s\nwant\n%s", test.style, got, test.want)
		}
	}
}

// UTF8 changes the spelling of a text and not the text; half of a pair has no other than the escape.
func TestTextsAreRawWhereTheyAreUTF8(t *testing.T) {
	for text, want := range map[string]string{
		"é\U0001F600\u2028\x7f\x00\"\\": "\"é\U0001F600\u2028\x7f\\u0000\\\"\\\\\"", "é\xed\xa0\xbd": `"\u00e9\ud83d"`, "\xff": `"\ufffd"`,
	} {
		w := document.NewWriter(document.Style{UTF8: true})
		w.Text("", text)
		if got := string(w.Bytes()); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestRealsAreWrittenAsTheShortestFloats(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	values := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.1, 0.1 + 0.2, 1e-6, -1e-6, 1.5e-6, 1e-7, 5e-324, 0.315336, 638399352000000000, 1e15, 1e15 - 1, 999999999.999999,
		999999999.9999999, 1e9, -1e9, 123456789.000001, math.MaxFloat64, 1 / 3.0, 1e300 / 3,
	}
	for range 50_000 {
		micros := float64(random.Int63n(4e15)-2e15) / 1e6
		values = append(values, micros, math.Nextafter(micros, 0), math.Float64frombits(random.Uint64()), random.Float64(), float64(random.Intn(1e6))/1e6)
	}
	for _, value := range values {
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		if got, want := string(document.AppendReal(nil, value)), strconv.FormatFloat(value, 'f', -1, 64); got != want {
			t.Fatalf("%b is written as %s, want %s", value, got, want)
		}
	}
}

func TestASumIsItsHexAndANumberStandsBehindItsLetters(t *testing.T) {
	sum := canon.Sum{0, 1, 0xab, 31: 0xff}
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		w.Sum("d", sum)
		w.Numbered("n", "e", 1200)
	})
	if got, want := string(w.Bytes()), `{"d":"`+sum.Hex()+`","n":"e1200"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Short texts have a way of their own. What stands in one is spelt as in a long one, which goes the way of its style.
func TestShortTextsAreSpeltAsLongOnes(t *testing.T) {
	long := strings.Repeat("a", 40)
	for _, style := range []document.Style{{}, {UTF8: true}, {LlamaBrain: true}} {
		spell := func(text string) string {
			w := document.NewWriter(style)
			w.Object("", func() { w.Text("t", text) })
			return string(w.Bytes())
		}
		for c := range rune(0x180) {
			if got, want := spell("b"+string(c)), strings.Replace(spell("b"+string(c)+long), long, "", 1); got != want {
				t.Errorf("%+v: %s, want %s", style, got, want)
			}
		}
	}
}

func TestMembersWhoseNamesAreData(t *testing.T) {
	o := open(t, `{"o":{"a/b":{"t":"x"},"c":{}},"t":{"b":"1","a":"2"},"bad":{"x":{},"y":1},"worse":{"x":true}}`)
	var got []string
	o.Object("o").EachMember(func(name string, m *document.Object) { got = append(got, name, m.Pointer(), m.Text("t", "-")) })
	o.Object("t").EachText(func(name, value string) { got = append(got, name, value) })
	if want := []string{"a/b", "/o/a~1b", "x", "c", "/o/c", "-", "b", "1", "a", "2"}; !slices.Equal(got, want) || o.Err() != nil {
		t.Errorf("%q, want %q; %v", got, want, o.Err())
	}
	o.Object("bad").EachMember(func(string, *document.Object) {})
	if err := o.Err(); err == nil || err.Error() != "at /bad/y: expected object, found number" {
		t.Error(err)
	}
	for name, at := range map[string]string{"x": "/x", "": "/", "a/b": "/a~1b"} {
		o = open(t, `{"`+name+`":true}`)
		o.EachText(func(string, string) { t.Error("a boolean is no text") })
		if err := o.Err(); err == nil || err.Error() != "at "+at+": expected string, found boolean" {
			t.Error(err)
		}
		o = open(t, `{"list":[{},{"`+name+`":true}]}`)
		o.Each("list", func(e *document.Object) {
			e.EachMember(func(string, *document.Object) { t.Error("a boolean is no object") })
		})
		if err := o.Err(); err == nil || err.Error() != "at /list/1"+at+": expected object, found boolean" {
			t.Error(err)
		}
	}
}

func TestUnknownMembersAreThoseThatNothingAskedFor(t *testing.T) {
	for _, n := range []int{1, 63, 64, 65, 200} {
		var src strings.Builder
		for i := range n {
			fmt.Fprintf(&src, `,"m%03d":null`, i)
		}
		o := open(t, "{"+src.String()[1:]+"}")
		var want []string
		for i := range n {
			if name := fmt.Sprintf("m%03d", i); i%3 == 1 {
				o.Text(name, "")
			} else {
				want = append(want, name)
			}
		}
		o.Text("not there", "")
		if got := o.Unknown(); !slices.Equal(got, want) || o.Empty() {
			t.Errorf("%d members: %q, want %q", n, got, want)
		}
	}
}
