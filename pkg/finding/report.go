package finding

import (
	"iter"
	"slices"
)

// Verdict is the answer about one artifact, pair or run (CONTRACT Z1).
type Verdict string

// The verdicts. Pass and Fail are verify's, Equivalent and Divergent are those of diff and replay.
const (
	Pass       Verdict = "pass"
	Fail       Verdict = "fail"
	Equivalent Verdict = "equivalent"
	Divergent  Verdict = "divergent"
	Undecided  Verdict = "undecided"
)

// Exit codes, the same for all commands (CONTRACT Z2).
const (
	ExitHolds     = 0
	ExitFailed    = 1
	ExitTrouble   = 2
	ExitUndecided = 3
	ExitInterrupt = 130
)

// SchemaVersion names the report format.
const SchemaVersion = "dmpl.report.v1"

// Report is everything one command says (CONTRACT Z4).
type Report struct {
	Command string
	Version string // dmpl's own version
	Results []Result
	// NoFail and AllowUndecided are the two flags that change the exit code; the verdict stays.
	NoFail, AllowUndecided bool
}

// Result is what dmpl says about one artifact, pair or run.
type Result struct {
	Name      string // short name for people: a path, a turn folder
	Inputs    []Input
	Verdict   Verdict
	Trouble   bool // an input could not be read: exit code 2
	Checks    []Check
	Findings  []Finding
	Ignored   []Ignored
	Alignment *Alignment
	Timeline  iter.Seq[Row] // one short row an event and side, made while it is written; nil for none. Only for machine output
	Context   []Row         // the events around the root finding; only for people
	Coverage  *Coverage
}

// Input is one file that was read.
type Input struct {
	Path    string
	Dialect string
	Kind    string // determinism_trace, retrieval_trace, tool_result, tool_profile …
	Bytes   int64
	SHA256  string // 64 lowercase hex digits of the bytes as they stand; empty when unread
}

// Status is how a check ended (CONTRACT V5).
type Status string

// The check statuses. NotApplicable: an identity that this kind of artifact does not have (CONTRACT V0).
const (
	Passed        Status = "pass"
	Failed        Status = "fail"
	NotChecked    Status = "not_checked"
	NotApplicable Status = "not_applicable"
)

// Check is one kind of check with one outcome, counted over the artifact.
type Check struct {
	ID     string // e.g. "V5.tool_result_fingerprint", "E4"
	Status Status
	Count  int
	Reason string // why not checked, or what it was checked under
}

// Ignored is one thing left out of the verdict on purpose: a flag's doing, or a field that is never compared.
type Ignored struct {
	What   string // code or pointer as given
	Count  int    // findings it swallowed
	Reason string
}

// Coverage is checked claims over all claims (CONTRACT V5).
type Coverage struct{ Checked, Claims int }

// Alignment says how two event lists of different length correspond (CONTRACT E11).
type Alignment struct {
	LeftEvents, RightEvents int
	Edits                   []Edit
	Note                    string // "one extra event at 3; 4…9 equal 3…8"
}

// Edit is one run of the alignment: Left and Right are first indices, Count the length.
type Edit struct {
	Kind               EditKind
	Left, Right, Count int
}

// EditKind says what an alignment run is.
type EditKind string

// The alignment runs. Same events at other indices are Shifted.
const (
	Same      EditKind = "same"
	LeftOnly  EditKind = "left_only"
	RightOnly EditKind = "right_only"
)

// Row is one event in one line, for timelines and for the lines around a finding.
type Row struct {
	Side     string // "left", "right", or "" for a single artifact
	Index    int
	Role     string
	Decision string // interceptor/decision_type
	Tools    []string
	Digest   string // hex, of what is compared; empty where not computed
}

// Judge sorts the findings, sets the verdict from them (CONTRACT Z1, E1, E2) and, in a comparison, names the root.
// In a comparison what would fail one artifact makes the verdict undecided, a difference makes it divergent, and runs
// that are not comparable are undecided whatever else differs. An error whose code has no effect is never overlooked:
// it makes the verdict undecided.
func (r *Result) Judge(comparison bool) {
	Sort(r.Findings)
	var fails, rejects, differs, incomparable bool
	for _, f := range r.Findings {
		if f.Severity != Error {
			continue
		}
		switch Lookup(f.Code).Effect {
		case Trouble:
			r.Trouble = true
		case Fails:
			fails = true
		case Differs:
			differs = true
		case Incomparable:
			incomparable = true
		default:
			rejects = true
		}
	}
	r.Verdict = verdict(comparison, fails, rejects || incomparable || r.Trouble, differs && !incomparable)
	if comparison {
		r.nameRoot()
	}
}

// nameRoot makes the lowest error of the sorted findings the root (CONTRACT E11). A cascade follows
// from another finding, so it is never the root; one that is named already stays.
func (r *Result) nameRoot() {
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Class == Root }) {
		return
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity == Error && f.Class != Cascade {
			f.Class = Root
			return
		}
	}
}

func verdict(comparison, fails, rejects, differs bool) Verdict {
	if comparison {
		switch {
		case differs:
			return Divergent
		case fails || rejects:
			return Undecided
		}
		return Equivalent
	}
	switch {
	case fails || differs:
		return Fail
	case rejects:
		return Undecided
	}
	return Pass
}

// ExitCode of one result, before the report's flags.
func (r Result) ExitCode() int {
	switch {
	case r.Trouble:
		return ExitTrouble
	case r.Verdict == Fail || r.Verdict == Divergent:
		return ExitFailed
	case r.Verdict == Pass || r.Verdict == Equivalent:
		return ExitHolds
	}
	return ExitUndecided
}

// Verdict of the whole report: the verdict of the result that decides the exit code.
func (r Report) Verdict() Verdict {
	return r.worst().Verdict
}

// ExitCode is 2 before 1 before 3 before 0 over all results (CONTRACT Z2); no result at all is undecided. The two flags
// change the code of each result, so that neither hides what the other leaves.
func (r Report) ExitCode() int {
	if len(r.Results) == 0 {
		return r.allowed(ExitUndecided)
	}
	worst := ExitHolds
	for _, result := range r.Results {
		if code := r.allowed(result.ExitCode()); weight(code) > weight(worst) {
			worst = code
		}
	}
	return worst
}

func (r Report) allowed(code int) int {
	if code == ExitFailed && r.NoFail || code == ExitUndecided && r.AllowUndecided {
		return ExitHolds
	}
	return code
}

func (r Report) worst() Result {
	worst := Result{Verdict: Undecided}
	for i, result := range r.Results {
		if i == 0 || weight(result.ExitCode()) > weight(worst.ExitCode()) {
			worst = result
		}
	}
	return worst
}

func weight(code int) int {
	return [...]int{ExitHolds: 0, ExitFailed: 2, ExitTrouble: 3, ExitUndecided: 1}[code]
}
