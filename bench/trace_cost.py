# SPDX-License-Identifier: Apache-2.0
# Question: what does COMMTASK_TRACE cost? A task and an event by bench_trace, and a whole program by runs of the Dslash miniapp
# with and without, in turn. Own cores: one rank that sends to itself, whose compute thread and worker have a core each, at real-time
# priority where that is allowed, so that other work on the machine is not what is measured. Crowded: two ranks, as it comes.
"""A traced program against the same one without a trace."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import figures
import miniapp
import network
import whole_file

LEAST = 1 / 1.03  # time without a trace over time with one
MODES = ("offload", "omp")
LATTICES = (("8.8.8.16", 200), ("16.16.16.32", 20))


def of_events(build, is_quick, prefix):
    """bench_trace's own report, of one rank whose thread and worker have a core each where there are two."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.json"
        words = build.mpiexec(1) + [*prefix, str(build.program("bench_trace")), "--json", str(file)] + (["--quick"] if is_quick else [])
        if subprocess.run(words, timeout=600, check=False).returncode != 0:
            raise miniapp.Failed("bench_trace did not end well")
        return json.loads(file.read_text(encoding="utf-8"))


def shield():
    """The words that keep other work off the cores, if this user may say them."""
    words = ["chrt", "-f", "10"]
    try:
        return words if subprocess.run([*words, "true"], capture_output=True, timeout=10, check=False).returncode == 0 else []
    except FileNotFoundError:
        return []


def hop_ms(build, n_ranks, mode, lattice, n_iterations, is_traced, prefix):
    """Milliseconds of a hop on the slowest rank, of one run."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "run.json")
        words = [*prefix, "env", f"COMMTASK_TRACE={folder if is_traced else ''}"]
        words += [str(build.program("lqcd_dslash", "apps/lqcd_dslash")), "--lattice", lattice, "--grid", f"1.1.1.{n_ranks}", "--mode", mode]
        words += ["--threads", str(network.cores_of(n_ranks)), "--iterations", str(n_iterations), "--repeat", "3", "--check", "none"]
        words += ["--json", json_file] + (["--force-comm"] if n_ranks == 1 else [])
        document = network.Network(build, "", n_ranks).execute(words, json_file)
        if is_traced and not list(Path(folder).glob("*.cttrace")):
            raise miniapp.Failed("a traced run wrote no trace")
    return document["median"]["slowest_total_us"] * 1e-3


def of_dslash(build, setting, n_ranks, prefix, is_quick):
    report = figures.Report("trace", setting, miniapp.machine_of(build))
    n_rounds, cut = (1, 1) if is_quick else (15, None)
    for lattice, n_iterations in LATTICES[:cut]:
        for mode in MODES[:cut]:
            times = {False: [], True: []}
            for turn in range(n_rounds + 1):
                for is_traced in (False, True) if turn % 2 else (True, False):
                    took = hop_ms(build, n_ranks, mode, lattice, n_iterations, is_traced, prefix)
                    if turn > 0:
                        times[is_traced].append(took)
            name = f"{mode} {lattice}"
            report.rows.append(figures.Row(f"{name}, no trace", "ms per hop", times[False]))
            report.rows.append(figures.Row(
                f"{name}, trace", "ms per hop", times[True], f"{name}, no trace",
                [without / traced for without, traced in zip(times[False], times[True])], LEAST if n_ranks == 1 else None,
                note=f"threads at real-time priority ({' '.join(prefix)})" if prefix else ""))
    return report


def run(build, setting, is_quick, json_file):
    """"crowded", or all; the exit status of the driver."""
    documents = []
    if setting == "all" and len(os.sched_getaffinity(0)) > 1:
        documents.append(of_events(build, is_quick, shield()))
        report = of_dslash(build, "own cores", 1, shield(), is_quick)
        print(report.to_table(), flush=True)
        documents.append(report.to_json())
    report = of_dslash(build, "crowded", 2, [], is_quick)
    print(report.to_table(), flush=True)
    documents.append(report.to_json())
    if json_file:
        whole_file.write_json(json_file, documents)
    return 0
