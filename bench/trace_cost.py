# SPDX-License-Identifier: Apache-2.0
# Question: what does COMMTASK_TRACE cost? A task and an event by bench_trace, and a whole program by runs of the Dslash miniapp with
# and without, in turn: one rank that sends to itself, whose compute thread and worker have a core each, at real-time priority where
# that is allowed (chrt -f 10 scripts/bench trace), so that other work on the machine is not what is measured.
"""A traced program against the same one without a trace."""

import tempfile
from pathlib import Path

import figures
import miniapp
import network
import program

MODES = ("offload", "omp", "tbb")  # in the last two compute tasks are traced too
LATTICE, ITERATIONS = "8.8.8.16", 200


def hop_ms(build, mode, side):
    """Milliseconds of a hop, of one run."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "run.json")
        words = ["env", f"COMMTASK_TRACE={folder if side == 'trace' else ''}", str(build.program("lqcd_dslash", "apps/lqcd_dslash"))]
        words += ["--lattice", LATTICE, "--grid", "1.1.1.1", "--force-comm", "--mode", mode, "--threads", str(network.cores_of(1))]
        words += ["--iterations", str(ITERATIONS), "--repeat", "3", "--check", "none", "--json", json_file]
        document = network.Network(build, "", 1).execute(words, json_file)
        if side == "trace" and not list(Path(folder).glob("*.cttrace")):
            raise miniapp.Failed("a traced run wrote no trace")
    return document["median"]["slowest_total_us"] * 1e-3


def of_dslash(build, is_quick):
    report = figures.Report("trace", "own cores", miniapp.machine_of(build))
    for mode in MODES[:1] if is_quick else MODES:
        times = miniapp.alternated(("no trace", "trace"), 1 if is_quick else 15, lambda side, mode=mode: hop_ms(build, mode, side))
        report.rows += figures.side_rows(times, "ms per hop", lambda side: "no trace", lambda side, mode=mode: f"{mode} {LATTICE}, {side}")
    return report


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    command = build.mpiexec(1) + [str(build.program("bench_trace"))]
    parts = [("trace, events", lambda: program.report_of(command, is_quick)), ("trace, own cores", lambda: of_dslash(build, is_quick))]
    return miniapp.publish(parts, json_file)
