package pipeline_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
)

// village is a memory with something of every kind.
func village() memory.State {
	fact := func(id, text string, sequence int64) memory.Fact {
		return memory.Fact{Entry: memory.Entry{ID: id, Sequence: sequence, CreatedAt: noon - 100, Source: memory.Designer}, Text: text}
	}
	s := memory.State{PersonaID: "npc", NextSequence: 9}
	s.Facts = []memory.Fact{fact("king", "The king is named Arthur", 1), fact("fire", "Dragons breathe fire", 2)}
	s.World = []memory.WorldState{{Entry: memory.Entry{ID: "w", Sequence: 3, Source: memory.GameSystem}, Key: "door", Value: "open"}}
	s.Episodes = []memory.Episode{episode("e1", "Player asked about the dragon", 4), episode("e2", "Player bought a sword", 5)}
	b := memory.NewBelief("player", "the player is kind")
	b.ID, b.Key, b.Sequence, b.Source = "b1", "player", 6, memory.ValidatedOutput
	s.Beliefs = []memory.Belief{b}
	return s
}

func turnConfig() pipeline.TurnConfig {
	return pipeline.TurnConfig{
		Retrieval: pipeline.DefaultRetrievalConfig(),
		Prompt:    pipeline.PromptConfig{Mode: pipeline.SnapshotMode, Assembler: pipeline.DefaultAssembleConfig(), Structured: pipeline.DefaultStructuredConfig()},
		Parser:    pipeline.DefaultParserConfig(), ParseMode: "parse",
		Gate:     pipeline.DefaultGateConfig(),
		Retry:    pipeline.DefaultRetryPolicy(),
		Fallback: pipeline.DefaultFallbackConfig(),
		Mutation: pipeline.DefaultMutationConfig(),
	}
}

func turnInput() pipeline.TurnInput {
	return pipeline.TurnInput{
		Query:        pipeline.Query{PlayerInput: "What of the dragon?", SnapshotTime: noon},
		SystemPrompt: "You are a guard.", NPCID: "npc", NPCName: text("Guard"), Forbidden: []string{"the secret"},
		Constraints: []pipeline.Constraint{{
			ID: text("no-gold"), Type: pipeline.Prohibition, Severity: pipeline.Hard, Description: text("No gold"),
			PromptInjection: text("Do not speak of gold"), Patterns: []string{"gold"},
		}},
	}
}

// turn runs a turn of dmpl-v1 on the village, and gives what the world heard as well.
func turn(t *testing.T, in pipeline.TurnInput, c pipeline.TurnConfig, answers ...string) (r *pipeline.TurnResult, heard []string) {
	t.Helper()
	var list []pipeline.Answer
	for _, a := range answers {
		list = append(list, pipeline.Answer{Text: a})
	}
	var scene pipeline.Scene
	d, err := scene.Open(func(i pipeline.Dispatched) { heard = append(heard, *i.Target) })
	if err != nil {
		t.Fatal(err)
	}
	y := memory.NewSystem(pipeline.DMPLv1, village(), memory.At(in.Query.SnapshotTime), nil)
	r, err = pipeline.RunTurn(y, &in, &c, pipeline.Recorded(list), d, pipeline.DMPLv1)
	if err != nil {
		t.Fatal(err)
	}
	return r, heard
}

func decisions(r *pipeline.TurnResult) []string {
	var list []string
	for _, a := range r.Attempts {
		if !a.Answered {
			list = append(list, "no answer")
			continue
		}
		list = append(list, a.Decision.String())
	}
	return list
}

// P1: a failed answer goes back to assembly with what was wrong with it; the second answer counts.
func TestARetryAssemblesAgainAndTheLastAnswerCounts(t *testing.T) {
	r, heard := turn(t, turnInput(), turnConfig(), "[INTENT: run] I want gold.", "[INTENT: wave] [MEMORY: waved] Good day.")
	if got, want := decisions(r), []string{"retry", "passed"}; !slices.Equal(got, want) {
		t.Fatalf("decisions %v, want %v", got, want)
	}
	if !slices.Equal(heard, []string{"wave"}) || r.Dialogue() != "Good day." {
		t.Errorf("heard %v, said %q", heard, r.Dialogue())
	}
	first, second := r.Attempts[0].Prompt.Text, r.Attempts[1].Prompt.Text
	for _, want := range []string{"[RETRY ATTEMPT 2]", "- Response contains prohibited content: No gold", `Do not say or imply: "gold`} {
		if strings.Contains(first, want) || !strings.Contains(second, want) {
			t.Errorf("%q belongs into the second prompt alone:\n%s", want, second)
		}
	}
	if len(r.Writes) != 1 || len(r.State.Episodes) != 3 {
		t.Errorf("writes %v", r.Writes)
	}
}

// P2(f): after a critical failure the model is not asked again; nothing is stored and nothing dispatched.
func TestACriticalFailureFallsBackAtOnce(t *testing.T) {
	r, heard := turn(t, turnInput(), turnConfig(), "[INTENT: run] The king is not named Arthur.", "Never asked for.")
	if got, want := decisions(r), []string{"fallback"}; !slices.Equal(got, want) {
		t.Fatalf("decisions %v, want %v", got, want)
	}
	if r.Dialogue() != "I'm sorry, I didn't quite catch that." || len(heard) != 0 || len(r.Writes) != 0 {
		t.Errorf("said %q, heard %v, wrote %v", r.Dialogue(), heard, r.Writes)
	}
}

func TestAttemptsRunOutIntoTheFallback(t *testing.T) {
	r, _ := turn(t, turnInput(), turnConfig(), "Gold!", "More gold!", "Gold again.", "Never asked for.")
	if got, want := decisions(r), []string{"retry", "retry", "fallback"}; !slices.Equal(got, want) || r.Fallback == nil {
		t.Errorf("decisions %v, want %v; fallback %v", got, want, r.Fallback)
	}
}

// R2: where a recording has no answer the turn ends, without a fallback: nobody knows what the model would have said.
func TestAMissingAnswerEndsTheTurn(t *testing.T) {
	for _, answers := range [][]string{nil, {"Gold."}} {
		r, heard := turn(t, turnInput(), turnConfig(), answers...)
		if got := decisions(r); got[len(got)-1] != "no answer" || len(got) != len(answers)+1 {
			t.Errorf("decisions %v", got)
		}
		if r.Fallback != nil || r.Dialogue() != "" || len(r.Writes) != 0 || heard != nil {
			t.Errorf("fallback %v, said %q, wrote %v, heard %v", r.Fallback, r.Dialogue(), r.Writes, heard)
		}
	}
}

func TestEveryPromptModeRunsATurn(t *testing.T) {
	prompts := map[string]pipeline.PromptMode{}
	for _, mode := range []pipeline.PromptMode{
		pipeline.SnapshotMode, pipeline.WorkingMemoryMode, pipeline.StructuredMode, pipeline.MinimalMode, pipeline.CacheMode,
	} {
		c := turnConfig()
		c.Prompt.Mode, c.Prompt.Boundary = mode, 3
		bounds := pipeline.DefaultBoundConfig()
		bounds.MaxEpisodes = 1
		if mode != pipeline.SnapshotMode {
			c.Prompt.Bounds = &bounds
		}
		r, _ := turn(t, turnInput(), c, "Good day.")
		prompt := r.Attempts[0].Prompt.Text
		if other, twice := prompts[prompt]; twice {
			t.Errorf("%s and %s give one prompt: %s", mode, other, prompt)
		}
		prompts[prompt] = mode
	}
}

func TestStoredDialogueIsWritten(t *testing.T) {
	c := turnConfig()
	c.StoreDialogue = true
	r, _ := turn(t, turnInput(), c, "Good day.")
	var got []string
	for _, e := range r.State.Episodes[2:] {
		got = append(got, e.Description)
	}
	if want := []string{"Player: What of the dragon?", "NPC: Good day."}; !slices.Equal(got, want) || len(r.Writes) != 2 {
		t.Errorf("stored %q, want %q; %d writes", got, want, len(r.Writes))
	}
}

// A turn does not dispatch through a dispatcher that is not its run's any more, and says so.
func TestATurnNeedsItsRunsDispatcher(t *testing.T) {
	var scene pipeline.Scene
	d, err := scene.Open(func(pipeline.Dispatched) { t.Error("something was dispatched") })
	if err != nil {
		t.Fatal(err)
	}
	scene.End()
	in, c := turnInput(), turnConfig()
	y := memory.NewSystem(pipeline.DMPLv1, village(), memory.At(noon), nil)
	_, err = pipeline.RunTurn(y, &in, &c, pipeline.Recorded([]pipeline.Answer{{Text: "[INTENT: wave] Hi there."}}), d, pipeline.DMPLv1)
	if !errors.Is(err, pipeline.ErrNotCurrent) {
		t.Errorf("error %v", err)
	}
}

// Seed 001 §3, the integration test: intents in the output of an answer that the gate does not pass, put there by the
// model or into the parsed output itself, are not dispatched, and nothing is stored.
func TestIntentsOfAFailingGateAreNeverDispatched(t *testing.T) {
	failing := map[string]string{
		"constraint": "[INTENT: run] [MEMORY: m] [BELIEF: b] Take my gold.",
		"fact":       "[INTENT: run] [MEMORY: m] The king isn't named Arthur.",
		"knowledge":  "[ACTION: run] [MEMORY: m] I know the secret.",
		"mutation":   `{"dialogueText":"Hm.","proposedMutations":[{"type":"TransformBelief","target":"king","content":"x"},{"type":"EmitWorldIntent","target":"run"}],"worldIntents":[{"intentType":"run","target":"run"}]}`,
		"parse":      "[INTENT: run] [MEMORY: m] *nods*",
	}
	for name, answer := range failing {
		c := turnConfig()
		c.ParseMode = "auto"
		if name == "mutation" {
			c.Parser = pipeline.ReadParserConfig(open(t, `{"preset":"NativeStructured"}`), c.Parser)
		}
		r, heard := turn(t, turnInput(), c, answer, answer, answer)
		if r.Fallback == nil || len(heard) != 0 || len(r.Dispatched) != 0 || len(r.Writes) != 0 || len(r.Batch.Results) != 0 {
			t.Errorf("%s: %v, heard %v, wrote %v, did %v", name, decisions(r), heard, r.Writes, r.Batch.Results)
		}
	}

	parsed := pipeline.ParsedOutput{Success: true, Dialogue: "I know the secret."}
	parsed.Intents = []pipeline.Intent{{Type: text("injected"), Target: text("injected")}}
	parsed.Mutations = []pipeline.Mutation{{Type: pipeline.EmitWorldIntent, Target: text("injected")}, {Content: text("injected")}}
	gate, err := pipeline.Gate(parsed, pipeline.GateContext{Forbidden: []string{"the secret"}}, pipeline.DefaultGateConfig())
	if err != nil {
		t.Fatal(err)
	}
	y := memory.NewSystem(pipeline.DMPLv1, village(), memory.At(noon), nil)
	b := pipeline.Mutate(y, &gate, "npc", pipeline.DefaultMutationConfig(), pipeline.DMPLv1)
	after, err := pipeline.Settle(village(), y, pipeline.DMPLv1)
	if err != nil {
		t.Fatal(err)
	}
	if heard := dispatched(t, b); len(heard) != 0 || len(b.Results) != 0 || len(after.Writes) != 0 {
		t.Errorf("heard %v, did %v, wrote %v", heard, b.Results, after.Writes)
	}
}

func TestTurnStageRefusesBadInput(t *testing.T) {
	tests := []struct{ input, want string }{
		{`{}`, "at /recordedOutput: expected either recordedOutput or recordedOutputs"},
		{`{"recordedOutput":"a","recordedOutputs":[]}`, "at /recordedOutput: expected either recordedOutput or recordedOutputs"},
		{`{"recordedOutput":"a","mode":"short"}`, `at /mode: "short" is none of workingMemory, structured, minimal, cache`},
		{`{"recordedOutput":"a","retryPolicy":{"MaxRetry":1}}`, "at /retryPolicy/MaxRetry: unknown member"},
		{`{"recordedOutput":"a","retrievalPolicies":{"fact":{"policy_id":"a","policy_version":"1","order":"score,record_id"}}}`, "pipeline.invalid_input at /retrievalPolicies/fact/order: without candidates nothing scores this kind: its order is record_id"},
	}
	for _, test := range tests {
		if _, err := pipeline.TurnStage(pipeline.DMPLv1)(parseDBL(t, []byte(test.input))); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.input, err, test.want)
		}
	}
}

// The stage tells of every attempt, under both versions.
func TestTurnStageTellsOfItsAttempts(t *testing.T) {
	input := `{"npcId":"n","forbiddenKnowledge":["secret"],"fallbackConfig":{"PlayerUtteranceFallbacks":["Hm."]},"recordedOutputs":[{"text":"A secret."},{"text":"One more secret.","truncated":true},{"text":"Secrets."}]}`
	for _, v := range []pipeline.Version{pipeline.DMPLv1, pipeline.LlamaBrainV1} {
		got, err := pipeline.TurnStage(v)(parseDBL(t, []byte(input)))
		if err != nil {
			t.Fatal(err)
		}
		o := document.Open(parseDBL(t, got))
		var list []string
		o.Each("attempts", func(a *document.Object) {
			list = append(list, a.Text("decision", "")+" "+strings.Join(a.Texts("guardrails_triggered"), ","))
		})
		want := []string{"retry KnowledgeBoundaryViolation", "retry KnowledgeBoundaryViolation", "fallback KnowledgeBoundaryViolation"}
		if !reflect.DeepEqual(list, want) || o.Text("dialogue", "") != "Hm." || o.Text("fallback", "") != "Hm." {
			t.Errorf("%s: attempts %q, said %q", v, list, o.Text("dialogue", ""))
		}
		var audit string
		if audit = o.Text("auditRecordJson", ""); !strings.Contains(audit, `"DialogueText":"Hm."`) || !strings.Contains(audit, `"FallbackUsed":true,"FallbackReason":"NPC revealed forbidden knowledge: 'secret'"`) {
			t.Errorf("%s: %s", v, audit)
		}
	}
}

// E10: the digests are those of json-v1 of what the stages print, whatever text the model gave.
func TestStageDigestsCoverWhatTheStagesPrint(t *testing.T) {
	for name, output := range map[string]string{
		"plain":           "[INTENT: wave] Good day.",
		"halves of pairs": `{\"dialogueText\":\"a \\ud83d b \\ud83d\\ude00 c \\\\ud83d.\",\"worldIntents\":[{\"intentType\":\"x\",\"parameters\":{\"p\":\"\\udc00\"}}]}`,
	} {
		input := `{"npcId":"n","parseMode":"auto","preset":"NativeStructured","recordedOutputs":[{"text":"` + output + `"}]}`
		got, err := pipeline.TurnStage(pipeline.DMPLv1)(parseDBL(t, []byte(input)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answer := parseDBL(t, got)
		o := document.Open(answer)
		digests := map[string]string{"batch": o.Text("mutation_batch_digest", "")}
		o.Each("attempts", func(a *document.Object) {
			digests["parsed"], digests["gate"] = a.Text("parse_digest", ""), a.Text("gate_digest", "")
		})
		for member, digest := range digests {
			printed, _ := answer.Get(member)
			whole := strings.NewReplacer(`\ud83d\ude00`, `\ud83d\ude00`, `\\ud83d`, `\\ud83d`, `\\udc00`, `\\udc00`, `\ud83d`, `\ufffd`, `\udc00`, `\ufffd`).Replace(string(printed.Raw()))
			want, err := canon.Digest(canon.JSONv1, []byte(whole))
			if err != nil || digest != want.Hex() {
				t.Errorf("%s: digest of %s is %s, want %s; %v in %s", name, member, digest, want.Hex(), err, whole)
			}
		}
	}
}
