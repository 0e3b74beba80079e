package verify

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Chains watches the runs of a tree for chains: the runs of one folder that state a place in a chain are one (CONTRACT P6). The
// zero value is ready.
type Chains struct {
	links []link
}

// link is one run of a chain.
type link struct {
	folder   string // in which the run's folder lies
	run      *trace.Recording
	id       trace.Field
	index    int
	commit   trace.Field
	snapshot trace.Field
	applied  bool
}

// Add takes a run into account; what is no link of a chain is left out.
func (c *Chains) Add(t *trace.Trace) {
	if t.Recording == nil || t.Recording.CutShort != "" {
		return
	}
	chain, _ := t.Recording.Manifest.Value.Get("chain")
	index, ok := trace.Document{Value: chain}.Int("index")
	if !ok {
		return
	}
	c.links = append(c.links, link{
		folder: filepath.Dir(filepath.Clean(t.Recording.Dir)), run: t.Recording, index: index, id: t.RunID, commit: t.Commit.ID, snapshot: t.SnapshotID,
		applied: t.Commit.Buffer.Is("commit_applied"),
	})
}

// Findings says where a chain is broken: a place that is taken twice or by nobody, a run that follows another than the one
// before, or one that committed nothing, and a start snapshot that is not later than the one before (CONTRACT M1, P6).
func (c *Chains) Findings() []finding.Finding {
	slices.SortStableFunc(c.links, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.index, b.index), cmp.Compare(a.run.Dir, b.run.Dir))
	})
	var fs []finding.Finding
	report := func(l link, pointer, format string, args ...any) {
		f := finding.New(finding.RunChain)
		f.Artifact, f.Pointer, f.Hint = l.run.Manifest.Path, pointer, finding.Lookup(finding.RunChain).Action
		f.Detail = fmt.Sprintf(format, args...)
		f.Actual = finding.Value(l.run.Manifest.Field(pointer).Raw)
		fs = append(fs, f)
	}
	for i, l := range c.links {
		first := i == 0 || c.links[i-1].folder != l.folder
		switch {
		case first && l.index == 0:
			continue
		case first:
			report(l, "/chain/index", "the chain begins at %d: the runs before are not there", l.index)
			continue
		case c.links[i-1].index == l.index:
			report(l, "/chain/index", "%d is also the place of %s", l.index, filepath.Base(c.links[i-1].run.Dir))
			continue
		case c.links[i-1].index+1 != l.index:
			report(l, "/chain/index", "%d follows %d in the chain", l.index, c.links[i-1].index)
			continue
		}
		before := c.links[i-1]
		if id := l.run.Manifest.Field("/chain/previous_run_id"); !id.Ok() || !id.Same(before.id) {
			report(l, "/chain/previous_run_id", "the run does not follow %s", filepath.Base(before.run.Dir))
		}
		if commit := l.run.Manifest.Field("/chain/previous_commit_id"); !commit.Ok() || !commit.SameDigest(before.commit) {
			report(l, "/chain/previous_commit_id", "the run does not start at what %s committed", filepath.Base(before.run.Dir))
		}
		if !before.applied {
			report(l, "/chain", "%s committed nothing that the run could start at", filepath.Base(before.run.Dir))
		}
		if l.snapshot.Ok() && before.snapshot.Ok() && l.snapshot.Text() <= before.snapshot.Text() {
			report(l, "/chain", "the start snapshot is not later than that of %s (M1)", filepath.Base(before.run.Dir))
		}
	}
	return fs
}
