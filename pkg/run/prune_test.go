package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/run/runtest"
)

const day = run.TicksPerDay

// V4: a deterministic run of 13 days survives every setting, and no run is removed before its lane allows it.
func TestRetentionOfALane(t *testing.T) {
	lanes := &memory.PolicySet{Lanes: []memory.Lane{{Name: "ci", Deterministic: true, Days: 30}, {Name: "scratch", Days: 2}, {Name: "zero"}}}
	for _, c := range []struct {
		lane   run.Lane
		age    int64 // ticks
		policy *memory.PolicySet
		days   int
		keep   bool
	}{
		{run.Lane{Name: "x", Deterministic: true}, 13 * day, &memory.PolicySet{}, 0, true},
		{run.Lane{Name: "x", Deterministic: true}, 14*day - 1, &memory.PolicySet{}, 0, true},
		{run.Lane{Name: "x", Deterministic: true}, 14 * day, &memory.PolicySet{}, 0, false},
		{run.Lane{Name: "x", Deterministic: true}, 14 * day, &memory.PolicySet{}, 15, true},
		{run.Lane{Name: "zero", Deterministic: true}, 13 * day, lanes, 0, true},
		{run.Lane{Name: "scratch", Deterministic: true}, 13 * day, lanes, 0, true},
		{run.Lane{Name: "ci"}, 13 * day, lanes, 0, true},
		{run.Lane{Name: "ci", Deterministic: true}, 29 * day, lanes, 0, true},
		{run.Lane{Name: "ci", Deterministic: true}, 30 * day, lanes, 0, false},
		{run.Lane{Name: "scratch"}, day, lanes, 9, true},
		{run.Lane{Name: "scratch"}, 2 * day, lanes, 9, false},
		{run.Lane{Name: "zero"}, 0, lanes, 9, false},
		{run.Lane{Name: "other"}, 8 * day, lanes, 9, true},
		{run.Lane{Name: "other"}, -1, lanes, 0, true},
		{run.Lane{Name: "other"}, 5 * day, nil, 9, true},
		{run.Lane{Name: "other"}, 9 * day, nil, 9, false},
		{run.Lane{Name: "other"}, 900 * day, nil, 99_999_999, true},
		{run.Lane{Name: "other"}, 900 * day, nil, 1<<31 - 1, true},
		{run.Lane{Name: "other"}, 900 * day, &memory.PolicySet{Lanes: []memory.Lane{{Name: "other", Days: 1<<31 - 1}}}, 0, true},
	} {
		dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{Lane: c.lane, Created: 638400000000000000})
		got := run.Retention{Now: 638400000000000000 + c.age, Policies: c.policy, Days: c.days}.Judge([]string{dir})
		if len(got) != 1 || got[0].Keep != c.keep || got[0].Why == "" || got[0].Dir != dir {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// V4: what is not known to be old is kept, and says why.
func TestWhatIsNotKnownToBeOldIsKept(t *testing.T) {
	old := runtest.Features{Lane: run.Lane{Name: "x"}, Created: 1}
	write := func() string { return runtest.Write(t, filepath.Join(t.TempDir(), "run"), old) }
	gone, broken, timeless, strange, parts, later := write(), write(), write(), write(), write(), write()
	if err := os.Remove(filepath.Join(gone, run.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	runtest.Replace(t, broken, run.ManifestFile, "{", "")
	runtest.Replace(t, timeless, run.ManifestFile, `"created_ticks"`, `"created"`)
	never := runtest.Write(t, filepath.Join(t.TempDir(), "run"), runtest.Features{Lane: run.Lane{Name: "x"}})
	runtest.Replace(t, later, run.ManifestFile, run.SchemaVersion, "dmpl.run.v9")
	runtest.Put(t, strange, "notes.txt", nil)
	runtest.Put(t, parts, "trace/more/notes.txt", nil)
	now := run.Retention{Now: 1 << 60}
	for dir, want := range map[string]string{
		gone:     "its manifest cannot be read: its age is not known",
		broken:   "its manifest states no lane or no time: its age is not known",
		timeless: "its manifest states no lane or no time: its age is not known",
		never:    "its manifest states no lane or no time: its age is not known",
		later:    "its manifest states no version that is known: its age is not known",
		strange:  "it holds notes.txt, which no run has: nothing of others is removed",
		parts:    "it holds trace/more, which no run has: nothing of others is removed",
	} {
		if got := now.Judge([]string{dir}); !got[0].Keep || got[0].Why != want {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if got := now.Judge([]string{write()}); got[0].Keep {
		t.Errorf("an old run: %+v", got)
	}
}

// P6: a chain is kept as a whole: each run of it leads to the next.
func TestAChainIsKeptAsAWhole(t *testing.T) {
	root := t.TempDir()
	lane := run.Lane{Name: "x"}
	dirs := []string{
		runtest.Write(t, filepath.Join(root, "chain", "a"), runtest.Features{Lane: lane, Created: 1, Chain: &run.Chain{}}),
		runtest.Write(t, filepath.Join(root, "chain", "b"), runtest.Features{Lane: lane, Created: 1 + 10*day, Chain: &run.Chain{Index: 1, PreviousRunID: "r", PreviousCommitID: "c"}}),
		runtest.Write(t, filepath.Join(root, "chain", "alone"), runtest.Features{Lane: lane, Created: 1}),
		runtest.Write(t, filepath.Join(root, "other", "a"), runtest.Features{Lane: lane, Created: 1, Chain: &run.Chain{}}),
	}
	var kept []bool
	for _, f := range (run.Retention{Now: 1 + 11*day, Days: 5}).Judge(dirs) {
		kept = append(kept, f.Keep)
	}
	if want := []bool{true, true, false, false}; len(kept) != 4 || kept[0] != want[0] || kept[1] != want[1] || kept[2] != want[2] || kept[3] != want[3] {
		t.Errorf("kept %v, want %v", kept, want)
	}
}

// P6: a run that cannot be read may be one of the chain beside it.
func TestAChainIsKeptBesideARunThatCannotBeRead(t *testing.T) {
	root := t.TempDir()
	features := runtest.Features{Lane: run.Lane{Name: "x"}, Created: 1, Chain: &run.Chain{}}
	first := runtest.Write(t, filepath.Join(root, "0000"), features)
	features.Chain = &run.Chain{Index: 1, PreviousRunID: "r", PreviousCommitID: "c"}
	second := runtest.Write(t, filepath.Join(root, "0001"), features)
	runtest.Replace(t, second, run.ManifestFile, "{", "")
	for _, f := range (run.Retention{Now: 1 << 60}).Judge([]string{first, second}) {
		if !f.Keep {
			t.Errorf("%+v", f)
		}
	}
}

func TestRemoveTakesTheRunAndNothingElse(t *testing.T) {
	dir := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	if err := run.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	if err := run.Remove(dir); err != nil {
		t.Errorf("a run that is gone: %v", err)
	}
	other := runtest.Write(t, filepath.Join(t.TempDir(), "run"), everything)
	runtest.Put(t, other, "notes.txt", nil)
	if err := run.Remove(other); err == nil {
		t.Error("a folder that holds something else was removed")
	}
	if _, err := os.Stat(filepath.Join(other, "notes.txt")); err != nil {
		t.Error(err)
	}
}
