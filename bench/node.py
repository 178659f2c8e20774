# SPDX-License-Identifier: Apache-2.0
# Question: what do bells and watchers bring where ranks share cores? Runs of the parts of bench_node in turn: natively, with MPICH's
# progress thread, by tasks with naps alone, with bells, and over emulated links with rendezvous, where each half of the ranks is taken
# for a node that has a watcher. 2, 4 and 8 ranks on the cores that there are, computing that leaves the core. Once more with a core that is
# nobody's: ranks on cores of their own if there are enough, else all on the others, and the receiving node's watcher has it or not.
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
HELPER = "watcher with a core"
TASKS = (NAPS, BELL, WATCHER, HELPER)
LIMIT_S = 300
LARGE = 256 << 10
MESSAGES = ("receiver early", "sender early")
TRIPS = 40  # ways of a message in a step of the small ones
COLLECTIVES = ("ialltoall", "igather", "ibcast")
#: What naps and bells are counted for, and how many of it each pair of ranks has in a step; else a message. In a sweep of four stages
#: each rank sends one a stage. Of what a collective sends nobody knows.
COUNTED = {"small": ("message", TRIPS), "sweep": ("message", 8), "puts": ("put", 1),
           **{name: ("collective of a rank", 2) for name in COLLECTIVES}}
LINK_MBS = 1000
#: The lines of rank 0 and of all in the statistics' table of workers.
WORKERS = re.compile(r"^ +(0|all) +([\d.]+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Part:
    """Of bench_node: so many rounds and steps, by these sides, of which the last is the one with goals."""

    name: str
    n_rounds: int
    n_steps: int
    sides: tuple = (NATIVE, THREAD, NAPS, BELL)
    is_over_links: bool = False
    spares_core: bool = False  # of which HELPER alone makes use
    schedule: str = ""  # what MPICH calls the algorithm of a collective that it is made to take

    def of(self, n_ranks):
        """What rows say of it, after what they are about."""
        return f"{n_ranks} ranks" + (", links" if self.is_over_links else "") + (f", by {self.schedule}" if self.schedule else "")

    def setting(self, n_ranks):
        return (f"{self.name}, " if self.schedule else "") + f"{n_ranks} ranks" + (", a core to spare" if self.spares_core else "")


OVER_LINKS = (NATIVE, NAPS, WATCHER)
BESIDE_CORE = (NATIVE, NAPS, WATCHER, HELPER)
AUTO = "auto"  # the schedule that MPICH takes by itself


def collectives(n_rounds, n_steps):
    return tuple(Part(name, n_rounds, n_steps) for name in COLLECTIVES)


PARTS = {
    2: (Part("small", 5, 41, (NATIVE, NAPS, BELL)), Part("messages", 3, 15), *collectives(3, 9), Part("puts", 3, 9)),
    4: (Part("messages", 3, 9), *collectives(3, 5), Part("puts", 3, 5), Part("large", 3, 9, OVER_LINKS, True),
        Part("large", 3, 9, BESIDE_CORE, True, True), Part("sweep", 3, 9, OVER_LINKS, True)),
    8: (Part("messages", 3, 3), *collectives(3, 3), Part("large", 3, 5, OVER_LINKS, True), Part("large", 3, 3, BESIDE_CORE, True, True)),
}
QUICK = {2: (Part("small", 1, 1, (NATIVE, NAPS, BELL)), Part("messages", 1, 1), *collectives(1, 1), Part("puts", 1, 1)),
         4: (Part("large", 1, 1, OVER_LINKS, True), Part("large", 1, 1, BESIDE_CORE, True, True), Part("sweep", 1, 1, OVER_LINKS, True))}


def environment_of(part, side, n_ranks):
    set_for = {}
    if part.schedule not in ("", AUTO):
        set_for[f"MPIR_CVAR_{part.name.upper()}_INTRA_ALGORITHM"] = part.schedule
    if side == NATIVE:
        return set_for
    if side == THREAD:
        return set_for | {"MPICH_ASYNC_PROGRESS": "1"}
    set_for |= {"COMMTASK_STATS": "1", "COMMTASK_IDLE": "shared", "COMMTASK_NODE_BELL": "off" if side == NAPS else "on"}
    if side in (WATCHER, HELPER):
        set_for |= {"COMMTASK_NODE_RANKS": str(n_ranks // 2), "COMMTASK_NODE_ANNOUNCE_BYTES": str(network.EAGER_BYTES)}
    return set_for


def size_text(n_bytes):
    if n_bytes >= 1 << 20:
        return f"{n_bytes >> 20} MiB"
    return f"{n_bytes >> 10} KiB" if n_bytes >= 1 << 10 else f"{n_bytes} B"


def beside_spare_core(n_ranks, cores, side):
    """(cores, variables) of each rank: the last core is nobody's, or the worker's of rank 0, which is its node's watcher then."""
    shared, spare = cores[:-1], cores[-1]
    places = [([shared[rank]] if len(shared) >= n_ranks else shared, {}) for rank in range(n_ranks)]
    if side == HELPER:
        places[0] = (places[0][0] + [spare], {"COMMTASK_IDLE": "reserved", "COMMTASK_CORE": str(spare)})
    return places


def launched(build, part, side, n_ranks, words):
    """The words that start all ranks."""
    if part.is_over_links:
        libraries = [str(build.program("libcommtask_emulated_link.so").resolve())] + os.environ.get("LD_PRELOAD", "").split()
        words = ["env", f"LD_PRELOAD={':'.join(libraries)}", f"EMULATED_LINK_RATE_MBS={LINK_MBS}", f"EMULATED_LINK_EAGER_BYTES={network.EAGER_BYTES}", *words]
    if not part.spares_core:
        return [*build.mpiexec(n_ranks), *words]
    command = build.launcher()
    for cores, variables in beside_spare_core(n_ranks, sorted(os.sched_getaffinity(0)), side):
        bound = ["taskset", "-c", ",".join(map(str, cores)), "env", *(f"{name}={value}" for name, value in variables.items())]
        command += ["-n", "1", *bound, *words, ":"]
    return command[:-1]


def ask(build, part, side, n_ranks):
    """What one run says: median microseconds by (case, bytes, whether it computes), and what the workers counted."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = Path(folder) / "answers.json"
        words = [str(build.program("bench_node")), part.name, str(part.n_steps), str(json_file)]
        words += ["--tasks"] if side in TASKS else []
        done = subprocess.run(launched(build, part, side, n_ranks, words), text=True, capture_output=True, timeout=LIMIT_S, check=False,
                              env=dict(os.environ, **environment_of(part, side, n_ranks)))
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
        of_rank_0, of_all = found[-2:]
        result |= dict(zip(names, map(float, of_all[1:])))
        result["helper_us"] = float(of_rank_0[1])
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


def exposed_row(results, key, what, side, has_goals):
    """The overlap is the share of native's exchange without computing that is not exposed."""
    name, n_bytes, _ = key
    own = of_all(results[side], key)
    bare = of_all(results[NATIVE], (name, n_bytes, False))
    is_goals = has_goals and n_bytes >= LARGE and name in MESSAGES
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
        if part.schedule and (not computes or n_bytes != LARGE):
            continue
        what = f"{name}, {size_text(n_bytes)}, {part.of(n_ranks)}"
        for side in results:
            if part.name == "small":
                rows.append(small_row(results, key, what, side))
            elif not computes:
                rows.append(bare_row(results, key, what, side))
            elif part.name == "sweep":
                rows.append(sweep_row(results, key, what, side))
            else:
                rows.append(exposed_row(results, key, what, side, side == part.sides[-1] and (side == BELL or n_ranks == 8)))
    return rows


def worker_rows(results, part, n_ranks):
    """Goals are for messages, and by schedules for what a bell brings: else the steps of a collective nobody sees, and a put is its target's MPI's."""
    of = f"{part.name}, {part.of(n_ranks)}"
    is_goals = part.name in ("messages", "large")
    native = [one["processor_ms"] for one in results[NATIVE]]
    rows = []
    for side, rounds in results.items() if not part.schedule else ():
        own = [one["processor_ms"] for one in rounds]
        rows.append(figures.Row(name=f"processor time of all ranks, {of}, {side}", unit="ms", samples=own, ratio_to=NATIVE,
                                ratios=[n / o for n, o in zip(native, own)]))
    naps = [one["worker_us"] for one in results[NAPS]]
    counted, n_of_pair = COUNTED.get(part.name, ("message", 1))
    n_counted = len(results[NATIVE][0]["us"]) * results[NATIVE][0]["steps"] * n_ranks / 2 * n_of_pair
    for side in [one for one in TASKS if one in results]:
        own = [one["worker_us"] for one in results[side]]
        is_last = side == part.sides[-1]
        goal = 5 if is_goals and is_last else None
        rows.append(figures.Row(name=f"workers' processor time, {of}, {side}", unit="us", samples=own, ratio_to=None if side == NAPS else NAPS,
                                ratios=None if side == NAPS else [n / o for n, o in zip(naps, own)], goals=figures.at_least(goal)))
        if side == HELPER:
            others = [one["worker_us"] - one["helper_us"] for one in results[side]]
            rows.append(figures.Row(name=f"the same but the watcher's, {of}, {side}", unit="us", samples=others, ratio_to=NAPS,
                                    ratios=[n / o for n, o in zip(naps, others)]))
        for what in ("naps", "rung", "for_nothing") if side != NAPS else ("naps",):
            each = [one[what] / n_counted for one in results[side]]
            is_futile = what == "for_nothing"
            is_judged = is_futile and is_last and (is_goals or part.schedule)
            rows.append(figures.Row(name=f"{what.replace('_', ' ')} per {counted}, {of}, {side}", unit="", samples=each,
                                    ratio_to="1 - it" if is_futile else None,
                                    ratios=[1 - one for one in each] if is_futile else None,
                                    goals=figures.at_least(0.99 if is_judged else None)))
    return rows


def of_setting(build, benchmark, setting, parts):
    """`parts`: pairs of the number of ranks and the part."""
    report = figures.Report(benchmark, setting, miniapp.machine_of(build))
    for n_ranks, part in parts:
        if ((part.is_over_links or part.schedule) and not build.is_mpich) or (part.spares_core and len(os.sched_getaffinity(0)) < 2):
            continue
        sides = [side for side in part.sides if side != THREAD or build.is_mpich]
        results = alternated(build, part, n_ranks, sides)
        report.rows += case_rows(results, part, n_ranks) + worker_rows(results, part, n_ranks)
    if not report.rows:
        raise miniapp.Skipped("links and schedules need a build with MPICH, a core to spare needs a second core")
    return report


def measure(build, benchmark, asked, json_file, wanted=""):
    """`asked`: parts by the number of ranks, of which those are taken whose setting contains `wanted`. The exit status of the driver."""
    settings = {}
    for n_ranks, parts in asked.items():
        for part in parts:
            settings.setdefault(part.setting(n_ranks), []).append((n_ranks, part))
    chosen = miniapp.containing(wanted, [(name, name) for name in settings], f"setting of {benchmark}")
    return miniapp.publish([(benchmark, lambda name=name: of_setting(build, benchmark, name, settings[name])) for name in chosen], json_file)


def run(build, is_quick, json_file, wanted=""):
    """The exit status of the driver."""
    return measure(build, "node", QUICK if is_quick else PARTS, json_file, wanted)
