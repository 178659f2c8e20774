# SPDX-License-Identifier: Apache-2.0
# Question: what do doorbells between the ranks of a node bring where ranks share cores? Runs of bench_node in turn: natively, with MPICH's
# progress thread, by tasks whose workers poll again and again (timed waits), and by tasks whose workers wake each other (bell). 2, 4 and 8 ranks
# on the cores that there are, computing that leaves the core.
"""Doorbells between the ranks of a node, against timed waits, native MPI and MPICH's progress thread."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import figures
import miniapp

NATIVE, THREAD, TIMED_WAITS, DOORBELLS = "native", "MPICH's progress thread", "timed waits", "doorbells"
TASKS = (TIMED_WAITS, DOORBELLS)
LIMIT_S = 300
STEPS = {2: 15, 4: 9, 8: 3}  # by the number of ranks
#: The line of all in the statistics' table of workers.
WORKERS = re.compile(r"^ +all +([\d.]+) +\d+ +\d+ +\d+ +\d+$", re.MULTILINE)


def environment_of(side):
    if side == THREAD:
        return {"MPICH_ASYNC_PROGRESS": "1"}
    return {"COMMTASK_STATS": "1", "COMMTASK_IDLE": "shared", "COMMTASK_NODE_DOORBELLS": "off" if side == TIMED_WAITS else "on"} if side in TASKS else {}


def ask(build, side, n_ranks, n_steps):
    """What one run says: {name: median microseconds}, and of tasks what the workers took."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = Path(folder) / "answers.json"
        words = [*build.mpiexec(n_ranks), str(build.program("bench_node")), str(n_steps), str(json_file), *(["--tasks"] if side in TASKS else [])]
        done = subprocess.run(words, text=True, capture_output=True, timeout=LIMIT_S, check=False, env=dict(os.environ, **environment_of(side)))
        if done.returncode != 0:
            raise miniapp.Failed(done.stdout + done.stderr + f"\nstatus {done.returncode}")
        answer = json.loads(json_file.read_text(encoding="utf-8"))
    found = {f"{one['name']}, {n_ranks} ranks": figures.quantile(one["samples"], 0.5) for one in answer}
    if side in TASKS:
        workers = WORKERS.search(done.stderr)
        if not workers:
            raise miniapp.Failed(done.stderr + "\nno statistics of the workers")
        found[f"workers' processor time, messages, {n_ranks} ranks"] = float(workers[1])
    return found


def measure(build, n_ranks, is_quick):
    report = figures.Report("node", f"{n_ranks} ranks", miniapp.machine_of(build))
    sides = (NATIVE, *([THREAD] if build.is_mpich else []), *TASKS)
    results = miniapp.alternated(sides, 1 if is_quick else 3, lambda side: ask(build, side, n_ranks, 1 if is_quick else STEPS[n_ranks]))
    for name in results[DOORBELLS][0]:
        times = {side: [one[name] for one in rounds] for side, rounds in results.items() if name in rounds[0]}
        report.rows += figures.side_rows(times, "us", lambda side, times=times: NATIVE if NATIVE in times else TIMED_WAITS, lambda side, name=name: f"{name}, {side}")
    return report


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    return miniapp.publish([("node", lambda n=n: measure(build, n, is_quick)) for n in ((2,) if is_quick else STEPS)], json_file)
