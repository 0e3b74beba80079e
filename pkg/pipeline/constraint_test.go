package pipeline_test

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/pipeline/pipelinetest"
)

func open(t testing.TB, src string) *document.Object {
	t.Helper()
	v, err := canon.ParseAs(canon.DBL, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return document.Open(v)
}

// base64SHA256 hashes a text as LlamaBrain does (llamabrain.md §9).
func base64SHA256(text string) string {
	sum := sha256.Sum256([]byte(dotnet.UTF8(text)))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// llamabrain.md §3: the block, its hash, and the serialised set are those of the vectors.
func TestConstraintVectors(t *testing.T) {
	pipelinetest.Each(t, "constraints", 4, func(t *testing.T, c pipelinetest.Case) {
		in := document.Open(c.Input)
		set := pipeline.ReadConstraints(in, "constraints")
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
		w := document.NewWriter(document.Style{})
		w.Object("", func() {
			block := pipeline.ConstraintBlock(set)
			w.Integer("count", int64(len(set)))
			w.Text("promptInjection", block)
			w.Text("promptInjectionSha256Base64", base64SHA256(block))
			w.Text("serialized", string(pipeline.SerializeConstraints(set)))
		})
		pipelinetest.Compare(t, w.Bytes(), c.Expected)
	})
}

func TestConstraintEnumsAreNamesOrNumbers(t *testing.T) {
	in := open(t, `{"list":[{"Id":"a","Type":"Permission","Severity":"Critical"},{"Id":"b","Type":1,"Severity":0},{"Id":"c"}]}`)
	var got []int
	for _, c := range pipeline.ReadConstraints(in, "list") {
		got = append(got, int(c.Type), int(c.Severity))
	}
	want := []int{
		int(pipeline.Permission), int(pipeline.Critical), int(pipeline.Requirement), int(pipeline.Soft),
		int(pipeline.Prohibition), int(pipeline.Hard),
	}
	if !slices.Equal(got, want) || in.Err() != nil {
		t.Errorf("%v (%v), want %v", got, in.Err(), want)
	}
}

func TestBadConstraintIsNamedWithItsPointer(t *testing.T) {
	for src, want := range map[string]string{
		`{"list":[{"Type":"prohibition"}]}`:         `at /list/0/Type: "prohibition" is none of Prohibition, Requirement, Permission`,
		`{"list":[{},{"Id":"b","Type":3}]}`:         "at /list/1/Type: 3 is none of Prohibition, Requirement, Permission",
		`{"list":[{"Severity":-1}]}`:                "at /list/0/Severity: -1 is none of Soft, Hard, Critical",
		`{"list":[{"Type":true}]}`:                  "at /list/0/Type: expected number, found boolean",
		`{"list":[{"ValidationPattern":["x"]}]}`:    "at /list/0/ValidationPattern: unknown member",
		`{"list":[{"ValidationPatterns":["x",1]}]}`: "at /list/0/ValidationPatterns/1: expected string, found number",
		`{"list":{}}`: "at /list: expected array, found object",
	} {
		in := open(t, src)
		pipeline.ReadConstraints(in, "list")
		if err := in.Err(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}

// llamabrain.md §3: of two constraints without an id, and of two with the empty one, the first counts; none is not empty.
func TestSetKeepsTheFirstOfAnID(t *testing.T) {
	in := open(t, `{"a":[{"Description":"1"},{"Id":"","Description":"2"}],"b":[{"Description":"3"},{"Id":"","Description":"4"},{"Id":"x","Description":"5"}]}`)
	var got []string
	for _, c := range pipeline.ConstraintSet(pipeline.ReadConstraints(in, "a"), pipeline.ReadConstraints(in, "b")) {
		got = append(got, *c.Description)
	}
	if want := []string{"1", "2", "5"}; !slices.Equal(got, want) || in.Err() != nil {
		t.Errorf("%q (%v), want %q", got, in.Err(), want)
	}
}
