package finding

// The codes, layer by layer.
const (
	// input: dmpl could not get at the evidence, or found none.
	InputUnreadable      Code = "input.unreadable"
	InputNotAFile        Code = "input.not_a_file"
	InputTooLarge        Code = "input.too_large"
	InputGzip            Code = "input.damaged_gzip"
	InputUnrecognised    Code = "input.unrecognised"
	InputEmptyCorpus     Code = "input.empty_corpus"
	InputSeveralRuns     Code = "input.several_runs"
	InputOrphanRetrieval Code = "input.orphan_retrieval"
	InputSkipped         Code = "input.skipped"
	// canon: the bytes are no JSON that evidence may be written in, or have no canonical form.
	CanonInvalidJSON   Code = "canon.invalid_json"
	CanonInvalidUTF8   Code = "canon.invalid_utf8"
	CanonDuplicateKey  Code = "canon.duplicate_key"
	CanonKeyCollision  Code = "canon.key_collision_after_nfc"
	CanonLoneSurrogate Code = "canon.lone_surrogate"
	CanonNonFinite     Code = "canon.non_finite"
	CanonNumberRange   Code = "canon.number_out_of_range"
	CanonTooDeep       Code = "canon.too_deep"
	CanonFloatRefused  Code = "canon.float_refused"
	CanonDatetime      Code = "canon.invalid_datetime"
	// shape (V1): a field is missing, or is not what its schema says.
	ShapeMissing       Code = "shape.missing"
	ShapeType          Code = "shape.type"
	ShapeEmpty         Code = "shape.empty"
	ShapeValue         Code = "shape.value"
	ShapeVersion       Code = "shape.version"
	ShapeRange         Code = "shape.range"
	ShapeQueryVersion  Code = "shape.query_version"
	ShapeForeignNumber Code = "shape.tolerated"
	// trace (V2): the parts of one artifact do not fit together.
	TraceIndexSet       Code = "trace.index_set"
	TraceStoredOrder    Code = "trace.stored_order"
	TraceLinkDangling   Code = "trace.link_dangling"
	TraceLinkOther      Code = "trace.link_elsewhere"
	TraceRowUnlinked    Code = "trace.row_unlinked"
	TraceRowTwice       Code = "trace.row_twice"
	TraceRankSet        Code = "trace.rank_set"
	TraceRecordOrder    Code = "trace.record_order"
	TraceScoreOrder     Code = "trace.score_order"
	TraceTieOrder       Code = "trace.tie_order"
	TraceScoreNotFinite Code = "trace.score_not_finite"
	TraceVisibility     Code = "trace.visibility"
	// claim (V3): the artifact cannot support a deterministic claim.
	ClaimUnknown          Code = "claim.unknown_identity"
	ClaimLive             Code = "claim.live_visibility"
	ClaimTruncated        Code = "claim.truncated"
	ClaimUnseeded         Code = "claim.unseeded"
	ClaimSentinel         Code = "claim.sentinel"
	ClaimVersionNotLogged Code = "claim.version_not_logged"
	// size (V4): artifacts are bounded.
	SizeOverCap Code = "size.over_cap"
	// digest (V5): a stored digest is not what it claims to be.
	DigestMismatch     Code = "digest.mismatch"
	DigestOtherProfile Code = "digest.other_profile"
	DigestOpaque       Code = "digest.opaque"
	DigestArguments    Code = "digest.normalized_args"
	DigestSideEffect   Code = "digest.side_effect"
	DigestCoverage     Code = "digest.coverage"
	// blind (V6): a check that cannot fail.
	BlindFingerprint Code = "blind.constant_fingerprint"
	BlindStructure   Code = "blind.constant_structure"
	// equiv (E): two runs compared.
	EquivIdentity            Code = "equiv.identity"
	EquivTurnMissing         Code = "equiv.turn_missing"
	EquivEventCount          Code = "equiv.event_count"
	EquivRole                Code = "equiv.role"
	EquivInterceptor         Code = "equiv.interceptor"
	EquivDecision            Code = "equiv.decision_type"
	EquivCallCount           Code = "equiv.call_count"
	EquivToolName            Code = "equiv.tool_name"
	EquivArguments           Code = "equiv.arguments"
	EquivNoCanonical         Code = "equiv.no_canonical_form"
	EquivProfileVersion      Code = "equiv.profile_version"
	EquivGuardrails          Code = "equiv.guardrails"
	EquivRetrievalNotGiven   Code = "equiv.retrieval_not_given"
	EquivRetrievalCount      Code = "equiv.retrieval_count"
	EquivRetrievalLinks      Code = "equiv.retrieval_links"
	EquivRetrievalPolicy     Code = "equiv.retrieval_policy"
	EquivRetrievalQuery      Code = "equiv.retrieval_query"
	EquivRecords             Code = "equiv.records"
	EquivRetrievalNote       Code = "equiv.retrieval_note"
	EquivResult              Code = "equiv.result"
	EquivSideEffect          Code = "equiv.side_effect"
	EquivNoPreimage          Code = "equiv.no_preimage"
	EquivOutputType          Code = "equiv.output_type"
	EquivOutputShape         Code = "equiv.output_shape"
	EquivOutputNormalization Code = "equiv.output_normalization"
	EquivBuffer              Code = "equiv.buffer_state"
	EquivAbort               Code = "equiv.abort_reason"
	EquivPayload             Code = "equiv.commit_payload"
	EquivCommitOneSided      Code = "equiv.commit_one_sided"
	EquivOverride            Code = "equiv.override"
)

var entries = []Entry{
	{
		Code: InputUnreadable, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "input cannot be read",
		Meaning: "The file could not be opened or read to its end.",
		Causes:  "It does not exist, its permissions forbid reading, or the disk failed.",
		Action:  "Check the path and the permissions, then run the command again.",
	},
	{
		Code: InputNotAFile, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "input is not a regular file",
		Meaning: "A file was asked for and something else is there: a folder, a pipe, a device.",
		Causes:  "A folder was named where a file is meant, or a pipe was given by name.",
		Action:  "Name the file itself; to read a pipe, use - for standard input.",
	},
	{
		Code: InputTooLarge, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "input is larger than the limit",
		Meaning: "The document is over the size that dmpl reads at once.",
		Causes:  "The file is no trace, or a trace that nothing bounded.",
		Action:  "Check the file; a larger limit can be given with --max-document-bytes.",
	},
	{
		Code: InputGzip, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "compressed input is damaged",
		Meaning: "The bytes begin like gzip, and do not decompress.",
		Causes:  "The download or the copy was cut off.",
		Action:  "Fetch the file again.",
	},
	{
		Code: InputUnrecognised, Rule: "V0", Severity: Error, Effect: Trouble,
		Title:   "no dialect recognises the input",
		Meaning: "The content is no artifact that dmpl knows.",
		Causes:  "The wrong file was named, or its schema version field is missing.",
		Action:  "Name the right file, or say what it is with --dialect.",
	},
	{
		Code: InputEmptyCorpus, Rule: "Z1", Severity: Error, Effect: Rejects,
		Title:   "nothing to check was found",
		Meaning: "The folder or pattern holds no artifact. Nothing was proved, so nothing passes.",
		Causes:  "A wrong path, a run that wrote no traces, or a cleaned-up folder.",
		Action:  "Check the path; make sure that the run emits traces.",
	},
	{
		Code: InputSeveralRuns, Rule: "E3", Severity: Error, Effect: Trouble,
		Title:   "the folder holds several runs",
		Meaning: "A comparison takes one run a side, and this folder holds the traces of more than one session.",
		Causes:  "The parent of several session folders was named.",
		Action:  "Name one session folder for each side.",
	},
	{
		Code: InputOrphanRetrieval, Rule: "V2", Severity: Error, Effect: Rejects,
		Title:   "retrieval trace without its determinism trace",
		Meaning: "A retrieval trace lies in the folder and the trace whose events it belongs to does not.",
		Causes:  "The determinism trace was lost, or was renamed.",
		Action:  "Put both files side by side under matching names.",
	},
	{
		Code: InputSkipped, Rule: "V0", Severity: Note, Effect: None,
		Title:   "file in the folder is no artifact",
		Meaning: "The file was not read as evidence.",
		Causes:  "Prompts, responses and checkpoints lie beside the traces.",
		Action:  "Nothing, unless the file should have been checked.",
	},
	{
		Code: CanonInvalidJSON, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "input is not valid JSON",
		Meaning: "The text breaks RFC 8259 at the offset named.",
		Causes:  "A cut-off file, a byte order mark, a trailing comma, a comment, text after the document.",
		Action:  "Write the file again with a JSON writer; do not edit evidence by hand.",
	},
	{
		Code: CanonInvalidUTF8, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "input is not valid UTF-8",
		Meaning: "A byte sequence at the offset named is no UTF-8.",
		Causes:  "The file was written in another encoding, or bytes were damaged.",
		Action:  "Write the file as UTF-8.",
	},
	{
		Code: CanonDuplicateKey, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "object has a member name twice",
		Meaning: "Two members of one object have the same name, so readers disagree about the value.",
		Causes:  "A writer that appends members without looking, or tampering.",
		Action:  "Write each member once.",
	},
	{
		Code: CanonKeyCollision, Rule: "C3", Severity: Error, Effect: Trouble,
		Title:   "member names become equal after NFC",
		Meaning: "Two member names are different spellings of the same text.",
		Causes:  "Names from different sources in composed and decomposed form.",
		Action:  "Normalise names before they become keys.",
	},
	{
		Code: CanonLoneSurrogate, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "string holds half a surrogate pair",
		Meaning: "An escape names a UTF-16 surrogate without its other half; that is no character.",
		Causes:  "Text was cut in the middle of a character outside the basic plane.",
		Action:  "Cut texts at character boundaries.",
	},
	{
		Code: CanonNonFinite, Rule: "C5", Severity: Error, Effect: Trouble,
		Title:   "NaN or Infinity where a JSON number must be",
		Meaning: "JSON has no such numbers, and two of them cannot be compared.",
		Causes:  "A writer with its non-standard number output switched on.",
		Action:  "Write such values as strings, or leave them out.",
	},
	{
		Code: CanonNumberRange, Rule: "C5", Severity: Error, Effect: Trouble,
		Title:   "number is too large",
		Meaning: "The number is 10^309 or more in magnitude, or has no binary64 value where the profile needs one.",
		Causes:  "An overflow in the producer.",
		Action:  "Keep numbers in range, or write them as strings.",
	},
	{
		Code: CanonTooDeep, Rule: "C1", Severity: Error, Effect: Trouble,
		Title:   "nesting is deeper than 256",
		Meaning: "Arrays and objects are nested deeper than evidence may be.",
		Causes:  "A self-referring structure, or an attack on the reader.",
		Action:  "Flatten the structure.",
	},
	{
		Code: CanonFloatRefused, Rule: "C2", Severity: Error, Effect: Trouble,
		Title:   "number with fraction or exponent under dbl",
		Meaning: "The dbl profile has no floating-point numbers, not even whole ones.",
		Causes:  "A float in a place that a digest covers.",
		Action:  "Write integers, or strings.",
	},
	{
		Code: CanonDatetime, Rule: "C8", Severity: Error, Effect: Trouble,
		Title:   "declared datetime cannot be read",
		Meaning: "A tool profile declares the field a datetime, and its value is no RFC 3339 text.",
		Causes:  "A local format, a number of seconds, a missing offset.",
		Action:  "Write RFC 3339, or take the field out of datetime_fields.",
	},
	{
		Code: ShapeMissing, Rule: "V1", Severity: Error, Effect: Fails,
		Title:   "required field is missing",
		Meaning: "The schema requires the field and the artifact has none. A field that is missing on both sides proves nothing.",
		Causes:  "An older writer, a hand-edited file.",
		Action:  "Make the writer emit the field.",
	},
	{
		Code: ShapeType, Rule: "V1", Severity: Error, Effect: Fails,
		Title:   "field has the wrong type",
		Meaning: "The field is there, and its JSON type is not the one that the schema asks for. null counts as a type of its own.",
		Causes:  "A writer that serialises another structure; null for unknown.",
		Action:  "Make the writer emit the type that the schema states.",
	},
	{
		Code: ShapeEmpty, Rule: "V1", Severity: Error, Effect: Fails,
		Title:   "required text is empty",
		Meaning: "The schema asks for a non-empty text.",
		Causes:  "A value was never filled in.",
		Action:  "Fill in the value.",
	},
	{
		Code: ShapeValue, Rule: "V1", Severity: Error, Effect: Fails,
		Title:   "value is outside its closed list",
		Meaning: "The schema lists the values that the field may have.",
		Causes:  "A typing error, another case, or a newer writer.",
		Action:  "Use one of the listed values.",
	},
	{
		Code: ShapeVersion, Rule: "V1", Severity: Error, Effect: Fails,
		Title:   "version is not known",
		Meaning: "The rules of a version that dmpl does not know cannot be applied, not even by guessing the newest.",
		Causes:  "A newer or misspelt contract version.",
		Action:  "Use a dmpl that knows the version, or write a known one.",
	},
	{
		Code: ShapeRange, Rule: "V1", Severity: Error, Effect: Fails,
		Title:   "number is out of its range",
		Meaning: "The number is no integer, or less than the schema allows.",
		Causes:  "A count or an index that went negative, or was written as a float.",
		Action:  "Write the integer itself.",
	},
	{
		Code: ShapeQueryVersion, Rule: "V1", Severity: Warning, Effect: None,
		Title:   "query normalisation is not json-v1",
		Meaning: "The query was preprocessed by rules that dmpl does not know; the fingerprints can only be compared as text.",
		Causes:  "Another query normaliser.",
		Action:  "Nothing, where that is meant.",
	},
	{
		Code: ShapeForeignNumber, Rule: "C1", Severity: Note, Effect: None,
		Title:   "read as its producer reads it",
		Meaning: "The artifact departs from the strict form in a way that its producer is known for.",
		Causes:  "A documented habit of the producer.",
		Action:  "Nothing.",
	},
	{
		Code: TraceIndexSet, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "event indices are not 0…n-1, each once",
		Meaning: "The index is the only order of events, and this set of indices is no order.",
		Causes:  "Events were dropped, duplicated, or counted from one.",
		Action:  "Emit every event once with the next index.",
	},
	{
		Code: TraceStoredOrder, Rule: "V2", Severity: Note, Effect: None,
		Title:   "events are stored in another order than their indices",
		Meaning: "The index decides, so nothing is wrong; the writer is unusual.",
		Causes:  "Events collected by several workers.",
		Action:  "Nothing.",
	},
	{
		Code: TraceLinkDangling, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "event names a retrieval that is not there",
		Meaning: "A retrieval_event_ids entry has no row in the retrieval trace.",
		Causes:  "The retrieval trace is cut off or belongs to another run.",
		Action:  "Keep both files of a turn together.",
	},
	{
		Code: TraceLinkOther, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "retrieval row belongs to another run or event",
		Meaning: "The row that an event names says that it belongs to another one.",
		Causes:  "Rows of several runs in one file; ids that repeat.",
		Action:  "Make ids unique and rows name their own run and event.",
	},
	{
		Code: TraceRowUnlinked, Rule: "V2", Severity: Note, Effect: None,
		Title:   "no event names the retrieval row",
		Meaning: "The row is compared by its position.",
		Causes:  "The runtime does not link retrievals to events.",
		Action:  "Nothing.",
	},
	{
		Code: TraceRowTwice, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "retrieval event id is used by two rows",
		Meaning: "A link to this id could mean either row.",
		Causes:  "Ids that repeat.",
		Action:  "Make retrieval event ids unique within the run.",
	},
	{
		Code: TraceRankSet, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "ranks are not 1…k, each once",
		Meaning: "The rank is the order of the selected records, and this set is no order.",
		Causes:  "Records were dropped or ranked from zero.",
		Action:  "Rank the selected records 1…k.",
	},
	{
		Code: TraceRecordOrder, Rule: "V2", Severity: Note, Effect: None,
		Title:   "records are stored in another order than their ranks",
		Meaning: "The rank decides, so nothing is wrong.",
		Causes:  "A writer that sorts records by id.",
		Action:  "Nothing.",
	},
	{
		Code: TraceScoreOrder, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "scores rise with the rank",
		Meaning: "A record with a higher score stands behind one with a lower score.",
		Causes:  "The backend ranks by something else, or ranks were assigned before sorting.",
		Action:  "Rank by score descending, then by the tie-break.",
	},
	{
		Code: TraceTieOrder, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "equal scores are not in tie-break order",
		Meaning: "Records with equal scores must stand in the order of their ids (or in the order that the event names).",
		Causes:  "The backend returns ties in any order.",
		Action:  "Sort ties by record_id before ranking.",
	},
	{
		Code: TraceScoreNotFinite, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "score is not a finite number",
		Meaning: "The score is beyond every binary64 number.",
		Causes:  "An overflow in the scorer.",
		Action:  "Write finite scores.",
	},
	{
		Code: TraceVisibility, Rule: "V2", Severity: Error, Effect: Fails,
		Title:   "visibility mode and trace disagree",
		Meaning: "With visibility off nothing is read; only buffered_write has writes or a commit record. In traces of foreign runtimes this is a warning.",
		Causes:  "The mode was recorded before it was changed.",
		Action:  "Record the mode that was in force.",
	},
	{
		Code: ClaimUnknown, Rule: "V3", Severity: Error, Effect: Rejects,
		Title:   "identity is unknown",
		Meaning: "The field holds a placeholder. Two unknowns are equal as text and prove nothing.",
		Causes:  "The runtime was not told which configuration it runs.",
		Action:  "Pass the real identity to the run.",
	},
	{
		Code: ClaimLive, Rule: "V3", Severity: Error, Effect: Rejects,
		Title:   "run read and wrote live memory",
		Meaning: "With live_read_write nothing fixes what the run saw.",
		Causes:  "The run was never meant to be deterministic.",
		Action:  "Run with off, read_only or buffered_write.",
	},
	{
		Code: ClaimTruncated, Rule: "V3", Severity: Error, Effect: Rejects,
		Title:   "trace is marked as truncated",
		Meaning: "Events are missing by the trace's own word, so nothing about the run as a whole can be claimed.",
		Causes:  "The writer reached its size cap.",
		Action:  "Record the run again with smaller turns, or split it.",
	},
	{
		Code: ClaimUnseeded, Rule: "V3", Severity: Error, Effect: Rejects,
		Title:   "model ran without a seed",
		Meaning: "An unseeded model supports a deterministic claim only where the provider guarantees determinism.",
		Causes:  "stochastic_unseeded is true and no guarantee is recorded.",
		Action:  "Set a seed, or record the provider's guarantee.",
	},
	{
		Code: ClaimSentinel, Rule: "V3", Severity: Warning, Effect: None,
		Title:   "identity is a default of the runtime",
		Meaning: "The value is what the runtime writes when nobody names the workflow.",
		Causes:  "workflow_id was not passed.",
		Action:  "Name the workflow.",
	},
	{
		Code: ClaimVersionNotLogged, Rule: "V3", Severity: Error, Effect: Rejects,
		Title:   "contract version is not logged",
		Meaning: "A claim needs every contract version that it rests on.",
		Causes:  "The retrieval trace does not state its schema version.",
		Action:  "Log the version.",
	},
	{
		Code: SizeOverCap, Rule: "V4", Severity: Error, Effect: Fails,
		Title:   "file is over the size cap without a truncation marker",
		Meaning: "A file strictly above the cap must say that it was truncated.",
		Causes:  "A run that nothing bounded.",
		Action:  "Let the writer drop whole events from the end and write metadata.truncated.",
	},
	{
		Code: DigestMismatch, Rule: "V5", Severity: Error, Effect: Fails,
		Title:   "stored digest does not match its preimage",
		Meaning: "The digest was recomputed from the preimage in the artifact, and is another one.",
		Causes:  "The artifact was changed after it was written, or the writer digests something else.",
		Action:  "Compare preimage and writer; if the artifact was tampered with, do not trust it.",
	},
	{
		Code: DigestOtherProfile, Rule: "C10", Severity: Note, Effect: None,
		Title:   "stored digest matches under another profile",
		Meaning: "The digest is right for another canonical form than the one it should use.",
		Causes:  "The runtime has a canonical form of its own.",
		Action:  "Nothing for a known runtime; else switch the writer to json-v1.",
	},
	{
		Code: DigestOpaque, Rule: "V5", Severity: Warning, Effect: None,
		Title:   "fingerprint is no SHA-256 digest",
		Meaning: "It can be compared as text, and never be recomputed.",
		Causes:  "A runtime that writes labels in place of digests.",
		Action:  "Write 64 lowercase hex digits.",
	},
	{
		Code: DigestArguments, Rule: "D1", Severity: Error, Effect: Fails,
		Title:   "normalized_args are not the profile's selection",
		Meaning: "The tool profile selects other fields, or other values, from the raw arguments.",
		Causes:  "The writer uses another profile version, or does not normalise.",
		Action:  "Apply the profile version that the trace names.",
	},
	{
		Code: DigestSideEffect, Rule: "D2", Severity: Error, Effect: Fails,
		Title:   "side-effect fingerprint and tool profile disagree",
		Meaning: "A fingerprint is required exactly where the profile lists side-effect fields.",
		Causes:  "The writer skips side effects, or the profile changed.",
		Action:  "Record the fingerprint where the profile lists fields.",
	},
	{
		Code: DigestCoverage, Rule: "V5", Severity: Error, Effect: Fails,
		Title:   "fewer claims were checked than required",
		Meaning: "Checked claims over all claims is under --require-coverage.",
		Causes:  "Preimages are missing from the artifact.",
		Action:  "Keep tool results beside the trace, or record preimages.",
	},
	{
		Code: BlindFingerprint, Rule: "V6", Severity: Warning, Effect: None,
		Title:   "fingerprint is the same for every call",
		Meaning: "It says nothing about the results: any result would carry it.",
		Causes:  "The runtime fingerprints a constant.",
		Action:  "Fingerprint what the tool returned.",
	},
	{
		Code: BlindStructure, Rule: "V6", Severity: Warning, Effect: None,
		Title:   "output structure never varies",
		Meaning: "Every output has the same shape hash, so the hash cannot tell two outputs apart.",
		Causes:  "The runtime hashes only the output type.",
		Action:  "Hash the structure that CONTRACT D3 describes.",
	},
	{
		Code: EquivIdentity, Rule: "E2", Severity: Error, Effect: Incomparable,
		Title:   "runs are not comparable",
		Meaning: "The two runs did not start from the same workflow, model, policies, snapshot or contract versions.",
		Causes:  "Another configuration on one side.",
		Action:  "Compare runs of the same configuration; the differences below are still true.",
	},
	{
		Code: EquivTurnMissing, Rule: "E3", Severity: Error, Effect: Differs,
		Title:   "turn exists on one side only",
		Meaning: "One run has a turn folder that the other does not.",
		Causes:  "The run ended earlier, or another role took the turn.",
		Action:  "Look at the last common turn.",
	},
	{
		Code: EquivEventCount, Rule: "E3", Severity: Error, Effect: Differs,
		Title:   "number of events differs",
		Meaning: "Equivalent runs have the same number of events.",
		Causes:  "A step was added, skipped or retried.",
		Action:  "Read the alignment note: it names the extra events.",
	},
	{
		Code: EquivRole, Rule: "E3", Severity: Error, Effect: Differs,
		Title:   "role differs",
		Meaning: "Another role acted at this index.",
		Causes:  "Another routing decision.",
		Action:  "Look at the events before.",
	},
	{
		Code: EquivInterceptor, Rule: "E3", Severity: Error, Effect: Differs,
		Title:   "interceptor differs",
		Meaning: "Another stage of the turn is recorded at this index.",
		Causes:  "A stage was skipped or cut short.",
		Action:  "Look at the events before.",
	},
	{
		Code: EquivDecision, Rule: "E3", Severity: Error, Effect: Differs,
		Title:   "decision type differs",
		Meaning: "The stage decided otherwise.",
		Causes:  "A failure, a retry, another model answer.",
		Action:  "Look at the events before.",
	},
	{
		Code: EquivCallCount, Rule: "E4", Severity: Error, Effect: Differs,
		Title:   "number of tool calls differs",
		Meaning: "The event has another number of tool calls.",
		Causes:  "Another model answer.",
		Action:  "Compare the model outputs of this turn.",
	},
	{
		Code: EquivToolName, Rule: "E4", Severity: Error, Effect: Differs,
		Title:   "tool differs",
		Meaning: "Another tool was called.",
		Causes:  "Another model answer.",
		Action:  "Compare the model outputs of this turn.",
	},
	{
		Code: EquivArguments, Rule: "E4", Severity: Error, Effect: Differs,
		Title:   "arguments differ",
		Meaning: "The canonical arguments of the call are not equal.",
		Causes:  "Another model answer, or a volatile argument (a time, a path, an id).",
		Action:  "If the argument is volatile, leave it out in a tool profile; else compare the model outputs.",
	},
	{
		Code: EquivNoCanonical, Rule: "E4", Severity: Error, Effect: Rejects,
		Title:   "arguments have no canonical form",
		Meaning: "The arguments are written differently, and a number in them is beyond json-v1, so they cannot be compared.",
		Causes:  "A number of 10^309 or more in the arguments.",
		Action:  "Write such values as strings.",
	},
	{
		Code: EquivProfileVersion, Rule: "E4", Severity: Error, Effect: Incomparable,
		Title:   "calls were recorded under different versions",
		Meaning: "Arguments and fingerprints that different profile or normalisation versions chose are not comparable.",
		Causes:  "The tool profile was changed between the runs.",
		Action:  "Record both runs under one version, or give --profiles.",
	},
	{
		Code: EquivGuardrails, Rule: "E5", Severity: Error, Effect: Differs,
		Title:   "guardrails differ",
		Meaning: "Other guardrails fired at this index.",
		Causes:  "Another text reached the guardrails, or their configuration changed.",
		Action:  "Compare the texts and the policy set.",
	},
	{
		Code: EquivRetrievalNotGiven, Rule: "E6", Severity: Error, Effect: Rejects,
		Title:   "retrieval trace is not there on both sides",
		Meaning: "Retrievals cannot be compared without both traces.",
		Causes:  "A file is missing, or was not named.",
		Action:  "Give --left-retrieval and --right-retrieval.",
	},
	{
		Code: EquivRetrievalCount, Rule: "E6", Severity: Error, Effect: Differs,
		Title:   "number of retrievals differs",
		Meaning: "The runs retrieved another number of times.",
		Causes:  "A stage was added or skipped.",
		Action:  "Look at the events that the rows belong to.",
	},
	{
		Code: EquivRetrievalLinks, Rule: "E6", Severity: Error, Effect: Differs,
		Title:   "event is linked to other retrievals",
		Meaning: "At this index the runs used other retrievals.",
		Causes:  "Retrieval happened at another step.",
		Action:  "Look at the retrievals of the neighbouring events.",
	},
	{
		Code: EquivRetrievalPolicy, Rule: "E6", Severity: Error, Effect: Differs,
		Title:   "retrieval policy differs",
		Meaning: "The retrieval ran under another policy or policy version.",
		Causes:  "The policy set changed without a new id.",
		Action:  "Give the changed policy set a new id.",
	},
	{
		Code: EquivRetrievalQuery, Rule: "E6", Severity: Error, Effect: Differs,
		Title:   "retrieval query differs",
		Meaning: "Another query was asked, or it was normalised otherwise.",
		Causes:  "Another prompt or another query builder.",
		Action:  "Compare the inputs of the turn.",
	},
	{
		Code: EquivRecords, Rule: "E6", Severity: Error, Effect: Differs,
		Title:   "retrieved records differ",
		Meaning: "Other records, or the same records in another order, were selected.",
		Causes:  "The memory differs, or the backend does not rank deterministically.",
		Action:  "Compare candidates and scores; make ties break by record_id.",
	},
	{
		Code: EquivRetrievalNote, Rule: "E6", Severity: Note, Effect: None,
		Title:   "retrieval differs where it need not be equal",
		Meaning: "Scores, record types, candidate counts and filters are logged, not compared.",
		Causes:  "Score noise, another index size.",
		Action:  "Look twice where the filters differ: equal records are then chance.",
	},
	{
		Code: EquivResult, Rule: "E7", Severity: Error, Effect: Differs,
		Title:   "tool result differs",
		Meaning: "The fingerprint of what the tool returned is another one.",
		Causes:  "The tool is not deterministic, or its data changed.",
		Action:  "Compare the recorded results; mock the tool, or narrow its profile.",
	},
	{
		Code: EquivSideEffect, Rule: "E7", Severity: Error, Effect: Differs,
		Title:   "side effect differs",
		Meaning: "The fingerprint of what the tool changed is another one.",
		Causes:  "The tool did something else.",
		Action:  "Compare the recorded side effects.",
	},
	{
		Code: EquivNoPreimage, Rule: "E7", Severity: Error, Effect: Rejects,
		Title:   "given profile cannot be applied",
		Meaning: "With --profiles both sides are digested again, and this call carries nothing to digest.",
		Causes:  "The trace keeps no raw results.",
		Action:  "Keep tool results beside the trace.",
	},
	{
		Code: EquivOutputType, Rule: "E8", Severity: Error, Effect: Differs,
		Title:   "output type differs",
		Meaning: "The runs ended with another type of output.",
		Causes:  "Another model answer, or a failure.",
		Action:  "Look at the last events.",
	},
	{
		Code: EquivOutputShape, Rule: "E8", Severity: Error, Effect: Differs,
		Title:   "output structure differs",
		Meaning: "The runs ended with the same type of output in another structure.",
		Causes:  "Another model answer.",
		Action:  "Compare the outputs.",
	},
	{
		Code: EquivOutputNormalization, Rule: "E8", Severity: Error, Effect: Incomparable,
		Title:   "outputs were hashed under different versions",
		Meaning: "Shape hashes of different normalisation versions are not comparable.",
		Causes:  "A newer writer on one side.",
		Action:  "Record both runs under one version.",
	},
	{
		Code: EquivBuffer, Rule: "E9", Severity: Error, Effect: Differs,
		Title:   "write buffer ended in another state",
		Meaning: "One run committed what the other did not.",
		Causes:  "A policy, a validation or the storage decided otherwise.",
		Action:  "Read the abort reason.",
	},
	{
		Code: EquivAbort, Rule: "E9", Severity: Error, Effect: Differs,
		Title:   "write buffer was aborted for another reason",
		Meaning: "Both runs aborted, for different reasons.",
		Causes:  "Another policy or another conflict.",
		Action:  "Compare policies and heads.",
	},
	{
		Code: EquivPayload, Rule: "E9", Severity: Error, Effect: Differs,
		Title:   "committed writes differ",
		Meaning: "The fingerprint of the ordered write list is another one.",
		Causes:  "The runs wrote something else.",
		Action:  "Compare the write lists.",
	},
	{
		Code: EquivCommitOneSided, Rule: "E9", Severity: Error, Effect: Rejects,
		Title:   "commit record exists on one side only",
		Meaning: "Buffered writes cannot be compared without both commit records.",
		Causes:  "A runtime that does not write the record.",
		Action:  "Record the commit on both sides.",
	},
	{
		Code: EquivOverride, Rule: "E4", Severity: Note, Effect: None,
		Title:   "versions differ and --profiles overrides them",
		Meaning: "Both sides were normalised again under the given profiles.",
		Causes:  "The flag.",
		Action:  "Nothing.",
	},
}
