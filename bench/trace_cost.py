# SPDX-License-Identifier: Apache-2.0
# Question: what does COMMTASK_TRACE cost? A task and an event by bench_trace, and a whole program by runs of the Dslash miniapp
# with and without, in turn. Own cores: one rank that sends to itself, whose compute thread and worker have a core each, at real-time
# priority where that is allowed, so that other work on the machine is not what is measured. Crowded: two ranks, as it comes.
"""A traced program against the same one without a trace."""

import os
import sys
import tempfile
from pathlib import Path

import figures
import miniapp
import network
import program
import whole_file

LEAST = 1 / 1.03  # time without a trace over time with one
MODES = ("offload", "omp", "tbb")  # in the last two compute tasks are traced too
LATTICES = (("8.8.8.16", 200), ("16.16.16.32", 20))


def of_events(build, is_quick):
    """Of one rank whose thread and worker have a core each where there are two."""
    return program.report_of(build.mpiexec(1) + [str(build.program("bench_trace"))], is_quick)


def hop_ms(build, n_ranks, mode, lattice, n_iterations, is_traced):
    """Milliseconds of a hop on the slowest rank, of one run."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "run.json")
        words = ["env", f"COMMTASK_TRACE={folder if is_traced else ''}"]
        words += [str(build.program("lqcd_dslash", "apps/lqcd_dslash")), "--lattice", lattice, "--grid", f"1.1.1.{n_ranks}", "--mode", mode]
        words += ["--threads", str(network.cores_of(n_ranks)), "--iterations", str(n_iterations), "--repeat", "3", "--check", "none"]
        words += ["--json", json_file] + (["--force-comm"] if n_ranks == 1 else [])
        document = network.Network(build, "", n_ranks).execute(words, json_file)
        if is_traced and not list(Path(folder).glob("*.cttrace")):
            raise miniapp.Failed("a traced run wrote no trace")
    return document["median"]["slowest_total_us"] * 1e-3


def of_dslash(build, setting, n_ranks, is_quick):
    report = figures.Report("trace", setting, miniapp.machine_of(build))
    n_rounds, cut = (1, 1) if is_quick else (15, None)
    for lattice, n_iterations in LATTICES[:cut]:
        for mode in MODES[:cut]:
            times = {False: [], True: []}
            for turn in range(n_rounds + 1):
                for is_traced in (False, True) if turn % 2 else (True, False):
                    took = hop_ms(build, n_ranks, mode, lattice, n_iterations, is_traced)
                    if turn > 0:
                        times[is_traced].append(took)
            name = f"{mode} {lattice}"
            report.rows.append(figures.Row(f"{name}, no trace", "ms per hop", times[False]))
            report.rows.append(figures.Row(
                f"{name}, trace", "ms per hop", times[True], f"{name}, no trace",
                [without / traced for without, traced in zip(times[False], times[True])],
                figures.at_least(LEAST)))
    return report


def run(build, setting, is_quick, json_file):
    """"crowded", or all; the exit status of the driver."""
    documents = []

    def add(report):
        print(report.to_table(), flush=True)
        documents.append(report.to_json())

    if setting == "all" and len(os.sched_getaffinity(0)) > 1:
        add(of_events(build, is_quick))
        add(of_dslash(build, "own cores", 1, is_quick))
    if os.sched_getscheduler(0) == os.SCHED_OTHER:
        add(of_dslash(build, "crowded", 2, is_quick))
    else:
        print("trace, crowded: left out at real-time priority, at which threads that share a core wait for each other for ever",
              file=sys.stderr)
    if json_file and documents:
        whole_file.write_json(json_file, documents)
    return 0 if documents else miniapp.SKIPPED
