"""Inputs of native runs for timing: conversations of many turns over a memory, the same for every machine and every day.

usage: runs.py FOLDER NUMBER TURNS

It makes the folder that `dmpl run --from` takes: snapshot.json, config.json, turns.jsonl, outputs.jsonl. The model's answers
have the white space that models leave, and raw mode makes it regular and changes nothing else.
"""
import hashlib
import json
import sys
from pathlib import Path

FACTS, STATES, EPISODES, BELIEFS = 10, 6, 22, 12  # 50 memories
NOW = 638_400_000_000_000_000  # ticks
HOUR = 36_000_000_000
WORDS = (
    "gate king bridge storm castle dragon harvest village market silver lantern forest winter messenger guard captain "
    "river letter sword healer stranger tower council bread horse merchant festival road secret promise garden müller"
).split()
KINDS = ("saw", "heard about", "spoke of", "asked about", "walked past", "dreamt of")
CONFIG = {
    "schema_version": "pipeline.config.v1", "pipeline_version": "dmpl-v1", "mode": "snapshot",
    "parser": {"overrides": {"ExtractStructuredData": False}},
}
MODEL = {
    "provider_name": "example-provider", "model_name": "example-model", "decoding": {"temperature": 0, "max_tokens": 256},
    "seed": 7, "tool_runtime_profile_hash": hashlib.sha256(b"[]").hexdigest(),
}


class Dice:
    """Numbers that look like chance and are none."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 2**32 + 1

    def below(self, n):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return (self.state >> 8) * n >> 24

    def words(self, n):
        return " ".join(WORDS[self.below(len(WORDS))] for _ in range(n))


def snapshot(run, memories):
    """Gives the start snapshot. More memories than FACTS, STATES and BELIEFS are episodes."""
    dice, records = Dice(run), []

    def add(kind, name, content):
        records.append({
            "record_id": name, "record_type": kind, "created_at_ticks": NOW - (memories - len(records)) * HOUR,
            "sequence_number": len(records) + 1, "source": 75 if kind == "world" else 50, "content": content,
        })

    for i in range(FACTS):
        add("fact", f"fact-{i:03}", {"Fact": f"The {WORDS[i]} of the {dice.words(2)} is called {dice.words(1)} {i}"})
    for i in range(STATES):
        add("world", f"world-{i:03}", {"Id": f"w{i}", "Value": dice.words(1)})
    for i in range(memories - FACTS - STATES - BELIEFS):
        add("episodic", f"episode-{i:03}", {
            "Description": f"The player {KINDS[dice.below(len(KINDS))]} the {dice.words(3)}, and the {dice.words(4)}.",
            "EpisodeType": 0, "Significance": dice.below(101) / 100, "Strength": (20 + dice.below(81)) / 100,
        })
    for i in range(BELIEFS):
        content = {
            "Key": f"belief-{i}", "Subject": dice.words(1), "BeliefContent": f"the {dice.words(2)} belongs to the {dice.words(2)}",
            "Confidence": (30 + dice.below(71)) / 100, "Sentiment": dice.below(101) / 100,
        }
        if dice.below(6) == 0:
            content["IsContradicted"] = True
        add("belief", f"belief-{i:03}", content)
    return {
        "schema_version": "memory.snapshot.v1", "memory_snapshot_id": f"{run:020}", "persona_id": "guard",
        "next_sequence_number": len(records) + 1, "interaction_count": 0, "records": records,
    }


def answer(dice):
    """Gives what a model says, as models leave it: line ends of all kinds, blanks at the ends of lines, too many blank lines."""
    ends = ("\n", "\r\n", "  \n", "\n\n\n\n\n", "\t\r\n")
    lines = [f"I remember the {dice.words(4)}; the {dice.words(5)}." + ends[dice.below(len(ends))] for _ in range(4)]
    return "".join(lines) + f"Come back after the {dice.words(2)}. "


def turns(run, count):
    """Gives each turn with the model's answer to it."""
    dice, dialogue = Dice(run + 1_000_003), []
    for n in range(count):
        question = f"What do you know of the {dice.words(2)}, {dice.words(1)} or {dice.words(1)}?"
        text = answer(dice)
        turn = {
            "turn": n, "npc_id": "guard", "npc_name": "Gareth", "player_input": question,
            "system_prompt": "You are Gareth, the guard of the northern gate. You are polite, and you say no more than you know.",
            "trigger": {"reason": "PlayerUtterance"}, "interaction_count": n, "dialogue": dialogue[-10:], "constraints": [],
            "forbidden_knowledge": [], "custom_rules": [], "few_shot": [], "references": [], "thread_events": [],
            "retry_policy": {}, "fallbacks": {"trigger": [], "by_reason": {}, "generic": ["I do not know."], "emergency": []},
            "snapshot_time_utc_ticks": NOW + n * HOUR // 60,
        }
        if dice.below(3) == 0:
            turn["topics"] = [dice.words(1), dice.words(1)]
        yield turn, {"turn": n, "attempt": 0, "text": text, "truncated": False, "model_config": MODEL}
        dialogue += ["Player: " + question, "Gareth: " + text.split(";")[0] + "."]


def write(folder, run, count, memories=FACTS + STATES + EPISODES + BELIEFS):
    """Writes the inputs of a run of so many turns."""
    folder = Path(folder)
    folder.mkdir(parents=True)

    def put(name, values):
        text = "".join(json.dumps(v, ensure_ascii=False, separators=(",", ":")) + "\n" for v in values)
        (folder / name).write_text(text, encoding="utf-8")

    said = list(turns(run, count))
    put("snapshot.json", [snapshot(run, memories)])
    put("config.json", [CONFIG])
    put("turns.jsonl", [turn for turn, _ in said])
    put("outputs.jsonl", [output for _, output in said])


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
