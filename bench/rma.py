# SPDX-License-Identifier: Apache-2.0
# Question: does one-sided access wait for a rank that computes? Runs of two ranks, alternated: natively, with MPICH's progress
# thread, under commtask-run, and with tasks. The computing leaves the core. Each access to a target that computes is compared with
# the same by MPI alone to one that waits in MPI; a put with its notification with a message.
"""One-sided access to a rank that computes, in four ways."""

import tempfile
from pathlib import Path

import figures
import miniapp
import network
from offload import INTERPOSED, NATIVE, beside, sides_of

N_RANKS = 2
TASKS = "tasks"
# A target's MPICH takes memory for each accumulate that comes, and glibc gives that back to the system with each unless something lies
# above it: up to nine times as long, by the accident of a side's heap. docs/one-sided.md, "MPIs"
KEEPS_MEMORY = ["env", "MALLOC_TRIM_THRESHOLD_=134217728", "MALLOC_MMAP_THRESHOLD_=33554432"]


def ask(build, side, question, n_samples):
    """One run: {name: (unit, samples)}."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "answers.json")
        words = [str(build.program("bench_rma_tasks" if side == TASKS else "bench_rma")), "--question", question, "--json", json_file]
        words += ["--samples", str(n_samples)]
        answers = network.as_it_comes(build, N_RANKS).execute(KEEPS_MEMORY + beside(build, side) + words, json_file)
    return {one["name"]: (one["unit"], one["samples"]) for one in answers}


def row(name, side, rounds, to=None, beside_side=None, others=None):
    """Of one side, with the ratio to another name, round by round, of the same run or of another side's rounds."""
    own = [one[name][1] for one in rounds]
    return figures.Row(f"{name}, {side}", rounds[0][name][0], [sample for each in own for sample in each], to and f"{to}, {beside_side or side}",
                       figures.paired_ratios(own, [one[to][1] for one in others or rounds]) if to else None)


def access_rows(results):
    rows = []
    for name in results[TASKS][0]:
        what, _, kind = name.rpartition(": ")
        for side, rounds in results.items():
            # By MPI alone: the side's own would make one that is slow in both look right.
            rows.append(row(name, side, rounds, f"{what}: alone", NATIVE, results[NATIVE]) if kind == "target computes" else row(name, side, rounds))
    return rows


def hop_rows(rounds):
    return [row(name, TASKS, rounds, None if name.startswith("message") else f"message of {name.partition(' of ')[2]}") for name in rounds[0]]


def measure(build, is_quick):
    n_rounds, n_samples = (1, 2) if is_quick else (7, 20)
    report = figures.Report("rma", "two ranks", miniapp.machine_of(build))

    def of(question, sides):
        return miniapp.alternated(sides, n_rounds, lambda side: ask(build, side, question, n_samples))

    report.rows += access_rows(of("operations", sides_of(build, INTERPOSED, TASKS))) + hop_rows(of("hops", (TASKS,))[TASKS])
    return report


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    return miniapp.publish([("rma", lambda: measure(build, is_quick))], json_file)
