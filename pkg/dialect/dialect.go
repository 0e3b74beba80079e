package dialect

import (
	"io"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Reader reads the artifacts of one kind of runtime.
type Reader interface {
	// Name is the dialect's name, as --dialect takes it.
	Name() string
	// Detect says whether a file's content is an artifact of this dialect. An error says that the content cannot be
	// read at all; it is a [Problem].
	Detect(f *File) (bool, error)
	// Read reads an artifact and the files that belong to it.
	Read(f *File, o Options) (*Artifact, error)
	// Find lists the artifacts in a folder and below, in the order of their paths.
	Find(root string, o Options) (*Tree, error)
}

// Options say how artifacts are read. The zero value reads what lies beside the artifact.
type Options struct {
	Retrieval string    // path of the retrieval trace; empty: the file beside the trace
	Limit     int64     // bytes of the largest document; 0: [DefaultLimit]
	Stdin     io.Reader // what "-" reads
	Shared    bool      // other artifacts lie in the same folder
	Skip      []string  // folders that Find does not look into: they belong to artifacts of another dialect
	// Twin is a trace that this one is expected to equal, read without a shape finding and without a twin of its own: what is
	// written alike need not be looked at again.
	Twin    *trace.Trace
	Digests bool // give the SHA-256 of every input, which costs a pass over its bytes
}

// Artifact is one artifact as a dialect read it.
type Artifact struct {
	Dialect string
	Inputs  []finding.Input
	Trace   *trace.Trace
	Shape   []finding.Finding // what breaks the schema (CONTRACT V1)
}

// Tree is what a folder holds.
type Tree struct {
	Entries []Entry
	Skipped []string // files that are no artifact and belong to none
	Orphans []string // companions whose artifact is not there
	Runs    []string // the runs (sessions) that the entries belong to
}

// Entry is one artifact of a folder.
type Entry struct {
	Path   string
	Key    string // what names this artifact in every run, e.g. `issue-1/002_developer`
	Shared bool   // other artifacts lie in the same folder
}
