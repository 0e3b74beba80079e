#!/usr/bin/env python3
"""A verifier of event streams, for timing: load a snapshot, digest every event and every context again, and both chains.

usage: recompute_stream.py SNAPSHOT            exit 0 when every digest is right

It assembles no context again, checks no reference, and takes a decision to be the members that streams.py writes.
"""
import json
import sys

from streams import DECISION_FIELDS, sha256

COVERED = "policy assembly_digest context_digest result reasons transforms intent_index".split()


def covered(event):
    payload = event["payload"]
    if event["kind"] == "DECISION":
        return {**dict.fromkeys(DECISION_FIELDS), **{name: payload[name] for name in COVERED}}
    left_out = {"_obs", "trace"} if event["kind"] == "EXECUTION" else {"_obs"}
    data = {k: v for k, v in payload.items() if k not in left_out}
    return {"event_kind": event["kind"], "correlation_id": event["correlation_id"], "data": data}


def context(payload):
    spec, assembled = payload["context_spec"], payload["assembled_context"]
    refs = [{k: v for k, v in r.items() if k not in ("content", "event_kind")} for r in assembled["assembled_from"]]
    retrieval = spec["retrieval"]
    normalization = {k: v for k, v in retrieval["normalization"].items() if k != "transformations"}
    return {
        "context_spec": {**spec, "retrieval": {**retrieval, "resolved_refs": refs, "normalization": normalization}},
        "assembled_context": {**assembled, "assembled_from": refs},
    }


def right(snapshot):
    digest = chain = "sha256:" + "0" * 64
    for event in snapshot["events"]:
        payload = event["payload"]
        if event["prev_event_digest"] != digest or event["digest"] != "sha256:" + sha256(covered(event)):
            return False
        if event["kind"] == "DECISION" and payload["assembly_digest"] != "sha256:" + sha256(context(payload)):
            return False
        if event["kind"] == "EXECUTION" and payload["trace_digest"] != sha256(payload["trace"]):
            return False
        digest = event["digest"]
        chain = sha256({"prev": chain, "index": event["index"], "digest": digest})
    return chain == snapshot["v_digest"]


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    with open(sys.argv[1], encoding="utf-8") as f:
        sys.exit(0 if right(json.load(f)) else 1)
