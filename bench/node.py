# SPDX-License-Identifier: Apache-2.0
# Question: what do bells and watchers bring where ranks share cores? Runs of the parts of bench_node in turn: natively, with MPICH's
# progress thread, by tasks with naps alone, with bells, and over emulated links with rendezvous, where each half of the ranks is taken
# for a node that has a watcher. 2, 4 and 8 ranks on the cores that there are, computing that leaves the core.
# Goals: overlap >= 95 % from 256 KiB on, with bells, and with one watcher for 4 ranks; the workers' processor time for messages <= 0.2 of
# that with naps; futile wake-ups <= 1 % of the messages; small messages as fast as with naps; a sweep over links 1.1 times native.
"""Bells between the ranks of a node and watchers, against naps, native MPI and MPICH's progress thread."""

import dataclasses
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import figures
import miniapp
import network

NATIVE, THREAD, NAPS, BELL, WATCHER = "native", "MPICH's progress thread", "naps", "bell", "watcher"
TASKS = (NAPS, BELL, WATCHER)
LIMIT_S = 300
LARGE = 256 << 10
MESSAGES = ("receiver early", "sender early")
TRIPS = 40  # ways of a message in a step of the small ones
#: What naps and bells are counted for, and how many of it each pair of ranks has in a step; else a message. In a sweep of four stages
#: each rank sends one a stage. Of what a collective sends nobody knows.
COUNTED = {"small": ("message", TRIPS), "sweep": ("message", 8), "puts": ("put", 1), "collectives": ("collective of a rank", 2)}
LINK_MBS = 1000
#: The last line of the statistics' table of workers.
WORKERS = re.compile(r"^ +all +([\d.]+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Part:
    """Of bench_node: so many rounds and steps, by these sides."""

    name: str
    n_rounds: int
    n_steps: int
    sides: tuple = (NATIVE, THREAD, NAPS, BELL)
    is_over_links: bool = False


OVER_LINKS = (NATIVE, NAPS, WATCHER)
PARTS = {
    2: (Part("small", 5, 41, (NATIVE, NAPS, BELL)), Part("messages", 3, 15), Part("collectives", 3, 9), Part("puts", 3, 9)),
    4: (Part("messages", 3, 9), Part("collectives", 3, 5), Part("puts", 3, 5), Part("large", 3, 9, OVER_LINKS, True),
        Part("sweep", 3, 9, OVER_LINKS, True)),
    8: (Part("messages", 3, 3), Part("collectives", 3, 3), Part("large", 3, 5, OVER_LINKS, True)),
}
QUICK = {2: (Part("small", 1, 1, (NATIVE, NAPS, BELL)), Part("messages", 1, 1), Part("collectives", 1, 1), Part("puts", 1, 1)),
         4: (Part("large", 1, 1, OVER_LINKS, True), Part("sweep", 1, 1, OVER_LINKS, True))}


def environment_of(side, n_ranks):
    if side == NATIVE:
        return {}
    if side == THREAD:
        return {"MPICH_ASYNC_PROGRESS": "1"}
    set_for = {"COMMTASK_STATS": "1", "COMMTASK_IDLE": "shared", "COMMTASK_NODE_BELL": "off" if side == NAPS else "on"}
    if side == WATCHER:
        set_for |= {"COMMTASK_NODE_RANKS": str(n_ranks // 2), "COMMTASK_NODE_ANNOUNCE_BYTES": str(network.EAGER_BYTES)}
    return set_for


def size_text(n_bytes):
    if n_bytes >= 1 << 20:
        return f"{n_bytes >> 20} MiB"
    return f"{n_bytes >> 10} KiB" if n_bytes >= 1 << 10 else f"{n_bytes} B"


def ask(build, part, side, n_ranks):
    """What one run says: median microseconds by (case, bytes, whether it computes), and what the workers counted."""
    command = build.mpiexec(n_ranks)
    if part.is_over_links:
        libraries = [str(build.program("libcommtask_emulated_link.so").resolve())] + os.environ.get("LD_PRELOAD", "").split()
        command += ["env", f"LD_PRELOAD={':'.join(libraries)}", f"EMULATED_LINK_RATE_MBS={LINK_MBS}", f"EMULATED_LINK_EAGER_BYTES={network.EAGER_BYTES}"]
    with tempfile.TemporaryDirectory() as folder:
        json_file = Path(folder) / "answers.json"
        command += [str(build.program("bench_node")), part.name, str(part.n_steps), str(json_file)]
        command += ["--tasks"] if side in TASKS else []
        done = subprocess.run(command, text=True, capture_output=True, timeout=LIMIT_S, check=False,
                              env=dict(os.environ, **environment_of(side, n_ranks)))
        if done.returncode != 0:
            raise miniapp.Failed(done.stdout + done.stderr + f"\nstatus {done.returncode}")
        answer = json.loads(json_file.read_text(encoding="utf-8"))
    cases = {(one["name"], one["bytes"], one["computes"]): one for one in answer["cases"]}
    result = {"us": {key: figures.quantile(one["us"], 0.5) for key, one in cases.items()},
              "computing_us": {key: one["computing_us"] for key, one in cases.items()},
              "processor_ms": answer["processor_ms"], "steps": answer["steps"]}
    if side in TASKS:
        found = WORKERS.findall(done.stderr)
        if not found:
            raise miniapp.Failed(done.stderr + "\nno statistics of the workers")
        names = ("worker_us", "sleeps", "naps", "rung", "for_nothing", "rang")
        result |= dict(zip(names, map(float, found[-1])))
    return result


def alternated(build, part, n_ranks, sides):
    """{side: [result of each round]}; the side that begins moves on."""
    results = {side: [] for side in sides}
    for turn in range(part.n_rounds):
        for k in range(len(sides)):
            side = sides[(k + turn) % len(sides)]
            results[side].append(ask(build, part, side, n_ranks))
    return results


def of_all(rounds, key):
    return [one["us"][key] for one in rounds]


def bare_row(results, key, what, side):
    own = of_all(results[side], key)
    native = of_all(results[NATIVE], key)
    return figures.Row(name=f"bare {what}, {side}", unit="us", samples=own, ratio_to=NATIVE, ratios=[n / o for n, o in zip(native, own)])


def exposed_row(results, key, what, side, n_watched):
    """The overlap is the share of native's exchange without computing that is not exposed."""
    name, n_bytes, _ = key
    own = of_all(results[side], key)
    bare = of_all(results[NATIVE], (name, n_bytes, False))
    is_goals = n_bytes >= LARGE and name in MESSAGES and (side == BELL or (side == WATCHER and n_watched == 4))
    return figures.Row(name=f"exposed {what}, {side}", unit="us", samples=own, ratio_to="overlap",
                       ratios=[1 - o / b for o, b in zip(own, bare)], goals=figures.at_least(0.95 if is_goals else None))


def small_row(results, key, what, side):
    own = [us / TRIPS for us in of_all(results[side], key)]
    naps = [us / TRIPS for us in of_all(results[NAPS], key)]
    return figures.Row(name=f"{what}, {side}", unit="us", samples=own, ratio_to=NAPS, ratios=[n / o for n, o in zip(naps, own)],
                       goals=figures.at_least(0.97 if side == BELL else None))


def sweep_row(results, key, what, side):
    """All of it, as a program would see it."""
    own = [us + one["computing_us"][key] for us, one in zip(of_all(results[side], key), results[side])]
    native = [us + one["computing_us"][key] for us, one in zip(of_all(results[NATIVE], key), results[NATIVE])]
    is_goals = side == WATCHER and key[1] >= LARGE
    return figures.Row(name=f"{what}, {side}", unit="us", samples=own, ratio_to=NATIVE, ratios=[n / o for n, o in zip(native, own)],
                       goals=figures.at_least(1.1 if is_goals else None))


def case_rows(results, part, n_ranks):
    rows = []
    for key in results[NATIVE][0]["us"]:
        name, n_bytes, computes = key
        what = f"{name}, {size_text(n_bytes)}, {n_ranks} ranks" + (", links" if part.is_over_links else "")
        for side in results:
            if part.name == "small":
                rows.append(small_row(results, key, what, side))
            elif not computes:
                rows.append(bare_row(results, key, what, side))
            elif part.name == "sweep":
                rows.append(sweep_row(results, key, what, side))
            else:
                rows.append(exposed_row(results, key, what, side, n_ranks // 2))
    return rows


def worker_rows(results, part, n_ranks):
    """Goals are for messages: the steps of a collective nobody sees, and a put is its target's MPI's."""
    of = f"{part.name}, {n_ranks} ranks" + (", links" if part.is_over_links else "")
    is_goals = part.name in ("messages", "large")
    native = [one["processor_ms"] for one in results[NATIVE]]
    rows = []
    for side, rounds in results.items():
        own = [one["processor_ms"] for one in rounds]
        rows.append(figures.Row(name=f"processor time of all ranks, {of}, {side}", unit="ms", samples=own, ratio_to=NATIVE,
                                ratios=[n / o for n, o in zip(native, own)]))
    naps = [one["worker_us"] for one in results[NAPS]]
    counted, n_of_pair = COUNTED.get(part.name, ("message", 1))
    n_counted = len(results[NATIVE][0]["us"]) * results[NATIVE][0]["steps"] * n_ranks / 2 * n_of_pair
    for side in [one for one in TASKS if one in results]:
        own = [one["worker_us"] for one in results[side]]
        goal = 5 if is_goals and side != NAPS else None
        rows.append(figures.Row(name=f"workers' processor time, {of}, {side}", unit="us", samples=own, ratio_to=None if side == NAPS else NAPS,
                                ratios=None if side == NAPS else [n / o for n, o in zip(naps, own)], goals=figures.at_least(goal)))
        for what in ("naps", "rung", "for_nothing") if side != NAPS else ("naps",):
            each = [one[what] / n_counted for one in results[side]]
            is_futile = what == "for_nothing"
            rows.append(figures.Row(name=f"{what.replace('_', ' ')} per {counted}, {of}, {side}", unit="", samples=each,
                                    ratio_to="1 - it" if is_futile else None,
                                    ratios=[1 - one for one in each] if is_futile else None,
                                    goals=figures.at_least(0.99 if is_futile and is_goals else None)))
    return rows


def of_ranks(build, n_ranks, parts):
    report = figures.Report("node", f"{n_ranks} ranks", miniapp.machine_of(build))
    for part in parts:
        if part.is_over_links and not build.is_mpich:
            continue
        sides = [side for side in part.sides if side != THREAD or build.is_mpich]
        results = alternated(build, part, n_ranks, sides)
        report.rows += case_rows(results, part, n_ranks) + worker_rows(results, part, n_ranks)
    return report


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    asked = QUICK if is_quick else PARTS
    return miniapp.publish([("node", lambda n=n, parts=parts: of_ranks(build, n, parts)) for n, parts in asked.items()], json_file)
