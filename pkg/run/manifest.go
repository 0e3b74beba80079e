package run

import (
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Opening is what is known of a run before its first turn.
type Opening struct {
	RunID    string
	Pipeline memory.Version
	Lane     Lane
	Created  int64             // ticks: linkage, never compared
	Profiles map[string]string // version of each tool profile by tool name
	Chain    *Chain            // nil for a run on its own
	MaxTrace int64             // bytes of all parts, at most those of the contract (V4); 0 for those
	StoreID  string            // of the store that the run starts from; empty for none: linkage, never compared
	Live     bool              // live_read_write: no claim about the run holds (CONTRACT M2)
}

// Lane is the lane that a run belongs to: its retention depends on it (CONTRACT V4).
type Lane struct {
	Name          string
	Deterministic bool
}

// Chain places a run in a chain: each run starts at the snapshot that the one before committed (CONTRACT P6).
type Chain struct {
	Index            int
	PreviousRunID    string // from index 1 on
	PreviousCommitID string // from index 1 on
}

// entry is one file of a complete manifest.
type entry struct {
	path   string
	bytes  int64
	sha256 string
}

// digests of the documents that a manifest pins, in the order of their names (CONTRACT R1).
var pinned = []struct{ name, file string }{
	{"config", ConfigFile}, {"policies", PoliciesFile}, {"profiles", ProfilesFile}, {"snapshot", SnapshotFile},
}

// manifest writes the manifest of an open run, or of a complete one where files are given.
func (o *Opening) manifest(digests map[string]string, files []entry) []byte {
	w := document.NewWriter(document.Style{Indent: true})
	w.Object("", func() {
		w.Text("schema_version", SchemaVersion)
		w.Text("state", map[bool]string{true: "open", false: "complete"}[files == nil])
		w.Text("run_id", o.RunID)
		w.Text("pipeline_version", o.Pipeline.String())
		w.Object("contract_versions", func() {
			w.Text("normalization_version", trace.NormalizationVersion)
			w.Text("determinism_trace_schema_version", trace.SchemaVersion)
			w.Text("retrieval_trace_schema_version", trace.RetrievalSchemaVersion)
			w.Text("query_normalization_version", trace.NormalizationVersion)
			w.Object("tool_profile_versions", func() {
				for _, tool := range canon.SortedKeys(o.Profiles) {
					w.Text(tool, o.Profiles[tool])
				}
			})
		})
		w.Object("lane", func() {
			w.Text("name", o.Lane.Name)
			w.Bool("deterministic", o.Lane.Deterministic)
		})
		w.Integer("created_ticks", o.Created)
		if o.Live {
			w.Bool("non_deterministic", true)
		}
		if o.StoreID != "" {
			w.Text("store_id", o.StoreID)
		}
		if o.Chain != nil {
			w.Object("chain", func() { o.Chain.write(w) })
		}
		if files != nil {
			writeFiles(w, digests, files)
		}
	})
	return append(w.Bytes(), '\n')
}

func (c *Chain) write(w *document.Writer) {
	w.Integer("index", int64(c.Index))
	if c.Index > 0 {
		w.Text("previous_run_id", c.PreviousRunID)
		w.Text("previous_commit_id", c.PreviousCommitID)
	}
}

func writeFiles(w *document.Writer, digests map[string]string, files []entry) {
	w.Object("digests", func() {
		for _, p := range pinned {
			w.Text(p.name, digests[p.file])
		}
	})
	slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	w.List("files", func() {
		for _, f := range files {
			w.Object("", func() {
				w.Text("path", f.path)
				w.Integer("bytes", f.bytes)
				w.Text("sha256", f.sha256)
			})
		}
	})
}
