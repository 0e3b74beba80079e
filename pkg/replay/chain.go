package replay

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Chains watches replayed runs for chains: the runs of one folder that state a place in a chain are one, and each starts at the
// state that the one before commits when it is executed again (P6). The zero value is ready.
type Chains struct {
	Stored bool // each run was held to its store

	links []link
}

// link is a run of a chain, without what would keep the run in memory.
type link struct {
	folder   string
	index    int
	path     string // of the start snapshot
	snapshot string // memory_snapshot_id that it starts at
	made     string // resulting_snapshot_id, of a link on a store
	start    canon.Sum
	end      canon.Sum
	applied  bool
}

// Add takes a replayed run into account; what is no link of a chain, or could not be executed, is left out.
func (c *Chains) Add(t *trace.Trace, p *Replayed) {
	if t == nil || t.Recording == nil || p == nil || p.End == nil {
		return
	}
	chain, _ := t.Recording.Manifest.Value.Get("chain")
	index, ok := trace.Document{Value: chain}.Int("index")
	if !ok {
		return
	}
	start, err := execute.StartDigest(t.Recording)
	if err != nil {
		return
	}
	l := link{
		folder: filepath.Dir(filepath.Clean(t.Recording.Dir)), index: index, path: t.Recording.Snapshot.Path, start: start,
		snapshot: t.Recording.Snapshot.Field("/memory_snapshot_id").Text(), made: t.Recording.Commit.Field("/resulting_snapshot_id").Text(),
	}
	l.end, l.applied = p.committed()
	c.links = append(c.links, l)
}

// Join takes the runs of another watch into account.
func (c *Chains) Join(other *Chains) { c.links = append(c.links, other.links...) }

// Findings says where a run does not start at the state that the one before commits.
func (c *Chains) Findings() []finding.Finding {
	slices.SortStableFunc(c.links, func(a, b link) int { return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.index, b.index)) })
	var fs []finding.Finding
	for i, l := range c.links {
		if i == 0 || c.links[i-1].folder != l.folder || c.links[i-1].index+1 != l.index || !c.links[i-1].applied {
			continue // dmpl verify holds the places of a chain to one another
		}
		if c.links[i-1].end == l.start {
			continue
		}
		code, detail := finding.ReplayChainBroken, "run %d of the chain does not start at the state that run %d commits"
		if c.links[i-1].apart(l) {
			code, detail = finding.ReplayChainApart, "run %d of the chain starts where other runs had committed since run %d began"
			if c.Stored { // both snapshots are held to it, each with its run
				continue
			}
		}
		f := finding.New(code)
		f.Artifact, f.Expected, f.Actual = l.path, quoted(l.start.Hex()), quoted(c.links[i-1].end.Hex())
		f.Detail = fmt.Sprintf(detail, l.index, c.links[i-1].index)
		f.Hint = finding.Lookup(code).Action
		fs = append(fs, f)
	}
	return fs
}

// apart says that other runs have committed between two links: the second starts at the snapshot that the commit of the first made
// of a store, and that is not the next one after the first's start (M1, M4).
func (l link) apart(next link) bool {
	start, errStart := strconv.ParseInt(l.snapshot, 10, 64)
	made, errMade := strconv.ParseInt(l.made, 10, 64)
	return errStart == nil && errMade == nil && made > start+1 && l.made == next.snapshot
}

// Links counts the runs of chains.
func (c *Chains) Links() int { return len(c.links) }
