package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/dblgateway"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/dialect/native"
	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/trace"
	"github.com/dmpl/dmpl/pkg/verify"
)

type diffOptions struct {
	artifactOptions
	reportOptions
	leftRetrieval, rightRetrieval string
	ignore                        []string
}

func (a *App) diffCommand() *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff LEFT RIGHT [FLAGS]",
		Short: "Say whether two runs are equivalent, and where they part if not",
		Long: `diff compares two recorded runs, event index by event index: equivalent, divergent or undecided, with the first
difference as the root. LEFT and RIGHT are two traces, two event streams (a JSON
snapshot or an SQLite trail), two debug packages, rolling logs or save files of LlamaBrain, or two folders whose turns and
streams are compared one by one.`,
		Example: `  dmpl diff left/memory_trace.json right/memory_trace.json
  dmpl diff runs/monday/observability runs/tuesday/observability
  dmpl diff monday/snapshot.json tuesday/trail.sqlite
  dmpl diff debug-monday.json debug-tuesday.json
  dmpl diff a.json b.json --left-retrieval a.rows.json --right-retrieval b.rows.json
  dmpl diff a.json b.json --ignore '/events/*/tool_calls/*/normalized_args/timestamp'`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return a.diff(&o, args[0], args[1]) },
	}
	o.artifactOptions.bind(c, dblgateway.Name, llamabrain.Name)
	o.reportOptions.bind(c)
	c.Flags().StringVar(&o.leftRetrieval, "left-retrieval", "", "the left retrieval trace, where it does not lie beside the trace")
	c.Flags().StringVar(&o.rightRetrieval, "right-retrieval", "", "the right retrieval trace, where it does not lie beside the trace")
	c.Flags().StringArrayVar(&o.ignore, "ignore", nil, "reason code, or JSON Pointer (/retrieval/… for a retrieval trace), to leave out of the verdict; listed in the report")
	return c
}

// pairing is two artifacts to compare, under a name for people.
type pairing struct {
	name                string
	left, right         string
	leftMore, rightMore dialect.Options
	read                func(left, right *trace.Trace) // what was read; nil where nobody asks
}

func (a *App) diff(o *diffOptions, left, right string) error {
	if err := checkIgnored(o.ignore); err != nil {
		return err
	}
	o.digests = o.format.value == formatJSON
	results, err := a.compare(o, left, right)
	if err != nil {
		return err
	}
	return a.emit(finding.Report{Command: "diff", Results: results}, o.reportOptions, left, right, o.profiles)
}

func (a *App) compare(o *diffOptions, left, right string) ([]finding.Result, error) {
	streams, err := a.areStreams(left, right, o)
	if err != nil {
		return nil, err
	}
	if streams {
		result, err := a.diffStreams(left, right, o)
		return []finding.Result{result}, err
	}
	audits, are, err := a.areAudits(left, right, o)
	if err != nil {
		return nil, err
	}
	if are {
		result, err := a.diffAudits(audits, o)
		return []finding.Result{result}, err
	}
	profiles, err := o.toolProfiles()
	if err != nil {
		result, err := troubled(o.profiles, true, err)
		return []finding.Result{result}, err
	}
	settings := equiv.Options{Profiles: profiles, Ignore: o.ignore, Timeline: o.format.value == formatJSON}
	if isFolder(left) && isFolder(right) && !(o.isRun(left) && o.isRun(right)) {
		return a.diffTrees(left, right, o, settings)
	}
	result, err := a.diffPair(pairing{
		name: a.nameOf(left, right), left: left, right: right,
		leftMore:  dialect.Options{Retrieval: o.leftRetrieval},
		rightMore: dialect.Options{Retrieval: o.rightRetrieval},
	}, o, settings)
	return []finding.Result{result}, err
}

// nameOf names a comparison by what was typed (CONTRACT Z4).
func (a *App) nameOf(left, right string) string {
	typed := []string{left, right}
	return a.shown(left, typed) + " and " + a.shown(right, typed)
}

// checkIgnored refuses what could never match: a typing error must not pass as a wish.
func checkIgnored(ignored []string) error {
	for _, what := range ignored {
		if !strings.HasPrefix(what, "/") && finding.Lookup(finding.Code(what)).Code == "" {
			return usage("Give a code that dmpl explain lists, or a pointer that starts with /.", "--ignore %s is no reason code", what)
		}
	}
	return nil
}

// diffTrees compares two runs turn by turn, by the names that their turns have without the session (orket.md §1).
func (a *App) diffTrees(left, right string, o *diffOptions, settings equiv.Options) ([]finding.Result, error) {
	if o.leftRetrieval+o.rightRetrieval != "" {
		return nil, usage("Name the two traces themselves.", "a retrieval flag belongs to one trace, and two folders were given")
	}
	leftTree, errLeft := a.find(left, &o.artifactOptions)
	rightTree, errRight := a.find(right, &o.artifactOptions)
	if errLeft == nil {
		errLeft = oneRun(left, leftTree)
	}
	if errRight == nil {
		errRight = oneRun(right, rightTree)
	}
	if errLeft != nil || errRight != nil {
		result, err := troubled(a.nameOf(left, right), true, errLeft, errRight)
		return []finding.Result{result}, err
	}
	leftStreams, rightStreams := a.streamsIn(leftTree, o), a.streamsIn(rightTree, o)
	leftAudits, rightAudits := a.auditsIn(leftTree, o), a.auditsIn(rightTree, o)
	var results []finding.Result
	for _, side := range []struct {
		root    string
		tree    *dialect.Tree
		streams []string
		audits  []auditFile
	}{{left, leftTree, leftStreams, leftAudits}, {right, rightTree, rightStreams, rightAudits}} {
		if len(side.tree.Entries)+len(side.streams)+len(side.audits) == 0 {
			results = append(results, empty(side.root, true, side.tree.Skipped...))
		}
	}
	if len(results) > 0 {
		return results, nil
	}
	turns := turnsOf(leftTree, rightTree)
	pairs := pairedByPlace(left, right, leftStreams, rightStreams)
	audits := placedAudits(left, right, leftAudits, rightAudits)
	step, done := a.progress(len(turns)+len(pairs)+len(audits), "diff")
	defer done()
	chains := chainPair{whole: true}
	for _, turn := range turns {
		result, err := a.diffTurn(turn, left, right, o, settings, &chains)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
		step()
	}
	for _, pair := range pairs {
		result, err := a.diffStreamPair(pair, left, right, o)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
		step()
	}
	for _, pair := range audits {
		result, err := a.diffAuditPair(pair, left, right, o)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
		step()
	}
	results = append(results, chains.results(left, right)...)
	if alone := orphans(slices.Concat(leftTree.Orphans, rightTree.Orphans)); len(alone) > 0 {
		whole := finding.Result{
			Name: a.nameOf(left, right), Findings: alone,
			Checks: []finding.Check{{ID: "E6", Status: finding.NotChecked, Count: len(alone), Reason: "no turn reads the retrieval trace"}},
		}
		whole.Judge(true)
		results = append(results, whole)
	}
	return results, nil
}

func oneRun(root string, tree *dialect.Tree) error {
	if len(tree.Runs) <= 1 {
		return nil
	}
	return &dialect.Problem{
		Code: finding.InputSeveralRuns, Path: root, Offset: -1, Detail: "holds several runs: " + strings.Join(tree.Runs, ", "),
	}
}

// turn is one artifact name with what each run has under it.
type turn struct {
	key         string
	left, right *dialect.Entry
}

// spelling makes two spellings of one name equal: file systems differ in which they keep (CONTRACT C3).
func spelling(key string) string { return string(canon.NFC([]byte(key))) }

func turnsOf(left, right *dialect.Tree) []turn {
	var turns []turn
	at := map[string]int{}
	for i := range left.Entries {
		at[spelling(left.Entries[i].Key)] = len(turns)
		turns = append(turns, turn{key: left.Entries[i].Key, left: &left.Entries[i]})
	}
	for i := range right.Entries {
		key := spelling(right.Entries[i].Key)
		if j, ok := at[key]; ok {
			turns[j].right = &right.Entries[i]
			continue
		}
		turns = append(turns, turn{key: key, right: &right.Entries[i]})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return strings.Compare(a.key, b.key) })
	return turns
}

func (a *App) diffTurn(t turn, left, right string, o *diffOptions, settings equiv.Options, chains *chainPair) (finding.Result, error) {
	chains.whole = chains.whole && t.left != nil && t.right != nil
	switch {
	case t.right == nil:
		return missing(finding.EquivTurnMissing, t.key, t.left.Path, right, "the right "+lacks(t.left)), nil
	case t.left == nil:
		return missing(finding.EquivTurnMissing, t.key, left, t.right.Path, "the left "+lacks(t.right)), nil
	}
	return a.diffPair(pairing{
		name: t.key, left: t.left.Path, right: t.right.Path,
		leftMore: dialect.Options{Shared: t.left.Shared}, rightMore: dialect.Options{Shared: t.right.Shared},
		read: chains.add,
	}, o, settings)
}

// lacks says what is not there of an entry that the other side has.
func lacks(there *dialect.Entry) string {
	if native.IsRun(native.Folder(there.Path)) {
		return "folder has no such run"
	}
	return "run has no such turn"
}

// missing is the result of what one folder has and the other has not.
func missing(code finding.Code, key, left, right, detail string) finding.Result {
	f := about(code, left)
	f.RightArtifact, f.Detail = right, detail
	r := finding.Result{Name: key, Findings: []finding.Finding{f}, Checks: []finding.Check{{ID: f.Rule(), Status: finding.Failed, Count: 1}}}
	r.Judge(true)
	return r
}

func (a *App) diffPair(p pairing, o *diffOptions, settings equiv.Options) (finding.Result, error) {
	left, errLeft := a.read(p.left, &o.artifactOptions, p.leftMore)
	if errLeft == nil && len(left.Shape) == 0 {
		p.rightMore.Twin = left.Trace
	}
	right, errRight := a.read(p.right, &o.artifactOptions, p.rightMore)
	if errLeft != nil || errRight != nil {
		return troubled(p.name, true, errLeft, errRight)
	}
	if p.read != nil {
		p.read(left.Trace, right.Trace)
	}
	// The given profiles are an override: the sides answer for what they recorded, not for them. What never varies is
	// no matter between two runs.
	checks := verify.Options{InFolder: true}
	before := equiv.Side{Trace: left.Trace, Findings: verify.Trace(left.Trace, left.Shape, checks).Findings}
	after := equiv.Side{Trace: right.Trace, Findings: verify.Trace(right.Trace, right.Shape, checks).Findings}
	result := equiv.Compare(before, after, settings)
	if result.Verdict == finding.Equivalent && left.Trace.Recording != nil && right.Trace.Recording != nil &&
		!slices.Contains(o.ignore, string(finding.EquivInputs)) {
		result.Findings = append(result.Findings, replay.Inputs(before, after)...)
		result.Judge(true)
	}
	result.Name, result.Inputs = p.name, slices.Concat(left.Inputs, right.Inputs, o.profileFiles)
	return result, nil
}
