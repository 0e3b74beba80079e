"""Streams for timing and memory: the events of a gateway, valid in every digest, as a JSON snapshot and as an SQLite trail.

Every turn has four events and, but for the first of its thread, refers to the turn before it. Everything is written event by
event, since a child's peak is never reported below that of the process it came from.
"""
import hashlib
import json
import sqlite3

THREAD = 40  # turns of one thread
CONFIG = {
    "schema_version": "1",
    "context": {
        "max_refs": 20, "empty_refs_policy": "ALLOW_EMPTY", "expand_last_n": 4, "allow_execution_refs_for_prompt": True,
        "canonical_sort": "event_index_asc", "enforce_scope_bound": True,
    },
    "normalization": {"rules": ["FILTER_INTENT_ONLY", "SCOPE_BOUND", "SORT_CANONICAL"]},
}
COLUMNS = (
    "kind", "prev_event_digest", "lane", "thread_id", "turn_id", "parent_turn_id", "actor", "intent_type", "stream_id",
    "correlation_id", "digest", "canon_len",
)
DECISION_FIELDS = (
    "actor_id tenant_id trust_class identity_issuer identity_source claims_digest request_class budget_class "
    "request_semantic_reason budget_policy_reason slot_class cost_class economic_policy_reason identity_verified "
    "reservation_required request_constraints_applied declared_tool_families allowed_tool_families permitted_tool_families "
    "denied_tool_families permitted_tools enforced_budget"
).split()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def sha256(value):
    return hashlib.sha256(canonical(value)).hexdigest()


def context(turn, thread_id, message, before):
    """Gives context_spec, assembled_context and the digest of both; before is the INTENT that the turn refers to, or None."""
    refs, declared, messages = [], [], [{"role": "user", "content": message}]
    if before:
        refs = [{
            "ref_type": "event", "ref_id": before["correlation_id"], "event_index": before["index"],
            "event_digest": before["digest"], "event_kind": "INTENT", "admitted_for": "governance",
            "content": before["payload"]["message"],
        }]
        declared = [{"ref_type": "event", "ref_id": before["correlation_id"]}]
        block = "".join(f"[ref_id={r['ref_id']} kind=INTENT]\n{r['content']}\n---\n" for r in refs)
        messages.insert(0, {
            "role": "system",
            "content": "DBL_CONTEXT_REFS_BEGIN\nThe following is referenced context from previous events in this conversation."
                       f"\n\n{block}DBL_CONTEXT_REFS_END",
        })
    normalization = {
        "applied_rules": CONFIG["normalization"]["rules"], "boundary_version": "1", "config_digest": "sha256:" + sha256(CONFIG),
    }
    spec = {
        "identity": {"thread_id": thread_id, "turn_id": f"T{turn}", "parent_turn_id": None},
        "intent": {"intent_type": "chat.message", "user_input": message},
        "retrieval": {"declared_refs": declared, "resolved_refs": refs, "normalization": {**normalization, "transformations": []}},
        "assembly_rules": {"schema_version": "ctxspec.2", "ordering": "event_index_asc"},
    }
    assembled = {
        "model_messages": messages, "assembled_from": refs, "normative_input_digests": [r["event_digest"] for r in refs],
    }
    covered = [{k: v for k, v in r.items() if k not in ("content", "event_kind")} for r in refs]
    retrieval = {"declared_refs": declared, "resolved_refs": covered, "normalization": normalization}
    digest = "sha256:" + sha256({
        "context_spec": {**spec, "retrieval": retrieval}, "assembled_context": {**assembled, "assembled_from": covered},
    })
    return spec, assembled, digest


def payloads(turn, thread_id, before, intent_index):
    """Gives kind, actor, payload and what its digest covers of each event of a turn."""
    message = f"[{turn}] Größe naïve digest beta 🙂 gamma"
    intent = {"message": message, "thread_id": thread_id, "turn_id": f"T{turn}"}
    if before:
        intent["declared_refs"] = [{"ref_type": "event", "ref_id": before["correlation_id"]}]
    yield "INTENT", "user", intent, intent
    spec, assembled, digest = context(turn, thread_id, message, before)
    covered = {
        "policy": {"policy_id": "bench", "policy_version": "1", "policy_config_digest": None}, "assembly_digest": digest,
        "context_digest": digest, "result": "ALLOW", "reasons": [{"code": "rule.ok"}], "transforms": [], "intent_index": intent_index,
    }
    boundary = {"boundary_version": "1", "context_config_digest": "sha256:" + sha256(CONFIG)}
    decision = {**covered, "context_spec": spec, "assembled_context": assembled, "boundary": boundary}
    yield "DECISION", "policy", decision, {**dict.fromkeys(DECISION_FIELDS), **covered}
    proof = {"proof_type": "bench", "note": message}
    yield "PROOF", "gateway", proof, proof
    trace = {"success": True, "run_id": sha256(turn)[:32], "output": {"output": message}}
    execution = {"output_text": "You said: " + message, "context_digest": digest, "trace_digest": sha256(trace)}
    yield "EXECUTION", "executor", {**execution, "trace": trace}, execution


def events(count):
    """Gives the events and the v_digest after each."""
    index, digest, chain, before = 0, "sha256:" + "0" * 64, "sha256:" + "0" * 64, None
    for turn in range(count // 4):
        thread_id = f"L{turn // THREAD}"
        if turn % THREAD == 0:
            before = None
        intent = None
        for kind, actor, payload, covered in payloads(turn, thread_id, before, index):
            form = {"event_kind": kind, "correlation_id": f"C{turn}", "data": covered}
            if kind == "DECISION":
                form = covered
            event = {
                "index": index, "kind": kind, "prev_event_digest": digest, "lane": "user_chat", "thread_id": thread_id,
                "turn_id": f"T{turn}", "parent_turn_id": None, "actor": actor, "intent_type": "chat.message",
                "stream_id": "default", "correlation_id": f"C{turn}", "payload": payload,
                "digest": "sha256:" + sha256(form), "canon_len": len(canonical(form)), "is_authoritative": kind == "DECISION",
            }
            digest = event["digest"]
            chain = sha256({"prev": chain, "index": index, "digest": digest})
            index, intent = index + 1, intent or event
            yield event, chain
        before = intent


def write(count, snapshot, trail, config):
    """Writes the same events into both files, and the context configuration."""
    with open(config, "w", encoding="utf-8") as f:
        json.dump(CONFIG, f)
    store = sqlite3.connect(trail)
    store.execute("PRAGMA journal_mode = OFF")
    store.execute("PRAGMA cache_size = -1000")
    store.execute(
        "CREATE TABLE events (idx INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, prev_event_digest TEXT NOT NULL,"
        " lane TEXT NOT NULL, thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, parent_turn_id TEXT, actor TEXT NOT NULL,"
        " intent_type TEXT NOT NULL, stream_id TEXT NOT NULL, correlation_id TEXT NOT NULL, payload_json TEXT NOT NULL,"
        " digest TEXT NOT NULL, canon_len INTEGER NOT NULL, created_at_utc TEXT NOT NULL DEFAULT '')"
    )
    store.execute("CREATE TABLE v_state (id TEXT PRIMARY KEY, v_digest TEXT NOT NULL, last_index INTEGER NOT NULL)")
    columns = ("idx", "payload_json", *COLUMNS)
    insert = f"INSERT INTO events ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    chain = ""
    with open(snapshot, "wb") as f:
        f.write(b'{"length":%d,"offset":0,"limit":%d,"events":[' % (count, count))
        for event, chain in events(count):
            f.write((b"," if event["index"] else b"") + canonical(event))
            row = [event["index"] + 1, canonical(event["payload"]).decode(), *(event[c] for c in COLUMNS)]
            store.execute(insert, row)
        f.write(b'],"v_digest":"%s"}' % chain.encode())
    store.execute("INSERT INTO v_state VALUES ('current', ?, ?)", (chain, count - 1))
    store.commit()
    store.close()
