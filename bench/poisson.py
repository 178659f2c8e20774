# SPDX-License-Identifier: Apache-2.0
# Question: which way of sending halos suits which way of hiding them? Whole runs of poisson2d with 2 ranks at equal cores, every
# mode with every halo, alternated: a mode is compared with the baseline that has the same halos, and the baseline's one-sided and
# collective halos with its messages.
"""poisson2d's modes and halos against its baseline with messages."""

import tempfile
from pathlib import Path

import figures
import miniapp
import network

N_RANKS = 2
MODES = ("baseline", "thread", "offload", "omp", "tbb")
HALOS = ("p2p", "neighbor", "put", "get")
SIDES = tuple((mode, halo) for halo in HALOS for mode in MODES)
POINTS, SWEEPS = "1024.1024", 100


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    over = network.as_it_comes(build, N_RANKS)

    def once(side):
        with tempfile.TemporaryDirectory() as folder:
            report = str(Path(folder) / "run.json")
            words = [str(build.program("poisson2d", "apps/poisson2d")), "--mode", side[0], "--halo", side[1], "--points", POINTS]
            words += ["--threads", str(network.cores_of(N_RANKS)), "--sweeps", str(SWEEPS // 10 if is_quick else SWEEPS)]
            words += ["--repeat", "3", "--json", report]
            return over.execute(words, report)["median"]["slowest_total_us"]

    def report_of():
        report = figures.Report("poisson", "crowded", miniapp.machine_of(build))
        times = miniapp.alternated(SIDES, 1 if is_quick else 7, once)
        report.rows += figures.side_rows(times, "us per step", lambda side: ("baseline", "p2p" if side[0] == "baseline" else side[1]), " ".join)
        return report

    return miniapp.publish([("poisson", report_of)], json_file)
