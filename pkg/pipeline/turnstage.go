package pipeline

import (
	"errors"

	"github.com/dmpl/dmpl/pkg/audit"
	"github.com/dmpl/dmpl/pkg/canon"
	"github.com/dmpl/dmpl/pkg/document"
	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/thread"
)

// TurnStage gives the stage that runs a whole turn on `state` with `recordedOutput`, or with `recordedOutputs` for several
// attempts.
func TurnStage(v Version) thread.Stage {
	return func(input canon.Value) ([]byte, error) {
		o := document.Open(input)
		state := readMemory(o, v)
		in, c := readTurnInput(o, v), readTurnConfig(o, v)
		state.PersonaID = in.NPCID // whose memory it is
		state.InteractionCount = o.Integer("interactionCount", state.InteractionCount)
		system := readSystem(o, state, v)
		answers := readAnswers(o)
		record := readAudit(o, v)
		if err := o.Err(); err != nil {
			return nil, err
		}
		var scene Scene
		d, err := scene.Open(func(Dispatched) {})
		if err != nil {
			return nil, err
		}
		r, err := RunTurn(system, &in, &c, Recorded(answers), d, v)
		if err != nil {
			return nil, err
		}
		record.MemoryHashBefore = state.Hash()
		r.audit(&record)
		w := document.NewWriter(v.Style())
		w.Object("", func() {
			w.Text("stateHashBefore", state.Hash())
			err = r.write(w, v)
			w.Text("auditRecordJson", auditText(&record))
			w.Text("runtimeBridgeMemoryHash", r.Snapshot.MemoryHash())
			if v == memory.DMPLv1 || o.Has("recordedOutputs") {
				err = errors.Join(err, r.writeAttempts(w))
			}
		})
		return w.Bytes(), err
	}
}

func readTurnInput(o *document.Object, v Version) TurnInput {
	return TurnInput{
		Query:        readQuery(o),
		SystemPrompt: o.Text("systemPrompt", ""),
		Dialogue:     o.Texts("dialogueHistory"),
		Constraints:  readConstraints(o, "constraints"),
		References:   o.Texts("references"),
		NPCID:        o.Text("npcId", ""),
		NPCName:      o.OptionalText("npcName"),
		Recognition:  readRecognition(o, "recognition"),
		Forbidden:    o.Texts("forbiddenKnowledge"),
		Rules:        ReadCustomRules(o, "customRules"),
		Fallback: FallbackQuery{
			Trigger:  o.Texts("triggerFallbacks"),
			Reason:   ReadTriggerReason(o, "triggerReason"),
			Recorded: o.OptionalText("recordedFallback"),
		},
	}
}

func readTurnConfig(o *document.Object, v Version) TurnConfig {
	c := TurnConfig{
		Retrieval:     ReadRetrievalConfig(o, "retrievalConfig"),
		Policies:      ReadRetrievalPolicies(o, "retrievalPolicies", v),
		Parser:        readParserConfig(o),
		ParseMode:     o.Word("parseMode", "parse", "structured", "auto"),
		Gate:          ReadGateConfig(o.Object("gateConfig")),
		Retry:         ReadRetryPolicy(o, "retryPolicy"),
		Fallback:      ReadFallbackConfig(o, "fallbackConfig"),
		Mutation:      ReadMutationConfig(o, "controllerConfig", v),
		StoreDialogue: o.Bool("storeDialogue", false),
	}
	c.Prompt = PromptConfig{
		Mode: PromptMode(o.Word("mode", string(SnapshotMode), string(WorkingMemoryMode), string(StructuredMode),
			string(MinimalMode), string(CacheMode))),
		Assembler:  ReadAssembleConfig(o, "assemblerConfig"),
		Boundary:   ReadCacheBoundary(o, "kvCacheConfig"),
		Structured: ReadStructuredConfig(o, "structuredConfig"),
	}
	if o.Has("workingMemoryConfig") {
		bounds := ReadBoundConfig(o, "workingMemoryConfig")
		c.Prompt.Bounds = &bounds
	}
	return c
}

func readAnswers(o *document.Object) []Answer {
	if o.Has("recordedOutput") == o.Has("recordedOutputs") {
		o.Fail("recordedOutput", "expected either recordedOutput or recordedOutputs")
	}
	if o.Has("recordedOutput") {
		return []Answer{{o.Text("recordedOutput", ""), o.Bool("wasTruncated", false)}}
	}
	var answers []Answer
	o.Each("recordedOutputs", func(e *document.Object) {
		answers = append(answers, Answer{e.Text("text", ""), e.Bool("truncated", false)})
		refuseUnknown(e)
	})
	return answers
}

// readAudit reads what an audit record says besides what the stages gave. LlamaBrain's recorder has a clock of its own,
// which in its vectors is one tick behind the snapshot; P4: dmpl-v1 has no other than the snapshot time.
func readAudit(o *document.Object, v Version) audit.Record {
	a := audit.Record{
		RecordID:         o.Text("recordId", ""),
		NpcID:            o.Text("npcId", ""),
		InteractionCount: o.Integer("interactionCount", 0),
		SnapshotTime:     o.Integer("snapshotTimeUtcTicks", 0),
		PlayerInput:      o.Text("playerInput", ""),
		TriggerReason:    int64(ReadTriggerReason(o, "triggerReason")),
		TriggerID:        o.Text("triggerId", ""),
		SceneName:        o.Text("sceneName", ""),
	}
	a.Seed = a.InteractionCount // llamabrain.md §9: the recorder's seed
	a.CapturedAt = a.SnapshotTime
	if v == memory.LlamaBrainV1 {
		a.CapturedAt++
	}
	return a
}

// write writes what the stages gave, the last attempt's of those that ran more than once.
func (r *TurnResult) write(w *document.Writer, v Version) error {
	last := r.Last()
	w.Object("retrieved", func() { r.Retrieval.writeTexts(w) })
	w.Object("prompt", func() { writePrompt(w, last.Prompt) })
	writeParsed(w, "parsed", last.Parsed)
	writeGateResult(w, "gate", last.Gate)
	r.Batch.write(w, "batch")
	writeDispatched(w, "dispatchedIntents", r.Dispatched)
	return writeAfter(w, &r.Aftermath, v)
}

// writeAttempts writes how the turn came to its end, with the digests that two runs are compared by (E10).
func (r *TurnResult) writeAttempts(w *document.Writer) error {
	batch, err := new(Digester).Batch(r.Batch)
	w.List("attempts", func() {
		for i := range r.Attempts {
			err = errors.Join(err, r.Attempts[i].write(w))
		}
	})
	w.Text("mutation_batch_digest", batch.Hex())
	if r.Fallback != nil {
		w.Text("fallback", r.Fallback.Text)
	}
	w.Text("dialogue", r.Dialogue())
	return err
}

func (a *Attempt) write(w *document.Writer) error {
	d, err := a.Digests()
	w.Object("", func() {
		w.Text("prompt_digest", d.Prompt.Hex())
		if !a.Answered {
			w.Null("decision")
			return
		}
		w.Text("parse_digest", d.Parse.Hex())
		w.Text("gate_digest", d.Gate.Hex())
		w.Text("decision", a.Decision.String())
		w.Texts("guardrails_triggered", a.Gate.Guardrails())
	})
	return err
}
