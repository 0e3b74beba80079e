package canon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

// shared gives a path of the vectors beside the project. Where they are missing the test says so loudly; the part
// that the project needs for itself is in fixtures/canonical.
func shared(t *testing.T, path string) string {
	t.Helper()
	full := filepath.Join("..", "..", "..", "shared", "vectors", filepath.FromSlash(path))
	if _, err := os.Stat(full); err != nil {
		t.Skipf("NOT RUN, VECTORS MISSING: %s: %v", full, err)
	}
	return full
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// codeOf gives the code of a *canon.Error, "" for nil.
func codeOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *canon.Error
	if !errors.As(err, &e) {
		t.Fatalf("not a *canon.Error: %v", err)
	}
	return e.Code
}

type orketForm struct {
	Canonical *string
	SHA256    string
	Error     string
}

type orketVector struct {
	ID       string
	InputB64 []byte `json:"input_b64"`
	Upstream orketForm
	JSONv1   orketForm `json:"json_v1"`
}

// runOrketVectors checks each line of a file of canonical vectors under both profiles (C2, C10).
func runOrketVectors(t *testing.T, path string, atLeast int) {
	lines := 0
	err := canon.Lines(bytes.NewReader(read(t, path)), 0, func(_ int, data []byte) error {
		lines++
		var v orketVector
		decode(t, data, &v)
		t.Run(v.ID, func(t *testing.T) {
			checkForm(t, canon.JSONv1, v.InputB64, v.JSONv1)
			if code := v.JSONv1.Error; code != "" {
				_, err := canon.Digest(canon.JSONv1, v.InputB64)
				if got := codeOf(t, err); got != "canon."+code {
					t.Errorf("json-v1: code %q, want canon.%s", got, code)
				}
			}
			checkForm(t, canon.PySorted, v.InputB64, v.Upstream)
		})
		return nil
	})
	if err != nil || lines < atLeast {
		t.Fatalf("%d vectors, want %d at least; error %v", lines, atLeast, err)
	}
}

func checkForm(t *testing.T, p canon.Profile, input []byte, want orketForm) {
	t.Helper()
	out, err := canon.Append(nil, input, p)
	if want.Error != "" {
		if err == nil {
			t.Errorf("%s: %q accepted, want an error for %s", p, out, want.Error)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", p, err)
		return
	}
	sum, err := canon.Digest(p, input)
	if err != nil || sum.Hex() != want.SHA256 {
		t.Errorf("%s: digest of %q is %s (error %v), want %s of %v", p, out, sum.Hex(), err, want.SHA256, want.Canonical)
	}
}

func TestOrketCanonicalVectors(t *testing.T) {
	runOrketVectors(t, shared(t, "orket/canonical/canonical_vectors.jsonl"), 160)
}

func TestOrketHashVectors(t *testing.T) {
	t.Run("framed", func(t *testing.T) {
		var file struct {
			Vectors []struct{ Canonical, SHA256 string }
		}
		decode(t, read(t, shared(t, "orket/hashes/framed_hashes.json")), &file)
		if len(file.Vectors) == 0 {
			t.Fatal("no vectors")
		}
		for _, v := range file.Vectors {
			sum, err := canon.Digest(canon.PySorted, []byte(v.Canonical))
			if err != nil || sum.Hex() != v.SHA256 {
				t.Errorf("%s: %s, error %v, want %s", v.Canonical, sum.Hex(), err, v.SHA256)
			}
		}
	})
	t.Run("output shape", func(t *testing.T) {
		var file struct {
			Vectors []struct {
				ID        string
				Structure json.RawMessage
				JSONv1    string `json:"sha256_json_v1"`
				Upstream  string `json:"upstream_sha256"`
			}
		}
		decode(t, read(t, shared(t, "orket/hashes/output_shape.json")), &file)
		if len(file.Vectors) == 0 {
			t.Fatal("no vectors")
		}
		for _, v := range file.Vectors {
			if sum, err := canon.Digest(canon.JSONv1, v.Structure); err != nil || sum.Hex() != v.JSONv1 {
				t.Errorf("%s: json-v1 %s, error %v, want %s", v.ID, sum.Hex(), err, v.JSONv1)
			}
			if sum, err := canon.Digest(canon.PySorted, v.Structure); v.Upstream != "" && (err != nil || sum.Hex() != v.Upstream) {
				t.Errorf("%s: py-sorted %s, error %v, want %s", v.ID, sum.Hex(), err, v.Upstream)
			}
		}
	})
	t.Run("tool results", func(t *testing.T) {
		var file struct {
			Vectors []struct {
				ID      string
				Text    string `json:"tool_result_text"`
				Emitted string `json:"emitted_fingerprint"`
				JSONv1  string `json:"sha256_json_v1_of_file"`
				Same    bool   `json:"recomputable_under_json_v1"`
			}
		}
		decode(t, read(t, shared(t, "orket/hashes/tool_result_fingerprints.json")), &file)
		if len(file.Vectors) == 0 {
			t.Fatal("no vectors")
		}
		for _, v := range file.Vectors {
			if sum, err := canon.Digest(canon.JSONv1, []byte(v.Text)); v.JSONv1 != "" && (err != nil || sum.Hex() != v.JSONv1) {
				t.Errorf("%s: json-v1 %s, error %v, want %s", v.ID, sum.Hex(), err, v.JSONv1)
			}
			claim := canon.Claim{Profile: canon.JSONv1, Preimage: []byte(v.Text), Stated: v.Emitted}
			outcome := claim.Check()
			want := canon.Outcome{Status: canon.StatusPass, Found: true, Matched: canon.JSONv1, Computed: v.JSONv1}
			if !v.Same {
				want = canon.Outcome{Status: canon.StatusFail, Reason: "matches under py-sorted", Found: true, Matched: canon.PySorted, Computed: v.JSONv1}
			}
			if outcome != want {
				t.Errorf("%s: %+v, want %+v", v.ID, outcome, want)
			}
		}
	})
}

type gatewayVector struct {
	ID         string
	JSONText   json.RawMessage `json:"json_text"` // a literal: its lone surrogates must stay
	Canonical  *string
	SHA256     string
	Length     int
	Error      json.RawMessage
	ParseError json.RawMessage `json:"parse_error"`
}

// runGatewayVectors checks the gateway's canonical form (dbl).
func runGatewayVectors(t *testing.T, vectors []gatewayVector, atLeast int) {
	if len(vectors) < atLeast {
		t.Fatalf("%d vectors, want %d at least", len(vectors), atLeast)
	}
	for _, v := range vectors {
		t.Run(v.ID, func(t *testing.T) {
			text, err := canon.Text(v.JSONText)
			if err != nil {
				t.Fatal(err)
			}
			out, err := canon.Append(nil, text, canon.DBL)
			if v.Canonical == nil {
				code := codeOf(t, err)
				if writing := code == canon.CodeFloatRefused || code == canon.CodeNonFinite; code == "" || writing != (v.Error != nil) {
					t.Errorf("%q: code %q, want error %s, parse error %s", text, code, v.Error, v.ParseError)
				}
				return
			}
			sum, digestErr := canon.Digest(canon.DBL, text)
			if err != nil || digestErr != nil || string(out) != *v.Canonical || sum.Hex() != v.SHA256 || len(out) != v.Length {
				t.Errorf("%q: %q (%s), errors %v, %v; want %q (%s)", text, out, sum.Hex(), err, digestErr, *v.Canonical, v.SHA256)
			}
		})
	}
}

func TestFixtures(t *testing.T) {
	fixtures := filepath.Join("..", "..", "fixtures", "canonical")
	runOrketVectors(t, filepath.Join(fixtures, "orket.jsonl"), 160)
	var gateway []gatewayVector
	err := canon.Lines(bytes.NewReader(read(t, filepath.Join(fixtures, "dbl.jsonl"))), 0, func(_ int, data []byte) error {
		var v gatewayVector
		decode(t, data, &v)
		gateway = append(gateway, v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	runGatewayVectors(t, gateway, 90)
}

func TestGatewayCanonicalVectors(t *testing.T) {
	var vectors []gatewayVector
	decode(t, read(t, shared(t, "dbl-gateway/functions/canonical_json.json")), &vectors)
	runGatewayVectors(t, vectors, 90)
}

func TestRFC8785Vectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "json/rfc8785/input"), "*.json"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		want := read(t, filepath.Join(shared(t, "json/rfc8785/output"), name))
		out, err := canon.Append(nil, read(t, file), canon.JCS)
		if err != nil || !bytes.Equal(out, want) {
			t.Errorf("%s: %s, error %v, want %s", name, out, err, want)
		}
	}
}

func TestJSONTestSuite(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "json/JSONTestSuite/test_parsing"), "*.json"))
	if err != nil || len(files) < 300 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	open := map[string][]string{}
	for _, row := range specRows(t) {
		open[row[0]] = row
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		data := read(t, file)
		code := codeOf(t, canon.Valid(data))
		for _, p := range canon.Profiles() {
			if _, err := canon.Append(nil, data, p); p == canon.Raw && err != nil {
				t.Errorf("%s: raw refuses: %v", name, err)
			}
		}
		switch {
		case strings.HasPrefix(name, "i_"):
			checkOpenFile(t, name, data, open[name])
		case strings.HasPrefix(name, "y_object_duplicated_key"):
			if code != canon.CodeDuplicateKey {
				t.Errorf("%s: code %q, want %s", name, code, canon.CodeDuplicateKey)
			}
		case strings.HasPrefix(name, "y_") != (code == ""):
			t.Errorf("%s: code %q", name, code)
		}
	}
}

// checkOpenFile holds a file that the suite leaves open to its row in the specification.
func checkOpenFile(t *testing.T, name string, data []byte, row []string) {
	t.Helper()
	reading, form := "accepted", "none"
	if code := codeOf(t, canon.Valid(data)); code != "" {
		reading = code
	} else if out, err := canon.Append(nil, data, canon.JSONv1); err != nil {
		form = codeOf(t, err)
	} else if form = string(out); form == strings.TrimSpace(string(data)) && len(form) > 30 {
		form = "digits kept"
	}
	if want := []string{name, reading, form}; !slices.Equal(row, want) {
		t.Errorf("documented as %q, is %q", row, want)
	}
}
