package audit_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
)

const (
	vectors  = "../../../shared/vectors/llamabrain"
	fixtures = "../../fixtures/audit"
)

// vectorCase is one case of a vector file.
type vectorCase struct {
	Name            string
	Input, Expected json.RawMessage
}

// cases reads a vector file; it skips the test, loudly, where the vectors are not there.
func cases(t *testing.T, name string) []vectorCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, name+".json"))
	if err != nil {
		t.Logf("NOT RUN: the vectors %s are not beside this checkout", name)
		t.SkipNow()
	}
	var all struct{ Cases []vectorCase }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) == 0 {
		t.Fatalf("%s has no cases", name)
	}
	return all.Cases
}

func into(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, text []byte) *document.Object {
	t.Helper()
	v, err := canon.Parse(text)
	if err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return document.Open(v)
}

// readPackage reads a package whole.
func readPackage(t *testing.T, text []byte) audit.Package {
	t.Helper()
	o := open(t, text)
	p := audit.ReadHead(o)
	o.Each("Records", func(r *document.Object) { p.Records = append(p.Records, audit.ReadRecord(r)) })
	if err := o.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func base64(preimage []byte) string {
	sum, err := canon.Digest(canon.Raw, preimage)
	if err != nil {
		panic(err)
	}
	return canon.Base64.Spell(sum)
}

func fingerprint(f audit.Fingerprint) string {
	sum, err := canon.Digest(canon.Raw, f.Preimage())
	if err != nil {
		panic(err)
	}
	return canon.HexPrefix(audit.FingerprintDigits).Spell(sum)
}

func written(p *audit.Package, indent bool) string {
	w := document.NewWriter(document.Style{LlamaBrain: true, Indent: indent})
	p.Write(w)
	return string(w.Bytes())
}

// llamabrain.md §9: packages are read, hashed and written as LlamaBrain does.
func TestDebugPackageVectors(t *testing.T) {
	for _, c := range cases(t, "debug_package") {
		var in struct{ ComputeFingerprint bool }
		var want struct{ IntegrityHash, FingerprintHash, JSON, JSONIndented string }
		into(t, c.Input, &in)
		into(t, c.Expected, &want)
		p := readPackage(t, []byte(want.JSON))
		if got := base64(p.IntegrityPreimage()); got != want.IntegrityHash || p.IntegrityHash != got {
			t.Errorf("%s: integrity hash %s, stated %s, want %s", c.Name, got, p.IntegrityHash, want.IntegrityHash)
		}
		if got := fingerprint(p.Model); in.ComputeFingerprint && got != want.FingerprintHash {
			t.Errorf("%s: fingerprint %s, want %s", c.Name, got, want.FingerprintHash)
		}
		for i := range p.Records {
			if r := &p.Records[i]; base64([]byte(r.RawOutput)) != r.OutputHash {
				t.Errorf("%s: output hash of record %d", c.Name, i)
			}
		}
		for _, n := range p.Counts() {
			if n.Stated != n.Actual {
				t.Errorf("%s: %+v", c.Name, n)
			}
		}
		if got := written(&p, false); got != want.JSON {
			t.Errorf("%s: written as\n%s\nwant\n%s", c.Name, got, want.JSON)
		}
		if got := written(&p, true); got != want.JSONIndented {
			t.Errorf("%s: written as\n%s\nwant\n%s", c.Name, got, want.JSONIndented)
		}
	}
}

func TestFingerprintVectors(t *testing.T) {
	for _, c := range cases(t, "fingerprint") {
		var in struct{ Fingerprint json.RawMessage }
		var want struct{ FingerprintHash string }
		into(t, c.Input, &in)
		into(t, c.Expected, &want)
		text := []byte(`{"ModelFingerprint":` + string(in.Fingerprint) + `}`)
		if got := fingerprint(audit.ReadHead(open(t, text)).Model); got != want.FingerprintHash {
			t.Errorf("%s: %s, want %s", c.Name, got, want.FingerprintHash)
		}
	}
}

// drifted is a record's drift as the vectors have it.
type drifted struct {
	DriftType                                                      audit.DriftType
	Description                                                    *string
	MemoryMatches, PromptMatches, OutputMatches, ValidationMatches bool
	Success                                                        bool
}

// llamabrain.md §9: the drift of a replayed record.
func TestDriftVectors(t *testing.T) {
	for _, c := range cases(t, "drift") {
		var in struct{ Original, Replayed json.RawMessage }
		var want drifted
		into(t, c.Input, &in)
		into(t, c.Expected, &want)
		left, right := audit.ReadRecord(open(t, in.Original)), audit.ReadRecord(open(t, in.Replayed))
		got := audit.DriftOf(&left, &right)
		description := ""
		if want.Description != nil {
			description = *want.Description
		}
		expected := audit.Drift{
			Type: want.DriftType, Description: description, MemoryMatches: want.MemoryMatches, PromptMatches: want.PromptMatches,
			OutputMatches: want.OutputMatches, ValidationMatches: want.ValidationMatches,
		}
		if got != expected {
			t.Errorf("%s: %+v, want %+v", c.Name, got, expected)
		}
	}
}

// The replay vectors are input shapes: every record that was replayed drifts as its description says.
func TestReplayVectorsDriftAsDescribed(t *testing.T) {
	compared := 0
	for _, c := range cases(t, "replay") {
		var in struct {
			Package  json.RawMessage
			Replayed []json.RawMessage
		}
		var want struct{ Records []drifted }
		into(t, c.Input, &in)
		into(t, c.Expected, &want)
		p := readPackage(t, in.Package)
		for i, record := range want.Records {
			if !record.Success {
				continue
			}
			replayed := audit.ReadRecord(open(t, in.Replayed[i]))
			got := audit.DriftOf(&p.Records[i], &replayed)
			if got.Type != record.DriftType || record.Description != nil && got.Description != *record.Description {
				t.Errorf("%s, record %d: %+v, want %+v", c.Name, i, got, record)
			}
			compared++
		}
	}
	if compared == 0 {
		t.Error("no record was compared")
	}
}

// llamabrain.md §9: a line of a rolling log is a record as it is written.
func TestRollingFileVectors(t *testing.T) {
	for _, c := range cases(t, "rolling_file") {
		var want struct{ Files []struct{ Content string } }
		into(t, c.Expected, &want)
		for _, f := range want.Files {
			for _, line := range bytes.Split(bytes.TrimSuffix([]byte(f.Content), []byte("\n")), []byte("\n")) {
				r := audit.ReadRecord(open(t, line))
				w := document.NewWriter(document.Style{LlamaBrain: true})
				r.Write(w, "")
				if !bytes.Equal(w.Bytes(), line) {
					t.Errorf("%s: written as\n%s\nwant\n%s", c.Name, w.Bytes(), line)
				}
			}
		}
	}
}

// llamabrain.md §10: a save file is read and written as it stands.
func TestSaveFileVectors(t *testing.T) {
	files := 0
	for _, c := range cases(t, "save_file") {
		var want struct{ Files map[string]string }
		into(t, c.Expected, &want)
		for name, content := range want.Files {
			files++
			if got := rewritten(t, []byte(content)); got != content {
				t.Errorf("%s, %s: written as\n%s\nwant\n%s", c.Name, name, got, content)
			}
		}
	}
	if files == 0 {
		t.Error("no file was read")
	}
}

func rewritten(t *testing.T, content []byte) string {
	t.Helper()
	o := open(t, content)
	s := audit.ReadSave(o)
	if err := o.Err(); err != nil {
		t.Fatal(err)
	}
	w := document.NewWriter(document.Style{LlamaBrain: true, Indent: true, OmitNull: true})
	s.Write(w)
	return string(w.Bytes())
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestFilesAreWrittenAsTheyWereRead(t *testing.T) {
	p := readPackage(t, fixture(t, "again.json"))
	if got := written(&p, false); got != string(fixture(t, "again.json")) {
		t.Errorf("the package was written as\n%s", got)
	}
	if base64(p.IntegrityPreimage()) != p.IntegrityHash || fingerprint(p.Model) != p.Model.Hash {
		t.Error("a hash of the package differs")
	}
	if got := rewritten(t, fixture(t, "save.llamasave")); got != string(fixture(t, "save.llamasave")) {
		t.Errorf("the save was written as\n%s", got)
	}
}

// E12: what is compared and what is not.
func TestFieldsSayWhatIsCompared(t *testing.T) {
	var a, b audit.Record
	into(t, []byte(`{"RecordID":"a","ValidationPassed":true,"Seed":1,"RawOutput":"é"}`), &a)
	ignored := []string{}
	for _, f := range audit.Fields() {
		if f.Ignored {
			ignored = append(ignored, f.Name)
		}
		differs := map[string]string{"RecordId": `"a"`, "ValidationPassed": "true", "Seed": "1", "RawOutput": `"\u00e9"`}[f.Name]
		if f.Same(&a, &b) == (differs != "") || differs != "" && string(f.Value(&a)) != differs {
			t.Errorf("%s: same %v, value %s", f.Name, f.Same(&a, &b), f.Value(&a))
		}
	}
	want := []string{"RecordId", "BufferIndex", "CapturedAtUtcTicks", "TtftMs", "TotalTimeMs", "PromptTokenCount", "GeneratedTokenCount"}
	if len(ignored) != len(want) {
		t.Fatalf("ignored %q, want %q", ignored, want)
	}
	for i := range want {
		if ignored[i] != want[i] {
			t.Errorf("ignored %q, want %q", ignored, want)
		}
	}
}

// llamabrain.md §9: the order of an export, and of the ids in the integrity hash.
func TestOrders(t *testing.T) {
	records := []audit.Record{{CapturedAt: 2}, {CapturedAt: 1, NpcID: "b", BufferIndex: 1}, {CapturedAt: 1, NpcID: "b"}, {CapturedAt: 1, NpcID: "a"}}
	for i := range records {
		for j := range records {
			if got := audit.CompareCapture(&records[i], &records[j]); (got < 0) != (i > j) || (got == 0) != (i == j) {
				t.Errorf("records %d and %d: %d", i, j, got)
			}
		}
	}
	a := audit.Package{NpcIDs: []string{"\U0001F600", "\uE000"}, Records: []audit.Record{{RecordID: "2", NpcID: "y"}, {RecordID: "1", NpcID: "x"}, {NpcID: "y"}}}
	b := audit.Package{NpcIDs: []string{"\uE000", "\U0001F600"}, Records: []audit.Record{{RecordID: "1"}, {}, {RecordID: "2"}}}
	const want = "Version:0\nPackageId:\nCreatedAtUtcTicks:0\nGameVersion:\nModelFingerprint:\nNpcId:\U0001F600\nNpcId:\uE000\nRecord:|\nRecord:1|\nRecord:2|\n"
	if string(a.IntegrityPreimage()) != want || string(b.IntegrityPreimage()) != want {
		t.Errorf("preimages\n%q\n%q\nwant\n%q", a.IntegrityPreimage(), b.IntegrityPreimage(), want)
	}
	if got := a.DistinctNPCs(); len(got) != 2 || got[0] != "x" || got[1] != "y" {
		t.Errorf("NPCs %q", got)
	}
}
