package cmd

import (
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/dialect"
	"github.com/dmpl/dmpl/pkg/dialect/llamabrain"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/verify"
)

// replayAudit runs the turns of a debug package or a rolling log again.
func (a *App) replayAudit(o *replayOptions, f auditFile) error {
	switch {
	case !f.hasRecords():
		return usage("Name a debug package or a rolling log.", "--state belongs to recorded turns, and %s is %s", f.path, f.described())
	case o.state == "":
		return usage("Give the save file from before the first turn.", "--state is required for %s", f.described())
	case o.overrides.given():
		return usage("Leave the flag out.", "--config, --policies, --snapshot, --profiles, --max-age and --update belong to native runs, and %s is %s", f.path, f.described())
	case o.config != "" || o.db != "" || o.until != replay.All || o.mode.value != modeStream:
		return usage("Leave the flag out.", "--context-config, --mode, --db and --until belong to an event stream, and %s is %s", f.path, f.described())
	case f.path == stdin && o.state == stdin:
		return usage("Name one of them.", "the package and its state cannot both be standard input")
	}
	result, err := a.replayPackage(o, f)
	if err != nil {
		return err
	}
	detach(&result)
	return a.emit(finding.Report{Command: "replay", Results: []finding.Result{result}}, o.reportOptions, f.path, o.state)
}

func (a *App) replayPackage(o *replayOptions, f auditFile) (finding.Result, error) {
	more := dialect.Options{Limit: int64(o.limit), Stdin: a.In, Digests: o.format.value == formatJSON}
	turns, errPackage := a.readAudit(f, true, more, verify.AuditOptions{})
	start := auditFile{path: o.state, kind: a.auditKind(o.state, &artifactOptions{dialect: choice{value: dialectAuto}})}
	if start.kind != llamabrain.KindPersona {
		start.kind = llamabrain.KindSave
	}
	more.Stdin = a.In
	state, errState := a.readAudit(start, true, more, verify.AuditOptions{})
	if errPackage != nil || errState != nil {
		return troubled(f.path, true, errPackage, errState)
	}
	result := replay.Audit(&replay.AuditInput{
		Path: f.path, Records: turns.audit.Records, Personas: state.save.Personas, Save: start.kind == llamabrain.KindSave,
		Shape: slices.Concat(evidenceOf(turns.result.Findings), formatOf(state.result.Findings)), Malformed: state.save.Malformed,
	})
	result.Name, result.Inputs = covered(f.path, turns.audit.Records, result.Findings), slices.Concat(turns.result.Inputs, state.result.Inputs)
	return result, nil
}

// covered names a package, and how many of its turns a verdict is about where that is not all (CONTRACT R6).
func covered(path string, turns []audit.Record, found []finding.Finding) string {
	ran := len(turns)
	for i := range turns {
		if turns[i].Malformed {
			ran--
		}
	}
	for _, f := range found {
		if f.Code == finding.AuditReplayNotRun || f.Code == finding.AuditReplayState {
			ran--
		}
	}
	if ran == len(turns) {
		return path
	}
	return fmt.Sprintf("%s, %d of %s", path, ran, finding.Counted(len(turns), "turn"))
}

// evidenceOf gives what breaks the format of a package or log, and each hash that is not that of what it covers: turns that were
// edited after they were recorded prove nothing, whatever they replay to (CONTRACT V5).
func evidenceOf(found []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool {
		return f.Severity != finding.Error && f.Rule() != "V1" && f.Rule() != "C1"
	})
}

// formatOf gives what breaks a format (CONTRACT V1, E1): what hashes claim is verify's matter.
func formatOf(found []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Rule() != "V1" && f.Rule() != "C1" })
}
