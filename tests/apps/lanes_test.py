# SPDX-License-Identifier: Apache-2.0
# On how many of its lanes a miniapp sends follows from the library's saturation table, and not from the number of lanes alone: a
# second lane that brings nothing gets no message, whatever MPI makes of lanes. The statistics at the end say which lane sent what.
"""usage: lanes_test.py Dslash|Fft PROGRAM LAUNCHER_WORD..."""
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
         "Fft": ["--n", "2^16", "--repeat", "1", "--rigor", "estimate"]}[CASE]
TABLE = pathlib.Path(__file__).with_name("two_lanes.json")


class Lanes(unittest.TestCase):
    def sends(self, mode, table):
        """By each of the two lanes of rank 0."""
        env = {**os.environ, "COMMTASK_STATS": "1"} | ({"COMMTASK_LANE_TABLE": str(table)} if table else {})
        words = [*LAUNCH, PROGRAM, *SMALL, "--mode", mode, "--threads", "2", "--lanes", "2"]
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=50, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        kinds = dict(re.findall(r"^ +0\.([01])  (.*(?:send|recv|none).*)$", done.stdout + done.stderr, re.MULTILINE))
        self.assertEqual(sorted(kinds), ["0", "1"], done.stdout + done.stderr)
        return [int(found.group(1)) if (found := re.search(r"\bsend (\d+)", kinds[lane])) else 0 for lane in "01"]

    def test_a_second_lane_that_pays_sends_half(self):
        for mode in ("offload", "omp"):
            first, second = self.sends(mode, TABLE)
            self.assertGreater(second, 0)
            self.assertLessEqual(abs(first - second), (first + second) // 4, "in turns, but for a halo")

    def test_a_second_lane_that_brings_nothing_sends_nothing(self):
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        for row in table["rows"]:
            for cost in row["lanes"]:
                cost["each_ns"] = row["lanes"][0]["each_ns"]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "one_lane.json"
            file.write_text(json.dumps(table), encoding="utf-8")
            for mode in ("offload", "omp"):
                first, second = self.sends(mode, file)
                self.assertGreater(first, 0)
                self.assertEqual(second, 0)

    def test_a_second_lane_without_a_core_is_used_by_a_table_only(self):
        """It fails without that with MPICH 5 alone (preset dev-mpich5): an MPI whose lanes take turns has nothing on a second one in any case."""
        mine = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, mine)
        os.sched_setaffinity(0, sorted(mine)[:2])
        for mode in ("offload", "omp"):
            self.assertEqual(self.sends(mode, None)[1], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
