package cmd_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

const (
	turn        = "session/issue/000_dev/"
	goodTrace   = "../fixtures/checks/v1-minimal/memory_trace.json"
	brokenTrace = "../fixtures/checks/v1-event-role-missing/memory_trace.json"
	otherRows   = "../fixtures/pairs/e6-other-record/right.memory_retrieval_trace.json"
)

// layout makes a folder of files with the content of others.
func layout(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, from := range files {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".gz" {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write(data); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			data = b.Bytes()
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("NOT RUN, NO LINKS HERE: %v", err)
	}
}

func wantExit(t *testing.T, want int, args ...string) reported {
	t.Helper()
	r, code := runJSON(t, args...)
	if code != want {
		t.Errorf("%v: exit %d, want %d: %+v", args, code, want, r.all())
	}
	return r
}

func TestFolderThatIsALinkIsSearched(t *testing.T) {
	root := layout(t, map[string]string{turn + "memory_trace.json": brokenTrace})
	to := filepath.Join(t.TempDir(), "link")
	link(t, root, to)
	wantExit(t, 1, "verify", to)
}

// V0: a turn that is not looked at does not pass in silence.
func TestLinkOutOfAFolderIsRefused(t *testing.T) {
	root := layout(t, map[string]string{turn + "memory_trace.json": goodTrace})
	outside := layout(t, map[string]string{"memory_trace.json": brokenTrace})
	link(t, outside, filepath.Join(root, "session", "issue", "001_dev"))
	wantExit(t, 2, "verify", root)
	wantExit(t, 2, "diff", root, root)
}

func TestLinkInsideAFolderIsANote(t *testing.T) {
	root := layout(t, map[string]string{turn + "memory_trace.json": goodTrace})
	link(t, filepath.Join(root, "session"), filepath.Join(root, "latest"))
	r := wantExit(t, 0, "verify", root)
	if all := r.all(); len(all) == 0 || all[len(all)-1].Code != "input.skipped" {
		t.Errorf("no note tells of the link: %+v", all)
	}
	wantExit(t, 0, "diff", root, root)
}

// C1: gzip is recognised, so a compressed turn is the same turn; beside its own trace it is another file.
func TestCompressedTurnIsTheSameTurn(t *testing.T) {
	plain := layout(t, map[string]string{turn + "memory_trace.json": goodTrace})
	packed := layout(t, map[string]string{turn + "memory_trace.json.gz": goodTrace})
	both := layout(t, map[string]string{turn + "memory_trace.json": goodTrace, turn + "memory_trace.json.gz": brokenTrace})
	wantExit(t, 0, "diff", plain, packed)
	wantExit(t, 1, "diff", plain, both)
	wantExit(t, 1, "diff", both, plain)
}

func TestEndingsAreReadInAnyCase(t *testing.T) {
	root := layout(t, map[string]string{turn + "memory_trace.json": goodTrace, "session/issue/001_dev/MEMORY_TRACE.JSON": brokenTrace})
	wantExit(t, 1, "verify", root)
}

// E6: a retrieval trace that no turn reads is on one side only, whatever its name.
func TestDiffOfFoldersNamesWhatNoTurnReads(t *testing.T) {
	left := layout(t, map[string]string{turn + "memory_trace.json": goodTrace, turn + "rows.json": otherRows})
	right := layout(t, map[string]string{turn + "memory_trace.json": goodTrace})
	for _, pair := range [][2]string{{left, right}, {right, left}, {left, left}} {
		r := wantExit(t, 3, "diff", pair[0], pair[1])
		if errors := r.errors(); len(errors) == 0 || errors[0].Code != "input.orphan_retrieval" {
			t.Errorf("got %+v", errors)
		}
	}
}

// C1: a damaged file that names the trace's schema is a trace under any name.
func TestDamagedTraceUnderAnotherNameIsNotSkipped(t *testing.T) {
	data, err := os.ReadFile(goodTrace)
	if err != nil {
		t.Fatal(err)
	}
	marked := filepath.Join(t.TempDir(), "marked.json")
	if err := os.WriteFile(marked, append([]byte("\uFEFF"), data...), 0o600); err != nil {
		t.Fatal(err)
	}
	wantExit(t, 2, "verify", layout(t, map[string]string{turn + "memory_trace.json": goodTrace, "run.json": marked}))
}
