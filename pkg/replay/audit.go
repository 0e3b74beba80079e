package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/dotnet"
	"github.com/dmpl/dmpl/pkg/finding"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// AuditInput is a debug package or a rolling log, and the memories that its turns start from.
type AuditInput struct {
	Path      string // of the package, for findings
	Records   []audit.Record
	Personas  []audit.Persona
	Save      bool              // they are all that the game saved: an NPC without one began with none
	Shape     []finding.Finding // of both files
	Malformed bool              // of either: nothing is run
}

// Audit runs the recorded turns again that it can, under llamabrain-v1 with the default configuration: the memory of a turn is
// known where its hash is that of the saved state, or of what the turns before made of it. The recorded output stands for
// the model (R6). The result has no name and no inputs yet.
func Audit(in *AuditInput) finding.Result {
	r := &auditReplay{path: in.Path, save: in.Save}
	r.result.Findings = append(r.result.Findings, in.Shape...)
	r.holes = slices.ContainsFunc(in.Records, func(t audit.Record) bool { return t.Malformed })
	if !in.Malformed {
		for _, turns := range byNPC(in.Records) {
			r.conversation(turns, in.Personas)
		}
	}
	if r.ran == 0 {
		f := finding.New(finding.ReplayNothing)
		f.Artifact, f.Detail, f.Hint = in.Path, "no turn could be run again", "Give the save file from before the first turn."
		r.result.Findings = append(r.result.Findings, f)
	}
	r.result.Ignored = append(
		r.result.Ignored,
		finding.Ignored{What: "PromptHash", Reason: "system prompt, dialogue and templates are not in a package"},
		finding.Ignored{What: "fallback texts", Reason: "LlamaBrain picks them at random (llamabrain.md §8)"},
	)
	r.result.Judge(true)
	return r.result
}

// byNPC gives the records of each NPC in the order of its interactions, the NPCs in the order of their first record.
func byNPC(records []audit.Record) [][]*audit.Record {
	places := map[string]int{}
	var all [][]*audit.Record
	for i := range records {
		r := &records[i]
		if r.Malformed {
			continue
		}
		place, ok := places[r.NpcID]
		if !ok {
			place = len(all)
			places[r.NpcID] = place
			all = append(all, nil)
		}
		all[place] = append(all[place], r)
	}
	for _, turns := range all {
		slices.SortStableFunc(turns, func(a, b *audit.Record) int {
			return cmp.Or(cmp.Compare(a.InteractionCount, b.InteractionCount), audit.CompareCapture(a, b))
		})
	}
	return all
}

type auditReplay struct {
	path   string
	result finding.Result
	ran    int
	save   bool
	holes  bool // a record is malformed, and may be the first turn of any NPC
}

// conversation runs the turns of one NPC.
func (r *auditReplay) conversation(turns []*audit.Record, personas []audit.Persona) {
	before := memory.State{PersonaID: turns[0].NpcID, NextSequence: 1}
	why := "the save file has no memory of this NPC, and an empty one is not the memory before this turn"
	switch i := slices.IndexFunc(personas, func(p audit.Persona) bool { return p.Key == turns[0].NpcID }); {
	case i >= 0:
		before, why = personas[i].State, "the save file does not hold the memory before this turn"
	case !r.save:
		for _, turn := range turns {
			r.notRun(turn, "the snapshot is the memory of another NPC")
		}
		return
	}
	saved, err := memory.Load(before, memory.LlamaBrainV1)
	if err != nil {
		r.differ(finding.AuditReplayState, turns[0], "", nil, nil, "the memory of this NPC does not load: "+err.Error())
		r.tally("R1.memory", finding.Failed, "")
		for _, turn := range turns[1:] {
			r.notRun(turn, "the memory of this NPC does not load")
		}
		return
	}
	// What the memory may be before the next turn: whether dialogue is stored, a package does not say.
	known, ran := []memory.State{saved}, r.ran
	for i, turn := range turns {
		next := r.turn(turn, known)
		switch {
		case next != nil:
			known = next
		case i == 0 && !r.holes:
			r.differ(finding.AuditReplayState, turn, "MemoryHashBefore", canon.QuoteASCII(nil, []byte(turn.MemoryHashBefore)),
				canon.QuoteASCII(nil, []byte(saved.Hash())), why)
			r.tally("R1.memory", finding.Failed, "")
		default:
			r.notRun(turn, "what turns before stored has ids and times that the package does not keep")
			if r.ran > ran { // turns of this NPC have shown how its outputs are parsed
				r.parsed(turn)
			}
		}
	}
}

// turn runs one turn on the memory whose hash it states, and gives what the memory may be after it; nil where none of the
// known ones is it.
func (r *auditReplay) turn(turn *audit.Record, known []memory.State) []memory.State {
	set, err := pipeline.ParseConstraints([]byte(turn.ConstraintsSerialized))
	if turn.ConstraintsSerialized != "" && err != nil {
		return nil
	}
	for _, state := range known {
		run := turnRun{turn: turn, state: state, constraints: set}
		result, err := run.again()
		if err != nil || !startsFrom(turn, state, result) {
			continue
		}
		if structured(turn.RawOutput) && result.Last().Parsed.Dialogue != turn.DialogueText {
			run.structured = true
			if result, err = run.again(); err != nil {
				return nil
			}
		}
		r.ran++
		r.tally("R1.memory", finding.Passed, "")
		r.compare(turn, result)
		next := []memory.State{result.State}
		run.stored = true
		if stored, err := run.again(); err == nil {
			next = append(next, stored.State)
		}
		return next
	}
	return nil
}

// startsFrom says that the record's hash is that of the memory: LlamaBrain's recorder hashes the context lines of the
// whole snapshot, others the state (llamabrain.md §9).
func startsFrom(turn *audit.Record, state memory.State, result *pipeline.TurnResult) bool {
	return turn.MemoryHashBefore == state.Hash() || turn.MemoryHashBefore == result.Snapshot.MemoryHash()
}

// structured says that an output may be a structured answer. A package does not say how its outputs are parsed, so such a one
// is read as text and as JSON, and the recorded dialogue decides.
func structured(output string) bool { return strings.HasPrefix(dotnet.Trim(output), "{") }

// turnRun is a recorded turn on a memory, with what a package does not say of the configuration.
type turnRun struct {
	turn        *audit.Record
	state       memory.State
	constraints []pipeline.Constraint
	structured  bool // outputs are parsed as JSON
	stored      bool // both sides of the dialogue become memories
}

// again runs the turn with the recorded output. The memory that it is given stays as it is.
func (t *turnRun) again() (*pipeline.TurnResult, error) {
	made := 0
	system := memory.NewSystem(memory.LlamaBrainV1, t.state, memory.At(t.turn.SnapshotTime), func() string {
		made++
		return "replayed-" + strconv.Itoa(made)
	})
	in := pipeline.TurnInput{
		Query:       pipeline.Query{PlayerInput: t.turn.PlayerInput, SnapshotTime: t.turn.SnapshotTime},
		Constraints: t.constraints,
		NPCID:       t.turn.NpcID,
		// The fallback that was shown is the only one there is: nothing is picked by chance.
		Fallback: pipeline.FallbackQuery{Trigger: []string{t.turn.DialogueText}},
	}
	c := pipeline.TurnConfig{
		Retrieval:     pipeline.DefaultRetrievalConfig(),
		Prompt:        pipeline.PromptConfig{Mode: pipeline.SnapshotMode, Assembler: pipeline.DefaultAssembleConfig()},
		Parser:        pipeline.DefaultParserConfig(),
		ParseMode:     "auto",
		Gate:          pipeline.DefaultGateConfig(),
		Retry:         pipeline.DefaultRetryPolicy(),
		Mutation:      pipeline.DefaultMutationConfig(),
		StoreDialogue: t.stored,
	}
	c.Parser.UseStructuredOutput = t.structured
	var scene pipeline.Scene
	d, err := scene.Open(func(pipeline.Dispatched) {})
	if err != nil {
		return nil, err
	}
	answers := pipeline.Recorded([]pipeline.Answer{{Text: t.turn.RawOutput}})
	return pipeline.RunTurn(system, &in, &c, answers, d, memory.LlamaBrainV1)
}

// notRun says of a turn why it was not run again.
func (r *auditReplay) notRun(turn *audit.Record, reason string) {
	r.differ(finding.AuditReplayNotRun, turn, "", nil, nil, reason)
	r.tally("R1.turn", finding.NotChecked, reason)
}

func (r *auditReplay) differ(code finding.Code, turn *audit.Record, member string, recorded, rebuilt []byte, detail string) {
	f := finding.New(code)
	f.Artifact, f.EventIndex, f.Subject = r.path, turn.Position, fmt.Sprintf("%s, interaction %d", turn.NpcID, turn.InteractionCount)
	f.Pointer = turn.Pointer
	if member != "" {
		f.Pointer += "/" + member
	}
	f.Expected, f.Actual, f.Detail, f.Hint = recorded, rebuilt, detail, finding.Lookup(code).Action
	r.result.Findings = append(r.result.Findings, f)
}

func (r *auditReplay) tally(id string, status finding.Status, reason string) {
	for i := range r.result.Checks {
		if c := &r.result.Checks[i]; c.ID == id && c.Status == status && c.Reason == reason {
			c.Count++
			return
		}
	}
	r.result.Checks = append(r.result.Checks, finding.Check{ID: id, Status: status, Count: 1, Reason: reason})
}
