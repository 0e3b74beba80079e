package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
)

// X1, X3, X4: every call of the vectors gets its answer on the command line, one line each and in order.
func TestThreadCommandsAnswerEveryVector(t *testing.T) {
	tests := []struct {
		file    string
		args    []string
		members map[string]string // of the answer, by their names in the vector
	}{
		{"context_digest", []string{"digest", "context"}, map[string]string{"digest": "digest", "seed_profile_digest": "seed_profile_digest"}},
		{"decision_digest", []string{"digest", "decision"}, map[string]string{"digest": "digest", "canon_len": "canon_len"}},
		{"event_digest", []string{"digest", "event"}, map[string]string{"digest": "digest", "canon_len": "canon_len"}},
		{"config_digest", []string{"digest", "config"}, map[string]string{"digest": "config_digest"}},
		{"ref_resolution", []string{"step", "resolve-refs"}, same("resolved_refs", "normative_refs", "normative_input_digests", "warnings")},
		{"build_context", []string{"step", "build-context"}, same("context_spec", "assembled_context", "context_digest", "transforms")},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			path := filepath.Join(fixtures, "thread", tt.file+".jsonl")
			vectors, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := newProcess(t)
			p.Run(append(tt.args, "--jsonl", path))
			answers := bytes.Split(bytes.TrimSuffix(p.out.Bytes(), []byte("\n")), []byte("\n"))
			lines := bytes.Split(bytes.TrimSuffix(vectors, []byte("\n")), []byte("\n"))
			if len(answers) != len(lines) || len(lines) < 10 {
				t.Fatalf("%d answers to %d vectors", len(answers), len(lines))
			}
			for i, line := range lines {
				checkAnswer(t, tree(t, line), tree(t, answers[i]), tt.members)
			}
		})
	}
}

func same(names ...string) map[string]string {
	members := map[string]string{}
	for _, name := range names {
		members[name] = name
	}
	return members
}

func tree(t *testing.T, src []byte) canon.Value {
	t.Helper()
	v, err := canon.ParseAs(canon.DBL, src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

func checkAnswer(t *testing.T, vector, answer canon.Value, members map[string]string) {
	t.Helper()
	id, _ := vector.Get("id")
	_, failed := vector.Get("error")
	if _, refused := answer.Get("error"); failed || refused {
		code, coded := vector.At("/error/code")
		if got, _ := answer.At("/error/code"); failed != refused || coded && string(got.Raw()) != string(code.Raw()) {
			t.Errorf("%s: %s", id.Raw(), answer.Raw())
		}
		return
	}
	for name, in := range members {
		got, _ := answer.Get(name)
		want, _ := vector.Get(in)
		if !canon.Equal(got.Raw(), want.Raw(), canon.Form{Profile: canon.DBL}) {
			t.Errorf("%s: %s\n got %s\nwant %s", id.Raw(), name, got.Raw(), want.Raw())
		}
	}
}
