package pipeline

import (
	"github.com/dmpl/dmpl/pkg/memory"
)

// TurnConfig is the configuration of every stage of a turn (P1).
type TurnConfig struct {
	Retrieval RetrievalConfig
	Policies  *RetrievalPolicies // nil: the version's own
	Prompt    PromptConfig
	Parser    ParserConfig
	ParseMode string // parse, structured or auto
	Gate      GateConfig
	Retry     RetryPolicy
	Fallback  FallbackConfig
	Mutation  MutationConfig

	StoreDialogue bool // input and answer become episodes
}

// TurnInput is everything that a turn is given besides the memory and the model's answers.
type TurnInput struct {
	Query        Query // with the player input and the snapshot time, the only clock (P4)
	SystemPrompt string
	Dialogue     []string // P6: earlier turns are input, oldest first
	Constraints  []Constraint
	References   []string // P2(j), dmpl-v1
	NPCID        string
	NPCName      *string
	Recognition  *Recognition
	Forbidden    []string
	Rules        []CustomRule
	Fallback     FallbackQuery
	Tools        Tools // nil: the calls of an answer are nobody's
}

// Answer is what the model said to a prompt.
type Answer struct {
	Text      string
	Truncated bool // the provider cut it
}

// Model gives the answer to the prompt of an attempt, counted from 0; false where there is none, so that the turn cannot
// go on (R2). A recorded answer stands for the model.
type Model func(attempt int, p *Prompt) (Answer, bool)

// Tools answers the calls that the answer of an attempt asks for (P1); false where one has no answer, so that the turn cannot
// go on.
type Tools func(attempt int, calls []FunctionCall) bool

// Recorded is a Model that has the answers of a recording, by attempt.
func Recorded(answers []Answer) Model {
	return func(attempt int, _ *Prompt) (Answer, bool) {
		if attempt >= len(answers) {
			return Answer{}, false
		}
		return answers[attempt], true
	}
}

// Attempt is one prompt, and what came of it.
type Attempt struct {
	Constraints []Constraint // those of the turn, and what retries added
	Prompt      Prompt
	Answered    bool // false: there was no answer, and the members below say nothing
	Answer      Answer
	Understood  bool // false: the answer could not be parsed within bounds, and the members below say nothing
	Parsed      ParsedOutput
	Judged      bool // false: a tool call or the gate had no answer, and the members below say nothing
	Gate        GateResult
	Decision    GateDecision
}

// TurnResult is what every stage of a turn gave.
type TurnResult struct {
	Snapshot   Snapshot // of the first attempt
	Retrieval  *Retrieval
	Attempts   []Attempt // one at least
	Fallback   *Fallback // nil where none was needed
	Batch      *Batch
	Dispatched []Dispatched
	Aftermath
}

// Last gives the last attempt that the model answered; the first one where it answered none.
func (r *TurnResult) Last() *Attempt {
	last := len(r.Attempts) - 1
	if last > 0 && !r.Attempts[last].Answered {
		last--
	}
	return &r.Attempts[last]
}

// Dialogue gives what the agent says in the end: nothing where the turn could not go on.
func (r *TurnResult) Dialogue() string {
	switch {
	case r.Fallback != nil:
		return r.Fallback.Text
	case r.Last().Gate.Passed:
		return r.Last().Parsed.Dialogue
	}
	return ""
}

// RunTurn runs one turn: retrieve, bound and assemble, the model, parse, gate, once more from assemble where the gate says
// so, mutate, dispatch (P1). It changes the memory that it is given, and dispatches through the run's dispatcher. Where a
// stage has no answer the result holds the attempts up to there, beside the error.
func RunTurn(y *memory.System, in *TurnInput, c *TurnConfig, model Model, d *Dispatcher, v Version) (*TurnResult, error) {
	before := y.State()
	known := &d.scene.known
	retrieval, err := known.retrieve(&before, &in.Query, &c.Retrieval, c.Policies, v)
	if err != nil {
		return nil, err
	}
	r := &TurnResult{Snapshot: in.snapshot(retrieval), Retrieval: retrieval}
	if err := r.ask(GateContext{Facts: before.Facts, Forbidden: in.Forbidden, Rules: in.Rules, known: known}, in, c, model, v); err != nil {
		return r, err
	}
	last := r.Last()
	r.Batch = Mutate(y, &last.Gate, in.NPCID, c.Mutation, v)
	if err := d.Dispatch(r.Batch.Emitted()); err != nil {
		return r, err
	}
	r.Dispatched = r.Batch.Emitted().list()
	if last.Gate.Passed && c.StoreDialogue {
		if err := storeDialogue(y, in.Query.PlayerInput, last.Parsed.Dialogue); err != nil {
			return r, err
		}
	}
	after, err := Settle(before, y, v)
	if err != nil {
		return r, err
	}
	r.Aftermath = *after
	return r, nil
}

// snapshot puts together what prompts are made of.
func (in *TurnInput) snapshot(r *Retrieval) Snapshot {
	return Snapshot{
		SystemPrompt: in.SystemPrompt,
		PlayerInput:  in.Query.PlayerInput,
		Facts:        r.Facts.Texts(),
		World:        r.World.Texts(),
		Episodes:     r.Episodes.Texts(),
		Beliefs:      r.Beliefs.Texts(),
		Dialogue:     in.Dialogue,
		Constraints:  in.Constraints,
		References:   in.References,
	}
}

// ask asks the model until the gate passes an answer, or no further attempt is allowed, or there is no answer.
func (r *TurnResult) ask(held GateContext, in *TurnInput, c *TurnConfig, model Model, v Version) error {
	snapshot, feedback := r.Snapshot, ""
	for n := 0; ; n++ {
		a := Attempt{Constraints: snapshot.Constraints}
		a.Prompt = c.Prompt.assemble(snapshot, Turn{NPC: in.NPCName, Feedback: feedback, Recognition: in.Recognition}, v)
		err := a.answer(n, held, in, c, model, v)
		r.Attempts = append(r.Attempts, a)
		if err != nil || !a.Judged {
			return err
		}
		switch a.Decision {
		case GatePassed:
			return nil
		case GateFallback:
			f, err := c.Fallback.Pick(in.Fallback, v)
			r.Fallback = &f
			return err
		}
		next := c.Retry.Next(snapshot, a.Gate.Failures, a.Answer.Text)
		snapshot, feedback = next.Snapshot, next.Feedback
	}
}

// answer has the prompt answered, parses the answer and puts it through the gate.
func (a *Attempt) answer(n int, held GateContext, in *TurnInput, c *TurnConfig, model Model, v Version) (err error) {
	if a.Answer, a.Answered = model(n, &a.Prompt); !a.Answered {
		return nil
	}
	if a.Parsed, err = parseMode(c.ParseMode, a.Answer.Text, a.Answer.Truncated, false, c.Parser, v); err != nil {
		return err
	}
	a.Understood = true
	if in.Tools != nil && len(a.Parsed.Calls) > 0 && !in.Tools(n, a.Parsed.Calls) {
		return nil
	}
	held.Constraints = a.Constraints
	if a.Gate, err = Gate(a.Parsed, held, c.Gate); err != nil {
		return err
	}
	a.Judged, a.Decision = true, c.Retry.After(a.Gate, n, v)
	return nil
}

// storeDialogue keeps both sides of an exchange as episodes: the answer weighs more.
func storeDialogue(y *memory.System, input, answer string) error {
	if _, err := y.AddDialogue("Player", input, 0.5, memory.ValidatedOutput); err != nil {
		return err
	}
	_, err := y.AddDialogue("NPC", answer, 0.7, memory.ValidatedOutput)
	return err
}

// MemoryHash is what LlamaBrain's recorder takes for the hash of the memory: that of the context lines of a whole snapshot
// (llamabrain.md §9).
func (s Snapshot) MemoryHash() string { return hashText(s.context("|")) }
