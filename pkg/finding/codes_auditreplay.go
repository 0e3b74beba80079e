package finding

// The codes of a debug package whose turns are run again.
const (
	AuditReplayState     Code = "auditreplay.state"
	AuditReplayDialogue  Code = "auditreplay.dialogue"
	AuditReplayGate      Code = "auditreplay.gate"
	AuditReplayMutations Code = "auditreplay.mutations"
	AuditReplayNotRun    Code = "auditreplay.not_run"
)

// auditReplayEntries are the codes about a package and the save file that it is run again on.
var auditReplayEntries = []Entry{
	{
		Code: AuditReplayState, Rule: "R1", Severity: Error, Effect: Rejects,
		Title:   "the save file is not the memory before the turn",
		Meaning: "The first turn of an NPC states a hash of its memory that the saved memory does not have. None of its turns can be run. An NPC that the save file does not have begins with an empty memory.",
		Causes:  "The save is from another time or another game; retrieval was configured otherwise.",
		Action:  "Give the save file from before the first turn of the package.",
	},
	{
		Code: AuditReplayDialogue, Rule: "R1", Severity: Error, Effect: Differs,
		Title:   "the output parses to another dialogue",
		Meaning: "What the parser makes of the recorded output is not the recorded dialogue.",
		Causes:  "Another parser configuration, or a record that was changed.",
		Action:  "Run dmpl verify on the package, then compare both texts.",
	},
	{
		Code: AuditReplayGate, Rule: "R1", Severity: Error, Effect: Differs,
		Title:   "the gate decides otherwise",
		Meaning: "Held to the recorded constraints and the saved facts, the recorded output has other violations than recorded.",
		Causes:  "Another gate configuration, or a record that was changed.",
		Action:  "Run dmpl verify on the package, then compare the constraints.",
	},
	{
		Code: AuditReplayMutations, Rule: "R1", Severity: Error, Effect: Differs,
		Title:   "another number of mutations applies",
		Meaning: "Executed on the saved memory, the output changes it another number of times than recorded.",
		Causes:  "Another parser configuration, or a record that was changed.",
		Action:  "Run dmpl verify on the package, then look for the mutations in the output.",
	},
	{
		Code: AuditReplayNotRun, Rule: "R6", Severity: Note, Effect: None,
		Title:   "turn is not run again",
		Meaning: "The memory before the turn is not known. The verdict does not cover the turn.",
		Causes:  "Turns before stored something: its ids are random, its times are those of the wall clock, and a package keeps neither.",
		Action:  "Give a package and a save file for each turn that matters.",
	},
}
