"""Traces for timing: a run of some ten megabytes with its retrieval trace, in the shape that Orket writes.

Two runs are equal but for their run-local ids, unless one is told to differ. Everything is written event by event: the
memory of this process must stay small, since a child's peak is never reported below that of the process it came from.
"""
import hashlib
import json
import random

EVENTS = 8700
MIDDLE = EVENTS // 2
ROWS = 200
RECORDS = 5
WORDS = "agent output déjà vu 日本 import return value total loop_over items.sort() 42 3.14 src/main # note".split()


def sha256(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def indented(value, by):
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + " " * by)


def event(run, index, content, line):
    text = " ".join(random.Random(content).choices(WORDS, k=40))
    return {
        "event_id": f"{run}:ISSUE-1:developer:0:{index}",
        "index": index,
        "role": "developer",
        "interceptor": "after_tool",
        "decision_type": "tool_call_result",
        "tool_calls": [{
            "tool_name": "write_file",
            "tool_profile_id": "write_file",
            "tool_profile_version": "tp-v1",
            "normalized_args": {
                "path": f"agent_output/f{content}.py",
                "content": text,
                "line": line,
                "score": content % 99991 / 1e5,
                "flags": [True, None, {"depth": content % 5}],
            },
            "normalization_version": "json-v1",
            "tool_result_fingerprint": sha256(text),
            "side_effect_fingerprint": None,
        }],
        "guardrails_triggered": ["g.size"] if content % 7 == 0 else [],
        "retrieval_event_ids": [f"{run}:ret:{index}"] if index < ROWS else [],
    }


def events(run, changed, extra):
    """The events of a run: `changed` is the content with another argument, `extra` the one before which an event is inserted."""
    index = 0
    for content in range(EVENTS):
        if content == extra:
            yield event(run, index, EVENTS, EVENTS)
            index += 1
        yield event(run, index, content, content + (content == changed))
        index += 1


def write_trace(path, run, changed=None, extra=None):
    head = {
        "run_id": run,
        "workflow_id": "wf-main",
        "memory_snapshot_id": "snapshot-1",
        "visibility_mode": "read_only",
        "model_config_id": "modelcfg-1",
        "policy_set_id": "policyset-1",
        "determinism_trace_schema_version": "memory.determinism_trace.v1",
    }
    tail = {
        "output": {
            "output_type": "text",
            "output_shape_hash": sha256('{"sections":["body"],"type":"text"}'),
            "normalization_version": "json-v1",
        },
        "issue_id": "ISSUE-1",
        "role_id": "DEV",
        "metadata": {"truncated": False},
    }
    with open(path, "w", encoding="utf-8") as f:
        f.write(indented(head, 0).removesuffix("\n}") + ',\n  "events": [')
        comma = ""
        for e in events(run, changed, extra):
            f.write(comma + "\n    " + indented(e, 4))
            comma = ","
        f.write("\n  ]," + indented(tail, 0).removeprefix("{"))


def write_retrieval(path, run):
    rows = []
    for i in range(ROWS):
        scores = sorted(random.Random(i).sample(range(10**6), RECORDS), reverse=True)
        rows.append({
            "retrieval_event_id": f"{run}:ret:{i}",
            "run_id": run,
            "event_id": f"{run}:ISSUE-1:developer:0:{i}",
            "policy_id": "retrieval-policy",
            "policy_version": "v1",
            "query_normalization_version": "json-v1",
            "query_fingerprint": sha256(f"query {i}"),
            "retrieval_mode": "text_to_vector",
            "candidate_count": 4 * RECORDS,
            "selected_records": [
                {"record_id": f"m-{i:06}-{rank:03}", "record_type": "chunk", "score": score / 1e6, "rank": rank}
                for rank, score in enumerate(scores, 1)
            ],
            "applied_filters": {"namespace": "proj"},
            "retrieval_trace_schema_version": "memory.retrieval_trace.v1",
        })
    trace = {
        "events": rows,
        "retrieval_trace_schema_version": "memory.retrieval_trace.v1",
        "metadata": {"truncated": False},
    }
    with open(path, "w", encoding="utf-8") as f:
        f.write(indented(trace, 0))


def write_run(name, run, changed=None, extra=None):
    """Writes NAME.memory_trace.json and NAME.memory_retrieval_trace.json into the working directory."""
    write_trace(f"{name}.memory_trace.json", run, changed, extra)
    write_retrieval(f"{name}.memory_retrieval_trace.json", run)
