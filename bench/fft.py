# SPDX-License-Identifier: Apache-2.0
# Question: is SOI faster than the FFTs that people have, and does its pipeline hide the network? Crowded: bench_fft alternates
# everything in one process. Link: whole runs of the miniapp over links that take no processor time, whose rate is chosen so that the
# all-to-all takes 0.5, 1 or 2 times as long as the computing.
"""The FFT miniapp against its peers and its schedules against each other."""

import tempfile
from pathlib import Path

import figures
import miniapp
import network
import program

N_RANKS = 2
N_POINTS, N_CHUNKS = 1 << 21, 8  # messages of 160 KiB
LOADS = (0.5, 1.0, 2.0)  # time of the all-to-all alone over that of the computing
MODES = ("baseline", "p2p", "offload", "omp", "tbb")


def run_once(over, mode):
    """What one run says."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "run.json")
        app = [str(over.build.program("fft_soi", "apps/fft_soi")), "--n", str(N_POINTS), "--mode", mode, "--chunks", str(N_CHUNKS)]
        app += ["--repeat", "7", "--check", "none", "--wisdom", str(over.build.folder / "fft.wisdom")]
        app += ["--threads", str(network.cores_of(N_RANKS)), "--json", json_file]
        return over.execute(app, json_file)


def seconds(document):
    return document["median"]["slowest_total_us"] * 1e-6


def over_links(build, is_quick):
    network.Network(build, "link", N_RANKS)  # refuses what cannot be had before anything is measured
    report = figures.Report("fft", "link", miniapp.machine_of(build))
    alone = min((run_once(network.as_it_comes(build, N_RANKS), "serial") for _ in range(3)), key=seconds)
    computing = (alone["median"]["produce_us"] + alone["median"]["consume_us"]) * 1e-6
    for load in LOADS:
        over = network.Network(build, "link", N_RANKS, alone["traffic"]["bytes"] / (load * computing) * 1e-6)
        times = miniapp.alternated(MODES, 1 if is_quick else 4, lambda mode, over=over: 1e3 * seconds(run_once(over, mode)))
        report.rows += figures.side_rows(times, "ms", lambda mode: MODES[0], lambda mode, load=load: f"{mode} soi, T_net = {load:g} T_comp")
    return report


def crowded(build, is_quick):
    """The report of bench_fft."""
    command = build.mpiexec(N_RANKS) + [str(build.program("bench_fft")), "--wisdom", str(build.folder / "fft.wisdom")]
    return program.report_of(command + ["--first", "20", "--last", "21" if is_quick else "24"], is_quick, limit_s=7200)


def run(build, setting, is_quick, json_file):
    """All settings asked for; the exit status of the driver."""
    parts = {"crowded": crowded, "link": over_links}
    return miniapp.publish([(f"fft, {name}", lambda of=of: of(build, is_quick)) for name, of in parts.items() if setting in (name, "all")], json_file)
