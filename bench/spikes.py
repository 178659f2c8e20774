# SPDX-License-Identifier: Apache-2.0
# Question: when do spikes go better by multicast than by allgather? Whole runs of spikes, alternated, with few and many targets of a
# cell: the exchanges of the baseline and of tasks, on 2 ranks as they come and over links whose delay is long beside an interval, and on 8
# ranks of which a cell has targets on few or on all.
"""spikes' exchanges by plain MPI and as tasks, with 10 to 1000 targets of a cell."""

import tempfile
from pathlib import Path

import figures
import miniapp
import network

TARGETS = (10, 100, 1000)
SIDES = (("baseline", "allgather"), ("baseline", "halves"), ("omp", "allgather"), ("omp", "halves"), ("omp", "multicast"))
DELAY_US, RATE_MBS = 200, 1000
#: Setting, ranks, --reach (0: targets anywhere).
CASES = (("crowded", 2, 0), ("link", 2, 0), ("crowded", 8, 0), ("crowded", 8, 100))


def run(build, setting, is_quick, json_file):
    """The exit status of the driver."""

    def once(over, words, side):
        (mode, exchange), n_targets = side
        with tempfile.TemporaryDirectory() as folder:
            report = str(Path(folder) / "run.json")
            own = ["--mode", mode, "--exchange", exchange, "--targets", str(n_targets), "--json", report]
            return over.execute([str(build.program("spikes", "apps/spikes")), *words, *own], report)["median"]["slowest_total_us"]

    def report_of(which, n_ranks, reach):
        report = figures.Report("spikes", which, miniapp.machine_of(build))
        over = network.Network(build, which, n_ranks, RATE_MBS, network.cores_of(n_ranks), delay_us=DELAY_US)
        words = ["--threads", str(network.cores_of(n_ranks)), "--intervals", "20" if is_quick else "200", "--repeat", "3"]
        words += ["--reach", str(reach)] if reach else []
        sides = [(side, n) for n in TARGETS for side in SIDES]
        times = miniapp.alternated(sides, 1 if is_quick else 5, lambda side: once(over, words, side))
        place = f"{n_ranks} ranks" + (f", targets within {reach} cells" if reach else "")
        report.rows += figures.side_rows(times, "us per interval", lambda side: (SIDES[0], side[1]),
                                         lambda side: f"{place}, {side[1]} targets: {' '.join(side[0])}")
        return report

    parts = [("spikes", lambda case=case: report_of(*case)) for case in CASES if setting in (case[0], "all")]
    return miniapp.publish(parts, json_file)
