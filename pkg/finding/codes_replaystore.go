package finding

// The codes of a replay that asks the store of the run (M1, M3 to M6).
const (
	ReplayStoreOther           Code = "replay.store_other"
	ReplayStoreSnapshotMissing Code = "replay.store_snapshot_missing"
	ReplayStoreSnapshotDiffers Code = "replay.store_snapshot_differs"
	ReplayStoreCommitMissing   Code = "replay.store_commit_missing"
	ReplayStoreCommitPending   Code = "replay.store_commit_pending"
	ReplayStoreCommitEnded     Code = "replay.store_commit_ended"
	ReplayStoreCommitDiffers   Code = "replay.store_commit_differs"
	ReplayStoreCommit          Code = "replay.store_commit"
	ReplayChainApart           Code = "replay.chain_apart"
)

// replayStoreEntries are the codes about a run and the store that it says it was on.
var replayStoreEntries = []Entry{
	{
		Code: ReplayStoreOther, Rule: "M1", Severity: Error, Effect: Rejects,
		Title:   "the run was recorded on another store",
		Meaning: "The id of the store is not the one in the manifest. Snapshots and commits of two stores have nothing to do with each other, whatever their ids are.",
		Causes:  "The wrong --store, or a store that was made again.",
		Action:  "Give the store that the run was recorded on.",
	},
	{
		Code: ReplayStoreSnapshotMissing, Rule: "M1", Severity: Error, Effect: Rejects,
		Title:   "the store does not have the start snapshot",
		Meaning: "The snapshot was never committed there, or its records were forgotten by a collection. The run was replayed from its own file, and nothing vouches for that.",
		Causes:  "A run that was recorded without this store; a run that is older than the store keeps its snapshots.",
		Action:  "Replay the run without --store (--store= where dmpl.yaml names one), or from a copy of the store that still has the snapshot.",
	},
	{
		Code: ReplayStoreSnapshotDiffers, Rule: "M1", Severity: Error, Effect: Differs,
		Title:   "the start snapshot is another memory than the store has under its id",
		Meaning: "Snapshots never change, so that the run, or the store, was edited.",
		Causes:  "An edited snapshot.json; another store; a store that was changed by hand.",
		Action:  "dmpl store ledger verify tells whether the store holds together; compare snapshot.json with dmpl store snapshot export.",
	},
	{
		Code: ReplayStoreCommitMissing, Rule: "M8", Severity: Error, Effect: Differs,
		Title:   "the store knows nothing of the commit",
		Meaning: "The run says what became of its commit, and no commit of that id was ever made or refused there.",
		Causes:  "A run that was recorded without this store; a store that was restored from an older copy; an edited run.",
		Action:  "dmpl store ledger show --run tells what the store saw of the run.",
	},
	{
		Code: ReplayStoreCommitPending, Rule: "M6", Severity: Error, Effect: Rejects,
		Title:   "the commit has not ended in the store",
		Meaning: "It is open or pending there, and the run says how it ended.",
		Causes:  "Another process runs under the same id at this moment, or a crash left it.",
		Action:  "End it with dmpl store recover, then replay again.",
	},
	{
		Code: ReplayStoreCommitEnded, Rule: "M3", Severity: Error, Effect: Differs,
		Title:   "the commit ended otherwise in the store",
		Meaning: "The run says that it was applied and the store aborted it, or the other way round, or the reasons differ.",
		Causes:  "An edited commit.json; a recording of another attempt under the same run id.",
		Action:  "The store is right about what is in the memory. Compare with dmpl store ledger show --run.",
	},
	{
		Code: ReplayStoreCommitDiffers, Rule: "M5", Severity: Error, Effect: Differs,
		Title:   "the commit of the store is another one",
		Meaning: "Under the same commit id the store applied another payload, for another run, or made another snapshot of it.",
		Causes:  "Writes that were edited in the run or in the store; a store that was restored from an older copy.",
		Action:  "Compare the writes of commit.json with dmpl store ledger show --run, and the two recordings with dmpl diff.",
	},
	{
		Code: ReplayStoreCommit, Rule: "M4", Severity: Note, Effect: None,
		Title:   "the store has the commit",
		Meaning: "Same commit id and payload; the snapshot that it made may hold other runs' commits too, which do not matter.",
		Causes:  "This is as it should be.",
		Action:  "Nothing is to be done.",
	},
	{
		Code: ReplayChainApart, Rule: "P6", Severity: Error, Effect: Rejects,
		Title:   "other runs committed between two links of a chain",
		Meaning: "A link starts at the snapshot that the one before made of a store, and that holds more than the one before left. What, only the store knows.",
		Causes:  "Runs that share a store with the chain.",
		Action:  "Replay the chain with --store.",
	},
}
