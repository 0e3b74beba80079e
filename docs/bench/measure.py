#!/usr/bin/env python3
"""Measures whole processes against each other in one run and writes the page beside this file; `make bench` calls it.

Time is CPU time, user and system together, and the least of RUNS runs: the programs take turns, so that a busy machine
slows all of them alike. Memory is the largest peak of any run. Needs the Go toolchain, make and a Unix system.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import measure_runs  # noqa: E402
import streams  # noqa: E402
import traces  # noqa: E402

RUNS = 25
STREAM = 8000  # events
SHORT_RUNS = 100  # of programs that end at once
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = ROOT / ".cache" / "bench"
DMPL = str(ROOT / "bin" / "dmpl")
EQUAL, DIVERGENT = 0, 1
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in one ru_maxrss
# What would make one program work under other settings than a user's.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("GO", "PYTHON", "DMPL_"))}

PAGE = """# Speed and memory

Written by `make bench` ([measure.py](measure.py), {runs} runs of each program in turn, the least CPU time and the largest peak
of each; {go}, {python}). Times are ratios of CPU time, user and system together, between whole processes of one run, on
whatever machine that was; MB/s (10^6 bytes of input) depend on the machine, and a busy one shows less.

The traces ([traces.py](traces.py)) have {events} events and {rows} retrieval rows of {records} records: {size:.1f} MiB a trace, two
traces and their retrieval traces a pair. The reference is what a Python script needs that loads and compares and proves
nothing ([load_and_compare.py](load_and_compare.py)), or that also recomputes digests ([recompute.py](recompute.py)).

The stream ([streams.py](streams.py)) has {stream} events, a snapshot of {stream_size:.1f} MiB. dmpl assembles every context again; the
reference ([recompute_stream.py](recompute_stream.py)) recomputes digests and chains only. `make memory` ([million.py](million.py))
holds every command to 300 MB at a million events.

{runs_text}

| what | figure | target | result |
|---|---|---|---|
{table}

The programs that start-up is measured against are [hello](hello.go.txt) and [bare](bare.go.txt), built as dmpl is.
"""


def go(*args):
    return subprocess.run(["go", *args], cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout


def build():
    """Builds dmpl as `make build` does and the two small programs with the same flags and the module's versions."""
    subprocess.run(["make", "-s", "build"], cwd=ROOT, check=True)
    os.environ["CGO_ENABLED"] = "0"
    for name in ("hello", "bare"):
        source = CACHE / name / "main.go"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes((HERE / f"{name}.go.txt").read_bytes())
        go("build", "-trimpath", "-o", str(CACHE / f"{name}.bin"), str(source))


def run(argv, code):
    """Runs a program to its end and gives its CPU seconds and peak bytes. Another exit code than asked for ends everything."""
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawn(argv[0], argv, ENVIRONMENT, file_actions=null)
    _, status, usage = os.wait4(pid, 0)
    if (got := os.waitstatus_to_exitcode(status)) != code:
        sys.exit(f"measure.py: exit code {got}, not {code}: {' '.join(argv)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT


def measure(programs, runs):
    """Runs each program in turn and gives, by name, the least CPU seconds and the largest peak bytes."""
    seconds, peak = {}, {}
    for _ in range(runs):
        for name, (argv, code) in programs.items():
            took, held = run(argv, code)
            seconds[name] = min(took, seconds.get(name, took))
            peak[name] = max(held, peak.get(name, held))
    return seconds, peak


def trace(name):
    return f"{name}.memory_trace.json"


def measure_traces():
    """Gives CPU seconds and peak bytes by program, and the bytes of one trace."""

    def pair(right):
        return [trace("left"), trace(right)]

    def script(name, *args):
        return [sys.executable, str(HERE / name), *args]

    rows = [f"{side}.memory_retrieval_trace.json" for side in ("left", "equal")]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        traces.write_run("left", "run-l")
        traces.write_run("equal", "run-r")
        traces.write_run("changed", "run-r", changed=traces.MIDDLE)
        traces.write_run("inserted", "run-r", extra=traces.MIDDLE)
        seconds, peak = measure({
            "equal": ([DMPL, "diff", *pair("equal")], EQUAL),
            "changed": ([DMPL, "diff", *pair("changed")], DIVERGENT),
            "inserted": ([DMPL, "diff", *pair("inserted")], DIVERGENT),
            "verify": ([DMPL, "verify", trace("left")], EQUAL),
            "digest": ([DMPL, "digest", "canonical", trace("left")], EQUAL),
            "load_and_compare": (script("load_and_compare.py", *pair("equal"), *rows), EQUAL),
            "recompute": (script("recompute.py", *pair("equal"), *rows), EQUAL),
            "check": (script("load_and_compare.py", "--check", trace("left"), rows[0]), EQUAL),
        }, RUNS)
        size = os.path.getsize(trace("left"))
        os.chdir(ROOT)
    return seconds, peak, size


def measure_stream():
    """Gives CPU seconds and peak bytes by program, and the bytes of the snapshot."""
    config = ["--context-config", "context.json"]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        streams.write(STREAM, "snapshot.json", "trail.sqlite", "context.json")
        seconds, peak = measure({
            "stream": ([DMPL, "verify", "snapshot.json", *config], EQUAL),
            "trail": ([DMPL, "verify", "trail.sqlite", *config], EQUAL),
            "replay": ([DMPL, "replay", "snapshot.json", *config], EQUAL),
            "diff": ([DMPL, "diff", "snapshot.json", "trail.sqlite"], EQUAL),
            "recompute_stream": ([sys.executable, str(HERE / "recompute_stream.py"), "snapshot.json"], EQUAL),
        }, RUNS)
        size = os.path.getsize("snapshot.json")
        os.chdir(ROOT)
    return seconds, peak, size


def measure_startup():
    seconds, _ = measure({
        "dmpl": ([DMPL, "version"], EQUAL),
        "hello": ([str(CACHE / "hello.bin")], EQUAL),
        "bare": ([str(CACHE / "bare.bin"), "version"], EQUAL),
    }, SHORT_RUNS)
    return seconds


def measure_canon():
    """Gives the best MB/s on one core of canon's own benchmarks, by name: the clock runs on, so many short samples are taken."""
    samples = ("-cpu", "1", "-benchtime", "5x", "-count", "40")
    out = go("test", "-run", "^$", "-bench", "Digest/json-v1|Append|Skip", *samples, "./pkg/canon")
    best = {}
    for name, speed in re.findall(r"^Benchmark(\S+)\s.*?([\d.]+) MB/s", out, re.M):
        best[name] = max(float(speed), best.get(name, 0))
    return best


def row(what, figure, unit, at_least=None, at_most=None):
    target, verdict = "", ""
    if at_least is not None:
        target, verdict = f"≥ {at_least}", "held" if figure >= at_least else "**missed**"
    if at_most is not None:
        target, verdict = f"≤ {at_most}", "held" if figure <= at_most else "**missed**"
    return f"| {what} | {figure:.2f} {unit} | {target} | {verdict} |"


def stream_rows(seconds, peak):
    def ratio(name):
        return seconds["recompute_stream"] / seconds[name]

    most = (32e6 + 250 * STREAM) / 1e6
    return [
        row("recompute_stream.py ÷ `dmpl verify`, JSON snapshot", ratio("stream"), "times"),
        row("recompute_stream.py ÷ `dmpl verify`, SQLite trail", ratio("trail"), "times"),
        row("recompute_stream.py ÷ `dmpl replay`, JSON snapshot", ratio("replay"), "times"),
        row("peak memory of `dmpl verify`, JSON snapshot", peak["stream"] / 1e6, "MB", at_most=most),
        row("peak memory of `dmpl verify`, SQLite trail", peak["trail"] / 1e6, "MB", at_most=most),
        row("peak memory of `dmpl replay`, JSON snapshot", peak["replay"] / 1e6, "MB", at_most=most),
        row("peak memory of `dmpl diff`, snapshot and trail", peak["diff"] / 1e6, "MB", at_most=most),
    ]


def table(seconds, peak, size, startup, canon):
    def ratio(a, b):
        return seconds[a] / seconds[b]

    def mib(name):
        return peak[name] / 2**20

    return [
        row("load_and_compare.py ÷ `dmpl diff`, equal pair", ratio("load_and_compare", "equal"), "times", at_least=5),
        row("recompute.py ÷ `dmpl diff`, equal pair", ratio("recompute", "equal"), "times", at_least=8),
        row("load_and_compare.py (check) ÷ `dmpl verify`", ratio("check", "verify"), "times", at_least=3),
        row("`dmpl diff`, one changed value ÷ equal pair", ratio("changed", "equal"), "times", at_most=1.5),
        row("`dmpl diff`, one inserted event ÷ equal pair", ratio("inserted", "equal"), "times"),
        row("peak memory of `dmpl diff`, equal pair", mib("equal"), "MiB", at_most=64),
        row("peak memory of `dmpl diff`, one changed value", mib("changed"), "MiB", at_most=64),
        row("peak memory of `dmpl diff`, one inserted event", mib("inserted"), "MiB", at_most=64),
        row("peak memory of `dmpl verify`", mib("verify"), "MiB", at_most=64),
        row("peak memory of load_and_compare.py", mib("load_and_compare"), "MiB"),
        row("canonical form and SHA-256 under json-v1, in process, one core", canon["Digest/json-v1"], "MB/s", at_least=350),
        row("canonical form under json-v1, in process, one core", canon["Append"], "MB/s"),
        row("strict reading, in process, one core", canon["Skip"], "MB/s"),
        row("`dmpl digest canonical`, whole process", size / seconds["digest"] / 1e6, "MB/s"),
        row("start-up: `dmpl version` ÷ hello", startup["dmpl"] / startup["hello"], "times", at_most=4),
        row("start-up: `dmpl version` ÷ bare", startup["dmpl"] / startup["bare"], "times", at_most=1.5),
    ]


def main():
    build()
    seconds, peak, size = measure_traces()
    stream_seconds, stream_peak, stream_size = measure_stream()
    lines = table(seconds, peak, size, measure_startup(), measure_canon()) + stream_rows(stream_seconds, stream_peak)
    lines += measure_runs.rows(row, *measure_runs.measure(run))
    page = PAGE.format(
        runs_text=measure_runs.TEXT, runs=RUNS, go=go("env", "GOVERSION").strip(), python="Python " + sys.version.split()[0],
        stream=STREAM, stream_size=stream_size / 2**20, events=traces.EVENTS, rows=traces.ROWS, records=traces.RECORDS, size=size / 2**20, table="\n".join(lines),
    )
    (HERE / "README.md").write_text(page, encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
