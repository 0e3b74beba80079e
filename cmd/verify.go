package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/thread"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

type verifyOptions struct {
	artifactOptions
	reportOptions
	retrieval string
	maxBytes  byteCount
	coverage  int

	contextFile  string
	context      *thread.Config  // what contextFile holds
	contextInput []finding.Input // contextFile itself
}

func (a *App) verifyCommand() *cobra.Command {
	o := verifyOptions{maxBytes: verify.DefaultMaxBytes}
	c := &cobra.Command{
		Use:   "verify PATH... [FLAGS]",
		Short: "Check that recordings are complete and their digests are what they claim to be",
		Long: `verify checks artifacts one by one: is every required field there, do indices, links and ranks fit together, can the
trace support a deterministic claim, and does every digest with a preimage match it. Of an event stream of a gateway (JSON
snapshot or SQLite trail) every digest and both chains are recomputed, and with --context-config every context is assembled
again from the events. Of a native run every file and every digest is checked, and runs of one folder that are a chain are held
to one another. Of a debug package, a rolling log or a save file of LlamaBrain every hash, total and number that the file
itself can prove is computed again. Of an exported ledger of a memory store every row's digest is computed again, and the rows
are held to one another and to what a store can do; whether rows are missing at its end, the store alone can tell. PATH is a trace, a run, a stream, one of these files, a folder (searched with everything
below it), or - for standard input.`,
		Example: `  dmpl verify memory_trace.json
  dmpl verify workspace/observability --profiles profiles/
  dmpl verify run.json --retrieval rows.json --format json
  dmpl verify release/ --require-coverage 80
  dmpl verify trail.sqlite --context-config context.json
  dmpl verify debug-20240101-120000.llamabrain
  dmpl verify ledger.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.verify(&o, args) },
	}
	o.artifactOptions.bind(c, dblgateway.Name, llamabrain.Name)
	o.reportOptions.bind(c)
	c.Flags().StringVar(&o.retrieval, "retrieval", "", "the retrieval trace, where it does not lie beside the trace")
	c.Flags().Var(&o.maxBytes, "max-bytes", "cap of a trace file without a truncation marker")
	c.Flags().StringVar(&o.contextFile, "context-config", "", "the context configuration of an event stream")
	c.Flags().IntVar(&o.coverage, "require-coverage", 0, "fail when fewer claims than this percentage were checked")
	return c
}

func (a *App) verify(o *verifyOptions, args []string) error {
	if o.coverage < 0 || o.coverage > 100 {
		return usage("Give a percentage from 0 to 100.", "--require-coverage %d is no percentage", o.coverage)
	}
	o.digests = o.format.value == formatJSON
	results, err := a.verifyAll(o, args)
	if err != nil {
		return err
	}
	return a.emit(finding.Report{Command: "verify", Results: results}, o.reportOptions, append(args, o.profiles, o.contextFile)...)
}

func (a *App) verifyAll(o *verifyOptions, args []string) ([]finding.Result, error) {
	profiles, err := o.toolProfiles()
	if err != nil {
		result, err := troubled(o.profiles, false, err)
		return []finding.Result{result}, err
	}
	if o.context, err = a.contextConfig(o); err != nil {
		result, err := troubled(o.contextFile, false, err)
		return []finding.Result{result}, err
	}
	settings := verify.Options{MaxBytes: int64(o.maxBytes), Profiles: profiles, Coverage: o.coverage}
	var results []finding.Result
	for _, argument := range args {
		paths := expand(argument)
		if len(paths) == 0 {
			results = append(results, empty(argument, false))
		}
		for _, path := range paths {
			more, err := a.verifyPath(path, o, settings)
			if err != nil {
				return nil, err
			}
			results = append(results, more...)
		}
	}
	return results, nil
}

func (a *App) verifyPath(path string, o *verifyOptions, settings verify.Options) ([]finding.Result, error) {
	if !isFolder(path) || o.isRun(path) {
		if a.isStream(path, &o.artifactOptions) {
			step, done := a.progressOfEvents("verify")
			result, err := a.verifyStream(path, o, settings, step)
			done()
			return []finding.Result{result}, err
		}
		if a.isLedger(path, &o.artifactOptions) {
			result, err := a.verifyLedger(path, o, settings)
			return []finding.Result{result}, err
		}
		if kind := a.auditKind(path, &o.artifactOptions); kind != "" {
			result, err := a.verifyAudit(auditFile{path: path, kind: kind}, o, settings)
			return []finding.Result{result}, err
		}
		if o.contextFile != "" && exists(path) {
			return nil, usage("Name the stream, or leave the flag out.", "--context-config belongs to an event stream, and %s is none", path)
		}
		_, result, err := a.verifyFile(path, o, settings, dialect.Options{Retrieval: o.retrieval})
		return []finding.Result{result}, err
	}
	if o.retrieval != "" {
		return nil, usage("Name the trace itself.", "--retrieval belongs to one trace, and %s is a folder", path)
	}
	tree, err := a.find(path, &o.artifactOptions)
	if err != nil {
		result, err := troubled(path, false, err)
		return []finding.Result{result}, err
	}
	return a.verifyTree(path, tree, o, settings)
}

// verifyTree checks every artifact of a folder, and then the folder: what lies there alone, and what never varies.
func (a *App) verifyTree(root string, tree *dialect.Tree, o *verifyOptions, settings verify.Options) ([]finding.Result, error) {
	streams, audits := a.takeStreams(tree, &o.artifactOptions), a.takeAudits(tree, &o.artifactOptions)
	ledgers := a.takeLedgers(tree, &o.artifactOptions)
	if o.dialect.value == dblgateway.Name || o.dialect.value == llamabrain.Name {
		tree.Entries, tree.Orphans = nil, nil
	}
	files := len(tree.Entries) + len(streams) + len(audits) + len(ledgers)
	if files+len(tree.Orphans) == 0 {
		return []finding.Result{empty(root, false, tree.Skipped...)}, nil
	}
	settings.InFolder = len(tree.Entries) > 1
	step, done := a.progress(files, "verify")
	defer done()
	var results []finding.Result
	var folder verify.Folder
	var chains verify.Chains
	for _, entry := range tree.Entries {
		t, result, err := a.verifyFile(entry.Path, o, settings, dialect.Options{Shared: entry.Shared})
		if err != nil {
			return nil, err
		}
		if t != nil {
			folder.Add(t)
			chains.Add(t)
		}
		results = append(results, result)
		step()
	}
	for _, path := range streams {
		result, err := a.verifyStream(path, o, settings, func() {})
		if err != nil {
			return nil, err
		}
		results = append(results, result)
		step()
	}
	for _, found := range audits {
		result, err := a.verifyAudit(found, o, settings)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
		step()
	}
	for _, path := range ledgers {
		result, err := a.verifyLedger(path, o, settings)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
		step()
	}
	whole := finding.Result{Name: root, Findings: folder.Findings(root)}
	whole.Findings = append(whole.Findings, chains.Findings()...)
	whole.Findings = append(whole.Findings, orphans(tree.Orphans)...)
	whole.Findings = append(whole.Findings, skipped(tree.Skipped)...)
	if len(whole.Findings) > 0 {
		whole.Checks = []finding.Check{{ID: "V6.folder", Status: finding.Passed, Count: files, Reason: ""}}
		whole.Judge(false)
		results = append(results, whole)
	}
	return results, nil
}

func (a *App) verifyFile(path string, o *verifyOptions, settings verify.Options, more dialect.Options) (*trace.Trace, finding.Result, error) {
	artifact, err := a.read(path, &o.artifactOptions, more)
	if err != nil {
		result, err := troubled(path, false, err)
		return nil, result, err
	}
	result := verify.Trace(artifact.Trace, artifact.Shape, settings)
	result.Name, result.Inputs = path, slices.Concat(artifact.Inputs, o.profileFiles)
	if r := artifact.Trace.Recording; r != nil {
		result.Name = r.Dir
	}
	detach(&result)
	return artifact.Trace, result, nil
}
