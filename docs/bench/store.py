#!/usr/bin/env python3
"""Measures memory stores with the figures tests of their packages and writes store.md beside this file; `make bench-store` calls it.

The Go tests do the measuring, in one process each, and print a line for each figure; a store that is not there (no PostgreSQL
server on this machine) is said to be missing. Takes some minutes.
"""
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STORES = {"SQLite": "./pkg/memory/sqlite", "PostgreSQL": "./pkg/memory/postgres"}
# What SQLite is asked for: the beginning of a figure's name, the bound, and whether it is a least or a most.
TARGETS = [
    ("bare commit of one row", 0.6, "least"),
    ("bare scan", 0.5, "least"),
    ("size", 3, "most"),
]

PAGE = """# Speed and size of stores

Written by `make bench-store` ([store.py](store.py)), which runs the figures tests of the stores in one process each. A bare commit is one row with
the same document, the same driver and the same settings, durably; both sides take turns in batches of 100, so
that a disk or a machine that is busy is so for both. A durable commit of one record is request and apply in one transaction, with all its rows of
the ledger. On new files the first 1,500 of each are summed; later on, when both logs are written over and no longer grow, the least batch
counts. Of reads the medians of 15 are compared. Ratios above 1 say that the store is faster. Milliseconds are this machine's. Sizes are in multiples of the
documents of the records alone, write-ahead log included.

| what | {heads} | target of SQLite | result |
|---|{rule}---|---|
{table}
"""


def measure(package):
    """Gives the figures of a store by name, None where it cannot be measured here."""
    env = {**os.environ, "DMPL_FIGURES": "1"}
    done = subprocess.run(
        ["go", "test", "-count=1", "-timeout", "60m", "-v", "-run", "^TestFigures", package],
        cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.startswith("figure\t")]
    if not rows and "!! NOT CHECKED" in done.stdout:
        return None
    if not rows:
        sys.exit(f"store.py: {package} gave no figure:\n{done.stdout}")
    return {name: (float(value), unit) for _, _, name, value, unit in rows}


def target(name, figures):
    """Gives the target and the result of a figure as two cells."""
    for start, bound, kind in TARGETS:
        if name.startswith(start):
            value = figures[name][0]
            held = value >= bound if kind == "least" else value < bound
            return f"{'≥' if kind == 'least' else '<'} {bound}", "held" if held else "**missed**"
    return "", ""


def main():
    measured = {store: measure(package) for store, package in STORES.items()}
    there = [store for store, figures in measured.items() if figures]
    for store in measured.keys() - set(there):
        print(f"!! NOT MEASURED: {store}, for want of a server on this machine")
    table = []
    for name in measured["SQLite"]:
        cells = [f"{measured[store][name][0]:.2f} {measured[store][name][1]}" for store in there]
        table.append("| " + " | ".join([name, *cells, *target(name, measured["SQLite"])]) + " |")
    page = PAGE.format(heads=" | ".join(there), rule="---|" * len(there), table="\n".join(table))
    (HERE / "store.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
