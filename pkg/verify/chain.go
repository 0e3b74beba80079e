package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Chains watches the runs of a tree for chains: the runs of one folder that state a place in a chain are one (CONTRACT P6). The
// zero value is ready.
type Chains struct {
	links []link
}

// link is one run of a chain, without what would keep the run in memory.
type link struct {
	folder, dir, manifest       string // folder is where the run's own lies
	index                       int
	id, commit, snapshot        trace.Field
	previousRun, previousCommit trace.Field
	chain                       trace.Field
	made                        trace.Field // by the commit, of a run on a store
	applied                     bool
	start                       string // path of the start snapshot
	starts                      string // digest of its state; empty where it cannot be loaded
	leaves                      trace.Field
}

// kept gives a field that does not hold the file that it is a span of.
func kept(f trace.Field) trace.Field { return trace.Field{Raw: bytes.Clone(f.Raw), State: f.State} }

// Add takes a run into account; what is no link of a chain is left out.
func (c *Chains) Add(t *trace.Trace) {
	if t.Recording == nil || t.Recording.CutShort != "" {
		return
	}
	manifest := t.Recording.Manifest
	chain, _ := manifest.Value.Get("chain")
	index, ok := trace.Document{Value: chain}.Int("index")
	if !ok {
		return
	}
	c.links = append(c.links, link{
		folder: filepath.Dir(filepath.Clean(t.Recording.Dir)), dir: t.Recording.Dir, manifest: manifest.Path, index: index,
		id: kept(t.RunID), commit: kept(t.Commit.ID), snapshot: kept(t.SnapshotID), applied: t.Commit.Buffer.Is("commit_applied"),
		previousRun: kept(manifest.Field("/chain/previous_run_id")), previousCommit: kept(manifest.Field("/chain/previous_commit_id")),
		chain: kept(manifest.Field("/chain")), start: t.Recording.Snapshot.Path, starts: startDigest(t.Recording.Snapshot),
		leaves: kept(t.Recording.Commit.Field("/state_digest_after")), made: kept(t.Recording.Commit.Field("/resulting_snapshot_id")),
	})
}

// Join takes the runs of another watch into account.
func (c *Chains) Join(other *Chains) { c.links = append(c.links, other.links...) }

// startDigest gives the digest of a state as a snapshot has it (CONTRACT P2(g)).
func startDigest(snapshot trace.Document) string {
	state, err := loaded(snapshot)
	if err != nil {
		return ""
	}
	sum, err := state.Digest()
	if err != nil {
		return ""
	}
	return sum.Hex()
}

// Findings says where a chain is broken: a place that is taken twice or by nobody, a run that follows another than the one
// before, or one that committed nothing, and a start snapshot that is another state than was committed, or not later than the
// one before (CONTRACT M1, P6).
func (c *Chains) Findings() []finding.Finding {
	slices.SortStableFunc(c.links, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.index, b.index), cmp.Compare(a.dir, b.dir))
	})
	var fs []finding.Finding
	for i := range c.links {
		var before *link
		if i > 0 && c.links[i-1].folder == c.links[i].folder {
			before = &c.links[i-1]
		}
		fs = append(fs, c.links[i].follows(before)...)
	}
	return fs
}

// follows says why a run cannot follow the one before it, nil for the first of its folder.
func (l *link) follows(before *link) []finding.Finding {
	name := func() string { return filepath.Base(before.dir) }
	switch {
	case before == nil && l.index == 0 && (l.previousRun.Ok() || l.previousCommit.Ok()):
		return l.broken(nil, "/chain", l.chain, "the first run of a chain follows none, and this one states a run before")
	case before == nil && l.index == 0:
		return nil
	case before == nil:
		return l.broken(nil, "/chain/index", l.chain, "the chain begins at %d: the runs before are not there", l.index)
	case before.index == l.index:
		return l.broken(nil, "/chain/index", l.chain, "%d is also the place of %s", l.index, name())
	case before.index+1 != l.index:
		return l.broken(nil, "/chain/index", l.chain, "%d follows %d in the chain", l.index, before.index)
	}
	var fs []finding.Finding
	if !l.previousRun.Ok() || !l.previousRun.Same(before.id) {
		fs = l.broken(fs, "/chain/previous_run_id", l.previousRun, "the run does not follow %s", name())
	}
	if !l.previousCommit.Ok() || !l.previousCommit.SameDigest(before.commit) {
		fs = l.broken(fs, "/chain/previous_commit_id", l.previousCommit, "the run does not start at what %s committed", name())
	}
	if !before.applied {
		fs = l.broken(fs, "/chain", l.chain, "%s committed nothing that the run could start at", name())
	}
	if before.applied && l.starts != "" && before.leaves.Ok() && !before.leaves.Is(l.starts) && !before.apart() {
		fs = l.broken(fs, "", before.leaves, "the start snapshot is not the state that %s committed", name())
		fs[len(fs)-1].Artifact = l.start
		fs[len(fs)-1].Expected, fs[len(fs)-1].Actual = finding.Value(before.leaves.Raw), finding.Value(`"`+l.starts+`"`)
	}
	if l.snapshot.Ok() && before.snapshot.Ok() && l.snapshot.Text() <= before.snapshot.Text() { // M1: ids sort in commit order
		fs = l.broken(fs, "/chain", l.chain, "the start snapshot is not later than that of %s", name())
	}
	if l.snapshot.Ok() && before.made.Ok() && !l.snapshot.Same(before.made) {
		fs = l.broken(fs, "/chain", l.chain, "the start snapshot is not the one that the commit of %s made", name())
	}
	return fs
}

// apart says (M4) that other runs committed to the store between the start of a run and its commit: what the next one starts at is then
// more than the run left, and only the store can vouch for it (dmpl replay --store).
func (l *link) apart() bool {
	start, errStart := strconv.ParseInt(l.snapshot.Text(), 10, 64)
	made, errMade := strconv.ParseInt(l.made.Text(), 10, 64)
	return errStart == nil && errMade == nil && made > start+1
}

func (l *link) broken(fs []finding.Finding, pointer string, actual trace.Field, format string, args ...any) []finding.Finding {
	f := finding.New(finding.RunChain)
	f.Artifact, f.Pointer, f.Hint = l.manifest, pointer, finding.Lookup(finding.RunChain).Action
	f.Detail, f.Actual = fmt.Sprintf(format, args...), finding.Value(actual.Raw)
	return append(fs, f)
}
