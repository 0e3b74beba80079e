package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/golden"
)

// recorder is a testing.TB that keeps what a failing assertion says.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func TestAssertNamesTheFirstLineThatDiffers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	difference := func(line int, file, test string) []string {
		return []string{fmt.Sprintf("%s:%d differs (`make golden` rewrites it, if the new bytes are right)\n file: %q\n test: %q",
			path, line, file, test)}
	}
	tests := []struct {
		name, got string
		want      []string
	}{
		{"equal bytes", "one\ntwo\nthree\n", nil},
		{"a changed line", "one\nTWO\nthree\n", difference(2, "two\n", "TWO\n")},
		{"a line too few", "one\ntwo\n", difference(3, "three\n", "")},
		{"a line too many", "one\ntwo\nthree\nfour\n", difference(4, "", "four\n")},
		{"no newline at the end", "one\ntwo\nthree", difference(3, "three\n", "three")},
		{"nothing", "", difference(1, "one\n", "")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv(golden.UpdateVariable, "")
			var r recorder
			golden.Assert(&r, path, []byte(test.got))
			if fmt.Sprint(r.said) != fmt.Sprint(test.want) {
				t.Errorf("Assert said %q, want %q", r.said, test.want)
			}
		})
	}
}

func TestAssertFailsWithoutAFile(t *testing.T) {
	t.Setenv(golden.UpdateVariable, "")
	path := filepath.Join(t.TempDir(), "absent.md")
	var r recorder
	golden.Assert(&r, path, []byte("text"))
	if want := []string{path + " does not exist: `make golden` writes it"}; fmt.Sprint(r.said) != fmt.Sprint(want) {
		t.Errorf("Assert said %q, want %q", r.said, want)
	}
}

func TestUpdateWritesTheFileAndItsFolder(t *testing.T) {
	t.Setenv(golden.UpdateVariable, "1")
	t.Setenv("CI", "")
	path := filepath.Join(t.TempDir(), "new", "page.md")
	var r recorder
	golden.Assert(&r, path, []byte("text"))
	if len(r.said) != 0 {
		t.Fatalf("Assert said %q", r.said)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "text" {
		t.Errorf("the file holds %q (%v), want %q", got, err, "text")
	}
}

func TestUpdateIsRefusedWhereCIIsSet(t *testing.T) {
	t.Setenv(golden.UpdateVariable, "1")
	t.Setenv("CI", "true")
	path := filepath.Join(t.TempDir(), "page.md")
	var r recorder
	golden.Assert(&r, path, []byte("text"))
	if len(r.said) != 1 {
		t.Errorf("Assert said %q, want one refusal", r.said)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was written")
	}
}
