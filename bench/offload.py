# SPDX-License-Identifier: Apache-2.0
# Question: what does commtask-run change for a program that knows nothing of it? Runs of the same plain MPI program, alternated:
# natively, interposed, and with MPICH's progress thread (async). What starts cost, what hides behind computing as long as the exchange
# and behind computing that leaves the core for much longer, blocking round trips, programs that make
# progress themselves, and a whole FUNNELED miniapp.
"""commtask-run against native MPI and MPICH's progress thread."""

import json
import subprocess
import tempfile
from pathlib import Path

import figures
import miniapp
import network

N_RANKS = 2
NATIVE, INTERPOSED, THREAD = "native", "commtask-run", "async"
EXPOSED_STEPS = 60
LIMIT_S = 120  # of one run of bench_exposed: longer than a step can take, shorter than anybody waits


def beside(build, side):
    """Words before a program that make it run as this side."""
    return {THREAD: ["env", "MPICH_ASYNC_PROGRESS=1"], INTERPOSED: [str(build.program("commtask-run", "plugins/mpi"))]}.get(side, [])


def sides_of(build, *ours):
    """MPICH's progress thread is MPICH's."""
    return (NATIVE, *ours, *([THREAD] if build.is_mpich else []))


def rows_beside_native(results, name_of=lambda name, side: f"{name}, {side}"):
    """`results`: {side: [{name: (unit, value)} of each round]}. A row per name and side, with native's time over the side's."""
    rows = []
    for name, (unit, _) in results[NATIVE][0].items():
        values = {side: [one[name][1] for one in rounds] for side, rounds in results.items()}
        if unit == "%":
            rows += [figures.Row(name_of(name, side), unit, own) for side, own in values.items()]
        else:
            rows += figures.side_rows(values, unit, lambda side: NATIVE, lambda side, name=name: name_of(name, side))
    return rows


def ask(build, side, question, n_samples, n_ranks=N_RANKS):
    """The medians of one run of bench_offload: {name: (unit, median)}; of the overlap the share alone."""
    over = network.as_it_comes(build, n_ranks)  # ranks that wander over the cores would measure the scheduler
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "answers.json")
        words = [str(build.program("bench_offload")), "--question", question, "--json", json_file, "--samples", str(n_samples)]
        answers = over.execute(beside(build, side) + words, json_file)
    return {one["name"]: (one["unit"], figures.quantile(one["samples"], 0.5)) for one in answers
            if question != "overlap" or one["name"].startswith("overlap")}


def miniapp_ms(build, side, n_ranks, n_iterations):
    """Milliseconds of one hop of the FUNNELED baseline on the slowest rank, one thread a rank."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "run.json")
        words = [str(build.program("lqcd_dslash", "apps/lqcd_dslash")), "--mode", "baseline", "--force-comm"]
        words += ["--lattice", "16.16.16.16", "--grid", f"1.1.1.{n_ranks}", "--iterations", str(n_iterations), "--repeat", "3"]
        words += ["--threads", "1", "--check", "none", "--json", json_file]
        document = network.as_it_comes(build, n_ranks).execute(beside(build, side) + words, json_file)
    return document["median"]["slowest_total_us"] * 1e-3


def exposed_us(build, side, n_ranks, n_steps=EXPOSED_STEPS, sizes=()):
    """What is left, beside the computing, of an exchange in which 5 ms of computing leave the core, on the slowest rank.

    {bytes: samples of one run of bench_exposed}, for `sizes`, else those that it has of its own
    """
    command = build.mpiexec(n_ranks) + beside(build, side) + [str(build.program("bench_exposed")), str(n_steps), *map(str, sizes)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise miniapp.Failed(done.stdout + done.stderr + f"\nstatus {done.returncode}")
    return {one["bytes"]: one["samples"] for one in json.loads(done.stdout)["exposed_us"]}


def free(build, n_rounds, n_samples):
    """Two ranks on a core each that their workers share."""
    def exposed(side):
        found = exposed_us(build, side, N_RANKS, EXPOSED_STEPS if n_rounds > 1 else 3)
        return {f"exposed of {n_bytes} B": ("us", figures.quantile(samples, 0.5)) for n_bytes, samples in found.items()}

    def asked(question, sides):
        return miniapp.alternated(sides, n_rounds, lambda side: ask(build, side, question, n_samples))

    return (rows_beside_native(asked("post", sides_of(build, INTERPOSED))) + rows_beside_native(asked("overlap", sides_of(build, INTERPOSED)))
            + rows_beside_native(miniapp.alternated((NATIVE, INTERPOSED), n_rounds, exposed))
            + rows_beside_native(asked("pingpong", (NATIVE, INTERPOSED))) + rows_beside_native(asked("harmless", (NATIVE, INTERPOSED))))


def own_cores(build, n_rounds, n_samples):
    """One rank that writes to itself, with a core for itself and one for its worker, where there are two."""
    return rows_beside_native(miniapp.alternated((NATIVE, INTERPOSED), n_rounds, lambda side: ask(build, side, "post", n_samples, n_ranks=1)))


def crowded(build, n_rounds, _):
    """The FUNNELED miniapp: with one rank of several cores a core is spare."""
    rows = []
    for n_ranks in (1, N_RANKS):
        times = miniapp.alternated((NATIVE, INTERPOSED), n_rounds, lambda side, n=n_ranks: miniapp_ms(build, side, n, 20 if n_rounds > 1 else 2))
        rows += figures.side_rows(times, "ms per hop", lambda side: NATIVE, lambda side, n=n_ranks: f"dslash baseline, {n} ranks, {side}")
    return rows


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    n_rounds, n_samples = (1, 10) if is_quick else (7, 200)

    def report_of(setting, rows_of):
        report = figures.Report("offload", setting, miniapp.machine_of(build))
        report.rows += rows_of(build, n_rounds, n_samples)
        return report

    parts = {"free": free, "own cores": own_cores, "crowded": crowded}
    return miniapp.publish([(f"offload, {name}", lambda name=name, of=of: report_of(name, of)) for name, of in parts.items()], json_file)
