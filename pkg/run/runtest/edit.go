package runtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/run"
)

// Copy copies a run.
func Copy(t testing.TB, from, to string) string {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// Replace changes the text of one file of a run, and fails where the text is not there.
func Replace(t testing.TB, dir, name, before, after string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(before)) {
		t.Fatalf("%s does not hold %s", path, before)
	}
	Put(t, dir, name, bytes.Replace(data, []byte(before), []byte(after), 1))
}

// Put writes a file of a run.
func Put(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Repair makes the manifest fit the files that are there: only what the files themselves say can then be wrong.
func Repair(t testing.TB, dir string) {
	t.Helper()
	path := filepath.Join(dir, run.ManifestFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]json.RawMessage
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	var files []object
	digests := object{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == run.ManifestFile {
			return err
		}
		text, err := os.ReadFile(path)
		rel, errRel := filepath.Rel(dir, path)
		sum := sha256.Sum256(text)
		files = append(files, object{"path": filepath.ToSlash(rel), "bytes": len(text), "sha256": hex.EncodeToString(sum[:])})
		if name := strings.TrimSuffix(d.Name(), ".json"); slices.Contains([]string{"config", "policies", "profiles", "snapshot"}, name) {
			if canonical, err := canon.Digest(canon.JSONv1, text); err == nil {
				digests[name] = canonical.Hex()
			}
		}
		return errors.Join(err, errRel)
	})
	if err != nil {
		t.Fatal(err)
	}
	manifest["files"] = text(files)
	var before object
	if err := json.Unmarshal(manifest["digests"], &before); err == nil && len(before) == 4 {
		for name, value := range digests {
			before[name] = value
		}
		manifest["digests"] = text(before)
	}
	Put(t, dir, run.ManifestFile, text(manifest))
}
