# SPDX-License-Identifier: Apache-2.0
# Question: what does commtask-run change for a program that knows nothing of it? Runs of the same plain MPI program,
# alternated: natively, interposed, with a progress thread of its own (commself), with MPICH's progress thread (async).
# Goals: starting costs no more with the size, on a shared core at most twice MPI's own call and 2 us more for large messages;
# exchanges hide behind computing, and behind computing that leaves the core; blocking round trips and a whole FUNNELED miniapp do
# not suffer.
"""commtask-run against native MPI and two kinds of progress threads."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import figures
import miniapp
import network

N_RANKS = 2
RATE_MBS = 1000.0  # of the wire
NATIVE = "native"
INTERPOSED = "commtask-run"
SIDES = (NATIVE, INTERPOSED, "commself", "async")
LARGE = 64 << 10
LONG_NS = 2000  # what the start of a message above LARGE may cost beside MPI's own call
EXPOSED_US, EXPOSED_FROM = 60, 4 << 20  # what may be left of an exchange of so many bytes behind 5 ms that leave the core
EXPOSED_STEPS = 60
LIMIT_S = 120  # of one run of bench_exposed: longer than a step can take, shorter than anybody waits


class Runner:
    """Starts one side; `setting` "delayed" puts the wire between the ranks."""

    def __init__(self, build, setting=""):
        self.build = build
        self.setting = setting

    def execute(self, side, words, report_file, n_ranks=N_RANKS):
        prefix = []
        if side == "async":
            prefix = ["env", "MPICH_ASYNC_PROGRESS=1"]
        elif side == INTERPOSED:
            prefix = [str(self.build.program("commtask-run", "plugins/mpi"))]
        # Ranks that wander over the cores would measure the scheduler.
        over = network.Network(self.build, self.setting, n_ranks, RATE_MBS, network.cores_of(n_ranks))
        return over.execute(prefix + words, report_file)

    def ask(self, side, question, n_samples, n_ranks=N_RANKS):
        """The medians of one run of bench_offload: {name: (unit, median)}."""
        with tempfile.TemporaryDirectory() as folder:
            json_file = str(Path(folder) / "answers.json")
            words = [str(self.build.program("bench_offload")), "--question", question, "--json", json_file]
            words += ["--samples", str(n_samples)] + (["--commself"] if side == "commself" else [])
            answers = self.execute(side, words, json_file, n_ranks)
        return {one["name"]: (one["unit"], figures.quantile(one["samples"], 0.5)) for one in answers}

    def miniapp_ms(self, side, n_ranks, n_iterations):
        """Milliseconds of one hop of the FUNNELED baseline on the slowest rank."""
        with tempfile.TemporaryDirectory() as folder:
            json_file = str(Path(folder) / "run.json")
            words = [str(self.build.program("lqcd_dslash", "apps/lqcd_dslash")), "--mode", "baseline", "--force-comm"]
            words += ["--lattice", "16.16.16.16", "--grid", f"1.1.1.{n_ranks}", "--iterations", str(n_iterations), "--repeat", "3"]
            words += ["--threads", "1", "--check", "none", "--json", json_file]
            document = self.execute(side, words, json_file, n_ranks)
        return document["median"]["slowest_total_us"] * 1e-3


def alternated(sides, n_rounds, once):
    """{side: [result of each round]}; the side that begins moves on, and one round before the first warms up, if figures are
    wanted: of a single one nobody quotes any."""
    results = {side: [] for side in sides}
    n_warm_ups = 1 if n_rounds > 1 else 0
    for turn in range(n_warm_ups + n_rounds):
        for place in range(len(sides)):
            side = sides[(place + turn) % len(sides)]
            result = once(side)
            if turn >= n_warm_ups:
                results[side].append(result)
    return results


def size_of(name):
    """The bytes in "Isend of 8 B"."""
    return int(name.rpartition(" of ")[2].split()[0])


def post_goals(name, native_ns):
    """Of the start of a send on a shared core."""
    if not name.startswith("Isend"):
        return ()
    return figures.at_least(0.5) if size_of(name) <= LARGE else (figures.Goal("median", True, native_ns + LONG_NS),)


def ratio_rows(results, goals_of):
    """A row per name and side; those beside native have native's time over theirs, round by round.

    `goals_of(name, native's median)` are those of commtask-run.
    """
    rows = []
    for name, (unit, _) in results[NATIVE][0].items():
        for side, rounds in results.items():
            own = [one[name][1] for one in rounds]
            native = [one[name][1] for one in results[NATIVE]]
            is_other = side != NATIVE
            rows.append(figures.Row(
                name=f"{name}, {side}", unit=unit, samples=own, ratio_to=f"{name}, {NATIVE}" if is_other else None,
                ratios=[n / o for n, o in zip(native, own)] if is_other else None,
                goals=goals_of(name, figures.quantile(native, 0.5)) if side == INTERPOSED else ()))
    return rows


def exposed_us(build, side, n_ranks, n_steps=EXPOSED_STEPS, sizes=()):
    """What is left, beside the computing, of an exchange in which 5 ms of computing leave the core, on the slowest rank.

    {bytes: samples of one run of bench_exposed}, for `sizes`, else those that it has of its own
    """
    command = build.mpiexec(n_ranks)
    command += [str(build.program("commtask-run", "plugins/mpi"))] if side == INTERPOSED else []
    command += [str(build.program("bench_exposed")), str(n_steps), *map(str, sizes)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise miniapp.Failed(done.stdout + done.stderr + f"\nstatus {done.returncode}")
    return {one["bytes"]: one["samples"] for one in json.loads(done.stdout)["exposed_us"]}


def exposed_rows(build, n_rounds, n_steps):
    def once(side):
        return {f"exposed of {n_bytes} B": ("us", figures.quantile(samples, 0.5))
                for n_bytes, samples in exposed_us(build, side, N_RANKS, n_steps).items()}

    def goals(name, _):
        behind = (figures.Goal("median", True, EXPOSED_US),) if size_of(name) >= EXPOSED_FROM else ()
        return figures.at_least(1) + behind

    return ratio_rows(alternated((NATIVE, INTERPOSED), n_rounds, once), goals)


def constancy_rows(rounds):
    """Whether a start costs as much for the largest message as for the smallest."""
    names = list(rounds[0])
    rows = []
    for call in dict.fromkeys(name.split()[0] for name in names):
        of_call = sorted((name for name in names if name.startswith(call + " ")), key=size_of)
        first, last = of_call[0], of_call[-1]
        rows.append(figures.Row(
            name=f"{last}, {INTERPOSED}, again", unit="ns", samples=[one[last][1] for one in rounds],
            ratio_to=f"{first}, {INTERPOSED}", ratios=[one[first][1] / one[last][1] for one in rounds],
            goals=figures.at_least(0.5), note="how constant the start is: the smallest's time over the largest's"))
    return rows


def overlap_rows(results, has_goals):
    rows = []
    for name in results[NATIVE][0]:
        for side, rounds in results.items():
            unit, samples = rounds[0][name][0], [one[name][1] for one in rounds]
            is_overlap = name.startswith("overlap")
            goal = 0.95 if size_of(name) >= LARGE else 0.85
            rows.append(figures.Row(
                name=f"{name}, {side}", unit=unit, samples=samples,
                ratio_to="all of the exchange" if is_overlap else None,
                ratios=[value / 100 for value in samples] if is_overlap else None,
                goals=figures.at_least(goal if has_goals and is_overlap and side == INTERPOSED else None)))
    return rows


def sides_of(build):
    """MPICH's progress thread is MPICH's."""
    return SIDES if build.is_mpich else tuple(side for side in SIDES if side != "async")


def free(build, n_rounds, n_samples):
    runner = Runner(build)
    report = figures.Report("offload", "free", miniapp.machine_of(build))

    def measure(question, sides):
        return alternated(sides, n_rounds, lambda side: runner.ask(side, question, n_samples))

    posts = measure("post", sides_of(build))
    report.rows += ratio_rows(posts, post_goals) + constancy_rows(posts[INTERPOSED])
    report.rows += overlap_rows(measure("overlap", sides_of(build)), has_goals=True)
    report.rows += exposed_rows(build, n_rounds, EXPOSED_STEPS if n_rounds > 1 else 3)
    report.rows += ratio_rows(measure("pingpong", (NATIVE, INTERPOSED)), lambda *_: figures.at_least(0.8))
    report.rows += ratio_rows(measure("threads", sides_of(build)), lambda *_: ())
    return report


def own_cores(build, n_rounds, n_samples):
    """One rank that writes to itself, with a core for itself and one for its worker, where there are two."""
    runner = Runner(build)
    report = figures.Report("offload", "own cores", miniapp.machine_of(build))
    posts = alternated((NATIVE, INTERPOSED), n_rounds, lambda side: runner.ask(side, "post", n_samples, n_ranks=1))
    report.rows += ratio_rows(posts, lambda *_: ()) + constancy_rows(posts[INTERPOSED])
    return report


def crowded(build, n_rounds):
    """The FUNNELED miniapp, one thread a rank: with one rank of several cores a core is spare, with two here none."""
    runner = Runner(build)
    report = figures.Report("offload", "crowded", miniapp.machine_of(build))
    for n_ranks in (1, N_RANKS):
        times = alternated((NATIVE, INTERPOSED), n_rounds, lambda side, n=n_ranks: runner.miniapp_ms(side, n, 20 if n_rounds > 1 else 2))
        is_spare = len(os.sched_getaffinity(0)) > n_ranks
        for side, samples in times.items():
            is_other = side != NATIVE
            report.rows.append(figures.Row(
                name=f"dslash baseline, {n_ranks} ranks, {side}", unit="ms per hop", samples=samples,
                ratio_to=f"dslash baseline, {n_ranks} ranks, {NATIVE}" if is_other else None,
                ratios=[n / o for n, o in zip(times[NATIVE], samples)] if is_other else None,
                goals=figures.at_least(0.97 if is_other and is_spare else None),
                note="" if is_spare else "no core is spare: no goal"))
    return report


def delayed(build, n_rounds, n_samples):
    runner = Runner(build, "delayed")
    report = figures.Report("offload", "delayed", miniapp.machine_of(build))
    results = alternated(sides_of(build), n_rounds, lambda side: runner.ask(side, "overlap", n_samples))
    report.rows += overlap_rows(results, has_goals=False)
    return report


def run(build, setting, is_quick, json_file):
    """The settings asked for ("crowded" stands for all without a wire); the exit status of the driver."""
    n_rounds, n_samples = (1, 10) if is_quick else (7, 200)
    wanted = []
    if setting in ("crowded", "all"):
        wanted += [lambda: free(build, n_rounds, n_samples), lambda: own_cores(build, n_rounds, n_samples),
                   lambda: crowded(build, n_rounds)]
    if setting in ("delayed", "all"):
        wanted.append(lambda: delayed(build, n_rounds, n_samples))
    return miniapp.publish([("offload", measure) for measure in wanted], json_file)
