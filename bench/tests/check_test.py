# SPDX-License-Identifier: Apache-2.0
# The guard against regressions and the page, without any MPI: a threshold that no result has a row for would guard nothing, and a
# row of the page that a benchmark no longer makes would stay as it is for ever.
"""python3 -m unittest, from the folder above."""

import contextlib
import io
import json
import sys
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import check  # noqa: E402
import miniapp  # noqa: E402
import performance  # noqa: E402
import run  # noqa: E402
from performance_rows import Row, Span  # noqa: E402

LIMIT = {"run": "post --quick", "setting": "one rank", "row": "post 8 B", "of": "ratio", "at_most": 1}


class Thresholds(unittest.TestCase):
    def verdict(self, *values, status=0):
        """The status of a check whose runs give these ratios, one after the other."""
        left = list(values)

        def measured(_, file):
            Path(file).write_text(json.dumps([{"setting": "one rank", "results": [{"name": "post 8 B", "ratio": left.pop(0)}]}]), encoding="utf-8")
            return status
        with contextlib.redirect_stdout(io.StringIO()):
            return check.run(measured, [LIMIT])

    def test_what_is_worse_twice_is_worse(self):
        self.assertEqual((self.verdict(0.9), self.verdict(1.1, 0.9), self.verdict(1.1, 1.2)), (0, 0, 1))

    def test_what_cannot_run_here_is_left_out_and_a_failure_is_one(self):
        self.assertEqual(self.verdict(2, status=miniapp.SKIPPED), 0)
        with self.assertRaises(miniapp.Failed):
            self.verdict(2, status=1)

    def test_a_row_that_is_not_there_is_a_failure(self):
        with self.assertRaisesRegex(miniapp.Failed, "post 8 B"):
            check.value_in([{"setting": "one rank", "results": []}], LIMIT)

    def test_are_at_most_twenty_and_kept_by_the_stored_results(self):
        thresholds = check.thresholds()
        self.assertLessEqual(len(thresholds), 20)
        documents = performance.Results(performance.RESULTS / "2-cores").documents
        for one in thresholds:
            with self.subTest(one["row"]):
                self.assertIn(one["run"].split()[0], {**run.PROGRAMS, **run.COMPARISONS})
                of_benchmark = [document for document in documents if document["benchmark"] == one["run"].split()[0]]
                self.assertTrue(check.is_kept(one, check.value_in(of_benchmark, one)))


class Page(unittest.TestCase):
    TIMES = {("b", "s", "own"): {"name": "own", "unit": "us", "median": 2, "ratio_to": "other", "ratio": 0.5, "ratio_p10": 0.4, "ratio_p90": 0.8},
             ("b", "s", "other"): {"name": "other", "unit": "us", "median": 4}, ("b", "s", "third"): {"name": "third", "unit": "us", "median": 1}}

    def cells(self, own, other, time_over=False):
        results = unittest.mock.Mock(rows=self.TIMES)
        return performance.cells(Row("", "", "b", "s", own, other, time_over), results)

    def test_a_gain_above_one_is_better_whichever_way_the_ratio_was_stored(self):
        self.assertEqual(self.cells("own", "other", True), ("2 / 4 µs", "2 × [1.25..2.5]"))
        self.assertEqual(self.cells("other", "own", True), ("4 / 2 µs", "0.5 × [0.4..0.8]"))
        self.assertEqual(self.cells("own", "third"), ("2 / 1 µs", "≈ 0.5 ×"))
        self.assertEqual(self.cells("own", "missing"), ("–", "–"))

    def test_stored_gains_agree_with_the_medians(self):
        """A ratio that is read upside down would make a loss a gain."""
        for name in performance.MACHINES:
            results = performance.Results(performance.RESULTS / name)
            for row in [row for _, _, rows in performance.SECTIONS for row in rows] + [row for row in performance.README if not isinstance(row, Span)]:
                own, other = (results.rows.get((row.benchmark, row.setting, side)) for side in (row.own, row.other))
                if own and other and other["median"] and own["median"]:
                    of_medians = own["median"] / other["median"]
                    of_medians = of_medians if performance.is_more_better(own["unit"]) else 1 / of_medians
                    with self.subTest(row.own):
                        self.assertLess(abs(performance.gain(row, own, other)[0] / of_medians - 1), 0.45)

    def test_is_short_and_has_a_result_for_each_row(self):
        self.assertEqual(performance.missing(), [])
        self.assertLessEqual((performance.ROOT / "docs" / "performance.md").read_text(encoding="utf-8").count("\n"), 250)
        self.assertLessEqual(sum(file.stat().st_size for file in performance.RESULTS.rglob("*.json")), 300_000)


if __name__ == "__main__":
    unittest.main()
