// Package golden holds bytes that a test made against a file that the repository keeps.
//
// Generated documentation pages are golden files too. A test that holds one has a name that ends in Page or Pages,
// so `make docs` rewrites the pages alone and `make golden` rewrites everything.
package golden

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// UpdateVariable is the environment variable that, when set to 1, makes [Assert] write the file instead of comparing.
// It is a variable and no flag: a flag would be unknown to the packages that hold no golden file.
const UpdateVariable = "DMPL_UPDATE_GOLDEN"

// excerptBytes is how much of a differing line a failure shows.
const excerptBytes = 200

// Assert compares got with the content of the file at path, which is relative to the package of the test.
// A difference or a missing file fails the test and names the first line that differs; the test goes on.
// Under [UpdateVariable] the file is written instead, its folder included; where CI is set that is refused,
// so that no machine can approve its own output.
func Assert(t testing.TB, path string, got []byte) {
	t.Helper()
	if os.Getenv(UpdateVariable) == "1" {
		update(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s does not exist: `make golden` writes it", path)
		return
	}
	if err != nil {
		t.Errorf("golden file: %v", err)
		return
	}
	if bytes.Equal(want, got) {
		return
	}
	line, wantLine, gotLine := firstDifference(want, got)
	t.Errorf("%s:%d differs (`make golden` rewrites it, if the new bytes are right)\n file: %q\n test: %q",
		path, line, wantLine, gotLine)
}

func update(t testing.TB, path string, got []byte) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Errorf("%s is set where CI is set: golden files are not rewritten there", UpdateVariable)
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Errorf("golden file: %v", err)
		return
	}
	if err := os.WriteFile(path, got, 0o644); err != nil {
		t.Errorf("golden file: %v", err)
	}
}

// firstDifference gives the number, counted from 1, and both texts of the first line that differs.
func firstDifference(want, got []byte) (line int, wantLine, gotLine string) {
	wants, gots := bytes.SplitAfter(want, []byte("\n")), bytes.SplitAfter(got, []byte("\n"))
	i := 0
	for i < len(wants) && i < len(gots) && bytes.Equal(wants[i], gots[i]) {
		i++
	}
	return i + 1, excerpt(wants, i), excerpt(gots, i)
}

func excerpt(lines [][]byte, i int) string {
	if i >= len(lines) {
		return ""
	}
	return string(lines[i][:min(len(lines[i]), excerptBytes)])
}
