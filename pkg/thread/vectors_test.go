package thread_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/thread"
)

// vector is one line of a vector file.
type vector struct {
	id  string
	all canon.Value
}

func (v vector) get(name string) canon.Value {
	value, _ := v.all.Get(name)
	return value
}

func (v vector) text(name string) string {
	text, _ := v.get(name).Text()
	return text
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// value reads a document as the gateway does.
func value(t testing.TB, src string) canon.Value {
	t.Helper()
	v, err := thread.Read([]byte(src))
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

// eachVector runs a test for every vector of a file: those in fixtures/thread, and the whole list beside the project.
func eachVector(t *testing.T, name string, atLeast int, test func(t *testing.T, v vector)) {
	t.Run("fixtures", func(t *testing.T) {
		var vectors []canon.Value
		data := read(t, filepath.Join("..", "..", "fixtures", "thread", name+".jsonl"))
		for line := range bytes.Lines(data) {
			vectors = append(vectors, value(t, string(line)))
		}
		runVectors(t, vectors, atLeast, test)
	})
	t.Run("shared", func(t *testing.T) {
		path := filepath.Join("..", "..", "..", "shared", "vectors", "dbl-gateway", "functions", name+".json")
		if _, err := os.Stat(path); err != nil {
			t.Skipf("NOT RUN, VECTORS MISSING: %s: %v", path, err)
		}
		runVectors(t, value(t, string(read(t, path))).Elements(), atLeast, test)
	})
}

func runVectors(t *testing.T, vectors []canon.Value, atLeast int, test func(t *testing.T, v vector)) {
	if len(vectors) < atLeast {
		t.Fatalf("%d vectors, want %d at least", len(vectors), atLeast)
	}
	for _, all := range vectors {
		v := vector{all: all}
		v.id = v.text("id")
		t.Run(v.id, func(t *testing.T) { test(t, v) })
	}
}

// form gives canonical bytes for comparing two values.
func form(t *testing.T, raw []byte) string {
	t.Helper()
	out, err := canon.Append(nil, raw, canon.DBL)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(out)
}

// codeOf gives the code of an *Error, "" for nil.
func codeOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *thread.Error
	if !errors.As(err, &e) {
		t.Fatalf("not a *thread.Error: %v", err)
	}
	return e.Code
}

// checkStage holds the answer of a stage to the members of a vector, or its error to the vector's.
func checkStage(t *testing.T, v vector, stage thread.Stage, members ...string) {
	t.Helper()
	out, err := stage(v.all)
	if failed := v.get("error"); failed.Kind() != canon.Invalid {
		code, isRefusal := failed.Get("code")
		if want, _ := code.Text(); err == nil || isRefusal && codeOf(t, err) != want || thread.Refused(err) != isRefusal {
			t.Errorf("%s, error %v; want %s", out, err, failed.Raw())
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	answer := value(t, string(out))
	for _, name := range members {
		got, ok := answer.Get(name)
		if !ok || form(t, got.Raw()) != form(t, v.get(name).Raw()) {
			t.Errorf("%s\n got %s\nwant %s", name, got.Raw(), v.get(name).Raw())
		}
	}
}

// X3: every context digest, and its seed form.
func TestContextDigestVectors(t *testing.T) {
	eachVector(t, "context_digest", 75, func(t *testing.T, v vector) {
		checkStage(t, v, thread.DigestContext, "digest", "seed_profile_digest")
		d, err := thread.ContextDigest(v.get("context_spec"), v.get("assembled_context"))
		if want := v.text("canonical"); err == nil && d.Len != len(want) {
			t.Errorf("%d canonical bytes, want %d", d.Len, len(want))
		}
	})
}

func TestDecisionDigestVectors(t *testing.T) {
	eachVector(t, "decision_digest", 39, func(t *testing.T, v vector) {
		checkStage(t, v, thread.DigestDecision, "digest", "canon_len")
	})
}

func TestEventDigestVectors(t *testing.T) {
	eachVector(t, "event_digest", 16, func(t *testing.T, v vector) {
		checkStage(t, v, thread.DigestEvent, "digest", "canon_len")
	})
}

// X4: the digest covers the whole configuration.
func TestConfigDigestVectors(t *testing.T) {
	eachVector(t, "config_digest", 11, func(t *testing.T, v vector) {
		out, err := thread.DigestConfig(v.all)
		if want := v.text("config_digest"); want == "" {
			if err == nil {
				t.Errorf("%s, want an error", out)
			}
		} else if got, _ := thread.ConfigDigest(v.get("config")); err != nil || got.String() != want {
			t.Errorf("%s, error %v, want %s", got, err, want)
		}
	})
}

// X1: references resolve as the gateway resolves them, or are refused with its codes.
func TestRefResolutionVectors(t *testing.T) {
	eachVector(t, "ref_resolution", 30, func(t *testing.T, v vector) {
		checkStage(t, v, thread.ResolveRefs(thread.Gateway), "resolved_refs", "normative_refs", "normative_input_digests", "warnings")
	})
}

// X1, X3: contexts are assembled as the gateway assembles them.
func TestBuildContextVectors(t *testing.T) {
	eachVector(t, "build_context", 35, func(t *testing.T, v vector) {
		checkStage(t, v, thread.BuildContext(thread.Gateway), "context_spec", "assembled_context", "context_digest", "transforms")
	})
}

func TestVDigestChainVectors(t *testing.T) {
	eachVector(t, "v_digest_chain", 5, func(t *testing.T, v vector) {
		digest := thread.ChainSeed
		if seed := v.text("seed"); seed != digest {
			t.Errorf("seed %s, want %s", digest, seed)
		}
		steps := v.get("steps").Elements()
		for i, e := range v.get("event_digests").Elements() {
			stated, _ := e.Text()
			digest = thread.NextVDigest(digest, i, stated)
			if want, _ := steps[i].Text(); digest != want {
				t.Errorf("step %d: %s, want %s", i, digest, want)
			}
		}
		if want := v.text("v_digest"); digest != want {
			t.Errorf("%s, want %s", digest, want)
		}
	})
}
