package finding

// The codes of native runs.
const (
	// run: a run folder is not whole, or its parts do not fit together.
	RunCutShort     Code = "run.cut_short"
	RunFileMissing  Code = "run.file_missing"
	RunFileExtra    Code = "run.file_extra"
	RunFileChanged  Code = "run.file_changed"
	RunDisagrees    Code = "run.disagrees"
	RunLineOrder    Code = "run.line_order"
	RunUnlinked     Code = "run.unlinked"
	RunSnapshot     Code = "run.snapshot"
	RunEventUnknown Code = "run.event_unknown"
	RunEventOrder   Code = "run.event_order"
	RunStageMissing Code = "run.stage_missing"
	RunChain        Code = "run.chain"
	// stage: two native runs were compared, and a stage made something else (E10).
	StagePlace       Code = "stage.place"
	StageContext     Code = "stage.context"
	StageConstraints Code = "stage.constraints"
	StagePrompt      Code = "stage.prompt"
	StageOutput      Code = "stage.output"
	StageParse       Code = "stage.parse"
	StageGate        Code = "stage.gate"
	StageMutations   Code = "stage.mutations"
	StageIntents     Code = "stage.intents"
	StageState       Code = "stage.state"
)

// runEntries are the codes about one native run.
var runEntries = []Entry{
	{
		Code: RunCutShort, Rule: "V3", Severity: Error, Effect: Rejects,
		Title:   "the run is cut short",
		Meaning: "The recording was not finished, so nothing is known about what is missing. The rest of the folder is not judged.",
		Causes:  "The process that recorded was killed, or the disk was full.",
		Action:  "Record the run again.",
	},
	{
		Code: RunFileMissing, Rule: "V5", Severity: Error, Effect: Fails,
		Title:   "a file of the run is missing",
		Meaning: "The manifest lists the file, or every complete run has it, and it is not there.",
		Causes:  "A copy that left files out.",
		Action:  "Copy the whole folder.",
	},
	{
		Code: RunFileExtra, Rule: "V5", Severity: Error, Effect: Fails,
		Title:   "a file is not listed in the manifest",
		Meaning: "The folder of a run holds what its manifest lists and nothing else. The file was not read.",
		Causes:  "A file that was put there later, or a manifest that was edited.",
		Action:  "Take the file out of the folder, or record the run again.",
	},
	{
		Code: RunFileChanged, Rule: "V5", Severity: Error, Effect: Fails,
		Title:   "a file is not the one that the manifest lists",
		Meaning: "Length or SHA-256 of the file differ from what was written when the run was closed.",
		Causes:  "The file was edited, or its line ends were changed by a tool.",
		Action:  "Take the recording from where it was made; keep run folders out of text conversion.",
	},
	{
		Code: RunDisagrees, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "two files of the run state another value",
		Meaning: "An identity or a digest stands in two places of a run and is not the same.",
		Causes:  "An edited file, or files of two runs in one folder.",
		Action:  "Record the run again.",
	},
	{
		Code: RunLineOrder, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "a line is out of order or there twice",
		Meaning: "Lines stand in the order of turn, attempt and call, each once, and turns are 0…n-1.",
		Causes:  "An edited file, or a writer that ran twice.",
		Action:  "Record the run again.",
	},
	{
		Code: RunUnlinked, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "a recorded line and the events do not belong together",
		Meaning: "An event rests on a line that is not recorded, or a line is recorded that no event rests on.",
		Causes:  "A removed line or event.",
		Action:  "Record the run again.",
	},
	{
		Code: RunSnapshot, Rule: "M9", Severity: Error, Effect: Fails,
		Title:   "the start snapshot cannot be loaded",
		Meaning: "An entry is there twice, a record is not what its type asks for, or the next sequence number is not greater than all.",
		Causes:  "A snapshot that was merged or edited by hand.",
		Action:  "Export the snapshot again.",
	},
	{
		Code: RunEventUnknown, Rule: "P7", Severity: Error, Effect: Fails,
		Title:   "the catalogue has no such event",
		Meaning: "Native runs have the events of the catalogue and no others.",
		Causes:  "A newer writer, or an edited trace.",
		Action:  "Update dmpl, or record the run again.",
	},
	{
		Code: RunEventOrder, Rule: "P7", Severity: Error, Effect: Fails,
		Title:   "the event cannot stand here",
		Meaning: "The events of a turn follow the order of the stages, and turns and attempts follow one another.",
		Causes:  "A removed or moved event.",
		Action:  "Record the run again.",
	},
	{
		Code: RunStageMissing, Rule: "E10", Severity: Error, Effect: Fails,
		Title:   "what the stage made is not recorded",
		Meaning: "The event must carry this member, and a digest must be a SHA-256. Without it two runs cannot be compared at this stage.",
		Causes:  "A writer that does not record its stages.",
		Action:  "Record the run with dmpl or its package record.",
	},
	{
		Code: RunChain, Rule: "P6", Severity: Error, Effect: Fails,
		Title:   "the chain of runs is broken",
		Meaning: "Each run of a chain follows the one before: its id, and its commit, which was applied.",
		Causes:  "A missing run, two runs with one index, or runs of two chains in one folder.",
		Action:  "Keep the runs of a chain together, each chain in a folder of its own.",
	},
}

// stageEntries are the codes of E10.
var stageEntries = []Entry{
	{
		Code: StagePlace, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the event belongs to another turn, attempt or call",
		Meaning: "At this index one run is in another place than the other.",
		Causes:  "An extra retry, turn or tool call on one side.",
		Action:  "Look at the gate's result before it.",
	},
	{
		Code: StageContext, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the thread context differs",
		Meaning: "The references of the turn gave another context.",
		Causes:  "Other references, another thread, or another context configuration.",
		Action:  "Compare turns.jsonl and the context configuration.",
	},
	{
		Code: StageConstraints, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the constraints differ",
		Meaning: "The attempt was made under another list of constraints.",
		Causes:  "Another constraint set, or another escalation after a refused attempt.",
		Action:  "Compare the constraints in turns.jsonl, and the gate's result of the attempt before.",
	},
	{
		Code: StagePrompt, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the prompt differs",
		Meaning: "The model was asked something else.",
		Causes:  "Other memory, bounds, template, dialogue or input.",
		Action:  "Look for an earlier difference in retrieval or constraints; replay shows the words.",
	},
	{
		Code: StageOutput, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the recorded answer differs",
		Meaning: "The model answered something else, and the trace does not show it: the answer was never parsed, or outputs.jsonl of a side was edited after the run.",
		Causes:  "Another answer to a turn that failed; or an edited recording.",
		Action:  "Run dmpl replay on both runs: it says whether each is what its own inputs make.",
	},
	{
		Code: StageParse, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the parsed answer differs",
		Meaning: "The model answered something else, or the answer was parsed otherwise.",
		Causes:  "Another model output, or another parser configuration.",
		Action:  "Compare outputs.jsonl and the parser's configuration.",
	},
	{
		Code: StageGate, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the gate's result differs",
		Meaning: "The answer was judged otherwise.",
		Causes:  "Another answer, other rules, or other memory to judge by.",
		Action:  "Compare guardrails_triggered of both events.",
	},
	{
		Code: StageMutations, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the mutation batch differs",
		Meaning: "The turn changes the memory otherwise.",
		Causes:  "Another answer, or another start snapshot.",
		Action:  "Look for an earlier difference in the parsed answer.",
	},
	{
		Code: StageIntents, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the dispatched intents differ",
		Meaning: "The turn acts on the world otherwise.",
		Causes:  "Another answer, or another judgement of it.",
		Action:  "Look for an earlier difference in the mutation batch.",
	},
	{
		Code: StageState, Rule: "E10", Severity: Error, Effect: Differs,
		Title:   "the state differs",
		Meaning: "Start snapshot and writes so far are not the same.",
		Causes:  "Another mutation in this turn or before it.",
		Action:  "Look at the first event whose state differs.",
	},
}
