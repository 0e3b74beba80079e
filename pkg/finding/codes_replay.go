package finding

// The codes of replay (X4, X5, R): a recording is built again and compared with itself.
const (
	ReplayConfigDiffers     Code = "replay.config_differs"
	ReplayConfigUnknown     Code = "replay.config_unknown"
	ReplayContextChanged    Code = "replay.context_changed"
	ReplayResolutionChanged Code = "replay.resolution_changed"
	ReplayNotRebuilt        Code = "replay.not_rebuilt"
	ReplayNotWhole          Code = "replay.not_whole"
	ReplayNothing           Code = "replay.nothing_rebuilt"
	ReplayPrefix            Code = "replay.prefix"

	ReplayOverridden       Code = "replay.overridden"
	ReplayNotExecuted      Code = "replay.not_executed"
	ReplayTooOld           Code = "replay.too_old"
	ReplayCandidateUnknown Code = "replay.candidate_unknown"
	ReplayPromptChanged    Code = "replay.prompt_changed"
	ReplayOutputMissing    Code = "replay.output_missing"
	ReplayOutputUnused     Code = "replay.output_unused"
	ReplayResultMissing    Code = "replay.tool_result_missing"
	ReplayResultOther      Code = "replay.tool_result_other"
	ReplayResultUnused     Code = "replay.tool_result_unused"
	ReplayRecordDiffers    Code = "replay.record_differs"
	ReplayChainBroken      Code = "replay.chain_broken"
)

// replayEntries are the codes about a stream or a run that is built again.
var replayEntries = []Entry{
	{
		Code: ReplayConfigDiffers, Rule: "X4", Severity: Note, Effect: None,
		Title:   "the replay uses another configuration than the recording",
		Meaning: "Each decision pins the digest of its context configuration, and these pin another one. What follows says what would change, and members that only repeat the configuration are not compared.",
		Causes:  "The configuration was edited, or belongs to another stream.",
		Action:  "Give the recorded configuration to test the recording itself.",
	},
	{
		Code: ReplayConfigUnknown, Rule: "X4", Severity: Note, Effect: None,
		Title:   "the configuration holds something that nobody knows",
		Meaning: "An unknown member or rule counts in the digest of the configuration and has no effect on a context.",
		Causes:  "A misspelt name, or a newer producer.",
		Action:  "Correct the name if it was meant to have an effect.",
	},
	{
		Code: ReplayContextChanged, Rule: "X5", Severity: Error, Effect: Differs,
		Title:   "the context is another one",
		Meaning: "The context built again from the events is not the one that the decision stores.",
		Causes:  "Another configuration, an edited event or context, or an assembly that depends on more than the stream.",
		Action:  "Read what the messages gained and lost; verify tells whether the recording was altered.",
	},
	{
		Code: ReplayResolutionChanged, Rule: "X5", Severity: Error, Effect: Differs,
		Title:   "the references resolve otherwise",
		Meaning: "One side refuses the references of the turn, and the other does not or refuses for another reason.",
		Causes:  "Another bound or policy in the configuration, or a referenced event that was added, moved or removed.",
		Action:  "Compare the bound and the policy with the references of the INTENT.",
	},
	{
		Code: ReplayNotRebuilt, Rule: "X5", Severity: Error, Effect: Rejects,
		Title:   "the context cannot be built again",
		Meaning: "What the turn rests on is not in the stream, or its stored context has no canonical form.",
		Causes:  "A missing INTENT, a removed context, or content that was fetched over the network.",
		Action:  "Verify the stream; nothing is known about this turn.",
	},
	{
		Code: ReplayNotWhole, Rule: "R5", Severity: Error, Effect: Rejects,
		Title:   "only a part of the stream is there",
		Meaning: "A reference may name any earlier event. From the first missing event on, no context is built again.",
		Causes:  "A page or a filtered view of a store, or a recording that was cut.",
		Action:  "Export the whole store.",
	},
	{
		Code: ReplayNothing, Rule: "R4", Severity: Error, Effect: Rejects,
		Title:   "no context was built again",
		Meaning: "The part that was replayed holds no decision with a context. Nothing was proved, so nothing passes.",
		Causes:  "An empty stream, context resolution that was switched off, or a prefix that is too short.",
		Action:  "Replay a stream that was recorded with context resolution.",
	},
	{
		Code: ReplayPrefix, Rule: "R5", Severity: Note, Effect: None,
		Title:   "only a prefix was replayed",
		Meaning: "The verdict covers the events up to the given index.",
		Causes:  "The flag --until.",
		Action:  "Leave the flag out to replay everything.",
	},
	{
		Code: ReplayOverridden, Rule: "R1", Severity: Note, Effect: None,
		Title:   "a document of the working tree takes the place of a recorded one",
		Meaning: "The verdict says what the given document changes. Identities that it changes are not compared.",
		Causes:  "One of the flags --config, --policies, --snapshot, --context-config.",
		Action:  "Leave the flag out to test the recording itself.",
	},
	{
		Code: ReplayNotExecuted, Rule: "R1", Severity: Error, Effect: Rejects,
		Title:   "the run cannot be executed again",
		Meaning: "A document of the recording is not what a stage needs. Nothing was made again, so nothing is known.",
		Causes:  "An edited file, a newer writer, or a mode that cannot be repeated.",
		Action:  "Verify the run, and record it again.",
	},
	{
		Code: ReplayTooOld, Rule: "R4", Severity: Error, Effect: Rejects,
		Title:   "the recording is too old",
		Meaning: "The run was recorded longer ago than --max-age allows. That it replays says nothing of what the model answers today.",
		Causes:  "Baselines that nobody has recorded again.",
		Action:  "Record the run again with the model of today.",
	},
	{
		Code: ReplayCandidateUnknown, Rule: "R7", Severity: Error, Effect: Differs,
		Title:   "a candidate is not in the start snapshot",
		Meaning: "The backend returned a record that the memory of the run does not have, so that it cannot be ranked.",
		Causes:  "A search index that is ahead of the memory or behind it, or another snapshot.",
		Action:  "Index the snapshot that the run starts from.",
	},
	{
		Code: ReplayPromptChanged, Rule: "R2", Severity: Error, Effect: Differs,
		Title:   "the prompt changed",
		Meaning: "The recorded output answered another prompt. The replay goes on with it; what follows in the turn is a cascade.",
		Causes:  "Another template, bound, memory or constraint.",
		Action:  "Read which words changed. Where the change is meant, record the run again, or use --update.",
	},
	{
		Code: ReplayOutputMissing, Rule: "R2", Severity: Error, Effect: Differs,
		Title:   "an output is asked for that is not recorded",
		Meaning: "The replay asks the model once more than the recorded run did, so that the turn cannot go on.",
		Causes:  "A gate that refuses more, a retry policy that allows more, or a removed line.",
		Action:  "Look at the gate's event before it, and record the run again.",
	},
	{
		Code: ReplayOutputUnused, Rule: "R2", Severity: Error, Effect: Differs,
		Title:   "a recorded output is never asked for",
		Meaning: "The replay asks the model less often than the recorded run did.",
		Causes:  "A gate that refuses less, a retry policy that allows less, or an added line.",
		Action:  "Look at the gate's event of the attempt before.",
	},
	{
		Code: ReplayResultMissing, Rule: "R2", Severity: Error, Effect: Differs,
		Title:   "a tool call has no recorded result",
		Meaning: "The answer asks for a call that was not answered when the run was recorded.",
		Causes:  "Another parser configuration, or a removed line.",
		Action:  "Compare the calls of the attempt with tool_results.jsonl.",
	},
	{
		Code: ReplayResultOther, Rule: "R2", Severity: Error, Effect: Differs,
		Title:   "a recorded result answers another call",
		Meaning: "Tool or arguments of the call are not those that the result was recorded for.",
		Causes:  "Another parser configuration, or an edited output or result.",
		Action:  "Compare the answer with tool_results.jsonl.",
	},
	{
		Code: ReplayResultUnused, Rule: "R2", Severity: Error, Effect: Differs,
		Title:   "a recorded tool result is never asked for",
		Meaning: "The answers of the run do not ask for this call.",
		Causes:  "Another parser configuration, or an added line.",
		Action:  "Compare the calls of the attempt with tool_results.jsonl.",
	},
	{
		Code: ReplayRecordDiffers, Rule: "R1", Severity: Warning, Effect: None,
		Title:   "a member is recorded otherwise than it is made",
		Meaning: "No rule of equivalence compares this member of an event or a retrieval row, and it is not what the replay makes.",
		Causes:  "An edited trace, or an edited input that moves no record.",
		Action:  "Verify the run. Where the recording was not touched, report it.",
	},
	{
		Code: ReplayChainBroken, Rule: "P6", Severity: Error, Effect: Differs,
		Title:   "a run of a chain does not start where the one before ended",
		Meaning: "The start snapshot is not the state that the run before commits when it is executed again.",
		Causes:  "An edited snapshot, or runs of two chains in one folder.",
		Action:  "Record the chain again.",
	},
}
