#!/usr/bin/env python3
"""The least a comparator can do, for timing: load two traces and their retrieval traces, and compare what they hold.

usage: load_and_compare.py LEFT RIGHT LEFT_RETRIEVAL RIGHT_RETRIEVAL     exit 0 when nothing differs
       load_and_compare.py --check TRACE RETRIEVAL                       exit 0 when every required member is there

It validates nothing, recomputes nothing and aligns nothing: whatever proves something takes longer than this.
"""
import json
import sys

ENVELOPE = ("workflow_id", "model_config_id", "policy_set_id", "memory_snapshot_id", "visibility_mode")
EVENT = ("role", "interceptor", "decision_type", "guardrails_triggered")
CALL = ("tool_name", "normalized_args", "tool_result_fingerprint", "side_effect_fingerprint")
ROW = ("policy_id", "policy_version", "query_fingerprint", "query_normalization_version", "retrieval_mode")


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def differs(left, right, names):
    return any(left.get(name) != right.get(name) for name in names)


def compare(left, right, left_rows, right_rows):
    if differs(left, right, ENVELOPE) or len(left["events"]) != len(right["events"]):
        return False
    for a, b in zip(left["events"], right["events"]):
        if differs(a, b, EVENT) or len(a["tool_calls"]) != len(b["tool_calls"]):
            return False
        if any(differs(x, y, CALL) for x, y in zip(a["tool_calls"], b["tool_calls"])):
            return False
    for a, b in zip(left_rows["events"], right_rows["events"]):
        if differs(a, b, ROW) or [r["record_id"] for r in a["selected_records"]] != [r["record_id"] for r in b["selected_records"]]:
            return False
    return left["output"] == right["output"]


def complete(trace, rows):
    return all(name in trace for name in ENVELOPE) and all(
        name in event for event in trace["events"] for name in ("event_id", "index", "tool_calls") + EVENT
    ) and all(name in row for row in rows["events"] for name in ROW)


def main(argv):
    if argv[0] == "--check":
        return 0 if complete(*map(load, argv[1:])) else 1
    return 0 if compare(*map(load, argv)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
