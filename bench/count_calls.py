#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Question: how often does one step of a program change threads, and enter the kernel for what? Beside other work these say more
# than times. The kernel counts (perf stat) whole runs of a few and of many steps; the difference has neither the start nor the end.
"""usage: bench/count_calls.py [--steps FEW,MANY] [--per N] [--rounds N] -- COMMAND ... {steps} ...

Counts per step and rank, of all threads: the median over the rounds, and the least and the most. {steps} in the command's words
becomes the number of steps. Needs perf, and as a rule root: the counts of single system calls come from tracepoints.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools" / "report"))  # whole_file

import miniapp  # noqa: E402

CALLS = ("futex", "sched_yield", "process_vm_readv", "clock_nanosleep")
EVENTS = {
    "context-switches": "changes of threads",
    "cpu-migrations": "changes of cores",
    "raw_syscalls:sys_enter": "system calls",
    **{f"syscalls:sys_enter_{call}": f"  {call}" for call in CALLS},
}


def counts_of(text):
    """By event, from what perf stat -x, writes; one that the kernel does not count is left out."""
    counts = {}
    for line in text.splitlines():
        value, _, event = (line.split(",") + ["", ""])[:3]
        if event in EVENTS and value.isdigit():
            counts[event] = int(value)
    return counts


def per_step(few, many, n_steps):
    """`n_steps`: of all ranks, by which the second run had more."""
    return {event: (many[event] - few[event]) / n_steps for event in EVENTS if event in few and event in many}


def count(command):
    """One run. Raises miniapp.Skipped without perf, miniapp.Failed if the command fails or nothing was counted."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts"
        words = ["perf", "stat", "-x", ",", "-o", str(file), "-e", ",".join(EVENTS), "--", *command]
        try:
            # Its output goes to stderr, so that the table alone is on the standard output.
            status = subprocess.run(words, stdout=2, env={**os.environ, "LC_ALL": "C"}, check=False).returncode
        except FileNotFoundError as error:
            raise miniapp.Skipped("there is no perf here (Debian: linux-perf)") from error
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    counts = counts_of(text)
    if status != 0 or not counts:
        raise miniapp.Failed(f"{' '.join(words)}: status {status}{'' if counts else ', and nothing was counted: root?'}")
    return counts


def measure(command, steps, n_ranks, n_rounds):
    """A list of values by event."""
    few, many = steps
    values = {}
    for _ in range(n_rounds):
        runs = [count([word.replace("{steps}", str(n)) for word in command]) for n in (few, many)]
        for event, value in per_step(*runs, n_ranks * (many - few)).items():
            values.setdefault(event, []).append(value)
    return values


def table(values):
    return "\n".join(
        f"{EVENTS[event]:<24} {statistics.median(of_event):10.3f}  [{min(of_event):.3f}..{max(of_event):.3f}]"
        for event, of_event in values.items()
    )


def steps_of(text):
    few, _, many = text.partition(",")
    if not (few.isdigit() and many.isdigit() and int(few) < int(many)):
        raise argparse.ArgumentTypeError(f"{text} is not two numbers, the smaller first")
    return int(few), int(many)


def main(words):
    parser = argparse.ArgumentParser(prog="bench/count_calls.py", usage=__doc__.partition("\n\n")[0].removeprefix("usage: "))
    parser.add_argument("--steps", type=steps_of, default=(1000, 5000), metavar="FEW,MANY")
    parser.add_argument("--per", type=int, default=2, metavar="N", help="ranks, and steps that the program makes of each of its own")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    given = parser.parse_args(words)
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    if not any("{steps}" in word for word in command):
        parser.error("no word of the command says {steps}")
    try:
        print(table(measure(command, given.steps, given.per, given.rounds)))
    except miniapp.Skipped as reason:
        print(f"count_calls: {reason}", file=sys.stderr)
        return miniapp.SKIPPED
    except miniapp.Failed as reason:
        print(f"count_calls: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
