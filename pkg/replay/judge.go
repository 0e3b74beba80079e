package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/trace"
)

// unseen marks what follows from a changed prompt (R2).
const unseen = "; the model never saw this prompt"

// judge adds what only a replay sees, and orders everything by the stages.
func (r *replayed) judge() {
	fs := r.result.Findings
	for i := range fs {
		if fs[i].Class == finding.Root {
			fs[i].Class = finding.Independent
		}
	}
	changed := r.changedPrompts()
	fs = slices.DeleteFunc(fs, func(f finding.Finding) bool { // said by replay.prompt_changed, with its words
		return f.Code == finding.StagePrompt && slices.ContainsFunc(changed, func(c finding.Finding) bool { return c.EventIndex == f.EventIndex })
	})
	fs = append(fs, changed...)
	fs = append(fs, r.outputs()...)
	fs = append(fs, r.toolResults()...)
	fs = append(fs, r.made.unknown...)
	fs = slices.DeleteFunc(fs, func(f finding.Finding) bool { return r.o.Until != All && f.EventIndex > r.o.Until })
	r.explainRankings(fs)
	r.cascade(fs)
	said, held := r.stored()
	fs = append(fs, said...)
	fs = append(append(fs, r.remarks(fs)...), r.notes()...)
	if r.truncated() { // R5: never divergent
		for i := range fs {
			if finding.Lookup(fs[i].Code).Effect == finding.Differs && fs[i].Severity == finding.Error {
				fs[i].Severity = finding.Warning
			}
		}
	}
	r.result.Findings = fs
	r.result.Checks = slices.Concat(r.result.Checks, checks(len(r.made.events), len(r.made.source.Outputs), len(changed)), held)
	r.result.Judge(true)
}

func quotedText(text string) finding.Value { return finding.Value(canon.Quote(nil, []byte(text))) }

// changedPrompts compares the prompt that each recorded output answered with the one that was made again (R2, R3).
func (r *replayed) changedPrompts() []finding.Finding {
	var fs []finding.Finding
	var recorded *made // executed as recorded, where documents were overridden
	for _, d := range r.recorded.Recording.Outputs {
		at, ok := placeOf(d)
		now, asked := r.made.prompts[at]
		stated := d.Field("/prompt_digest")
		if !ok || !asked || !stated.Ok() || stated.Is(now.sum) {
			continue
		}
		f := finding.New(finding.ReplayPromptChanged)
		f.EventIndex, f.Artifact, f.Pointer, f.RightArtifact = now.event, d.Path, d.At+"/prompt_digest", r.recorded.Path
		f.RightPointer = "/events/" + strconv.Itoa(now.event) + "/stage/prompt_digest"
		f.Subject = place(at)
		f.Detail = "the prompt is another one than the recorded output answered"
		if recorded == nil && len(r.o.Overrides) > 0 {
			recorded, _ = r.execute(nil, func(at [2]int, _ string) bool { return r.made.prompts[at].text != "" }) // without it the words before are not known, which is said
		}
		before, known := r.promptBefore(at, stated, recorded)
		if known {
			f.Expected, f.Actual = quotedText(before), quotedText(now.text)
		} else {
			f.Expected, f.Actual = finding.Value(stated.Raw), quotedText(now.sum)
			f.Detail += "; its words cannot be had: prompts were not kept, and the recorded configuration does not give them"
		}
		fs = append(fs, f)
	}
	return fs
}

// promptBefore gives the prompt that an output answered: kept, or made again under the recorded documents. Its digest proves it.
func (r *replayed) promptBefore(at [2]int, stated trace.Field, recorded *made) (string, bool) {
	if d, ok := r.recorded.Recording.Prompt(at[0], at[1]); ok {
		text, _ := d.Value.Get("text")
		if kept, ok := text.Text(); ok && stated.Is(digestOf(kept)) {
			return kept, true
		}
	}
	if recorded == nil {
		return "", false
	}
	before, ok := recorded.prompts[at]
	return before.text, ok && stated.Is(before.sum)
}

func digestOf(text string) string {
	sum, err := canon.Digest(canon.Raw, []byte(text))
	if err != nil {
		return ""
	}
	return sum.Hex()
}

func placeOf(d trace.Document) ([2]int, bool) {
	turn, okTurn := d.Int("turn")
	attempt, okAttempt := d.Int("attempt")
	return [2]int{turn, attempt}, okTurn && okAttempt
}

func place(at [2]int) string { return fmt.Sprintf("turn %d, attempt %d", at[0], at[1]) }

// eventOf finds an event of a trace by kind, turn and attempt; NoEvent where there is none.
func eventOf(t *trace.Trace, kind string, at [2]int) int {
	for i := range t.Events {
		e := &t.Events[i]
		k, ok := e.KindOf()
		if ok && k.Name() == kind && e.Stage != nil && e.Stage.Turn == at[0] && e.Stage.Attempt == at[1] {
			if n, ok := e.Stated(); ok {
				return n
			}
		}
	}
	return finding.NoEvent
}

// outputs reports recorded outputs that were not asked for, and asked ones that are not recorded (R2). One that was missing when
// the run was recorded is missing still.
func (r *replayed) outputs() []finding.Finding {
	var fs []finding.Finding
	for _, at := range r.made.source.Missing {
		if eventOf(r.recorded, "on_turn_failure/output_missing", at) != finding.NoEvent {
			continue
		}
		f := finding.New(finding.ReplayOutputMissing)
		f.EventIndex, f.Subject = r.made.prompts[at].event+1, place(at)
		f.Artifact, f.Detail = r.file("outputs.jsonl"), "no output is recorded for "+place(at)+", and the turn cannot go on"
		fs = append(fs, f)
	}
	if r.made.end == nil { // R5: what comes later is not asked for
		return fs
	}
	for _, d := range r.recorded.Recording.Outputs {
		at, ok := placeOf(d)
		if !ok || r.made.source.Outputs[at] {
			continue
		}
		f := finding.New(finding.ReplayOutputUnused)
		f.EventIndex, f.Subject = eventOf(r.recorded, trace.ModelAnswered, at), place(at)
		f.Artifact, f.Pointer, f.Detail = d.Path, d.At, "nothing asks for the output of "+place(at)
		fs = append(fs, f)
	}
	return fs
}

// toolResults does the same for tool results, and holds each to the call that it answers (P1).
func (r *replayed) toolResults() []finding.Finding {
	var fs []finding.Finding
	for _, c := range r.made.source.NoResult {
		at := [2]int{c.Turn, c.Attempt}
		if eventOf(r.recorded, "on_turn_failure/stage_failed", at) != finding.NoEvent {
			continue
		}
		f := finding.New(finding.ReplayResultMissing)
		f.EventIndex, f.Subject = eventOf(r.recorded, trace.ModelAnswered, at), place(at)
		f.Artifact, f.Detail = r.file("tool_results.jsonl"), fmt.Sprintf("call %d of %s (%q) has no recorded result", c.Number, place(at), c.Tool)
		fs = append(fs, f)
	}
	for _, c := range r.made.source.Other {
		at := [2]int{c.Turn, c.Attempt}
		d, _ := r.recorded.Recording.ToolResult(c.Turn, c.Attempt, c.Number)
		f := finding.New(finding.ReplayResultOther)
		f.EventIndex, f.Subject = eventOf(r.recorded, trace.ModelAnswered, at), place(at)
		f.Artifact, f.Pointer, f.Expected, f.Actual = d.Path, d.At+"/args", finding.Value(d.Field("/args").Raw), finding.Value(c.Args)
		f.Detail = fmt.Sprintf("call %d of %s asks %q for something else than the recorded result answers", c.Number, place(at), c.Tool)
		fs = append(fs, f)
	}
	if r.made.end == nil {
		return fs
	}
	for _, d := range r.recorded.Recording.ToolResults {
		at, ok := placeOf(d)
		call, okCall := d.Int("call")
		if !ok || !okCall || r.made.source.Results[[3]int{at[0], at[1], call}] {
			continue
		}
		f := finding.New(finding.ReplayResultUnused)
		f.EventIndex, f.Subject = eventOf(r.recorded, trace.ModelAnswered, at), place(at)
		f.Artifact, f.Pointer, f.Detail = d.Path, d.At, fmt.Sprintf("nothing asks for the result of call %d of %s", call, place(at))
		fs = append(fs, f)
	}
	return fs
}

// file gives the path of a file of the run.
func (r *replayed) file(name string) string {
	return strings.TrimSuffix(r.recorded.Path, "trace.json") + name
}

// notes say first what the verdict rests on (R1, R5).
func (r *replayed) notes() []finding.Finding {
	var fs []finding.Finding
	for _, v := range r.o.Overrides {
		was := v.Of(r.recorded.Recording)
		f := note(finding.ReplayOverridden, v.Name+" of the run is replaced")
		if v.By != "" {
			f.Detail += " by " + v.By
		}
		f.Artifact, f.RightArtifact = was.Path, v.Document.Path
		before, errBefore := canon.Digest(canon.JSONv1, was.Value.Raw())
		now, errNow := canon.Digest(canon.JSONv1, v.Document.Value.Raw())
		if errBefore == nil && errNow == nil {
			f.Expected, f.Actual = quoted(before.Hex()), quoted(now.Hex())
			if before == now {
				f.Detail = v.Name + " of the run is given, and is the recorded one"
			}
		}
		fs = append(fs, f)
	}
	if r.o.Until != All {
		fs = append(fs, note(finding.ReplayPrefix, fmt.Sprintf("the events up to index %d were replayed", r.o.Until)))
	}
	return fs
}

// checks count what was held: the events that were made, and the outputs that were asked for (R1, R2, R7).
func checks(events, asked, changed int) []finding.Check {
	list := []finding.Check{{ID: "R1", Status: finding.Passed, Count: events, Reason: "events were made again"}}
	if n := asked - changed; n > 0 {
		list = append(list, finding.Check{ID: "R2", Status: finding.Passed, Count: n})
	}
	if changed > 0 {
		list = append(list, finding.Check{ID: "R2", Status: finding.Failed, Count: changed})
	}
	return list
}
