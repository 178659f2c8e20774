# SPDX-License-Identifier: Apache-2.0
# How the ranks of whole runs reach each other: as they come (shared memory), over the wire between two network namespaces,
# whose processor time the ranks pay as for any TCP, or over links that take none. One place, so that every comparison of
# whole runs means the same by a setting's name.
"""Starts runs over a slow network, or over none."""

import json
import os
import tempfile
from pathlib import Path

import bench_results
import miniapp

DELAY_US = 100.0  # of the wire
SLOW = ("delayed", "link", "rendezvous")
LINKS = ("link", "rendezvous")
LANES = "omp, 2 lanes"  # the library chooses whether messages go by the second
LEVEL = "omp, MULTIPLE"  # one lane, and the thread level that several need: what of their price is MPI's. Over no links.
OF_LANES = ("omp", LEVEL, LANES)  # what the price of lanes is told by
QUICK_ROUNDS = 2  # at most
LANE_ROUNDS = 4
EAGER_BYTES = 16 << 10  # of a network with rendezvous: larger messages come only when the receiver looks


class Network:
    """`setting` is one of SLOW, or anything else for ranks as they come; `rate_mbs` is what each direction carries.

    Ranks get `cores_each` cores of their own (0: as they come); over the wire and over links always. With `gap_us` a link injects one
    message of a communicator in that time.
    """

    def __init__(self, build, setting, n_ranks, rate_mbs=0.0, cores_each=0, gap_us=0.0):
        self.build = build
        self.setting = setting
        self.n_ranks = n_ranks
        self.rate_mbs = rate_mbs
        self.gap_us = gap_us
        self.cores_each = cores_of(n_ranks) if setting in LINKS else cores_each
        self.seen = []  # a report of the wire or the links per run
        if setting in LINKS and not build.is_mpich:
            raise miniapp.Skipped("the emulated link needs a build with MPICH")

    def _command(self, words, report):
        if self.setting == "delayed":
            wire = [str(self.build.program("commtask_delayed")), "--delay-us", str(DELAY_US)]
            return wire + ["--rate-mbs", f"{self.rate_mbs:.4g}", "--report", report, "--"] + words
        if self.setting in LINKS:
            library = self.build.program("libcommtask_emulated_link.so").resolve()
            words = ["env", f"LD_PRELOAD={library}", f"EMULATED_LINK_RATE_MBS={self.rate_mbs:.4g}",
                     f"EMULATED_LINK_REPORT={report}"] + self._eager() + self._gap() + words
        return self.build.mpiexec(self.n_ranks, self.cores_each) + words

    def _eager(self):
        return [f"EMULATED_LINK_EAGER_BYTES={EAGER_BYTES}"] if self.setting == "rendezvous" else []

    def _gap(self):
        return [f"EMULATED_LINK_GAP_US={self.gap_us:g}"] if self.gap_us else []

    def execute(self, words, json_file):
        """One run of the program `words`, which writes `json_file`; what that says, of a miniapp with the `median` of its repetitions."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "network.json"
            miniapp.execute(self._command(words, str(report)), json_file)
            if self.setting in SLOW:
                if not report.exists():
                    raise miniapp.Failed(f"{self.setting}: no report of the network: was there one?")
                self.seen.append(json.loads(report.read_text(encoding="utf-8")))
        answer = json.loads(Path(json_file).read_text(encoding="utf-8"))
        return {**answer, "median": bench_results.median_run(answer)} if isinstance(answer, dict) else answer

    def describe(self):
        """How late frames or messages were, over all runs: a network later than it is set would measure the scheduler."""
        if self.setting not in SLOW:
            return ""
        what = f"wire of {DELAY_US:g} us and" if self.setting == "delayed" else "links of"
        return f"{what} {self.rate_mbs:.4g} MB/s; {miniapp.describe_wire(self.seen)}"


def alternated(sides, n_rounds, once, of_lanes=()):
    """What `once(side, turn)` gives for each side, by side, in turns that each begin with another one. Turn 0 warms up and is not kept, nor counted.

    Those `of_lanes` go on for LANE_ROUNDS times as many, but after quick rounds: a few of whole runs lie further apart than the 3 % that lanes may cost.
    """
    kept = {side: [] for side in sides}
    n_more = n_rounds * (LANE_ROUNDS - 1) if n_rounds > QUICK_ROUNDS else 0
    turns = [sides] * (n_rounds + 1) + [[side for side in sides if side in of_lanes]] * n_more
    for turn, those in enumerate(turns):
        for place in range(len(those)):
            side = those[(place + turn) % len(those)]
            one = once(side, turn)
            if turn > 0:
                kept[side].append(one)
    return kept


def sides_over(build, setting, sides, of_lanes):
    """Those of `sides` that can run over it: links are preloaded, and take the place of what LEVEL preloads.

    With another MPI than the build folder's own those that are `of_lanes`: it has its own contexts for them, the rest is as with the usual one.
    """
    return [side for side in (of_lanes if build.mpi else sides) if side != LEVEL or setting not in LINKS]


def with_thread_multiple(build):
    """Words before a program that has MPI with MPI_THREAD_MULTIPLE, whatever it asks for. See sides_over."""
    preloaded = [str(build.program("libcommtask_thread_multiple.so").resolve()), os.environ.get("LD_PRELOAD", "")]
    return ["env", "LD_PRELOAD=" + ":".join(filter(None, preloaded))]


def cores_of(n_ranks):
    """The cores that each of `n_ranks` ranks can have for itself."""
    return max(1, len(os.sched_getaffinity(0)) // n_ranks)
