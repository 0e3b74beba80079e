package cmd

import (
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/replay"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/verify"
)

// replaySame replays a run while it is read, turn by turn; false where it is not made again in the same bytes or something is wrong
// with it. It is then read whole, so that the report says what.
func (a *App) replaySame(dir string, o *replayOptions, given *tree) (replayedRun, bool) {
	walk, err := run.StartWalk(dir, int64(o.limit))
	if err != nil {
		return replayedRun{}, false
	}
	defer walk.Close()
	overrides, err := given.of(walk.Trace().Recording)
	if err != nil {
		return replayedRun{}, false
	}
	said, err := given.store.of(walk.Trace().Recording)
	if err != nil {
		return replayedRun{}, false
	}
	same, err := replay.RunSame(walk, replay.RunOptions{
		Overrides: overrides, Profiles: given.profiles, Until: o.until, Timeline: o.format.value == formatJSON, Stored: said,
	})
	if err != nil {
		return replayedRun{}, false
	}
	walked, err := walk.End(same.End.Envelope, same.Events)
	if err != nil {
		return replayedRun{}, false
	}
	found := verify.Trace(walked.Trace, walked.Shape, verify.Options{InFolder: true}).Findings
	r := replayedRun{dir: dir, reached: true, trace: walked.Trace, overrides: overrides}
	r.made = same.Replayed(append(found, a.tooOld(walked.Trace, o.overrides.maxAge)...))
	if r.result = r.made.Result; r.result.Verdict != finding.Equivalent {
		return replayedRun{}, false
	}
	r.describe(given, walked.Inputs)
	return r, true
}
