package schema_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// digest is SHA-256 of json-v1 for the values of schemas and pages: ASCII text without escapes and integers only, where
// sorted members without white space are all that json-v1 asks for (CONTRACT C4, C6, C7). Anything else fails the test.
func digest(t *testing.T, text []byte) string {
	t.Helper()
	if regexp.MustCompile(`[^ -~\n]|\\|: *-?[0-9]+[.eE]`).Match(text) {
		t.Fatalf("more than ASCII text and integers: %s", text)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var canonical bytes.Buffer
	e := json.NewEncoder(&canonical)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(bytes.TrimSuffix(canonical.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

var worked = regexp.MustCompile("(?s)```json\n(.*?)\n```\n(?:SHA-256 of json-v1: `([0-9a-f]{64})`)?")

// D1–D6: what the page states was computed.
func TestWorkedDigestsAreTrue(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/digests.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := worked.FindAllSubmatch(page, -1)
	if len(examples) < 15 {
		t.Fatalf("%d worked digests", len(examples))
	}
	for _, example := range examples {
		if got := digest(t, example[1]); got != string(example[2]) {
			t.Errorf("page says %q, computed %s: %s", example[2], got, example[1])
		}
	}
}

// D2–D5, D7: the claims inside the schema examples hold, so that a reader can learn from them.
func TestExampleClaimsHold(t *testing.T) {
	profileDigest := digest(t, examplesOf(t, profile)[0])
	tools := `[{"tool_name":"search","tool_profile_version":"search-v1","tool_profile_digest":"` + profileDigest + `"}]`

	recorded, committed := examplesOf(t, determinism)[0], examplesOf(t, determinism)[1]
	for _, c := range []struct {
		claim, stated string
		preimage      []byte
	}{
		{"tool_runtime_profile_hash", text(t, recorded, "model_config", "tool_runtime_profile_hash"), []byte(tools)},
		{"model_config_id", text(t, recorded, "model_config_id"), at(t, recorded, "model_config")},
		{"tool_result_fingerprint", text(t, recorded, "events", 1, "tool_calls", 0, "tool_result_fingerprint"), []byte(`{"status":"ok","/page/total":3}`)},
		{"output_shape_hash", text(t, recorded, "output", "output_shape_hash"), at(t, recorded, "output", "structure")},
		{"output_shape_hash without preimage", text(t, committed, "output", "output_shape_hash"), []byte(`{"type":"text","sections":["body"]}`)},
		{"commit_id", text(t, committed, "commit", "commit_id"), []byte(`{"memory_snapshot_id":"00000000000000000041","policy_set_id":"policy-set-3","run_id":"run-8"}`)},
		{"commit_payload_fingerprint", text(t, committed, "commit", "commit_payload_fingerprint"), at(t, committed, "commit", "writes")},
	} {
		if got := digest(t, c.preimage); got != c.stated {
			t.Errorf("%s: example says %s, computed %s: %s", c.claim, c.stated, got, c.preimage)
		}
	}
}

// at gives the value under member names and list indices.
func at(t *testing.T, doc json.RawMessage, path ...any) json.RawMessage {
	t.Helper()
	for _, step := range path {
		var err error
		switch s := step.(type) {
		case string:
			var object map[string]json.RawMessage
			err = json.Unmarshal(doc, &object)
			doc = object[s]
		case int:
			var list []json.RawMessage
			err = json.Unmarshal(doc, &list)
			doc = list[s]
		}
		if err != nil || doc == nil {
			t.Fatalf("nothing at %v: %v", path, err)
		}
	}
	return doc
}

func text(t *testing.T, doc json.RawMessage, path ...any) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(at(t, doc, path...), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
