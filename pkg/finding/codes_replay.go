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
}
