"""Measures `dmpl replay` on native runs beside a Python replay; measure.py puts the rows into the page."""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DMPL = str(ROOT / "bin" / "dmpl")
RUNS, TURNS = 100, 100
FEW = 10  # runs of the smaller tree, which says whether memory grows with the number of runs
LONG = 10_000  # turns of one long run
SAMPLES = 7
PHASES = ("reading", "pipeline", "execution", "same", "whole")

TEXT = f"""The runs ([runs.py](runs.py)) are {RUNS} of {TURNS} turns, 50 memories each, recorded by `dmpl run`. The reference
([replay_runs.py](replay_runs.py)) scores, assembles, parses and digests the same turns, and compares digests and rankings with the
recorded ones; it checks no manifest and no schema, judges no gate and makes no records. The shares are those of
`go test -bench ReplayOfTurns ./pkg/replay` on one of the runs, one core: reading is everything that is read, held to its schema and
digested, and compared with bytes that are known; the pipeline is retrieval to dispatch; record keeping what makes events, rows and
digests of it; comparison the rest, with what verify says of the documents. A run that differs is replayed until it does, and is
then read whole: the last row says what reading whole costs a run that does not differ."""


def record(folder, name, number, turns):
    # In a process of its own: what this one has at its largest counts as the peak of each program that it starts.
    subprocess.run([sys.executable, str(HERE / "runs.py"), f"inputs/{folder}/{name}", str(number), str(turns)], check=True)
    command = [DMPL, "run", "--from", f"inputs/{folder}/{name}", "--out", f"{folder}/{name}", "--run-id", name]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure(run):
    """Gives CPU seconds, peak bytes and wall seconds by program. Run runs one, as measure.py's does."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for n in range(RUNS):
            record("runs", f"run-{n:03}", n, TURNS)
            record("again", f"run-{n:03}", n, TURNS)
        for n in range(FEW):
            record("few", f"run-{n:03}", n, TURNS)
        record("long", "run", 0, LONG)
        programs = {
            "replay": [DMPL, "replay", "runs"], "replay 2": [DMPL, "replay", "runs", "--jobs", "2"],
            "script": [sys.executable, str(HERE / "replay_runs.py"), "runs"],
            "verify": [DMPL, "verify", "runs"], "diff": [DMPL, "diff", "runs", "again"],
            "few": [DMPL, "replay", "few"], "long": [DMPL, "replay", "long"],
        }
        seconds, peak, wall = {}, {}, {}
        for _ in range(SAMPLES):
            for name, argv in programs.items():
                began = time.perf_counter()
                took, held = run(argv, 0)
                wall[name] = min(time.perf_counter() - began, wall.get(name, float("inf")))
                seconds[name] = min(took, seconds.get(name, took))
                peak[name] = max(held, peak.get(name, held))
        phases = measure_phases(Path(folder) / "runs" / "run-000")
        os.chdir(ROOT)
    return seconds, peak, wall, phases


def measure_phases(run):
    """Gives the share of each phase in the replay of a run, by name, and the cost of reading it whole: of the least times of many passes."""
    command = ["go", "test", "-run", "^$", "-bench", "ReplayOfTurns", "-cpu", "1", "-benchtime", "200x", "./pkg/replay"]
    environment = {**os.environ, "DMPL_BENCH_RUN": str(run)}
    out = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE, env=environment).stdout
    took = {name: float(least) for name, least in re.findall(r"^BenchmarkReplayOfTurns/(\w+)\s.*?([\d.]+) least-ns/op", out, re.M)}
    reading, pipeline, execution, same, whole = (took[name] for name in PHASES)
    shares = {
        "reading": reading, "pipeline": pipeline, "record keeping": execution - pipeline, "comparison": same - execution - reading,
    }
    return {name: 100 * share / same for name, share in shares.items()}, whole / same


def rows(row, seconds, peak, wall, phases):
    """Gives the rows of the page; row makes one, as measure.py's does."""
    shares, whole = phases
    return [
        row("replay_runs.py ÷ `dmpl replay`, 10,000 turns", seconds["script"] / seconds["replay"], "times", at_least=3),
        row("`dmpl replay --jobs 1` ÷ `--jobs 2`, time on the clock", wall["replay"] / wall["replay 2"], "times", at_least=1.7),
        row("replay_runs.py ÷ `dmpl verify`, 10,000 turns", seconds["script"] / seconds["verify"], "times"),
        row("replay_runs.py ÷ `dmpl diff`, two trees of 10,000 turns", seconds["script"] / seconds["diff"], "times"),
        row(f"peak memory of `dmpl replay`, {RUNS} runs", peak["replay"] / 2**20, "MiB"),
        row(f"peak memory of `dmpl replay`, {RUNS} runs ÷ {FEW} runs", peak["replay"] / peak["few"], "times", at_most=1.25),
        row(f"peak memory of `dmpl replay`, one run of {LONG} turns ÷ {RUNS} runs of {TURNS}", peak["long"] / peak["replay"], "times", at_most=1.25),
        row(f"peak memory of `dmpl verify`, {RUNS} runs", peak["verify"] / 2**20, "MiB"),
        row(f"peak memory of `dmpl diff`, two trees of {RUNS} runs", peak["diff"] / 2**20, "MiB"),
        *(row(f"share of {name} in `dmpl replay`", share, "%") for name, share in shares.items()),
        row("a run read whole ÷ the same run walked through", whole, "times"),
    ]
