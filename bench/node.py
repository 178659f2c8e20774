# SPDX-License-Identifier: Apache-2.0
# Question: what do bells and watchers bring where ranks share cores? Runs of bench_node in turn: natively, with MPICH's progress
# thread, by tasks with naps alone, with bells, and with each half of the ranks taken for a node that has a watcher. 2, 4 and 8 ranks
# on the cores that there are, computing that leaves the core.
# Goals: overlap >= 95 % from 256 KiB on with 4 ranks, the workers' processor time <= 0.2 of that with naps, futile wake-ups
# <= 1 % of the messages, small messages as fast as with naps.
"""Bells between the ranks of a node and watchers, against naps, native MPI and MPICH's progress thread."""

import json
import os
import re
import subprocess

import figures
import miniapp

#: Rounds and steps of each: eight ranks on two cores need six seconds for a step of all cases.
LENGTHS = {2: (5, 31), 4: (3, 7), 8: (3, 2)}
NATIVE, THREAD, NAPS, BELL, WATCHER = "native", "MPICH's progress thread", "naps", "bell", "watcher"
TASKS = (NAPS, BELL, WATCHER)
LIMIT_S = 300
LARGE = 256 << 10
MESSAGES = ("receiver early", "sender early")
#: The last line of the statistics' table of workers.
WORKERS = re.compile(r"^ +all +([\d.]+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", re.MULTILINE)


def sides_of(build, n_ranks):
    """A node of one rank has nobody to ring."""
    sides = (NATIVE, THREAD, NAPS, BELL, WATCHER) if build.is_mpich else (NATIVE, NAPS, BELL, WATCHER)
    return sides if n_ranks >= 4 else sides[:-1]


def environment_of(side, n_ranks):
    if side == NATIVE:
        return {}
    if side == THREAD:
        return {"MPICH_ASYNC_PROGRESS": "1"}
    set_for = {"COMMTASK_STATS": "1", "COMMTASK_IDLE": "shared", "COMMTASK_NODE_BELL": "off" if side == NAPS else "on"}
    if side == WATCHER:
        set_for |= {"COMMTASK_NODE_RANKS": str(n_ranks // 2), "COMMTASK_NODE_ANNOUNCE_BYTES": "16384"}
    return set_for


def size_text(n_bytes):
    return f"{n_bytes >> 20} MiB" if n_bytes >= 1 << 20 else f"{n_bytes >> 10} KiB"


def ask(build, side, n_ranks, n_steps):
    """What one run says: median microseconds by (case, bytes, whether it computes), and what the workers counted."""
    command = build.mpiexec(n_ranks)
    command += [str(build.program("bench_node")), str(n_steps)] + (["--tasks"] if side in TASKS else [])
    done = subprocess.run(command, text=True, capture_output=True, timeout=LIMIT_S, check=False,
                          env=dict(os.environ, **environment_of(side, n_ranks)))
    if done.returncode != 0:
        raise miniapp.Failed(done.stdout + done.stderr + f"\nstatus {done.returncode}")
    answer = json.loads(done.stdout)
    result = {"us": {(one["name"], one["bytes"], one["computes"]): figures.quantile(one["us"], 0.5) for one in answer["cases"]},
              "processor_ms": answer["processor_ms"], "steps": answer["steps"]}
    if side in TASKS:
        found = WORKERS.findall(done.stderr)
        if not found:
            raise miniapp.Failed(done.stderr + "\nno statistics of the workers")
        names = ("worker_us", "sleeps", "naps", "rung", "for_nothing", "rang")
        result |= dict(zip(names, map(float, found[-1])))
    return result


def alternated(build, n_ranks, n_rounds, n_steps):
    """{side: [result of each round]}; the side that begins moves on."""
    sides = sides_of(build, n_ranks)
    results = {side: [] for side in sides}
    for turn in range(n_rounds):
        for k in range(len(sides)):
            side = sides[(k + turn) % len(sides)]
            results[side].append(ask(build, side, n_ranks, n_steps))
    return results


def case_rows(results, n_ranks):
    """Exposed time, overlap (the share of native's exchange without computing that is not exposed), and what a bare exchange takes."""
    rows = []
    for name, n_bytes, computes in results[NATIVE][0]["us"]:
        for side, rounds in results.items():
            own = [one["us"][name, n_bytes, computes] for one in rounds]
            what = f"{name}, {size_text(n_bytes)}, {n_ranks} ranks"
            if not computes:
                native = [one["us"][name, n_bytes, False] for one in results[NATIVE]]
                goal = 0.97 if side in (BELL, WATCHER) and n_bytes == 16 << 10 else None
                rows.append(figures.Row(name=f"bare {what}, {side}", unit="us", samples=own, ratio_to="native",
                                        ratios=[n / o for n, o in zip(native, own)], goals=figures.at_least(goal)))
                continue
            bare = [one["us"][name, n_bytes, False] for one in results[NATIVE]]
            is_goals = side in (BELL, WATCHER) and n_bytes >= LARGE and n_ranks == 4 and name in MESSAGES
            rows.append(figures.Row(name=f"exposed {what}, {side}", unit="us", samples=own, ratio_to="overlap",
                                    ratios=[1 - o / b for o, b in zip(own, bare)], goals=figures.at_least(0.95 if is_goals else None)))
    return rows


def worker_rows(results, n_ranks):
    rows = []
    native = [one["processor_ms"] for one in results[NATIVE]]
    for side, rounds in results.items():
        own = [one["processor_ms"] for one in rounds]
        rows.append(figures.Row(name=f"processor time of all ranks, {n_ranks} ranks, {side}", unit="ms", samples=own,
                                ratio_to="native", ratios=[n / o for n, o in zip(native, own)]))
    naps = [one["worker_us"] for one in results[NAPS]]
    rows.append(figures.Row(name=f"workers' processor time, {n_ranks} ranks, {NAPS}", unit="us", samples=naps))
    # Each pair of ranks has a message in a step; a collective counts as one for each pair too.
    n_messages = len(results[NATIVE][0]["us"]) * results[NATIVE][0]["steps"] * n_ranks / 2
    for side in (BELL, WATCHER):
        if side not in results:
            continue
        own = [one["worker_us"] for one in results[side]]
        rows.append(figures.Row(name=f"workers' processor time, {n_ranks} ranks, {side}", unit="us", samples=own, ratio_to=NAPS,
                                ratios=[n / o for n, o in zip(naps, own)], goals=figures.at_least(5)))
        for what, at_least in (("naps", None), ("rung", None), ("for_nothing", 0.99)):
            per_message = [one[what] / n_messages for one in results[side]]
            rows.append(figures.Row(name=f"{what.replace('_', ' ')} per message, {n_ranks} ranks, {side}", unit="", samples=per_message,
                                    ratio_to="1 - it" if at_least else None,
                                    ratios=[1 - one for one in per_message] if at_least else None, goals=figures.at_least(at_least)))
    return rows


def of_ranks(build, n_ranks, n_rounds, n_steps):
    report = figures.Report("node", f"{n_ranks} ranks", miniapp.machine_of(build))
    results = alternated(build, n_ranks, n_rounds, n_steps)
    report.rows += case_rows(results, n_ranks) + worker_rows(results, n_ranks)
    return report


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    lengths = {2: (1, 1), 4: (1, 1)} if is_quick else LENGTHS
    return miniapp.publish([("node", lambda n=n, length=length: of_ranks(build, n, *length)) for n, length in lengths.items()], json_file)
