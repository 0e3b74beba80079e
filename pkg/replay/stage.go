package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// stage is a stage of a turn: its name, the findings that tell of it, and the files of a run that it reads.
type stage struct {
	name  string
	codes []finding.Code
	kinds []string // of events
	reads string
}

// stagesOf are the stages in their order (P1). A finding belongs to the first stage that has its code, else to the one that has
// the kind of its event.
var stagesOf = []stage{
	{"resolve refs", []finding.Code{finding.StageContext}, []string{"on_turn_failure/reference_refused"}, "turns.jsonl, config.json"},
	{"admit", nil, []string{"on_turn_failure/admission_denied"}, "turns.jsonl, policies.json"},
	{
		"retrieve", []finding.Code{
			finding.ReplayCandidateUnknown, finding.EquivRetrievalCount, finding.EquivRetrievalLinks, finding.EquivRetrievalPolicy, finding.EquivRetrievalQuery,
			finding.EquivRecords,
		}, nil, "snapshot.json, policies.json, config.json, turns.jsonl, candidates.jsonl",
	},
	{"constraints", []finding.Code{finding.StageConstraints}, nil, "turns.jsonl, outputs.jsonl"},
	{
		"assemble",
		[]finding.Code{finding.ReplayPromptChanged, finding.StagePrompt},
		[]string{trace.PromptReady},
		"turns.jsonl, config.json, snapshot.json, outputs.jsonl",
	},
	{
		"output",
		[]finding.Code{finding.ReplayOutputMissing, finding.ReplayOutputUnused},
		[]string{"on_turn_failure/output_missing"},
		"outputs.jsonl",
	},
	{"parse", []finding.Code{finding.StageParse}, []string{trace.ModelAnswered}, "outputs.jsonl, config.json"},
	{
		"tools",
		[]finding.Code{finding.ReplayResultMissing, finding.ReplayResultOther, finding.ReplayResultUnused},
		[]string{trace.ToolReady, trace.ToolAnswered},
		"outputs.jsonl, tool_results.jsonl, profiles.json",
	},
	{"gate", []finding.Code{finding.StageGate}, []string{"gate/passed", trace.GateRetry, "gate/fallback"}, "turns.jsonl, config.json, snapshot.json, outputs.jsonl"},
	{"mutate", []finding.Code{finding.StageMutations, finding.StageState}, []string{"mutate/applied"}, "snapshot.json, config.json, turns.jsonl, outputs.jsonl"},
	{"dispatch", []finding.Code{finding.StageIntents}, []string{"dispatch/applied"}, "outputs.jsonl, turns.jsonl"},
	{
		"commit", nil,
		[]string{"commit/commit_applied", "commit/policy_rejected", "commit/validation_failed", "commit/storage_apply_failed", "commit/payload_mismatch"},
		"policies.json, snapshot.json, commit.json, outputs.jsonl",
	},
}

// moment is where in the run a finding stands: event, then stage.
type moment struct {
	event, stage int
}

func (m moment) compare(other moment) int {
	return cmp.Or(cmp.Compare(m.event, other.event), cmp.Compare(m.stage, other.stage))
}

// cascade finds the first stage of each turn that differs, and marks what follows in the turn (R2, E11).
func (r *replayed) cascade(fs []finding.Finding) {
	first := map[int]int{}   // by turn: place of the first finding
	changed := map[int]int{} // by turn: the event of the first changed prompt
	for i := range fs {
		turn, ok := r.turnOf(&fs[i])
		if !ok {
			r.ofRun(&fs[i])
			continue
		}
		if at, there := first[turn]; !there || r.momentOf(&fs[i]).compare(r.momentOf(&fs[at])) < 0 {
			first[turn] = i
		}
		if at, there := changed[turn]; fs[i].Code == finding.ReplayPromptChanged && (!there || fs[i].EventIndex < at) {
			changed[turn] = fs[i].EventIndex
		}
	}
	for i := range fs {
		f := &fs[i]
		turn, ok := r.turnOf(f)
		if !ok {
			continue
		}
		begins := r.momentOf(&fs[first[turn]])
		if r.momentOf(f).compare(begins) > 0 {
			f.Class = finding.Cascade
		}
		if at, there := changed[turn]; there && f.EventIndex >= at && f.Class == finding.Cascade {
			f.Detail += unseen
		}
	}
	lowest := -1
	for _, turn := range slices.Sorted(maps.Keys(first)) {
		f := &fs[first[turn]]
		if lowest < 0 || r.momentOf(f).compare(r.momentOf(&fs[lowest])) < 0 {
			lowest = first[turn]
		}
		if s := r.momentOf(f).stage; s < len(stagesOf) {
			f.Hint = fmt.Sprintf("The first stage of turn %d that differs is %s. It reads %s.", turn, stagesOf[s].name, stagesOf[s].reads)
		}
	}
	if lowest >= 0 { // the first of all follows from nothing
		fs[lowest].Class = finding.Independent
	}
}

// ofRun names the stage of a difference at the end of the run, which is no turn's.
func (r *replayed) ofRun(f *finding.Finding) {
	end := f.Code == finding.EquivBuffer || f.Code == finding.EquivAbort || f.Code == finding.EquivPayload
	if f.EventIndex != finding.NoEvent && finding.Lookup(f.Code).Effect == finding.Differs {
		if e, ok := eventAt(r.recorded, f.EventIndex); ok {
			kind, known := e.KindOf()
			end = known && kind.OfRun
		}
	}
	if commit := stagesOf[len(stagesOf)-1]; end {
		f.Hint = fmt.Sprintf("The stage is %s. It reads %s.", commit.name, commit.reads)
	}
}

// turnOf gives the turn of a finding that tells of a difference at an event of one.
func (r *replayed) turnOf(f *finding.Finding) (int, bool) {
	if f.Severity != finding.Error || f.EventIndex == finding.NoEvent || finding.Lookup(f.Code).Effect != finding.Differs {
		return 0, false
	}
	for _, t := range []*trace.Trace{r.recorded, r.rebuilt} {
		if e, ok := eventAt(t, f.EventIndex); ok && e.Stage != nil && e.Stage.TurnField.Ok() {
			return e.Stage.Turn, true
		}
	}
	return 0, false
}

func eventAt(t *trace.Trace, index int) (*trace.Event, bool) {
	if index < 0 || index >= len(t.Events) {
		return nil, false
	}
	if e := &t.Events[index]; e.Index == index {
		return e, true
	}
	for i := range t.Events {
		if n, ok := t.Events[i].Stated(); ok && n == index {
			return &t.Events[i], true
		}
	}
	return nil, false
}

func (r *replayed) momentOf(f *finding.Finding) moment {
	m := moment{event: f.EventIndex, stage: len(stagesOf)}
	if f.Code == finding.EquivEventCount {
		return m // what happened at the index says more
	}
	for i, s := range stagesOf {
		if slices.Contains(s.codes, f.Code) {
			m.stage = i
			return m
		}
	}
	for _, t := range []*trace.Trace{r.rebuilt, r.recorded} {
		e, ok := eventAt(t, f.EventIndex)
		if !ok {
			continue
		}
		name := e.Interceptor.Text() + "/" + e.Decision.Text()
		for i, s := range stagesOf {
			if slices.Contains(s.kinds, name) {
				m.stage = min(m.stage, i)
			}
		}
	}
	return m
}
