package cmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// llamaCase is one case of a vector file of LlamaBrain.
type llamaCase struct {
	Name            string
	Input, Expected json.RawMessage
}

func llamaCases(t *testing.T, file string) []llamaCase {
	t.Helper()
	var all struct{ Cases []llamaCase }
	readExpected(t, needVectors(t, "llamabrain", file), &all)
	if len(all.Cases) == 0 {
		t.Fatalf("%s has no cases", file)
	}
	return all.Cases
}

func unmarshal(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func inFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// V5: dmpl verify says of real packages what LlamaBrain says: they validate, plain and compressed.
func TestLlamaBrainPackages(t *testing.T) {
	for _, c := range llamaCases(t, "debug_package.json") {
		var want struct {
			Validates          bool
			JSON, JSONIndented string
			CompressedBase64   []byte
		}
		unmarshal(t, c.Expected, &want)
		for _, content := range [][]byte{[]byte(want.JSON), []byte(want.JSONIndented), want.CompressedBase64} {
			if r, code := runJSON(t, "verify", inFile(t, "package", content)); (code == 0) != want.Validates {
				t.Errorf("%s: exit %d:%s", c.Name, code, describe(r.errors()))
			}
		}
	}
}

// C1, V5: what LlamaBrain cannot import is exit code 2; what it imports is verified, and fails without a valid integrity
// hash, as it does there when that is asked for.
func TestLlamaBrainImports(t *testing.T) {
	for _, c := range llamaCases(t, "import.json") {
		var in struct {
			JSON   *string
			Base64 []byte
		}
		var want struct {
			RecordCount      *int
			VersionSupported bool
		}
		unmarshal(t, c.Input, &in)
		unmarshal(t, c.Expected, &want)
		content := in.Base64
		if in.JSON != nil {
			content = []byte(*in.JSON)
		}
		r, code := runJSON(t, "verify", inFile(t, "package", content), "--dialect", "llamabrain")
		read := want.RecordCount != nil || c.Name == "import_bytes_dev_5" // gzip around an object, which dmpl reads
		if wantCode := map[bool]int{true: 1, false: 2}[read]; code != wantCode {
			t.Errorf("%s: exit %d, want %d:%s", c.Name, code, wantCode, describe(r.errors()))
			continue
		}
		has := func(code string) bool {
			return slices.ContainsFunc(r.errors(), func(f reportedEntry) bool { return f.Code == code })
		}
		if read && !has("audit.integrity_missing") && !has("audit.integrity_hash") || has("shape.version") == want.VersionSupported {
			t.Errorf("%s:%s", c.Name, describe(r.errors()))
		}
	}
}

// E12: a turn that drifts is a difference, and its finding names the drift.
func TestLlamaBrainDrift(t *testing.T) {
	for _, c := range llamaCases(t, "drift.json") {
		var in struct{ Original, Replayed json.RawMessage }
		var want struct{ DriftType string }
		unmarshal(t, c.Input, &in)
		unmarshal(t, c.Expected, &want)
		r, code := runJSON(t, "diff", logOf(t, in.Original), logOf(t, in.Replayed))
		named := slices.ContainsFunc(r.errors(), func(f reportedEntry) bool { return strings.HasSuffix(f.Detail, "(drift: "+want.DriftType+")") })
		if drifts := want.DriftType != "None"; drifts && (code != 1 || !named) || !drifts && code == 1 && !named {
			t.Errorf("%s: exit %d:%s", c.Name, code, describe(r.errors()))
		}
	}
}

// logOf writes records as a log, one a line.
func logOf(t *testing.T, records ...json.RawMessage) string {
	t.Helper()
	var log bytes.Buffer
	for _, r := range records {
		if err := json.Compact(&log, r); err != nil {
			t.Fatal(err)
		}
		log.WriteByte('\n')
	}
	return inFile(t, "log.jsonl", log.Bytes())
}

// E12: a package and its replayed records are equivalent where LlamaBrain saw no drift in any of them.
func TestLlamaBrainReplays(t *testing.T) {
	compared := 0
	for _, c := range llamaCases(t, "replay.json") {
		var in struct {
			Package  map[string]json.RawMessage
			Replayed []json.RawMessage
		}
		var want struct{ Records []struct{ DriftType string } }
		unmarshal(t, c.Input, &in)
		unmarshal(t, c.Expected, &want)
		if slices.ContainsFunc(in.Replayed, func(r json.RawMessage) bool { return string(r) == "null" }) || len(want.Records) != len(in.Replayed) {
			continue // the replay stopped, and compared a part only
		}
		compared++
		left, err := json.Marshal(in.Package)
		if err != nil {
			t.Fatal(err)
		}
		if in.Package["Records"], err = json.Marshal(in.Replayed); err != nil {
			t.Fatal(err)
		}
		right, err := json.Marshal(in.Package)
		if err != nil {
			t.Fatal(err)
		}
		r, code := runJSON(t, "diff", inFile(t, "left.json", left), inFile(t, "right.json", right))
		drifts := slices.ContainsFunc(want.Records, func(r struct{ DriftType string }) bool { return r.DriftType != "None" })
		if wantCode := map[bool]int{true: 1, false: 0}[drifts]; code != wantCode {
			t.Errorf("%s: exit %d, want %d:%s", c.Name, code, wantCode, describe(r.errors()))
		}
	}
	if compared == 0 {
		t.Error("no replay was compared")
	}
}

// V1: rolling logs and save files of LlamaBrain have the shape that is read. The records of these logs have an output and no
// hash of it, which proves nothing.
func TestLlamaBrainLogsAndSaves(t *testing.T) {
	for _, c := range llamaCases(t, "rolling_file.json") {
		var want struct{ Files []struct{ Content string } }
		unmarshal(t, c.Expected, &want)
		for _, f := range want.Files {
			r, code := runJSON(t, "verify", inFile(t, "log.jsonl", []byte(f.Content)))
			other := slices.ContainsFunc(r.errors(), func(f reportedEntry) bool { return f.Code != "audit.output_hash_missing" })
			if code != 3 || other {
				t.Errorf("%s: exit %d:%s", c.Name, code, describe(r.errors()))
			}
		}
	}
	for _, c := range llamaCases(t, "save_file.json") {
		var want struct{ Files map[string]string }
		unmarshal(t, c.Expected, &want)
		for _, content := range want.Files {
			path := inFile(t, "slot.llamasave", []byte(content))
			if r, code := runJSON(t, "verify", path); code != 0 || len(r.all()) > 0 {
				t.Errorf("%s: verify exit %d:%s", c.Name, code, describe(r.all()))
			}
			if _, code := runJSON(t, "diff", path, path); code != 0 {
				t.Errorf("%s: diff exit %d", c.Name, code)
			}
		}
	}
}
