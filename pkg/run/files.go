// Package run writes and reads native runs, dmpl.run.v1: a folder with everything that a run was made of
// (docs/formats/native-run.md). It is the only writer and the only reader of the format, and judges nothing but shape.
package run

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/dmpl/dmpl/pkg/trace"
)

// SchemaVersion names the format.
const SchemaVersion = "dmpl.run.v1"

// The files of a run.
const (
	ManifestFile    = "manifest.json"
	SnapshotFile    = "snapshot.json"
	ConfigFile      = "config.json"
	PoliciesFile    = "policies.json"
	ProfilesFile    = "profiles.json"
	TurnsFile       = "turns.jsonl"
	OutputsFile     = "outputs.jsonl"
	ToolResultsFile = "tool_results.jsonl"
	CandidatesFile  = "candidates.jsonl"
	PromptsFile     = "prompts.jsonl"
	TraceFile       = "trace.json"
	CommitFile      = "commit.json"
)

// Unfinished is the manifest while it is being written.
const Unfinished = ManifestFile + ".tmp"

// kind is one kind of file: what it holds and where it belongs in a recording.
type kind struct {
	name     string
	schema   string // of the document, or of each line; empty where the trace has a model of its own
	required bool   // every complete run has it
	document func(*trace.Recording) *trace.Document
	lines    func(*trace.Recording) *[]trace.Document
}

// kinds are all files that a run may have besides its manifest and its parts.
var kinds = []kind{
	{name: CandidatesFile, schema: "run.candidates.v1", lines: func(r *trace.Recording) *[]trace.Document { return &r.Candidates }},
	{name: CommitFile, schema: "memory.commit.v1", document: func(r *trace.Recording) *trace.Document { return &r.Commit }},
	{name: ConfigFile, schema: "pipeline.config.v1", required: true, document: func(r *trace.Recording) *trace.Document { return &r.Config }},
	{name: OutputsFile, schema: "run.output.v1", required: true, lines: func(r *trace.Recording) *[]trace.Document { return &r.Outputs }},
	{name: PoliciesFile, required: true, document: func(r *trace.Recording) *trace.Document { return &r.Policies }},
	{name: ProfilesFile, schema: "run.profiles.v1", required: true, document: func(r *trace.Recording) *trace.Document { return &r.ProfileSet }},
	{name: PromptsFile, schema: "run.prompt.v1", lines: func(r *trace.Recording) *[]trace.Document { return &r.Prompts }},
	{name: SnapshotFile, schema: "memory.snapshot.v1", required: true, document: func(r *trace.Recording) *trace.Document { return &r.Snapshot }},
	{name: ToolResultsFile, schema: "run.tool_result.v1", lines: func(r *trace.Recording) *[]trace.Document { return &r.ToolResults }},
	{name: TraceFile, required: true},
	{name: TurnsFile, schema: "run.turn.v1", required: true, lines: func(r *trace.Recording) *[]trace.Document { return &r.Turns }},
}

// kindOf gives the kind of a file that is known and no part.
func kindOf(name string) kind {
	return kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })]
}

// The folders of the parts.
const (
	traceParts     = "trace"
	retrievalParts = "retrieval"
)

var partName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(trace|retrieval)/[0-9]{4}\.jsonl$`) })

// part gives the name of the nth part, from 0.
func part(folder string, n int) string { return fmt.Sprintf("%s/%04d.jsonl", folder, n) }

// known says that a run may have a file of this name: a reader opens no other.
func known(name string) bool {
	return partName().MatchString(name) || slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name })
}
