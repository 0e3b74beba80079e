// Package pipeline has the stages of a turn, each a pure function of versioned configuration and its input: retrieve,
// bound, assemble, parse, gate, mutate, dispatch (P1).
package pipeline

import "github.com/dmpl/dmpl/pkg/memory"

// Error says why a stage has no answer: bad input, or a bound that was reached.
type Error struct {
	Code    string // one of the Code constants
	Pointer string // RFC 6901, into the stage's input; empty where it is the input itself
	Detail  string
}

// Error gives one line: code, place and detail.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Code + ": " + e.Detail
	}
	return e.Code + " at " + e.Pointer + ": " + e.Detail
}

// The codes of an Error.
const (
	CodeInvalidInput = "pipeline.invalid_input"
	CodeRegexTimeout = "pipeline.regex_timeout" // a pattern ran out of time: its answer is unknown, never a miss
	CodeLimit        = "pipeline.limit"         // the input would need more work than a stage does
)

// ConstraintType says what a constraint asks for (llamabrain.md §3).
type ConstraintType int

// The types of constraints, in the order of the constraint block.
const (
	Prohibition ConstraintType = iota
	Requirement
	Permission
)

// Severity says what a failed check means.
type Severity int

// The severities.
const (
	Soft Severity = iota
	Hard
	Critical
)

// Constraint is what the model is told to do or not to do, and how an answer is held to it (llamabrain.md §3).
type Constraint struct {
	ID              *string
	Type            ConstraintType
	Severity        Severity
	Description     *string
	PromptInjection *string
	Patterns        []string
	UseRegex        bool // kept in the serialised form, never read
	SourceRule      *string
}

// Snapshot is what a prompt is made of: the retrieved memory as texts, in the order of retrieval (llamabrain.md §3).
type Snapshot struct {
	SystemPrompt string
	PlayerInput  string
	Facts        []string
	World        []string
	Episodes     []string
	Beliefs      []string
	Dialogue     []string
	Constraints  []Constraint
	References   []string // P2(j), dmpl-v1: the lines of the reference block
	Attempt      int      // counted from 0
}

// Mutation is a change of memory that an answer proposes.
type Mutation struct {
	Type       MutationType
	Target     *string
	Content    *string
	Confidence float64
	SourceText *string
}

// MutationType is the kind of a mutation; values beyond the named ones are kept and fail when they are executed.
type MutationType int

// The kinds of mutations.
const (
	AppendEpisodic MutationType = iota
	TransformBelief
	TransformRelationship
	EmitWorldIntent
)

// Intent is an action in the world that an answer proposes.
type Intent struct {
	Type       *string
	Target     *string
	Priority   int
	Parameters []Parameter // in the order of the answer
	SourceText *string
}

// Parameter is one named value of an intent.
type Parameter struct {
	Name  string
	Value string
	JSON  []byte // the value where it is no text, as ASCII JSON; Value is empty then
}

// ParsedOutput is a model output after parsing (llamabrain.md §6.1).
type ParsedOutput struct {
	Success   bool
	Dialogue  string
	Error     *string // why parsing failed
	Raw       string  // as the model gave it
	Mutations []Mutation
	Intents   []Intent
	Calls     []FunctionCall
	Metadata  []Parameter // in the order of insertion
}

// FunctionCall is a call that a structured answer asks for.
type FunctionCall struct {
	Name      *string
	Arguments []byte // a JSON object
	CallID    *string
}

// Failure is one failed check of the gate (llamabrain.md §6.3).
type Failure struct {
	Reason        string
	Description   string
	ViolatingText *string
	ViolatedRule  *string
	Severity      Severity
}

// GateResult is what the gate says of an answer. Intents are approved only when it passed (P5).
type GateResult struct {
	Passed            bool
	Failures          []Failure // of every check, in the order of the checks
	ApprovedMutations []Mutation
	RejectedMutations []Mutation
	ApprovedIntents   []Intent
	HasOutput         bool // the answer is released
}

// Version is memory's: the pipeline version picks both the memory's rules and the stages'.
type Version = memory.Version

// The pipeline versions.
const (
	DMPLv1       = memory.DMPLv1
	LlamaBrainV1 = memory.LlamaBrainV1
)
