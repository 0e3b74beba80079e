package finding

// The codes of exported ledgers (M1, M3, M5, M7, M8).
const (
	LedgerRowChanged Code = "ledger.row_changed"
	LedgerNumber     Code = "ledger.number"
	LedgerLink       Code = "ledger.link"
	LedgerStore      Code = "ledger.store"
	LedgerState      Code = "ledger.state"
	LedgerSnapshot   Code = "ledger.snapshot"
	LedgerCommit     Code = "ledger.commit"
	LedgerLease      Code = "ledger.lease"
)

// ledgerEntries are the codes of memory.ledger.v1.
var ledgerEntries = []Entry{
	{
		Code: LedgerRowChanged, Rule: "V5", Severity: Error, Effect: Fails,
		Title:   "a row is not what its digest says",
		Meaning: "The row was edited after it was written.",
		Causes:  "A member that was changed by hand, or by a program that writes numbers another way.",
		Action:  "Export the ledger again, and compare; dmpl store ledger verify tells whether the store has the row.",
	},
	{
		Code: LedgerNumber, Rule: "M8", Severity: Error, Effect: Fails,
		Title:   "a row does not stand at its place",
		Meaning: "Rows count from 1 without a gap. Here one was removed, moved, or put in.",
		Causes:  "A ledger that was cut at its beginning, filtered, sorted or joined.",
		Action:  "Export the ledger again, and compare; dmpl store ledger verify tells whether the store has the row.",
	},
	{
		Code: LedgerLink, Rule: "M8", Severity: Error, Effect: Fails,
		Title:   "a row does not follow the one before it",
		Meaning: "Each row names the digest of the row before. What stands before this one is not what stood there when it was written.",
		Causes:  "A row that was removed, moved, put in, or edited with a new digest.",
		Action:  "Export the ledger again, and compare; dmpl store ledger verify tells whether the store has the row.",
	},
	{
		Code: LedgerStore, Rule: "M8", Severity: Error, Effect: Fails,
		Title:   "the ledger does not begin with its store",
		Meaning: "The first row, and no other, tells that the store was made, with its id and its first snapshot.",
		Causes:  "A store_id that was edited, or the ledger of another store.",
		Action:  "Export the ledger again, and compare.",
	},
	{
		Code: LedgerState, Rule: "M3", Severity: Error, Effect: Fails,
		Title:   "a run did what it could not do",
		Meaning: "A buffer is opened, written, then committed or aborted, and a row tells of another order. The digests hold, so that they were made after the change.",
		Causes:  "A ledger that was rewritten as a whole.",
		Action:  "Trust the store, not the file: dmpl store ledger verify holds every row to what is there.",
	},
	{
		Code: LedgerSnapshot, Rule: "M1", Severity: Error, Effect: Fails,
		Title:   "a snapshot does not follow the ones before",
		Meaning: "Each commit and each import makes the next snapshot, and a run starts from one that was there and could be read.",
		Causes:  "A ledger that was rewritten as a whole.",
		Action:  "Trust the store, not the file: dmpl store ledger verify holds every row to what is there.",
	},
	{
		Code: LedgerCommit, Rule: "M5", Severity: Error, Effect: Fails,
		Title:   "a commit is not the one that was asked for, or is there twice",
		Meaning: "Every row about a commit has the id and the fingerprint of its request; a commit id is applied once, and repeated with the same payload only; an abort has its reason.",
		Causes:  "A ledger that was rewritten as a whole.",
		Action:  "Trust the store, not the file: dmpl store ledger verify holds every row to what is there.",
	},
	{
		Code: LedgerLease, Rule: "M7", Severity: Error, Effect: Fails,
		Title:   "a lease has another token than is next",
		Meaning: "The tokens of a run's leases count from 1: that is what keeps a late owner out.",
		Causes:  "A ledger that was rewritten as a whole.",
		Action:  "Trust the store, not the file: dmpl store ledger verify holds every row to what is there.",
	},
}
