# SPDX-License-Identifier: Apache-2.0
# Question: do communication tasks, and a second lane for them, make a multigrid faster than its baseline, and where do they not?
# Whole runs of the miniapp with 2 ranks at equal cores, the sides alternated. Many boxes with a message for each face are bursts of
# small messages, one box is few large ones.
"""The multigrid miniapp's modes and lanes."""

import json
import tempfile
from pathlib import Path

import figures
import miniapp
import network

N_RANKS = 2
GAP_US = 100.0  # of a link: it injects a message of a communicator, of which a lane has one, in that time, as an adapter's context does in less
LANES = "omp, 2 lanes"
SIDES = ("baseline", "offload", "omp", "tbb", LANES)
#: How the cells of a rank are cut, and how their ghost cells travel.
CASES = {"64 boxes": ["--box", "16", "--ghosts", "aggregated"], "64 boxes, faces": ["--box", "16", "--ghosts", "faces"],
         "1 box": ["--box", "64", "--ghosts", "aggregated"]}


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
        app += [str(over.build.program("multigrid", "apps/multigrid")), "--cells", f"64.64.{64 * N_RANKS}", *CASES[case]]
        app += ["--mode", side.partition(",")[0], *(["--lanes", "2"] if side == LANES else []), "--threads", str(network.cores_of(N_RANKS))]
        app += ["--cycles", "8", "--repeat", "3", "--json", json_file]
        return over.execute(app, json_file)


def balanced_rate_mbs(build, case):
    """The rate at which a V-cycle's messages take as long as what baseline computes."""
    runs = [run_once(network.as_it_comes(build, N_RANKS), case, "baseline") for _ in range(3)]
    return runs[0]["bytes"] / N_RANKS / min(one["median"]["internal_us"] + one["median"]["external_us"] for one in runs)


def rows(build, setting, case, n_rounds):
    network.Network(build, setting, N_RANKS)  # refuses what cannot be had before anything is measured
    over = network.Network(build, setting, N_RANKS, balanced_rate_mbs(build, case) if setting in network.LINKS else 0.0, gap_us=GAP_US)
    times = miniapp.alternated(SIDES, n_rounds, lambda side: 1e-3 * run_once(over, case, side)["median"]["slowest_total_us"])
    return figures.side_rows(times, "ms per V-cycle", lambda side: "omp" if side == LANES else "baseline", lambda side: f"{side}: {case}")


def run(build, setting, is_quick, json_file, wanted=""):
    """Measures the cases of one setting or of all whose name contains `wanted`; the exit status of the driver."""
    cases = miniapp.containing(wanted, [(name, name) for name in CASES], "case of multigrid")

    def report_of(one):
        report = figures.Report("multigrid", one, miniapp.machine_of(build))
        for case in cases:
            report.rows += rows(build, one, case, 1 if is_quick else 5)
        return report

    settings = ("crowded", "link") if setting == "all" else (setting,)
    return miniapp.publish([(f"multigrid, {one}", lambda one=one: report_of(one)) for one in settings], json_file)
