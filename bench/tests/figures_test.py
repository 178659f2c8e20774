# SPDX-License-Identifier: Apache-2.0
# The arithmetic behind every figure, on lists small enough to check by hand: an error here would be in every result and be seen in
# none. And the way from a program's samples to a stored result, with a program of the test's own.
"""python3 -m unittest, from the folder above."""

import json
import stat
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import figures  # noqa: E402
import miniapp  # noqa: E402
import program  # noqa: E402

YARD = {"name": "ping-pong", "unit": "ns", "rounds": [[100, 100, 100], [200, 200, 200]]}
POST = {"name": "post", "unit": "ns", "rounds": [[20, 20, 20], [40, 40, 40]], "ratio_to": "ping-pong"}
SAMPLES = {"benchmark": "post", "setting": "one rank", "machine": {"cpu": "some"}, "samples": [POST, YARD]}


def of(*rows):
    return figures.of_samples({**SAMPLES, "samples": rows}).rows


class Quantiles(unittest.TestCase):
    def test_lie_linearly_between_neighbours_in_any_order(self):
        samples = [50, 10, 40, 20, 30]
        for fraction, value in ((0, 10), (0.5, 30), (0.1, 14), (0.99, 49.6), (1, 50)):
            self.assertAlmostEqual(figures.quantile(samples, fraction), value)
        self.assertEqual(figures.quantile([7], 0.99), 7)


class Ratios(unittest.TestCase):
    def test_divide_medians_round_by_round_so_that_drift_cancels(self):
        self.assertEqual(figures.paired_ratios([[2, 2, 2], [20, 20, 20]], [[1, 1, 9], [10, 10, 90]]), [2, 2])

    def test_leave_out_rounds_that_cannot_be_compared(self):
        self.assertEqual(figures.paired_ratios([[2], [], [6], [8]], [[0], [1], [3], []]), [2])


class Rows(unittest.TestCase):
    def test_have_medians_and_their_spread_and_nothing_else(self):
        row = figures.Row("omp", "ms", [1, 2, 3], "baseline", [1.5, 1.6, 1.7]).to_json()
        self.assertEqual(list(row), ["name", "unit", "median", "p10", "p90", "ratio_to", "ratio", "ratio_p10", "ratio_p90"])
        self.assertEqual((row["median"], row["ratio"]), (2, 1.6))
        self.assertEqual(list(figures.Row("baseline", "ms", [1.23456]).to_json().values()), ["baseline", "ms", 1.235, 1.235, 1.235])

    def test_of_no_samples_say_zero(self):
        self.assertEqual(figures.Row("a", "ns", []).to_json()["median"], 0)

    def test_of_sides_have_the_references_time_over_their_own(self):
        rows = figures.side_rows({"baseline": [8.0], "omp": [4.0]}, "us", lambda side: "baseline", lambda side: f"{side} 8^4")
        self.assertEqual([(row.name, row.ratio_to, row.ratios) for row in rows], [("baseline 8^4", None, []), ("omp 8^4", "baseline 8^4", [2])])


class Samples(unittest.TestCase):
    def test_become_rows_of_all_rounds_and_ratios_of_each(self):
        post, yard = (row.to_json() for row in of(POST, YARD))
        self.assertEqual((yard["median"], post["ratio"]), (150, 0.2))

    def program_that(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / "bench"
        file.write_text(f"#!{sys.executable}\nimport json, sys\nwords = sys.argv[1:]\n{text}\n", encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return [str(file), "--lanes", "2"]

    def test_of_a_program_become_a_result(self):
        command = self.program_that("assert words[:2] == ['--lanes', '2'] and '--quick' in words\n"
                                    f"json.dump({SAMPLES!r}, open(words[words.index('--json') + 1], 'w'))")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "post.json"
            self.assertEqual(miniapp.publish([("post", lambda: program.report_of(command, True))], file), 0)
            document, = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual((document["benchmark"], [row["median"] for row in document["results"]]), ("post", [30, 150]))
            self.assertEqual(document["machine"], {"cpu": "some"})

    def test_of_a_program_that_fails_are_none_and_77_is_no_failure(self):
        with self.assertRaisesRegex(miniapp.Failed, "status 3"):
            program.report_of(self.program_that("sys.exit(3)"), False)
        with self.assertRaises(miniapp.Skipped):
            program.report_of(self.program_that("sys.exit(77)"), False)


if __name__ == "__main__":
    unittest.main()
