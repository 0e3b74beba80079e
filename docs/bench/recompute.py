#!/usr/bin/env python3
"""A comparator that also recomputes, for timing: load two traces, bring every event into canonical form, digest it, and
compare the digests.

usage: recompute.py LEFT RIGHT LEFT_RETRIEVAL RIGHT_RETRIEVAL            exit 0 when nothing differs

Canonical form: sorted names, no white space, strings in NFC, numbers with a fraction rounded to six decimals.
"""
import hashlib
import json
import sys
import unicodedata

COMPARED = ("role", "interceptor", "decision_type", "guardrails_triggered", "tool_calls")
ROW = ("policy_id", "policy_version", "query_fingerprint", "query_normalization_version", "retrieval_mode")


def normal(value):
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, float):
        rounded = round(value, 6)
        return int(rounded) if rounded.is_integer() else rounded
    if isinstance(value, list):
        return [normal(v) for v in value]
    if isinstance(value, dict):
        return {normal(k): normal(v) for k, v in value.items()}
    return value


def digest(value):
    text = json.dumps(normal(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def digests(trace, rows):
    events = [digest({name: event[name] for name in COMPARED}) for event in trace["events"]]
    kept = [digest([{name: row[name] for name in ROW}, [r["record_id"] for r in row["selected_records"]]]) for row in rows["events"]]
    return events, kept, digest(trace["output"])


def main(argv):
    left, right, left_rows, right_rows = map(load, argv)
    return 0 if digests(left, left_rows) == digests(right, right_rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
