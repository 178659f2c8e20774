# SPDX-License-Identifier: Apache-2.0
# On how many of its lanes a miniapp sends follows from the library's saturation table, and not from the number of lanes alone: a
# second lane that brings nothing gets no message, whatever MPI makes of lanes, and its core computes. The statistics at the end say
# which lane sent what.
"""usage: lanes_test.py Dslash|Fft|Multigrid PROGRAM LAUNCHER_WORD..."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CASE, PROGRAM, *LAUNCH = sys.argv[1:]
SMALL = {"Dslash": ["--lattice", "8.4.4.16", "--iterations", "2", "--repeat", "1"],
         "Fft": ["--n", "2^16", "--repeat", "1", "--rigor", "estimate"],
         "Multigrid": ["--cells", "16.16.32", "--box", "8", "--ghosts", "faces", "--cycles", "6", "--repeat", "1"]}[CASE]
TABLE = pathlib.Path(__file__).with_name("two_lanes.json")
MACHINE = os.environ.get("FOUR_CPUS", "")


class Lanes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.one_lane = self.folder / "one_lane.json"
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        for row in table["rows"]:
            for cost in row["lanes"]:
                cost["each_ns"] = row["lanes"][0]["each_ns"]
        self.one_lane.write_text(json.dumps(table), encoding="utf-8")

    def run_it(self, launch, words, table, **more):
        """What it says, and its report."""
        env = {**os.environ, **more} | ({"COMMTASK_LANE_TABLE": str(table)} if table else {})
        report = self.folder / "report.json"
        done = subprocess.run([*launch, PROGRAM, *SMALL, "--lanes", "2", *words, "--json", str(report)], env=env, capture_output=True,
                              text=True, timeout=50, check=False)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        return said, json.loads(report.read_text(encoding="utf-8"))

    def sends(self, mode, table):
        """By each of the two lanes of rank 0, and how many threads compute on three cores."""
        said, report = self.run_it(LAUNCH, ["--mode", mode, "--threads", "3"], table, COMMTASK_STATS="1")
        kinds = dict(re.findall(r"^ +0\.([01])  (.*(?:send|recv|none).*)$", said, re.MULTILINE))
        self.assertEqual(sorted(kinds), ["0", "1"], said)
        counts = [int(found.group(1)) if (found := re.search(r"\bsend (\d+)", kinds[lane])) else 0 for lane in "01"]
        return *counts, report["compute_threads"]

    def test_a_second_lane_that_pays_sends_half(self):
        for mode in ("offload", "omp"):
            first, second, n_threads = self.sends(mode, TABLE)
            self.assertGreater(second, 0)
            self.assertLessEqual(abs(first - second), (first + second) // 4, "in turns, but for a halo")
            self.assertEqual(n_threads, 1)

    def test_a_second_lane_that_brings_nothing_sends_nothing(self):
        for mode in ("offload", "omp"):
            first, second, n_threads = self.sends(mode, self.one_lane)
            self.assertGreater(first, 0)
            self.assertEqual(second, 0)
            self.assertEqual(n_threads, 2, "its core computes")

    def test_a_second_lane_is_used_by_a_table_only(self):
        """It fails without that with MPICH 5 alone (preset dev-mpich5): an MPI whose lanes take turns has nothing on a second one in any case."""
        for mode in ("offload", "omp"):
            self.assertEqual(self.sends(mode, None)[1:], (0, 2))

    @unittest.skipUnless(MACHINE, "a sanitizer must be the first library of a process")
    def test_the_core_of_a_second_lane_without_messages_is_the_programs(self):
        """Of a rank alone; only Dslash has messages then."""
        machine = {"LD_PRELOAD": MACHINE, "HWLOC_SYNTHETIC": "core:4 pu:1", "COMMTASK_VERBOSE": "2", "KMP_AFFINITY": "disabled"}
        has_messages = CASE == "Dslash"
        for table, gives in ((self.one_lane, True), (None, True), (TABLE, not has_messages)):
            said, report = self.run_it([], ["--mode", "omp", "--threads", "4"] + ["--force-comm"] * has_messages, table, **machine)
            moves = re.findall("lane 1 (gives the program|takes back) its core", said)  # multigrid chooses twice: half the cells, then all
            self.assertEqual(moves[-1:], ["gives the program"] * gives, said)
            self.assertEqual(report["compute_threads"], 3 if gives else 2)
            self.assertEqual(report.get("cores", 4), 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
