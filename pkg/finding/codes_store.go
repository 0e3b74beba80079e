package finding

// The codes of memory stores (M1 to M8).
const (
	StoreUnusable        Code = "store.unusable"
	StoreNotAllowed      Code = "store.not_allowed"
	StoreUnknownSnapshot Code = "store.unknown_snapshot"
	StoreState           Code = "store.state"
	StoreLease           Code = "store.lease"
	StorePolicyRejected  Code = "store.policy_rejected"
	StoreValidation      Code = "store.validation_failed"
	StorePayload         Code = "store.payload_mismatch"
	StorePending         Code = "store.pending"
	StoreLedger          Code = "store.ledger_broken"
)

// storeEntries are the codes of what `dmpl store` refuses or finds.
var storeEntries = []Entry{
	{
		Code: StoreUnusable, Rule: "M4", Severity: Error, Effect: Fails,
		Title:   "the store cannot be used",
		Meaning: "There is no store at the place, it is another program's database, a copy of another store, of a newer version, or its disk or server failed. Nothing was changed; a commit whose answer was lost is there whole or not at all.",
		Causes:  "A wrong path in --store; a store that was never made; a disk that is full or read-only; a server that is gone.",
		Action:  "Correct --store, or make a store with dmpl store init.",
	},
	{
		Code: StoreNotAllowed, Rule: "M2", Severity: Error, Effect: Fails,
		Title:   "this environment may not write",
		Meaning: "Writing runs need an environment that is set and opted in. Everything else reads only.",
		Causes:  "--env is not set or misspelt, or --buffered-write does not list it.",
		Action:  "Set env and buffered-write in dmpl.yaml, DMPL_ENV and DMPL_BUFFERED_WRITE, or on the command line; live_read_write asks for --non-deterministic too.",
	},
	{
		Code: StoreUnknownSnapshot, Rule: "M1", Severity: Error, Effect: Fails,
		Title:   "the store has no such snapshot",
		Meaning: "The id was never committed in this store, or its records were forgotten by a collection. An unknown snapshot is never an empty memory.",
		Causes:  "An id of another store, or a snapshot older than the retention.",
		Action:  "dmpl store snapshot list shows the snapshots that can be read.",
	},
	{
		Code: StoreState, Rule: "M3", Severity: Error, Effect: Fails,
		Title:   "the run is not in a state for this",
		Meaning: "A buffer is opened, written, then committed or aborted, in this order and once. Nothing was changed.",
		Causes:  "A run id that is used twice, a write after the commit, or a run that a crash left open.",
		Action:  "dmpl store run show tells where the run stands, and dmpl store run abort gives up what a crash left open. Use a new run id for a new run.",
	},
	{
		Code: StoreLease, Rule: "M7", Severity: Error, Effect: Fails,
		Title:   "a recovery worker has the commit",
		Meaning: "A pending commit is ended by one worker at a time, under a lease.",
		Causes:  "A recovery is at work, or its worker died less than the length of a lease ago.",
		Action:  "Wait for the lease to run out (30 s); dmpl store recover then takes it.",
	},
	{
		Code: StorePolicyRejected, Rule: "D9", Severity: Error, Effect: Fails,
		Title:   "the commit policy rejected the buffer",
		Meaning: "A rule of the policy set says no. The buffer is discarded and the memory did not change; the ledger has the rule.",
		Causes:  "The run wrote what the policy set does not allow.",
		Action:  "Correct the run, or the policy set, and run again under a new run id.",
	},
	{
		Code: StoreValidation, Rule: "M4", Severity: Error, Effect: Fails,
		Title:   "the writes cannot be applied",
		Meaning: "A write is not allowed, or another commit changed the record since the run's start snapshot. Nothing of the buffer was applied.",
		Causes:  "Two runs that changed one record; a write without the authority that its record needs.",
		Action:  "Run again from the newest snapshot.",
	},
	{
		Code: StorePayload, Rule: "M5", Severity: Error, Effect: Fails,
		Title:   "the commit was made before with other writes",
		Meaning: "Same run, start snapshot and policy set, and another payload. The memory did not change; the ledger has both fingerprints.",
		Causes:  "A run that was repeated and was not deterministic.",
		Action:  "Compare both recordings with dmpl diff.",
	},
	{
		Code: StorePending, Rule: "M6", Severity: Error, Effect: Fails,
		Title:   "a commit is still pending",
		Meaning: "Recovery could not end it: another worker holds its lease, or the storage failed it.",
		Causes:  "A worker that died less than 30 s ago, or a disk that fails.",
		Action:  "Run dmpl store recover again, or dmpl store recover --abort to give it up.",
	},
	{
		Code: StoreLedger, Rule: "M8", Severity: Error, Effect: Fails,
		Title:   "the ledger is broken",
		Meaning: "A row was removed, reordered or edited, or the store does not agree with its ledger.",
		Causes:  "Somebody changed the store's file by hand, or it was restored in part.",
		Action:  "Restore the store as a whole, and keep the broken file as evidence.",
	},
}
