#!/usr/bin/env python3
"""A replay of native runs, for timing: score the memories of every turn, assemble the prompt, parse the recorded answer, digest
all three, and compare with what was recorded.

usage: replay_runs.py FOLDER            exit 0 when every digest and every ranking is the recorded one

It does what runs.py needs and no more: one attempt a turn, raw mode, the default configuration. It checks no manifest and no
schema, judges no gate, and writes no records of its own.
"""
import hashlib
import json
import re
import sys
import unicodedata
from pathlib import Path

HALF_LIFE = 36_000_000_000
MAX_EPISODES, MAX_BELIEFS = 15, 10  # ranked
SHOWN_EPISODES, SHOWN_BELIEFS, SHOWN_LINES = 5, 3, 10
MOST_CHARACTERS = (2048 - 256) * 4 - 200
BREAKS = re.compile("[ .,!?]+")
CERTAINTIES = ((0.8, "I know that "), (0.5, "I believe that "), (0.3, "I think that "))


def digest(value):
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(unicodedata.normalize("NFC", text).encode("utf-8")).hexdigest()


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


class Question:
    """What the memories of a turn are scored against."""

    def __init__(self, turn):
        self.words = {w for w in BREAKS.split(turn["player_input"].lower()) if len(w) > 3}
        self.topics = [t.lower() for t in turn.get("topics", [])]
        self.now = turn["snapshot_time_utc_ticks"]

    def names(self, text):
        low = text.lower()
        return any(t in low for t in self.topics)

    def relevance(self, text):
        share = len(self.words.intersection(BREAKS.split(text.lower()))) / len(self.words) if self.words else 0.0
        return min(1.0, share + 0.3) if self.names(text) else share

    def episode(self, record):
        content, age = record["content"], self.now - record["created_at_ticks"]
        significance, recency = content["Significance"], 1.0
        if age > 0:
            recency = min(1.0, 0.5 ** (age / HALF_LIFE) * (1 + significance * 0.5))
        return round(0.4 * recency + 0.4 * self.relevance(content["Description"]) + 0.2 * significance, 6)

    def belief(self, record):
        confidence = record["content"]["Confidence"]
        return round(self.relevance(said(record)) * 0.6 + confidence * 0.4, 6)


def said(record):
    confidence, text = record["content"]["Confidence"], record["content"]["BeliefContent"]
    return next((words for least, words in CERTAINTIES if confidence >= least), "I'm not sure, but ") + text


def state(record):
    return record["record_id"] + "=" + record["content"]["Value"]


class Memory:
    def __init__(self, snapshot):
        kinds = {"fact": [], "world": [], "episodic": [], "belief": []}
        for record in snapshot["records"]:
            kinds[record["record_type"]].append(record)
        self.facts = sorted(kinds["fact"], key=lambda r: r["record_id"])
        self.world = sorted(kinds["world"], key=lambda r: r["record_id"])
        self.episodes = [r for r in kinds["episodic"] if r["content"]["Strength"] > 0.1]
        self.beliefs = [
            r for r in kinds["belief"] if not r["content"].get("IsContradicted") and r["content"]["Confidence"] >= 0.3
        ]

    def retrieve(self, question):
        """Gives for each kind how many were ranked, and the best with their scores."""
        every = not question.topics
        facts = [(0, r) for r in self.facts if every or question.names(r["content"]["Fact"])]
        world = [(0, r) for r in self.world if every or question.names(state(r))]
        episodes = [(question.episode(r), r) for r in self.episodes]
        episodes.sort(key=lambda s: (-s[0], -s[1]["created_at_ticks"], s[1]["record_id"], s[1]["sequence_number"]))
        beliefs = [(question.belief(r), r) for r in self.beliefs]
        beliefs.sort(key=lambda s: (-s[0], -s[1]["content"]["Confidence"], s[1]["record_id"], s[1]["sequence_number"]))
        return (
            (len(facts), facts), (len(world), world), (len(episodes), episodes[:MAX_EPISODES]), (len(beliefs), beliefs[:MAX_BELIEFS]),
        )


def length(items, extra):
    return sum(len(i) + extra for i in items)


def prompt(turn, retrieved):
    facts, world, episodes, beliefs = ([r for _, r in best] for _, best in retrieved)
    facts, world = [r["content"]["Fact"] for r in facts], [state(r) for r in world]
    episodes = [r["content"]["Description"] for r in episodes[:SHOWN_EPISODES]]
    beliefs = [said(r) for r in beliefs[:SHOWN_BELIEFS]]
    dialogue = turn["dialogue"][-SHOWN_LINES:]
    size = len(turn["system_prompt"]) + len(turn["player_input"]) + length(facts, 10) + length(world, 10)
    size += length(dialogue, 2) + length(episodes, 12) + length(beliefs, 2)
    while size > MOST_CHARACTERS and dialogue:
        size -= len(dialogue.pop(0)) + 2
    while size > MOST_CHARACTERS and episodes:
        size -= len(episodes.pop()) + 12
    while size > MOST_CHARACTERS and beliefs:
        size -= len(beliefs.pop()) + 2
    context = ["[Fact] " + f for f in facts] + ["[State] " + w for w in world] + ["[Memory] " + e for e in episodes] + beliefs
    text = "System: " + turn["system_prompt"]
    if context:
        text += "\n[Context]\n" + "\n".join(context)
    if dialogue:
        text += "\n[Conversation]\n" + "\n".join(dialogue)
    return text + "\nPlayer: " + turn["player_input"] + "\n" + turn["npc_name"] + ":"


def regular(text):
    """Makes white space regular: line ends, ends of lines, blank lines in a row, the end."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    kept, blank = [], 0
    for line in text.split("\n"):
        line = line.rstrip()
        blank = 0 if line else blank + 1
        if blank <= 2:
            kept.append(line)
    result = "\n".join(kept)
    if not text.endswith("\n"):
        return result.rstrip("\n")
    return result if result.endswith("\n") else result + "\n"


def parsed(text):
    return {
        "Success": True, "DialogueText": regular(text), "ErrorMessage": None, "RawOutput": text, "ProposedMutations": [],
        "WorldIntents": [], "FunctionCalls": [], "Metadata": {},
    }


def fingerprint(turn, mode):
    query = " ".join(turn["player_input"].split())
    if "topics" in turn:
        query = {"text": query, "topics": turn["topics"]}
    return digest({"query_normalization_version": "json-v1", "retrieval_mode": mode, "query": query})


def same_rows(turn, retrieved, rows):
    if len(rows) != 4:
        return False
    fingerprints = {mode: fingerprint(turn, mode) for mode in ("all", "scored")}
    for (count, best), row in zip(retrieved, rows):
        ranked = [(r["record_id"], score) for score, r in best]
        recorded = [(r["record_id"], r["score"]) for r in row["selected_records"]]
        if ranked != recorded or row["candidate_count"] != count:
            return False
        if row["query_fingerprint"] != fingerprints[row["retrieval_mode"]]:
            return False
    return True


def replay(run):
    """Says whether every turn of a run is made again as it was recorded."""
    memory = Memory(load(run / "snapshot.json"))
    events, rows = {}, {}
    for part in sorted((run / "trace").iterdir()):
        for event in lines(part):
            events[event["stage"]["turn"], event["decision_type"]] = event
    for part in sorted((run / "retrieval").iterdir()):
        for row in lines(part):
            rows[row["retrieval_event_id"]] = row
    outputs = {(o["turn"], o["attempt"]): o for o in lines(run / "outputs.jsonl")}
    for turn in lines(run / "turns.jsonl"):
        n = turn["turn"]
        ready, answered = events[n, "prompt_ready"], events[n, "model_response_processed"]
        retrieved = memory.retrieve(Question(turn))
        if not same_rows(turn, retrieved, [rows[i] for i in ready["retrieval_event_ids"]]):
            return False
        made, output = hashlib.sha256(prompt(turn, retrieved).encode("utf-8")).hexdigest(), outputs[n, 0]
        if not made == ready["stage"]["prompt_digest"] == output["prompt_digest"]:
            return False
        if digest(turn["constraints"]) != ready["stage"]["constraints_digest"]:
            return False
        if digest(parsed(output["text"])) != answered["stage"]["parse_digest"]:
            return False
    return True


def main():
    runs = sorted(path.parent for path in Path(sys.argv[1]).rglob("manifest.json"))
    if not runs:
        sys.exit("replay_runs.py: no runs")
    for run in runs:
        if not replay(run):
            sys.exit(f"replay_runs.py: {run} is made otherwise")


if __name__ == "__main__":
    main()
