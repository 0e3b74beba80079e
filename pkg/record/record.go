// Package record records native runs (dmpl.run.v1) as they happen: a Go agent hands in its turns and its model, and the folder
// that is left can be verified, compared and replayed.
package record

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/execute"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/run"
	"github.com/dmpl/dmpl/pkg/shape"
	"github.com/dmpl/dmpl/pkg/trace"
)

// Settings say what a run is. Ids and times are the caller's: nothing here makes any.
type Settings struct {
	RunID       string
	WorkflowID  string
	Visibility  string // off, read_only or buffered_write; live_read_write on a store alone
	Lane        run.Lane
	Created     int64  // ticks
	ModelConfig []byte // JSON: provider_name, model_name, decoding, seed … (D4); the tools' hash is added (D5)
	KeepPrompts bool
	Chain       *run.Chain         // nil for a run on its own
	Refusal     memory.AbortReason // why a store refused the commit; empty where it did not
	MaxTrace    int64              // bytes of the trace, at most 100 MiB: events over it are dropped (V4); 0 for these
	StoreID     string             // of the store that the start snapshot was taken from; CreateOn states its own
}

// Text is a JSON document and where it comes from, for errors.
type Text struct {
	Path string
	At   string // pointer of the document in its file: "" for the file itself, "/3" for the fourth line
	JSON []byte
}

// Documents are what a run starts from.
type Documents struct {
	Snapshot, Config, Policies, Profiles Text
}

// Recorder records one run, turn by turn. It is for one goroutine.
type Recorder struct {
	writer    *run.Writer
	execution *execute.Run
	turns     int
	off       bool // the run reads no memory
	on        *session
}

// Create starts a recording in a folder that is empty or not there yet. The error is an *execute.Error for a document that is
// malformed.
func Create(dir string, s Settings, d Documents) (*Recorder, error) { return create(dir, s, d, nil) }

func create(dir string, s Settings, d Documents, on *session) (*Recorder, error) {
	recording, err := d.read()
	if err != nil {
		return nil, err
	}
	if s.ModelConfig, err = withTools(s.ModelConfig, recording); err != nil {
		return nil, err
	}
	opening := run.Opening{
		RunID: s.RunID, Pipeline: memory.DMPLv1, Lane: s.Lane, Created: s.Created, Chain: s.Chain, MaxTrace: s.MaxTrace, Profiles: map[string]string{},
		StoreID: s.StoreID, Live: s.Visibility == execute.LiveReadWrite,
	}
	if opening.Live {
		opening.Lane.Deterministic = false
	}
	for _, p := range recording.Profiles {
		opening.Profiles[p.Name] = p.Version
	}
	r := &Recorder{off: s.Visibility == execute.Off, on: on}
	o := execute.Options{
		RunID: s.RunID, WorkflowID: s.WorkflowID, Visibility: s.Visibility, ModelConfig: s.ModelConfig, KeepPrompts: s.KeepPrompts, Refusal: s.Refusal,
	}
	if on != nil {
		opening.StoreID = on.storeID
		if err := on.serve(&o, recording.Policies); err != nil {
			return nil, err
		}
	}
	if r.execution, err = execute.Begin(recording, o, sink{r}); err != nil {
		return nil, err
	}
	if r.writer, err = run.Create(dir, opening); err != nil {
		return nil, err
	}
	for _, file := range []struct {
		name string
		text Text
	}{
		{run.SnapshotFile, d.Snapshot}, {run.ConfigFile, d.Config}, {run.PoliciesFile, d.Policies}, {run.ProfilesFile, d.Profiles},
	} {
		if err := r.writer.Document(file.name, trimmed(file.text.JSON)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// sink writes what the execution makes.
type sink struct{ recorder *Recorder }

func (s sink) Event(event []byte, rows ...[]byte) error {
	return s.recorder.writer.Event(event, rows...)
}

func (s sink) Line(file string, text func() []byte) error {
	return s.recorder.writer.Line(file, text())
}

// Turn executes and records the next turn, a run.turn.v1 document. Candidates are what backends returned for it, run.candidates.v1
// documents (R7). The error is an *execute.Error for a document that is malformed, or the source's or the disk's: the recording
// cannot go on after it.
func (r *Recorder) Turn(turn Text, candidates []Text, source execute.Source) (*execute.Turn, error) {
	doc, err := Read("run.turn.v1", turn)
	if err != nil {
		return nil, err
	}
	if n, _ := doc.Int("turn"); n != r.turns {
		return nil, &execute.Error{Path: turn.Path, Pointer: turn.At + "/turn", Detail: fmt.Sprintf("expected turn %d, which is next", r.turns)}
	}
	if len(candidates) > 0 && r.off { // M2
		return nil, &execute.Error{Path: candidates[0].Path, Pointer: candidates[0].At, Detail: "a run of visibility off reads nothing, and this is what a search returned"}
	}
	found := make([]trace.Document, len(candidates))
	for i, c := range candidates {
		if found[i], err = Read("run.candidates.v1", c); err != nil {
			return nil, err
		}
		if n, _ := found[i].Int("turn"); n != r.turns {
			return nil, &execute.Error{Path: c.Path, Pointer: c.At + "/turn", Detail: fmt.Sprintf("expected turn %d", r.turns)}
		}
	}
	slices.SortStableFunc(found, func(a, b trace.Document) int {
		return cmp.Compare(memory.KindPlace(a.Field("/kind").Text()), memory.KindPlace(b.Field("/kind").Text()))
	})
	answers, err := execute.ReadCandidates(found)
	if err != nil {
		return nil, err
	}
	if err := r.writer.Line(run.TurnsFile, oneLine(doc.Value)); err != nil {
		return nil, err
	}
	for _, c := range found {
		if err := r.writer.Line(run.CandidatesFile, oneLine(c.Value)); err != nil {
			return nil, err
		}
	}
	r.turns++
	return r.execution.Turn(doc, answers, source)
}

// Close ends the run and makes the recording complete.
func (r *Recorder) Close() (*execute.End, error) {
	if r.turns == 0 {
		return nil, errors.New("a run has one turn at least")
	}
	end, err := r.execution.End()
	if err != nil {
		return nil, err
	}
	if end.Commit != nil {
		if err := r.writer.Document(run.CommitFile, end.Commit); err != nil {
			return nil, err
		}
	}
	return end, r.writer.Close(end.Envelope)
}

// Abandon gives the recording up: what is there says that it is cut short, and a store forgets what was not committed. After
// Close it does nothing.
func (r *Recorder) Abandon() {
	r.writer.Abandon()
	_ = r.on.leave() // what cannot be discarded now, recovery discards (M6)
}

// Repeated says that a store had applied the commit before, so that nothing was applied again (M5).
func (r *Recorder) Repeated() bool { return r.on != nil && r.on.repeated }

// Refusal says, for people, why a store did not apply the commit; empty where it did, and without a store.
func (r *Recorder) Refusal() string {
	if r.on == nil {
		return ""
	}
	return r.on.refusal
}

// Counts says how much of the trace was written (V4).
func (r *Recorder) Counts() run.Counts { return r.writer.Counts() }

// read holds the documents to their schemas.
func (d Documents) read() (*trace.Recording, error) {
	r := &trace.Recording{}
	var err error
	for _, doc := range []struct {
		schema string
		text   Text
		to     *trace.Document
	}{
		{"memory.snapshot.v1", d.Snapshot, &r.Snapshot}, {"pipeline.config.v1", d.Config, &r.Config}, {"run.profiles.v1", d.Profiles, &r.ProfileSet},
	} {
		if *doc.to, err = Read(doc.schema, doc.text); err != nil {
			return nil, err
		}
	}
	value, err := canon.Parse(d.Policies.JSON) // held to its schema by the execution
	if err != nil {
		return nil, unreadable(d.Policies, err)
	}
	r.Policies = trace.Document{Path: d.Policies.Path, Value: value}
	r.Profiles, err = Profiles(r.ProfileSet)
	return r, err
}

// Profiles gives the tool profiles of a profiles.json that Read has given.
func Profiles(set trace.Document) (trace.Profiles, error) {
	var profiles trace.Profiles
	list, _ := set.Value.Get("tool_profiles")
	for _, e := range list.Elements() {
		p, _, err := shape.ReadProfile(set.Path, e.Raw())
		if err != nil {
			return nil, unreadable(Text{Path: set.Path}, err)
		}
		profiles = append(profiles, *p)
	}
	return profiles, nil
}

// Read holds a document to its schema, by the name that the formats of a run have it under. The error is an *execute.Error.
func Read(schema string, t Text) (trace.Document, error) {
	doc, findings, err := shape.Document(schema, t.Path, t.At, t.JSON)
	if err != nil {
		return doc, unreadable(t, err)
	}
	if len(findings) > 0 {
		return doc, &execute.Error{Path: t.Path, Pointer: findings[0].Pointer, Detail: findings[0].Detail}
	}
	return doc, nil
}

func unreadable(t Text, err error) error {
	var bad *canon.Error
	if errors.As(err, &bad) {
		return &execute.Error{Path: t.Path, Pointer: t.At + bad.Pointer, Detail: bad.Detail}
	}
	return &execute.Error{Path: t.Path, Detail: err.Error()}
}

// withTools adds tool_runtime_profile_hash to a model configuration (D5). One that is there must be right.
func withTools(config []byte, r *trace.Recording) ([]byte, error) {
	value, err := canon.Parse(config)
	if err != nil || value.Kind() != canon.Object {
		return nil, fmt.Errorf("the model configuration is no JSON object: %s", config)
	}
	hash, err := toolRuntime(r)
	if err != nil {
		return nil, err
	}
	if stated, ok := value.Get("tool_runtime_profile_hash"); ok {
		if text, _ := stated.Text(); text != hash {
			return nil, fmt.Errorf("the model configuration states tool_runtime_profile_hash %s, and the profiles have %s", text, hash)
		}
		return oneLine(value), nil
	}
	w := document.NewWriter(document.Style{})
	w.Object("", func() {
		for _, m := range value.Members() {
			w.Raw(m.Name, m.Value.Raw())
		}
		w.Text("tool_runtime_profile_hash", hash)
	})
	return oneLineOf(w.Bytes())
}

// toolRuntime gives the hash of the tools' profiles (D5).
func toolRuntime(r *trace.Recording) (string, error) {
	list, _ := r.ProfileSet.Value.Get("tool_profiles")
	order := make([]int, len(r.Profiles))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.Profiles[a].Name, r.Profiles[b].Name) })
	var err error
	w := document.NewWriter(document.Style{})
	w.List("", func() {
		for _, i := range order {
			sum, bad := canon.Digest(canon.JSONv1, list.Elements()[i].Raw())
			err = errors.Join(err, bad)
			w.Object("", func() {
				w.Text("tool_name", r.Profiles[i].Name)
				w.Text("tool_profile_version", r.Profiles[i].Version)
				w.Text("tool_profile_digest", sum.Hex())
			})
		}
	})
	if err != nil {
		return "", err
	}
	sum, err := canon.Digest(canon.JSONv1, w.Bytes())
	return sum.Hex(), err
}

// oneLine gives a document on one line: a line feed inside of it is white space between its parts.
func oneLine(v canon.Value) []byte {
	line := slices.Clone(v.Raw())
	for i, b := range line {
		if b == '\n' || b == '\r' {
			line[i] = ' '
		}
	}
	return line
}

func oneLineOf(text []byte) ([]byte, error) {
	v, err := canon.Parse(text)
	return oneLine(v), err
}

func trimmed(text []byte) []byte {
	v, err := canon.Parse(text)
	if err != nil {
		return text
	}
	return v.Raw()
}
