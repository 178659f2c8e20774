# SPDX-License-Identifier: Apache-2.0
# Question: is Dslash faster with communication tasks than with MPI called by the threads that compute? Whole runs of the miniapp with
# 2 ranks at equal cores, the modes alternated; each round gives one ratio per mode, the baseline's time over the mode's.
"""The miniapp's modes against its baseline."""

import dataclasses
import tempfile
from pathlib import Path

import figures
import miniapp
import network

N_RANKS = 2
MODES = ("baseline", "offload", "omp", "tbb")


@dataclasses.dataclass(frozen=True)
class Case:
    setting: str
    lattice: str
    precision: str
    iterations: int

    @property
    def name(self):
        return f"{self.lattice} {self.precision}"


CASES = (
    Case("crowded", "8.8.8.16", "double", 200),
    Case("crowded", "16.16.16.16", "double", 40),
    Case("crowded", "16.16.16.32", "double", 20),
    Case("crowded", "32.16.16.16", "single", 20),
    Case("link", "16.16.16.32", "double", 4),
    Case("rendezvous", "16.16.16.32", "double", 4),
    Case("rendezvous", "16.16.16.64", "single", 4),
)


@dataclasses.dataclass
class Measured:
    """What one run says of one hop (half an iteration)."""

    seconds: float  # on the slowest rank, the median of the run's repetitions
    busy_seconds: float  # without waiting, the mean of the ranks
    bytes_sent: float  # by one rank


def read(document):
    """The figures of one JSON document of the miniapp."""
    median = document["median"]
    return Measured(seconds=median["slowest_total_us"] * 1e-6, busy_seconds=(median["total_us"] - median["wait_us"]) * 1e-6,
                    bytes_sent=sum(document["face_bytes"]))


class Runner:
    """Starts the miniapp with one lattice over a network."""

    def __init__(self, over, case):
        self.over = over
        self.case = case

    def run(self, mode):
        with tempfile.TemporaryDirectory() as folder:
            json_file = str(Path(folder) / "run.json")
            app = [str(self.over.build.program("lqcd_dslash", "apps/lqcd_dslash")), "--lattice", self.case.lattice, "--mode", mode]
            app += ["--grid", f"1.1.1.{N_RANKS}", "--precision", self.case.precision, "--threads", str(network.cores_of(N_RANKS))]
            app += ["--iterations", str(self.case.iterations), "--repeat", "3", "--check", "none", "--json", json_file]
            return read(self.over.execute(app, json_file))


def balanced_rate_mbs(build, case):
    """The rate at which a hop's messages take as long as all that baseline does beside waiting."""
    network.Network(build, case.setting, N_RANKS)  # refuses what cannot be had before anything is measured
    runner = Runner(network.as_it_comes(build, N_RANKS), case)
    alone = min((runner.run("baseline") for _ in range(3)), key=lambda one: one.busy_seconds)
    return alone.bytes_sent / alone.busy_seconds * 1e-6


def rows(build, case, n_rounds):
    rate_mbs = balanced_rate_mbs(build, case) if case.setting in network.LINKS else 0.0
    runner = Runner(network.Network(build, case.setting, N_RANKS, rate_mbs), case)
    times = miniapp.alternated(MODES, n_rounds, lambda mode: 1e3 * runner.run(mode).seconds)
    return figures.side_rows(times, "ms per hop", lambda mode: MODES[0], lambda mode: f"{mode} {case.name}")


def run(build, setting, is_quick, json_file, wanted=""):
    """Measures the cases of one setting or of all whose name contains `wanted`; the exit status of the driver."""
    settings = ("crowded", *network.LINKS) if setting == "all" else (setting,)
    cases = miniapp.containing(wanted, [(case.name, case) for case in CASES if case.setting in settings], f"case of dslash, {setting},")

    def report_of(one):
        report = figures.Report("dslash", one, miniapp.machine_of(build))
        for case in (case for case in cases if case.setting == one):
            report.rows += rows(build, case, 1 if is_quick else 5)
        return report

    return miniapp.publish([(f"dslash, {one}", lambda one=one: report_of(one)) for one in settings if any(case.setting == one for case in cases)],
                           json_file)
