package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

// R4: what an update cannot keep it does not touch: files of others, the commit of a store, the ground under a shell.
func TestUpdateRefusesWhatItWouldLose(t *testing.T) {
	t.Setenv("CI", "")
	native, err := filepath.Abs(nativeFixture())
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(native, "tree", "template.json")
	for says, change := range map[string]func(dir string) string{
		"it holds notes.txt, which no run has": func(dir string) string {
			runtest.Put(t, dir, "notes.txt", nil)
			return dir
		},
		"it is the working directory, or holds it": func(dir string) string {
			t.Chdir(filepath.Join(dir, "trace"))
			return ".."
		},
		"its commit is one of a store": func(dir string) string {
			runtest.Replace(t, dir, run.ManifestFile, `"state":`, `"store_id": "s", "state":`)
			return dir
		},
	} {
		dir := runtest.Copy(t, filepath.Join(native, "runs", "turns"), filepath.Join(t.TempDir(), "run"))
		path := change(dir)
		before := filesBelow(t, filepath.Dir(dir))
		p := newProcess(t)
		code := p.Run([]string{"replay", path, "--config", config, "--update"})
		if code != 2 || !strings.Contains(p.errs.String(), path+" is left as it was: "+says) {
			t.Errorf("%s: exit code %d, %s", says, code, p.errs)
		}
		if after := filesBelow(t, filepath.Dir(dir)); strings.Join(after, " ") != strings.Join(before, " ") {
			t.Errorf("%s: %q, was %q", says, after, before)
		}
	}
}

// R4: an update makes its own folders: recordings beside the run are nobody's to remove, and a link stays one.
func TestUpdateLeavesWhatLiesBeside(t *testing.T) {
	t.Setenv("CI", "")
	root := t.TempDir()
	for _, name := range []string{"run", "run.new", "run.old"} {
		runtest.Copy(t, nativeFixture("runs", "single"), filepath.Join(root, name))
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink("run", link); err != nil {
		t.Fatal(err)
	}
	p := newProcess(t)
	if code := p.Run([]string{"replay", link, "--config", nativeFixture("tree", "template.json"), "--update"}); code != 1 {
		t.Fatalf("exit code %d, %s", code, p.errs)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is none any more: %v", err)
	}
	for name, want := range map[string]int{"run": 0, "run.new": 1, "run.old": 1} {
		if r, exit := runJSON(t, "replay", filepath.Join(root, name), "--config", nativeFixture("tree", "template.json")); exit != want {
			t.Errorf("%s: exit code %d:%s", name, exit, inShort(r.errors()))
		}
	}
	if left, err := os.ReadDir(root); err != nil || len(left) != 4 {
		t.Errorf("%d entries are left, %v", len(left), err)
	}
}

// R1: --profiles says how both sides are compared, and an update would not record under them.
func TestUpdateAndProfilesDoNotGoTogether(t *testing.T) {
	t.Setenv("CI", "")
	p := newProcess(t)
	code := p.Run([]string{"replay", nativeFixture("runs", "tools"), "--profiles", nativeFixture("tree", "profiles.json"), "--update"})
	if code != 2 || !strings.Contains(p.errs.String(), "--profiles only says how both sides are compared") {
		t.Errorf("exit code %d, %s", code, p.errs)
	}
}

// M1: a run that starts at a snapshot of a store and writes nothing still says so when it is recorded again.
func TestUpdateKeepsTheStoreOfARun(t *testing.T) {
	t.Setenv("CI", "")
	dir := runtest.Copy(t, nativeFixture("runs", "single"), filepath.Join(t.TempDir(), "run"))
	runtest.Replace(t, dir, run.ManifestFile, `"state":`, `"store_id": "s-1", "state":`)
	p := newProcess(t)
	if code := p.Run([]string{"replay", dir, "--config", nativeFixture("tree", "template.json"), "--update"}); code != 1 {
		t.Fatalf("exit code %d, %s", code, p.errs)
	}
	text, err := os.ReadFile(filepath.Join(dir, run.ManifestFile))
	if err != nil || !strings.Contains(string(text), `"store_id": "s-1"`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// R4, P6: of a chain the runs after a divergent one are recorded again as well, whole, though nothing differs in them.
func TestUpdateKeepsTheRestOfAChain(t *testing.T) {
	t.Setenv("CI", "")
	root := t.TempDir()
	for _, link := range []string{"0000", "0001", "0002"} {
		runtest.Copy(t, nativeFixture("runs", "chain", link), filepath.Join(root, link))
	}
	edited := filepath.Join(root, "0000")
	text := string(readFile(t, filepath.Join(edited, "trace", "0000.jsonl")))
	at := strings.Index(text, `"gate_digest":"`) + len(`"gate_digest":"`)
	runtest.Put(t, edited, "trace/0000.jsonl", []byte(text[:at]+strings.Repeat("0", 64)+text[at+64:]))
	runtest.Repair(t, edited)
	if r, exit := runJSON(t, "replay", root); exit != 1 || r.Results[0].Verdict != "divergent" || r.Results[1].Verdict != "equivalent" {
		t.Fatalf("exit code %d: %+v", exit, r)
	}
	p := newProcess(t)
	if code := p.Run([]string{"replay", root, "--update"}); code != 1 {
		t.Fatalf("exit code %d, %s", code, p.errs)
	}
	for _, link := range []string{"0000", "0001", "0002"} {
		for _, name := range []string{run.TurnsFile, run.OutputsFile} {
			if got, want := readFile(t, filepath.Join(root, link, name)), readFile(t, nativeFixture("runs", "chain", link, name)); string(got) != string(want) {
				t.Errorf("%s/%s: %s, was %s", link, name, got, want)
			}
		}
	}
	if r, exit := runJSON(t, "replay", root); exit != 0 {
		t.Errorf("exit code %d: %+v", exit, r)
	}
}
