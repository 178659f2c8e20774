# SPDX-License-Identifier: Apache-2.0
# Question: do communication tasks make Wilson Dslash faster than its baseline, and where do they not? Whole runs of the
# miniapp with 2 ranks at equal cores, the modes alternated; each round gives one paired ratio of times per mode. The
# settings: crowded (ranks and workers on this machine's cores, shared memory between them) and delayed (a wire with
# real latency between the ranks, its rate chosen so that the transfer takes about as long as the computing). A third, link,
# is the second without the processor time that TCP takes; the fourth, rendezvous, is the third with messages that come only
# when the receiver looks for them, as large ones do on most networks.
"""The miniapp's modes against its baseline."""

import dataclasses
import tempfile
from pathlib import Path

import figures
import miniapp
import network
from network import LANES, LEVEL

N_RANKS = 2
# Of mode omp without plans: a task for each message, and packing with sending in one held task.
CLAUSE, HELD = "omp, clauses", "omp, held"
PROGRAMS_MODES = ("baseline", "offload", "omp", "tbb")  # as lqcd_dslash calls them
MODES = (*PROGRAMS_MODES, CLAUSE, HELD, LEVEL, LANES)
OPTIONS = {CLAUSE: ["--mode", "omp", "--plan", "off"], HELD: ["--mode", "omp", "--hold"], LEVEL: ["--mode", "omp"],
           LANES: ["--mode", "omp", "--lanes", "2"]}
# What each mode's goal and ratio refer to: tbb is the same graph as omp for another tasking runtime.
REFERENCES = {"offload": "baseline", "omp": "baseline", "tbb": "omp", CLAUSE: "omp", HELD: CLAUSE, LEVEL: "omp", LANES: "omp"}


@dataclasses.dataclass(frozen=True)
class Case:
    """One lattice. `goals` are lower bounds on baseline's time over the mode's time."""

    setting: str
    lattice: str
    precision: str
    iterations: int
    goals: tuple

    @property
    def name(self):
        return f"{self.lattice} {self.precision}"


LANES_ARE_FREE = (LANES, 0.97)
NEVER_SLOWER = (("offload", 0.97), ("omp", 0.97), ("tbb", 0.97), LANES_ARE_FREE)
POSTING = ("baseline", "offload")  # the modes whose threads start each message themselves
POST_GOAL = 1 / 3  # baseline's time over offload's
CASES = (
    Case("crowded", "8.8.8.16", "double", 200, NEVER_SLOWER),
    Case("crowded", "16.16.16.16", "double", 40, (*NEVER_SLOWER, (HELD, 0.97))),
    Case("crowded", "16.16.16.32", "double", 20, NEVER_SLOWER),
    Case("crowded", "32.16.16.16", "single", 20, NEVER_SLOWER),
    Case("delayed", "16.16.16.32", "double", 4, (("offload", 0.97), ("omp", 1.5), ("tbb", 0.97), LANES_ARE_FREE)),
    Case("delayed", "16.16.16.64", "single", 4, (("offload", 0.97), ("omp", 1.5), ("tbb", 0.97), LANES_ARE_FREE)),
    Case("link", "16.16.16.32", "double", 4, NEVER_SLOWER),
    Case("rendezvous", "16.16.16.32", "double", 4, (("offload", 1.2), ("omp", 1.5), ("tbb", 0.97), LANES_ARE_FREE)),
    Case("rendezvous", "16.16.16.64", "single", 4, (("offload", 1.2), ("omp", 1.5), ("tbb", 0.97), LANES_ARE_FREE)),
)


@dataclasses.dataclass
class Measured:
    """What one run says of one hop (half an iteration)."""

    seconds: float  # on the slowest rank, the median of the run's repetitions
    busy_seconds: float  # without waiting, the mean of the ranks
    bytes_sent: float  # by one rank
    post_seconds: float  # of starting the messages, the mean of the ranks


def read(document):
    """The figures of one JSON document of the miniapp."""
    median = document["median"]
    return Measured(
        seconds=median["slowest_total_us"] * 1e-6,
        busy_seconds=(median["total_us"] - median["wait_us"]) * 1e-6,
        bytes_sent=sum(document["face_bytes"]),
        post_seconds=median["post_us"] * 1e-6,
    )


class Runner:
    """Starts the miniapp with one lattice over a network."""

    def __init__(self, over, case):
        self.over = over
        self.case = case

    def run(self, mode):
        with tempfile.TemporaryDirectory() as folder:
            json_file = str(Path(folder) / "run.json")
            program = "lqcd_dslash_hold" if mode == HELD else "lqcd_dslash"
            app = network.with_thread_multiple(self.over.build) if mode == LEVEL else []
            app += [str(self.over.build.program(program, "apps/lqcd_dslash")), "--lattice", self.case.lattice]
            app += ["--grid", f"1.1.1.{N_RANKS}", "--precision", self.case.precision]
            app += OPTIONS.get(mode, ["--mode", mode])
            app += ["--threads", str(network.cores_of(N_RANKS)), "--iterations", str(self.case.iterations)]
            app += ["--repeat", "3", "--check", "none", "--json", json_file]
            return read(self.over.execute(app, json_file))


def balanced_rate_mbs(build, case):
    """The rate at which a hop's messages take as long as all that baseline does beside waiting."""
    network.Network(build, case.setting, N_RANKS)  # refuses what cannot be had before anything is measured
    runner = Runner(network.Network(build, "", N_RANKS, cores_each=network.cores_of(N_RANKS)), case)
    alone = min((runner.run("baseline") for _ in range(3)), key=lambda one: one.busy_seconds)
    delay_us = network.DELAY_US if case.setting == "delayed" else 0
    return alone.bytes_sent / (alone.busy_seconds - delay_us * 1e-6) * 1e-6


def beside_baseline(case, times):
    """tbb's times against the baseline, which is what its users ask: the goal there is omp's."""
    own = times["tbb"]
    return figures.Row(
        name=f"tbb {case.name}, beside baseline",
        unit="ms per hop",
        samples=[1e3 * value for value in own],
        ratio_to=f"baseline {case.name}",
        ratios=[base / mine for base, mine in zip(times["baseline"], own)],
        goals=figures.at_least(dict(case.goals).get("omp")),
    )


def measure(build, case, n_rounds, report):
    """Adds the rows of one case."""
    rate_mbs = balanced_rate_mbs(build, case) if case.setting in network.SLOW else 0.0
    over = network.Network(build, case.setting, N_RANKS, rate_mbs)
    runner = Runner(over, case)
    modes = network.sides_over(build, case.setting, MODES, network.OF_LANES)
    runs = network.alternated(modes, n_rounds, lambda mode, _: runner.run(mode), network.OF_LANES)
    times = {mode: [one.seconds for one in of] for mode, of in runs.items()}
    posts = {mode: [one.post_seconds for one in runs.get(mode, ())] for mode in POSTING}
    goals = dict(case.goals)
    for mode in modes:
        reference = REFERENCES.get(mode) if REFERENCES.get(mode) in modes else None
        ratios = [base / own for base, own in zip(times[reference], times[mode])] if reference else None
        report.rows.append(
            figures.Row(
                name=f"{mode} {case.name}",
                unit="ms per hop",
                samples=[1e3 * value for value in times[mode]],
                ratio_to=f"{reference} {case.name}" if reference else None,
                ratios=ratios,
                goals=figures.at_least(goals.get(mode) if reference else None),
                note=over.describe() if mode == modes[0] else "",
            )
        )
    if POSTING[0] not in modes:
        return
    report.rows.append(beside_baseline(case, times))
    if case.setting != "crowded":
        return
    base, own = (posts[mode] for mode in POSTING)
    for mode in POSTING:
        is_base = mode == POSTING[0]
        report.rows.append(
            figures.Row(
                name=f"post of {mode} {case.name}",
                unit="us per hop",
                samples=[1e6 * value for value in posts[mode]],
                ratio_to=None if is_base else f"post of {POSTING[0]} {case.name}",
                ratios=None if is_base else [b / o for b, o in zip(base, own)],
                goals=() if is_base else figures.at_least(POST_GOAL),
            )
        )


def run(build, setting, is_quick, json_file, wanted=""):
    """Measures the cases of one setting or of all whose name contains `wanted`; the exit status of the driver."""
    settings = ("crowded", *network.SLOW) if setting == "all" else (setting,)
    cases = miniapp.containing(wanted, [(case.name, case) for case in CASES if case.setting in settings], f"case of dslash, {setting},")
    settings = [one for one in settings if any(case.setting == one for case in cases)]

    def report_of(one):
        report = figures.Report("dslash", one, miniapp.machine_of(build))
        for case in (case for case in cases if case.setting == one):
            measure(build, case, 2 if is_quick else 5, report)
        return report

    return miniapp.publish([(f"dslash, {one}", lambda one=one: report_of(one)) for one in settings], json_file, build.mpi)
