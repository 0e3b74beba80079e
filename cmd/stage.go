package cmd

import (
	"github.com/spf13/cobra"

	"github.com/dmpl/dmpl/pkg/memory"
	"github.com/dmpl/dmpl/pkg/pipeline"
	"github.com/dmpl/dmpl/pkg/thread"
)

// stage is one pipeline stage as a command of its own (CONTRACT P1).
type stage struct {
	name, short string
	long        string // what goes in, what comes out
	run         func(memory.Version) thread.Stage
}

// stages are the pipeline stages in the order of a turn.
var stages = []stage{
	{
		name: "retrieve", short: "Choose and rank the memories for a prompt",
		long: `retrieve takes a JSON object with state (a persona snapshot), load ("listed": as the lists stand), playerInput, topics,
snapshotTimeUtcTicks, retrievalConfig (overrides of the defaults) and, under dmpl-v1, retrievalPolicies and candidates.
It prints what the prompt shows of each kind of memory, the scores and, under dmpl-v1, rankings.`,
		run: pipeline.RetrieveStage,
	},
	{
		name: "bound", short: "Keep of a snapshot what a prompt may hold",
		long: `bound takes a JSON object with snapshot and config (overrides of the defaults, or of a preset).
It prints what is kept, its measure, and the texts of the context and of the dialogue.`,
		run: pipeline.BoundStage,
	},
	{
		name: "assemble", short: "Make the prompt of a snapshot",
		long: `assemble takes a JSON object with mode (snapshot, workingMemory, cache, structured, minimal), snapshot, npcName,
retryFeedback, recognition, workingMemoryConfig, assemblerConfig, kvCacheConfig and structuredConfig, each but the
snapshot optional; minimal takes systemPrompt and playerInput. It prints the text, its measures and its digest.`,
		run: pipeline.AssembleStage,
	},
	{
		name: "parse", short: "Parse what the model said",
		long: `parse takes a JSON object with raw, mode (normalize, parse, structured, auto), preset (Default, Minimal, Structured,
NativeStructured), config (overrides of the preset), wasTruncated and isStructuredOutput, each but raw optional.
It prints the parsed output, or with normalize the text alone.`,
		run: pipeline.ParseStage,
	},
	{
		name: "gate", short: "Judge a parsed output",
		long: `gate takes a JSON object with parsed, context (state, constraints, forbiddenKnowledge), customRules and gateConfig
(overrides of the defaults), each but parsed optional. It prints the failures and what is approved. A pattern that runs out of
time has no answer: {"error":{"code":"pipeline.regex_timeout",…}}.`,
		run: pipeline.GateStage,
	},
	{
		name: "mutate", short: "Execute what the gate approved",
		long: `mutate takes a JSON object with state (a persona snapshot), gatePassed, approvedMutations, approvedIntents, npcId,
controllerConfig (overrides of the defaults) and snapshotTimeUtcTicks; under llamabrain-v1 clockStart, clockStep and idStart.
It prints what was done, what was dispatched, and the memory afterwards; under dmpl-v1 also the writes.`,
		run: pipeline.MutateStage,
	},
	{
		name: "turn", short: "Run a whole turn on recorded answers",
		long: `turn takes a JSON object with state (a persona snapshot), playerInput, topics, snapshotTimeUtcTicks, systemPrompt,
dialogueHistory, constraints, npcId, npcName, forbiddenKnowledge, customRules, recordedOutput (or recordedOutputs, a list of
text and truncated, for several attempts), what each stage is configured with, and what an audit record says.
It prints what each stage gave, the memory afterwards, the audit record and, under dmpl-v1, the attempts and the writes.`,
		run: pipeline.TurnStage,
	},
	{
		name: "memory", short: "Run operations on a memory",
		long: `memory takes a JSON object with state (a persona snapshot, or null), ops, clockStart, clockStep, idStart,
maxEpisodicMemories and episodicDecayRate. It prints results, stateAfter, stateHash, promptMemories,
promptMemoriesWithContradicted and nextSequenceNumber, or {"error":{"code":…,"detail":…}}.
dmpl-v1 also prints writes: the write list that leads from state to stateAfter.`,
		run: func(v memory.Version) thread.Stage { return memory.Step(v) },
	},
}

// stageCommand makes the command of one stage.
func (a *App) stageCommand(s stage) *cobra.Command {
	var version choice
	o := documentOptions{fault: answerFault}
	c := &cobra.Command{
		Use:   s.name + " [--pipeline-version V] [FILE|-]",
		Short: s.short,
		Long:  s.long,
		Example: "  dmpl step " + s.name + " input.json\n" +
			"  dmpl step " + s.name + " --pipeline-version llamabrain-v1 --jsonl < many.jsonl",
		Args: fileArgument,
		RunE: func(_ *cobra.Command, args []string) error {
			v, err := memory.ParseVersion(version.value)
			if err != nil {
				return err
			}
			return a.answer(fileOf(args), o, s.run(v))
		},
	}
	addChoice(c, &version, "pipeline-version", "whose rules apply", memory.DMPLv1.String(), memory.LlamaBrainV1.String())
	o.bind(c)
	return c
}
