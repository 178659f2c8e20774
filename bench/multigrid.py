# SPDX-License-Identifier: Apache-2.0
# Question: do communication tasks, and several lanes for them, make a multigrid faster than its baseline, and where do they not?
# Whole runs of the miniapp with 2 ranks at equal cores, the sides alternated; each round gives one paired ratio of times per
# side. Many boxes with a message for each face are bursts of small messages, one box is few large ones.
"""The multigrid miniapp's modes and lanes."""

import dataclasses
import json
import tempfile
from pathlib import Path

import figures
import miniapp
import network
from network import LANES, LEVEL

N_RANKS = 2
COMMUNICATORS = "omp, 2 communicators"  # of one lane, all messages in turn: how much of the gain needs no second lane
ALL_LANES = "omp, all on 2 lanes"
GAP_US = 100.0  # of a link: it injects a message of a communicator, of which a lane has one, in that time, as an adapter's context does in less
SIDES = {
    "baseline": ["--mode", "baseline"],
    "offload": ["--mode", "offload"],
    "omp": ["--mode", "omp"],
    "tbb": ["--mode", "tbb"],
    LEVEL: ["--mode", "omp"],
    LANES: ["--mode", "omp", "--lanes", "2"],
    COMMUNICATORS: ["--mode", "omp", "--communicators", "2"],
    ALL_LANES: ["--mode", "omp", "--lanes", "2", "--selective", "off"],
}
# What each side's ratio refers to.
REFERENCES = {"offload": "baseline", "omp": "baseline", "tbb": "omp", LEVEL: "omp", LANES: "omp", COMMUNICATORS: "omp",
              ALL_LANES: LANES}
OF_LANES = (*network.OF_LANES, COMMUNICATORS, ALL_LANES)
# Lower bounds on the reference's time over the side's: choosing lanes must not cost what they do not bring.
GOALS = {LANES: 0.97}
GAINS = {"64 boxes, faces": 1.25}  # over links, of two lanes: many messages of one size


@dataclasses.dataclass(frozen=True)
class Case:
    """How the cells of a rank are cut, and how their ghost cells travel."""

    name: str
    box: int
    ghosts: str


CASES = (
    Case("64 boxes", 16, "aggregated"),
    Case("64 boxes, faces", 16, "faces"),
    Case("1 box", 64, "aggregated"),
)


def lane_table(rate_mbs):
    """What one and two lanes bring over the links: commtask-info --calibrate knows nothing of them."""
    def costs(size_bytes, n_lanes):
        return {"n_lanes": n_lanes, "first_ns": 1e3 * (GAP_US + size_bytes / rate_mbs),
                "each_ns": 1e3 * max(GAP_US / n_lanes, size_bytes / rate_mbs)}

    rows = [{"size_bytes": size, "lanes": [costs(size, n) for n in (1, 2)]} for size in (8, 4096, 65536)]
    return {"machine": "emulated links", "mpi": "", "post_ns": 500, "switch_ns": 500, "round_trip_ns": 1e4, "rows": rows}


def run_once(over, case, side):
    """What one run says."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "run.json")
        app = []
        if over.setting in network.LINKS:
            table = Path(folder) / "lanes.json"
            table.write_text(json.dumps(lane_table(over.rate_mbs)), encoding="utf-8")
            app = ["env", f"COMMTASK_LANE_TABLE={table}"]
        elif side == LEVEL:
            app = network.with_thread_multiple(over.build)
        app += [str(over.build.program("multigrid", "apps/multigrid")), "--cells", f"64.64.{64 * N_RANKS}"]
        app += ["--box", str(case.box), "--ghosts", case.ghosts, *SIDES[side], "--threads", str(network.cores_of(N_RANKS))]
        app += ["--cycles", "8", "--repeat", "3", "--json", json_file]
        return over.execute(app, json_file)


def balanced_rate_mbs(build, case):
    """The rate at which a V-cycle's messages take as long as what baseline computes."""
    alone = network.Network(build, "", N_RANKS, cores_each=network.cores_of(N_RANKS))
    runs = [run_once(alone, case, "baseline") for _ in range(3)]
    return runs[0]["bytes"] / N_RANKS / min(one["median"]["internal_us"] + one["median"]["external_us"] for one in runs)


def measure(build, setting, case, n_rounds, report):
    """Adds the rows of one case."""
    network.Network(build, setting, N_RANKS)  # refuses what cannot be had before anything is measured
    over = network.Network(build, setting, N_RANKS, balanced_rate_mbs(build, case) if setting in network.SLOW else 0.0, gap_us=GAP_US)
    sides = network.sides_over(build, setting, SIDES, OF_LANES)
    times = network.alternated(sides, n_rounds, lambda side, _: run_once(over, case, side)["median"]["slowest_total_us"],
                               network.OF_LANES)
    goals = {**GOALS, LANES: GAINS.get(case.name, 0.97)} if setting in network.LINKS else GOALS
    for side in sides:
        reference = REFERENCES.get(side) if REFERENCES.get(side) in sides else None
        report.rows.append(
            figures.Row(
                name=f"{side}: {case.name}",
                unit="ms per V-cycle",
                samples=[1e-3 * value for value in times[side]],
                ratio_to=f"{reference}: {case.name}" if reference else None,
                ratios=[base / own for base, own in zip(times[reference], times[side])] if reference else None,
                goals=figures.at_least(goals.get(side)),
                note=over.describe() if side == sides[0] else "",
            )
        )


def run(build, setting, is_quick, json_file, wanted=""):
    """Measures the cases of one setting or of all whose name contains `wanted`; the exit status of the driver."""
    settings = ("crowded", "link") if setting == "all" else (setting,)
    cases = miniapp.containing(wanted, [(case.name, case) for case in CASES], "case of multigrid")

    def report_of(one):
        report = figures.Report("multigrid", one, miniapp.machine_of(build))
        for case in cases:
            measure(build, one, case, 2 if is_quick else 5, report)
        return report

    return miniapp.publish([(f"multigrid, {one}", lambda one=one: report_of(one)) for one in settings], json_file, build.mpi)
