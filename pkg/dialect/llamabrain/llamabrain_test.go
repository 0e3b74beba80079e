package llamabrain_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/finding"
)

const (
	vectors  = "../../../../shared/vectors/llamabrain"
	fixtures = "../../../fixtures/audit"
)

func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func zipped(t *testing.T, head string, content []byte) []byte {
	t.Helper()
	b := bytes.NewBufferString(head)
	z := gzip.NewWriter(b)
	_, err := z.Write(content)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// C1: what cannot be read, or is no strict JSON, is a problem with a path, a place and a code.
func wantProblem(t *testing.T, what string, err error, code finding.Code, pointer, detail string) {
	t.Helper()
	var p *dialect.Problem
	if !errors.As(err, &p) {
		t.Errorf("%s: %v is no problem", what, err)
		return
	}
	if p.Code != code || p.Path == "" || p.Pointer != pointer || !strings.Contains(p.Detail, detail) {
		t.Errorf("%s: %+v, want %s at %q: %s", what, p, code, pointer, detail)
	}
}

// The import vectors are the reader's answers: success is a package that is read, and its number of records. dmpl also
// reads plain gzip, which LlamaBrain does not (C1).
func TestImportVectors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(vectors, "import.json"))
	if err != nil {
		t.Logf("NOT RUN: the import vectors are not beside this checkout")
		t.SkipNow()
	}
	var all struct {
		Cases []struct {
			Name  string
			Input struct {
				JSON              *string
				Base64            []byte
				ValidateIntegrity bool
			}
			Expected struct {
				Success, VersionSupported bool
				IntegrityValid            *bool
				RecordCount               *int
				WasCompressed             bool
			}
		}
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all.Cases) == 0 {
		t.Fatalf("%d cases, %v", len(all.Cases), err)
	}
	for _, c := range all.Cases {
		content := c.Input.Base64
		if c.Input.JSON != nil {
			content = []byte(*c.Input.JSON)
		}
		p, err := llamabrain.ReadPackage(file(t, content), dialect.Options{})
		gzipOfAnObject := c.Name == "import_bytes_dev_5"
		if read := c.Expected.RecordCount != nil || gzipOfAnObject; read != (err == nil) {
			t.Errorf("%s: %v, want read %v", c.Name, err, read)
			continue
		}
		if err != nil || gzipOfAnObject {
			continue
		}
		if len(p.Records) != *c.Expected.RecordCount {
			t.Errorf("%s: %d records, want %d", c.Name, len(p.Records), *c.Expected.RecordCount)
		}
		unknown := slices.ContainsFunc(p.Shape, func(f finding.Finding) bool { return f.Code == finding.ShapeVersion })
		if unknown == c.Expected.VersionSupported {
			t.Errorf("%s: unknown version %v", c.Name, unknown)
		}
		if valid := c.Expected.IntegrityValid; valid != nil && *valid {
			t.Errorf("%s: a valid integrity hash is a case that this test does not know", c.Name)
		}
		if strings.HasPrefix(string(content), "LBPK") != c.Expected.WasCompressed {
			t.Errorf("%s: compressed", c.Name)
		}
	}
}

func TestKindIsKnownByTheBeginning(t *testing.T) {
	for _, test := range []struct{ head, want string }{
		{"LBPK\x1f\x8b", llamabrain.KindPackage},
		{` {"Version":1,"PackageId":"x","Recor`, llamabrain.KindPackage},
		{`{"RecordId":"1","NpcId":"x","RawOutput":"cut of`, llamabrain.KindLog},
		{`{"RecordId":"1","NpcId":"x"}`, ""},
		{`{"Version":1,"SavedAtUtcTicks":1`, llamabrain.KindSave},
		{`{"PersonaId":"x","NextSequenceNumber":1,"Beliefs":[]}`, llamabrain.KindPersona},
		{`{"PersonaId":"x","Entries":[]}`, ""},
		{`{}`, ""},
		{`[{"PackageId":"x"}]`, ""},
		{"", ""},
		{"LBP", ""},
		{"\xef\xbb\xbf{\"PackageId\":1}", ""},
	} {
		if got := llamabrain.Kind([]byte(test.head)); got != test.want {
			t.Errorf("%q: %q, want %q", test.head, got, test.want)
		}
	}
}

// V1, C1: what breaks the format has a place, what is tolerated is counted.
func TestPackageShape(t *testing.T) {
	for _, test := range []struct {
		text  string
		codes []finding.Code
		at    string // of the first
		say   string // in the first
	}{
		{`{"Version":1.5}`, []finding.Code{finding.ShapeType, finding.ShapeTolerated}, "/Version", "whole number"},
		{`{"Records":[1]}`, []finding.Code{finding.ShapeType, finding.ShapeTolerated}, "/Records/0", "expected object, found number"},
		{`{"Records":{}}`, []finding.Code{finding.ShapeType, finding.ShapeTolerated}, "/Records", "expected array"},
		{`{"Records":null}`, []finding.Code{finding.ShapeTolerated}, "/Records", "more places"},
		{`{"Version":2}`, []finding.Code{finding.ShapeVersion, finding.ShapeTolerated}, "/Version", "version 2"},
		{`{"Version":0,"X":1}`, []finding.Code{finding.ShapeTolerated, finding.ShapeTolerated, finding.ShapeTolerated}, "/Records", "default"},
		{`{"ModelFingerprint":[]}`, []finding.Code{finding.ShapeType, finding.ShapeTolerated}, "/ModelFingerprint", "expected object"},
		{`{"Records":[{"TriggerReason":-1}]}`, []finding.Code{finding.ShapeValue, finding.ShapeTolerated}, "/Records/0/TriggerReason", "no trigger reason"},
		{`{"Records":[` + strings.Repeat("1,", 1500) + `1]}`, slices.Concat(slices.Repeat([]finding.Code{finding.ShapeType}, 1000), []finding.Code{finding.ShapeMore, finding.ShapeTolerated}), "/Records/0", ""},
	} {
		p, err := llamabrain.ReadPackage(file(t, []byte(test.text)), dialect.Options{})
		if err != nil {
			t.Errorf("%.60s: %v", test.text, err)
			continue
		}
		var codes []finding.Code
		for _, f := range p.Shape {
			codes = append(codes, f.Code)
		}
		if !slices.Equal(codes, test.codes) || p.Shape[0].Pointer != test.at || !strings.Contains(p.Shape[0].Detail, test.say) {
			t.Errorf("%.60s: %v, first %+v", test.text, codes, p.Shape[0])
		}
	}
}

func TestPackageProblems(t *testing.T) {
	bomb := zipped(t, "LBPK", bytes.Repeat([]byte(" "), 1<<20))
	for _, test := range []struct {
		what, content string
		code          finding.Code
		pointer       string
		detail        string
	}{
		{"nothing", "", finding.CanonInvalidJSON, "", "empty"},
		{"white space", " \n", finding.CanonInvalidJSON, "", "empty"},
		{"null", "null", finding.InputUnrecognised, "", "null"},
		{"a list", "[]", finding.InputUnrecognised, "", "array"},
		{"bad JSON", "{bad", finding.CanonInvalidJSON, "", "name"},
		{"trailing text", "{} x", finding.CanonInvalidJSON, "", ""},
		{"byte order mark", "\xef\xbb\xbf{}", finding.CanonInvalidJSON, "", ""},
		{"a name twice", `{"PackageId":"a","PackageId":"b"}`, finding.CanonDuplicateKey, "/PackageId", ""},
		{"a name twice in a record", `{"Records":[{"NpcId":"a","NpcId":"b"}]}`, finding.CanonDuplicateKey, "/Records/0/NpcId", ""},
		{"half a pair", `{"Records":[{"RawOutput":"\ud83d"}]}`, finding.CanonLoneSurrogate, "/Records/0/RawOutput", ""},
		{"the magic alone", "LBPK", finding.CanonInvalidJSON, "", "empty"},
		{"no gzip", "LBPKxx", finding.InputGzip, "", "LBPK"},
		{"cut off", string(bomb[:20]), finding.InputGzip, "", "LBPK"},
		{"a bomb", string(bomb), finding.InputTooLarge, "", "65536"},
		{"depth", `{"Records":[{"X":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}]}`, finding.CanonTooDeep, "", ""},
	} {
		path := file(t, []byte(test.content))
		_, err := llamabrain.ReadPackage(path, dialect.Options{Limit: 1 << 16})
		if test.code == finding.CanonTooDeep { // the pointer is as long as the nesting is deep
			var p *dialect.Problem
			if !errors.As(err, &p) || p.Code != test.code {
				t.Errorf("%s: %v", test.what, err)
			}
			continue
		}
		wantProblem(t, test.what, err, test.code, test.pointer, test.detail)
	}
	_, err := llamabrain.ReadPackage(filepath.Join(t.TempDir(), "absent"), dialect.Options{})
	wantProblem(t, "absent", err, finding.InputUnreadable, "", "")
}

func TestCompressedPackageIsThePlainOne(t *testing.T) {
	plain, err := llamabrain.ReadPackage(filepath.Join(fixtures, "again.json"), dialect.Options{Digests: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{fixture(t, "again.lbpk"), zipped(t, "", fixture(t, "again.json"))} {
		p, err := llamabrain.ReadPackage(file(t, content), dialect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if string(p.IntegrityPreimage()) != string(plain.IntegrityPreimage()) || len(p.Records) != len(plain.Records) || len(p.Shape) != 0 {
			t.Errorf("%d records, %+v", len(p.Records), p.Shape)
		}
	}
	if in := plain.Inputs[0]; in.Kind != llamabrain.KindPackage || in.Bytes != int64(len(fixture(t, "again.json"))) || len(in.SHA256) != 64 {
		t.Errorf("input %+v", in)
	}
}

func readLog(t *testing.T, content string) ([]audit.Record, *llamabrain.Log, error) {
	t.Helper()
	var records []audit.Record
	log, err := llamabrain.ReadLog(file(t, []byte(content)), dialect.Options{Digests: true}, func(r *audit.Record) error {
		records = append(records, *r)
		return nil
	})
	return records, log, err
}

func TestLogIsReadLineByLine(t *testing.T) {
	content := fixture(t, "log.jsonl")
	records, log, err := readLog(t, string(content))
	if err != nil || len(records) != 4 || len(log.Shape) != 0 {
		t.Fatalf("%d records, %+v, %v", len(records), log, err)
	}
	if r := records[3]; r.Pointer != "/3" || r.Position != 3 || r.RawOutput != "Farewell, and\nfair wind." || !r.Constraints.Whole {
		t.Errorf("%+v", r)
	}
	if in := log.Inputs[0]; in.Bytes != int64(len(content)) || len(in.SHA256) != 64 || in.Kind != llamabrain.KindLog {
		t.Errorf("input %+v", in)
	}
	compressed := file(t, zipped(t, "", content))
	n := 0
	log, err = llamabrain.ReadLog(compressed, dialect.Options{}, func(*audit.Record) error { n++; return nil })
	if err != nil || n != 4 || log.Inputs[0].SHA256 != "" || log.Inputs[0].Bytes == int64(len(content)) {
		t.Errorf("compressed: %d records, %+v, %v", n, log, err)
	}
}

func TestLogProblems(t *testing.T) {
	good := strings.SplitAfter(string(fixture(t, "log.jsonl")), "\n")[0]
	_, _, err := readLog(t, good+"\n"+good)
	wantProblem(t, "an empty line", err, finding.CanonInvalidJSON, "/1", "line 2: the line is empty")
	_, _, err = readLog(t, good+good[:40])
	wantProblem(t, "a line that is cut off", err, finding.CanonInvalidJSON, "/1/NpcId", "line 2")
	var p *dialect.Problem
	if errors.As(err, &p); p == nil || p.Offset < len(good) || p.Offset > len(good)+40 {
		t.Errorf("offset %+v", p)
	}
	_, _, err = readLog(t, good+`{"RawOutput":"\udc00"}`)
	wantProblem(t, "half a pair", err, finding.CanonLoneSurrogate, "/1/RawOutput", "line 2")
	_, err = llamabrain.ReadLog(filepath.Join(t.TempDir(), "absent"), dialect.Options{}, nil)
	wantProblem(t, "absent", err, finding.InputUnreadable, "", "")
	stop := errors.New("enough")
	_, err = llamabrain.ReadLog(file(t, []byte(good)), dialect.Options{}, func(*audit.Record) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("the caller's error became %v", err)
	}
}

// C1: a log has no limit, and a line has one.
func TestLongLineIsRefused(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		fmt.Fprint(w, `{"RawOutput":"`)
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 65 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
		fmt.Fprint(w, `"}`)
		w.Close()
	}()
	_, err := llamabrain.ReadLog("-", dialect.Options{Stdin: r}, func(*audit.Record) error { return nil })
	wantProblem(t, "a long line", err, finding.InputTooLarge, "", "line 1")
}

// A hundred thousand records are read in one pass.
func TestManyRecords(t *testing.T) {
	const many = 100_000
	line := []byte(`{"RecordId":"x","NpcId":"n","RawOutput":"y","ConstraintsSerialized":"{}"}`)
	log := bytes.Repeat(append(bytes.Clone(line), '\n'), many)
	n := 0
	if _, err := llamabrain.ReadLog(file(t, log), dialect.Options{}, func(*audit.Record) error { n++; return nil }); err != nil || n != many {
		t.Errorf("%d lines, %v", n, err)
	}
	text := slices.Concat([]byte(`{"Records":[`), bytes.TrimSuffix(bytes.Repeat(append(bytes.Clone(line), ','), many), []byte(",")), []byte(`]}`))
	p, err := llamabrain.ReadPackage(file(t, text), dialect.Options{})
	if err != nil || len(p.Records) != many {
		t.Errorf("%v", err)
	}
}

func TestSaves(t *testing.T) {
	s, err := llamabrain.ReadSave(filepath.Join(fixtures, "save.llamasave"), llamabrain.KindSave, dialect.Options{})
	if err != nil || len(s.Shape) != 0 || s.Malformed || len(s.Personas) != 2 || len(s.Histories) != 1 || len(s.Metadata) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	alone, err := llamabrain.ReadSave(filepath.Join(fixtures, "persona.json"), llamabrain.KindPersona, dialect.Options{})
	if err != nil || len(alone.Shape) != 0 || alone.Personas[0].State.Hash() != s.Personas[0].State.Hash() || alone.Personas[0].Key != "npc_mira" {
		t.Errorf("%+v, %v", alone, err)
	}
	for _, test := range []struct {
		text      string
		code      finding.Code
		at        string
		malformed bool
	}{
		{`{"Version":2,"PersonaMemories":{}}`, finding.ShapeVersion, "/Version", false},
		{`{"PersonaMemories":{"a/b":{"Beliefs":[{"Confidence":"x"}]}}}`, finding.ShapeType, "/PersonaMemories/a~1b/Beliefs/0/Confidence", true},
		{`{"PersonaMemories":{"a":[]}}`, finding.ShapeType, "/PersonaMemories/a", true},
		{`{"Metadata":{"a":1}}`, finding.ShapeType, "/Metadata/a", true},
		{`{"PersonaMemories":{"a":{"CanonicalFacts":[{"Colour":1}]}}}`, finding.ShapeTolerated, "/PersonaMemories/a/CanonicalFacts/0/Colour", false},
		{`{"ConversationHistories":{"a":{"Entries":[{"Mood":1}]}}}`, finding.ShapeTolerated, "/ConversationHistories/a/Entries/0/Mood", false},
	} {
		s, err := llamabrain.ReadSave(file(t, []byte(test.text)), llamabrain.KindSave, dialect.Options{})
		if err != nil || s.Malformed != test.malformed || len(s.Shape) != 1 || s.Shape[0].Code != test.code || s.Shape[0].Pointer != test.at {
			t.Errorf("%s: %+v, %v", test.text, s, err)
		}
	}
	_, err = llamabrain.ReadSave(file(t, []byte(`{"Version":`)), llamabrain.KindSave, dialect.Options{})
	wantProblem(t, "cut off", err, finding.CanonInvalidJSON, "/Version", "")
	_, err = llamabrain.ReadSave(filepath.Join(t.TempDir(), "absent"), llamabrain.KindSave, dialect.Options{})
	wantProblem(t, "absent", err, finding.InputUnreadable, "", "")
}

// FuzzRead: no content makes a reader do anything but read or explain.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{"Version":1,"PackageId":"x","ModelFingerprint":{"GpuLayers":1},"NpcIds":["a"],"Records":[{"RecordId":"1","ConstraintsSerialized":"{\"All\":[]}"}]}`,
		`{"RecordId":"1","NpcId":"a","RawOutput":"x"}` + "\n" + `{"Seed":1}`,
		`{"Version":1,"PersonaMemories":{"a":{"Beliefs":[{"Confidence":0.5}]}},"ConversationHistories":{"a":{"Entries":[]}},"Metadata":{"k":"v"}}`,
		"LBPK\x1f\x8b\x08\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		// From memory: files would drown what the mutation does.
		o := func() dialect.Options { return dialect.Options{Limit: 1 << 20, Stdin: bytes.NewReader(content)} }
		_, errPackage := llamabrain.ReadPackage("-", o())
		_, errLog := llamabrain.ReadLog("-", o(), func(*audit.Record) error { return nil })
		_, errSave := llamabrain.ReadSave("-", llamabrain.KindSave, o())
		llamabrain.Kind(content)
		for _, err := range []error{errPackage, errLog, errSave} {
			var p *dialect.Problem
			if err != nil && !errors.As(err, &p) {
				t.Errorf("%v is no problem", err)
			}
		}
	})
}
