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

import bench_results  # noqa: E402
import figures  # noqa: E402
import miniapp  # noqa: E402
import program  # noqa: E402

YARD = {"name": "ping-pong", "unit": "ns", "rounds": [[100, 100, 100], [200, 200, 200]]}
POST = {"name": "post", "unit": "ns", "rounds": [[20, 20, 20], [40, 40, 40]], "ratio_to": "ping-pong",
        "goals": [{"of": "ratio", "at_most": 0.25}], "note": "eight in a row"}
SAMPLES = {"benchmark": "post", "setting": "one rank", "machine": {"cpu": "some"}, "samples": [POST, YARD]}


def of(*rows):
    return figures.of_samples({**SAMPLES, "samples": rows}).rows


class Quantiles(unittest.TestCase):
    def test_lie_linearly_between_neighbours_in_any_order(self):
        samples = [50, 10, 40, 20, 30]
        for fraction, value in ((0, 10), (0.5, 30), (0.1, 14), (0.99, 49.6), (1, 50)):
            self.assertAlmostEqual(figures.quantile(samples, fraction), value)
        self.assertEqual(figures.quantile([7], 0.99), 7)

    def test_of_counts_are_those_of_the_values_so_often(self):
        counts = [(10, 1), (1, 98), (100, 1)]
        self.assertEqual([figures.quantile_of_counts(counts, fraction) for fraction in (0.5, 0.99, 1)], [1, 10, 100])
        self.assertEqual(figures.quantile_of_counts([], 0.5), 0)


class Ratios(unittest.TestCase):
    def test_divide_medians_round_by_round_so_that_drift_cancels(self):
        self.assertEqual(figures.paired_ratios([[2, 2, 2], [20, 20, 20]], [[1, 1, 9], [10, 10, 90]]), [2, 2])

    def test_leave_out_rounds_that_cannot_be_compared(self):
        self.assertEqual(figures.paired_ratios([[2], [], [6], [8]], [[0], [1], [3], []]), [2])


class Rows(unittest.TestCase):
    def test_have_the_documented_keys_in_their_order(self):
        row = figures.Row("omp", "ms", [1, 2, 3], "baseline", [1.5, 1.6, 1.7], figures.at_least(1.5))
        keys = ["name", "unit", "median", "p10", "p90", "p99", "ratio_to", "ratio", "goal"]
        self.assertEqual(list(row.to_json())[: len(keys)], keys)
        self.assertEqual((row.to_json()["ratio"], row.to_json()["goal"]), (1.6, "ratio >= 1.5"))
        self.assertTrue(row.to_json()["met"])

    def test_have_as_many_digits_as_tell_on_which_side_of_its_goal_a_value_is(self):
        for ratio, stored in ((1.10003, 1.10003), (1.1000000001, 1.1000000001), (1.10123, 1.101), (1.09998, 1.1), (1.1, 1.1)):
            row = figures.Row("omp", "ms", [1], "serial", [ratio], (figures.Goal("ratio", True, 1.1),)).to_json()
            self.assertEqual((row["ratio"], row["met"]), (stored, stored <= 1.1))
            self.assertEqual(figures.Row("omp", "ms", [1], "serial", [ratio]).to_json()["ratio"], float(f"{ratio:.4g}"))

    def test_show_a_goal_that_is_missed_as_missed(self):
        report = figures.Report("dslash", "crowded", {})
        report.rows.append(figures.Row("omp", "ms", [1], "baseline", [0.9], figures.at_least(0.97)))
        self.assertFalse(report.rows[0].is_met)
        self.assertIn("NOT MET", report.to_table())

    def test_without_a_ratio_say_null(self):
        self.assertIsNone(figures.Row("baseline", "ms", [1]).to_json()["ratio"])

    def test_must_meet_all_of_their_goals(self):
        bounds = [{"of": "median", "at_most": 5}, {"of": "p99", "at_most": 20}]
        for worst, is_met in ((19, True), (3000, False)):
            row = of({"name": "unblock", "unit": "us", "rounds": [[1] * 98, [worst, worst]], "goals": bounds})[0]
            self.assertEqual((row.is_met, row.to_json()["goal"]), (is_met, "median <= 5 and p99 <= 20"))

    def test_may_have_a_goal_on_how_much_they_are_above_another_row_round_by_round(self):
        for limit, is_met in ((20, True), (19, False)):
            row, _ = of({"name": "bound", "unit": "ns", "rounds": [[50], [70], [500]], "ratio_to": "unbound",
                         "goals": [{"of": "difference", "at_most": limit}]},
                        {"name": "unbound", "unit": "ns", "rounds": [[30], [50], [90]]})
            self.assertEqual((row.is_met, row.to_json()["difference"], row.to_json()["goal"]), (is_met, 20, f"difference <= {limit}"))

    def test_miss_a_goal_on_a_ratio_that_could_not_be_formed(self):
        row, _ = of(POST, {**YARD, "rounds": [[], [0]]})
        self.assertEqual((row.is_met, row.to_json()["ratio"]), (False, None))

    def test_of_no_samples_say_so(self):
        row = of({**YARD, "rounds": [[], []]})[0].to_json()
        self.assertEqual((row["median"], row["samples"]), (0, 0))


class Samples(unittest.TestCase):
    def test_become_rows_of_all_rounds_and_ratios_of_each(self):
        post, yard = (row.to_json() for row in of(POST, YARD))
        self.assertEqual((yard["median"], yard["samples"], yard["goal"]), (150, 6, None))
        self.assertEqual((post["ratio"], post["rounds"], post["goal"], post["met"]), (0.2, 2, "ratio <= 0.25", True))
        self.assertEqual(post["note"], "eight in a row")

    def program_that(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / "bench"
        file.write_text(f"#!{sys.executable}\nimport json, sys\nwords = sys.argv[1:]\n{text}\n", encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return [str(file), "--lanes", "2"]

    def test_of_a_program_become_a_result_that_the_page_reads(self):
        command = self.program_that("assert words[:2] == ['--lanes', '2'] and '--quick' in words\n"
                                    f"json.dump({SAMPLES!r}, open(words[words.index('--json') + 1], 'w'))")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "post.json"
            self.assertEqual(miniapp.publish([("post", lambda: program.report_of(command, True))], file), 0)
            document, = bench_results.read([file]).documents
            self.assertEqual((document.benchmark, [row["median"] for row in document.rows]), ("post", [30, 150]))
            self.assertEqual(json.loads(file.read_text(encoding="utf-8"))["machine"], {"cpu": "some"})

    def test_of_a_program_that_fails_are_none_and_77_is_no_failure(self):
        with self.assertRaisesRegex(miniapp.Failed, "status 3"):
            program.report_of(self.program_that("sys.exit(3)"), False)
        with self.assertRaises(miniapp.Skipped):
            program.report_of(self.program_that("sys.exit(77)"), False)


if __name__ == "__main__":
    unittest.main()
