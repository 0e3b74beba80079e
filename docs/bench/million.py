#!/usr/bin/env python3
"""Holds the commands on streams to their memory at a million events; `make memory` calls it. It takes some minutes and 2 GB of
temporary files, and fails where a command takes more than MOST.
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import streams  # noqa: E402
from measure import DMPL, EQUAL, run  # noqa: E402

EVENTS = 1_000_000
MOST = 300 * 10**6  # bytes


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        streams.write(EVENTS, "snapshot.json", "trail.sqlite", "context.json")
        config = ("--context-config", "context.json")
        held = True
        for args in (
            ("verify", "snapshot.json", *config), ("verify", "trail.sqlite", *config),
            ("replay", "snapshot.json", *config), ("replay", "trail.sqlite", *config),
            ("replay", "trail.sqlite", *config, "--mode", "ledger"), ("diff", "snapshot.json", "trail.sqlite"),
            ("diff", "snapshot.json", "trail.sqlite", "--format", "json"),
        ):
            seconds, peak = run([DMPL, *args], EQUAL)
            held = held and peak <= MOST
            print(f"{peak / 1e6:6.1f} MB  {seconds:6.1f} s  {' '.join(args)}", flush=True)
        os.chdir("/")
    sys.exit(0 if held else f"million.py: more than {MOST / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
