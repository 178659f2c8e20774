# SPDX-License-Identifier: Apache-2.0
# Question: does one-sided access wait for a rank that computes? Runs of two ranks, alternated: natively, with MPICH's progress
# thread, under commtask-run, and with tasks. Computing that is to be overlapped leaves the core; what an access costs a target
# that computes on its core is asked apart. Goals: an accumulate to a target that computes takes at most twice the time that MPI
# takes to one that waits, 95 % of an operation of 64 KiB or more are hidden, and a put with its notification costs no more than 1.3 messages.
"""One-sided access to a rank that computes, in four ways."""

import tempfile
from pathlib import Path

import figures
import miniapp
import network
from offload import alternated

N_RANKS = 2
NATIVE, THREAD, INTERPOSED, TASKS = "native", "async", "commtask-run", "tasks"
SIDES = (NATIVE, THREAD, INTERPOSED, TASKS)
OURS = (INTERPOSED, TASKS)
LARGE = 64 << 10
QUICK_BYTES = LARGE  # the largest access of a quick run
# A target's MPICH takes memory for each accumulate that comes, and glibc gives that back to the system with each unless something lies
# above it: up to nine times as long, by the accident of a side's heap. docs/one-sided.md, "MPIs"
KEEPS_MEMORY = ["MALLOC_TRIM_THRESHOLD_=134217728", "MALLOC_MMAP_THRESHOLD_=33554432"]
HIDDEN = 0.95
MOST_OVER_IDLE = 2.0
MOST_OVER_MESSAGE = 1.3


class Runner:
    def __init__(self, build, is_quick):
        self.build = build
        self.over = network.Network(build, "", N_RANKS, cores_each=network.cores_of(N_RANKS))
        self.options = ["--samples", "2", "--only-ends", "--largest", str(QUICK_BYTES)] if is_quick else []

    def ask(self, side, question):
        """One run: {name: (unit, samples)}."""
        prefix = {THREAD: ["MPICH_ASYNC_PROGRESS=1"],
                  INTERPOSED: [str(self.build.program("commtask-run", "plugins/mpi"))]}.get(side, [])
        program = self.build.program("bench_rma_tasks" if side == TASKS else "bench_rma")
        with tempfile.TemporaryDirectory() as folder:
            json_file = str(Path(folder) / "answers.json")
            words = ["env", *KEEPS_MEMORY, *prefix, str(program), "--question", question, "--json", json_file, *self.options]
            answers = self.over.execute(words, json_file)
        return {one["name"]: (one["unit"], one["samples"]) for one in answers}


def sides_of(build):
    """MPICH's progress thread is MPICH's."""
    return SIDES if build.is_mpich else tuple(side for side in SIDES if side != THREAD)


def what_of(name):
    """Access, bytes and window of "put of 8 B, Win_create: alone"."""
    access, _, rest = name.partition(" of ")
    size, _, window = rest.partition(":")[0].partition(" B, ")
    return access, int(size), window


def row(name, side, rounds, to, goals=(), beside=None):
    """Of one side, with the ratio to another name, round by round, of the same run or of `beside`: a side and its rounds."""
    own = [one[name][1] for one in rounds]
    other, others = beside or (side, rounds)
    return figures.Row(f"{name}, {side}", rounds[0][name][0], [sample for each in own for sample in each], to and f"{to}, {other}",
                       figures.paired_ratios(own, [one[to][1] for one in others]) if to else None, goals)


def overlap_row(name, side, rounds):
    """Goals are for what is a task: operations, and everything where the program posts tasks."""
    access, size, _ = what_of(name)
    is_task = side == TASKS or (side == INTERPOSED and access in ("put", "get", "accumulate"))
    made = row(name, side, rounds, None, figures.at_least(HIDDEN if is_task and size >= LARGE else None))
    made.ratio_to = "all of the access"
    made.ratios = [figures.quantile(one[name][1], 0.5) / 100 for one in rounds]
    return made


def access_rows(results):
    rows = []
    for name in results[TASKS][0]:
        what, _, kind = name.rpartition(": ")
        for side, rounds in results.items():
            if kind == "overlap":
                rows.append(overlap_row(name, side, rounds))
            elif kind == "target computes":
                is_judged = side in OURS and what_of(name)[0] == "accumulate"
                goals = (figures.Goal("ratio", True, MOST_OVER_IDLE),) if is_judged else ()
                # By MPI alone: the side's own would make one that is slow in both look right.
                natively = (NATIVE, results[NATIVE])
                rows.append(row(name, side, rounds, f"{what}: alone", goals, natively))
                # What a target finds cold that has been out of MPI as long as one that computes is so without tasks, too.
                paused = f"{what}: alone, after a pause"
                if paused in rounds[0]:
                    rows.append(row(name, side, rounds, paused, (), natively))
                    rows[-1].name = f"{name}, over a pause, {side}"
            else:
                rows.append(row(name, side, rounds, None))
    return rows


def slowdown_rows(results):
    first = next(iter(results[TASKS][0]))  # without a window
    return [row(name, side, rounds, first if name.startswith("work") and name != first else None)
            for name in results[TASKS][0] for side, rounds in results.items()]


def hop_rows(rounds):
    rows = []
    for name in rounds[0]:
        kind, _, size = name.partition(" of ")
        goals = (figures.Goal("ratio", True, MOST_OVER_MESSAGE),) if kind == "put_notify" else ()
        rows.append(row(name, TASKS, rounds, None if kind == "message" else f"message of {size}", goals))
    return rows


def measure(build, is_quick):
    runner = Runner(build, is_quick)
    n_rounds = 1 if is_quick else 7
    setting = "crowded" if network.cores_of(N_RANKS) == 1 else "own cores"  # of the workers
    report = figures.Report("rma", setting, miniapp.machine_of(build))

    def of(question, sides):
        return alternated(sides, n_rounds, lambda side: runner.ask(side, question))

    for question in ("operations", "epochs"):
        report.rows += access_rows(of(question, sides_of(build)))
    for question in ("slowdown", "epochs-slowdown"):
        report.rows += slowdown_rows(of(question, sides_of(build)))
    report.rows += hop_rows(of("hops", (TASKS,))[TASKS])
    return report


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    return miniapp.publish([("rma", lambda: measure(build, is_quick))], json_file)
