# SPDX-License-Identifier: Apache-2.0
# Question: which way of sending halos suits which way of hiding them? Whole runs of poisson2d with 2 ranks at equal cores, every
# mode with every halo, alternated; each round gives one paired ratio per side: a mode is compared with the baseline that has
# the same halos, and the baseline's one-sided and collective halos with its messages.
"""poisson2d's modes and halos against its baseline with messages."""

import tempfile
from pathlib import Path

import figures
import miniapp
import network
import offload

N_RANKS = 2
MODES = ("baseline", "thread", "offload", "omp", "tbb")
HALOS = ("p2p", "neighbor", "put", "get")
SIDES = tuple((mode, halo) for halo in HALOS for mode in MODES)
POINTS, SWEEPS = "1024.1024", 100


def reference(side):
    """What a side is compared with; None: the first of all."""
    mode, halo = side
    if mode != "baseline":
        return ("baseline", halo)
    return ("baseline", "p2p") if halo != "p2p" else None


def rows(times):
    """A row per side from {side: [us per step of each round]}."""
    out = []
    for side, own in times.items():
        to = reference(side)
        ratios = [base / mine for base, mine in zip(times[to], own)] if to else None
        out.append(figures.Row(name=" ".join(side), unit="us per step", samples=own, ratio_to=" ".join(to) if to else None, ratios=ratios))
    return out


def run(build, is_quick, json_file):
    """The exit status of the driver."""
    over = network.Network(build, "", N_RANKS, cores_each=network.cores_of(N_RANKS))

    def once(side):
        with tempfile.TemporaryDirectory() as folder:
            report = str(Path(folder) / "run.json")
            words = [str(build.program("poisson2d", "apps/poisson2d")), "--mode", side[0], "--halo", side[1], "--points", POINTS]
            words += ["--threads", str(network.cores_of(N_RANKS)), "--sweeps", str(SWEEPS // 10 if is_quick else SWEEPS)]
            words += ["--repeat", "3", "--json", report]
            return over.execute(words, report)["median"]["slowest_total_us"]

    def report_of():
        report = figures.Report("poisson", "crowded", miniapp.machine_of(build))
        report.rows += rows(offload.alternated(SIDES, 2 if is_quick else 7, once))
        return report

    return miniapp.publish([("poisson", report_of)], json_file)
