package replay

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/dmpl/dmpl/pkg/equiv"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Walk reads a recorded run beside its replay, a turn at a time. Every error says that the run is not as it is asked.
type Walk interface {
	// Trace gives the run's documents and the envelope of its trace, with the lines of the turn that was read last.
	Trace() *trace.Trace
	KeepsPrompts() bool
	// Turn reads the next turn; io.EOF after the last one.
	Turn() error
	// Event and Row compare what was made with what is recorded next.
	Event(made []byte) error
	Row(made []byte) error
}

// Same is what is known of a run of which a replay has made everything that it recorded in the same bytes, but for its end.
type Same struct {
	End    *execute.End
	Events int // that were made

	replayed *replayed
	answers  int // that were asked for
	rows     []finding.Row
}

// errOther ends a replay that makes something else than is recorded, or of which more is to be said.
var errOther = errors.New("the run is not made again in the same bytes")

// RunSame executes a recorded run again while it is read, and gives what is known of it where everything is made in the same bytes:
// then nothing of it need be read, verified or compared a second time. What differs, or what the recording has more of, is an error,
// and [Run] says what it is. The end of the run is left to the caller to compare.
func RunSame(w Walk, o RunOptions) (*Same, error) {
	t := w.Trace()
	if o.Until != All || o.Profiles != nil {
		return nil, errOther // R5, R1: more is said of these
	}
	r := &replayed{recorded: t, o: o}
	r.fromStore = r.startsFromStore()
	documents := r.documents(o.Overrides)
	if slices.ContainsFunc(documents.Profiles, func(p trace.ToolProfile) bool { return strings.HasPrefix(p.Version, trace.Unknown) }) {
		return nil, errOther // V3: a call of such a tool is no claim, and verify sees none here
	}
	s := &sameness{walk: w, documents: documents, same: &Same{replayed: r}}
	x, err := execute.Begin(documents, r.options(documents, w.KeepsPrompts()), s)
	if err != nil {
		return nil, err
	}
	for {
		if err := w.Turn(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if err := s.turn(x, t.Recording); err != nil {
			return nil, err
		}
	}
	s.same.End, err = x.End()
	return s.same, err
}

// sameness is an execution that is compared with the recording while it is made.
type sameness struct {
	walk      Walk
	documents *trace.Recording // with those of the working tree in place of recorded ones
	same      *Same

	outputs, results, prompts []trace.Document // lines of the turn that nothing has been compared with
}

// lines gives those of a file.
func (s *sameness) lines(file string) *[]trace.Document {
	switch file {
	case execute.OutputsFile:
		return &s.outputs
	case execute.ToolResultsFile:
		return &s.results
	}
	return &s.prompts
}

// turn executes the turn that was read, and holds it to its lines: each was asked for, and each says what is made.
func (s *sameness) turn(x *execute.Run, r *trace.Recording) error {
	d := s.documents
	d.Outputs, d.ToolResults, d.Candidates = r.Outputs, r.ToolResults, r.Candidates
	candidates, err := execute.ReadCandidates(d.Candidates)
	if err != nil {
		return err
	}
	if d.Candidates != nil && s.same.replayed.recorded.Visibility.Is(execute.Off) || !inOrder(d.Candidates) {
		return errOther
	}
	if slices.ContainsFunc(r.ToolResults, func(result trace.Document) bool { return lacksEffects(d.Profiles, result) }) {
		return errOther
	}
	s.outputs, s.results, s.prompts = r.Outputs, r.ToolResults, r.Prompts
	s.same.answers += len(r.Outputs)
	turn, err := x.Turn(r.Turns[0], candidates, execute.NewRecorded(d))
	if err != nil {
		return err
	}
	if len(s.outputs)+len(s.results)+len(s.prompts) > 0 {
		return errOther
	}
	if turn.Result != nil {
		for _, kind := range turn.Result.Retrieval.Kinds() {
			if len(kind.Unknown) > 0 { // R7
				return errOther
			}
		}
	}
	return nil
}

// inOrder says that candidates stand in the order of retrieval (V2).
func inOrder(candidates []trace.Document) bool {
	return slices.IsSortedFunc(candidates, func(a, b trace.Document) int {
		return cmp.Compare(memory.KindPlace(a.Field("/kind").Text()), memory.KindPlace(b.Field("/kind").Text()))
	})
}

// lacksEffects says that a result has no side effects where the tool's profile asks for them (D2).
func lacksEffects(profiles trace.Profiles, result trace.Document) bool {
	_, there := result.Value.Get("side_effects")
	return !there && slices.ContainsFunc(profiles, func(p trace.ToolProfile) bool {
		return len(p.SideEffects) > 0 && result.Field("/tool_name").Is(p.Name)
	})
}

// Event implements execute.Sink.
func (s *sameness) Event(event []byte, rows ...[]byte) error {
	s.same.Events++
	if s.same.replayed.o.Timeline {
		t, _, err := shape.ReadTrace(s.same.replayed.recorded.Path, slices.Concat([]byte(`{"events":[`), event, []byte(`]}`)), nil)
		if err != nil {
			return err
		}
		s.same.rows = append(s.same.rows, equiv.Row(&t.Events[0]))
	}
	err := s.walk.Event(event)
	for i := 0; i < len(rows) && err == nil; i++ {
		err = s.walk.Row(rows[i])
	}
	return err
}

// Line implements execute.Sink: what is made of a line that was recorded is that line.
func (s *sameness) Line(file string, text func() []byte) error {
	left := s.lines(file)
	if len(*left) == 0 || !bytes.Equal((*left)[0].Value.Raw(), text()) {
		return errOther
	}
	*left = (*left)[1:]
	return nil
}

// Replayed gives the result of the run, with what verify found in its documents. Where that is not equivalent, [Run] has more to say.
func (s *Same) Replayed(found []finding.Finding) *Replayed {
	r := s.replayed
	r.o.Findings = found
	bare := *r.recorded
	bare.EventList = trace.Field{Raw: []byte("[]"), State: trace.Present}
	r.result = equiv.Compare(equiv.Side{Trace: &bare, Findings: r.inherited()}, equiv.Side{Trace: &bare}, equiv.Options{
		Timeline: r.o.Timeline, Alike: equiv.Alike{Events: s.Events, Answers: s.answers, Rows: s.rows},
	})
	said, held := r.stored()
	r.result.Findings = slices.Concat(r.result.Findings, said, r.notes())
	r.result.Checks = slices.Concat(r.result.Checks, checks(s.Events, s.answers, 0), held)
	r.result.Judge(true)
	return &Replayed{Result: r.result, End: s.End}
}
