# SPDX-License-Identifier: Apache-2.0
# What is said about simulated bursts, without the program that simulates them: rates, and which case decides whether the policy's
# goals are met.
"""python3 -m unittest, from the folder above."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import figures  # noqa: E402
import lanes  # noqa: E402


def document(*cases):
    bursts = [{"size_bytes": 8, "n_lanes": n, "messages": 1024, "ns": 1024e3 / n} for n in (1, 2)]
    return {"benchmark": "lanes", "setting": "simulated", "networks": [{"name": "slow", "long_bursts": bursts, "cases": cases}]}


class Simulated(unittest.TestCase):
    def test_rates_are_messages_over_time(self):
        summary, text = lanes.summary_of(document([8, 1, 1, 10, 10, 10]))
        self.assertEqual([one["rate_m_per_s"] for one in summary["networks"][0]["saturation"]], [1.0, 2.0])
        self.assertIn("         8    1.000    2.000", text)

    def test_the_worst_case_decides(self):
        # Size, burst, limit; the times of one lane, of the best choice and of the policy.
        good, slow = [8, 1, 1, 200, 100, 109], [8, 2, 1, 200, 100, 120]
        summary, text = lanes.summary_of(document(good, good))
        self.assertTrue(summary["networks"][0]["policy"]["met"])
        self.assertNotIn("NOT MET", text)
        summary, text = lanes.summary_of(document(good, slow))
        policy = summary["networks"][0]["policy"]
        self.assertEqual((policy["worst_over_best"], policy["mean_over_best"], policy["cases"]), (1.2, 1.145, 2))
        self.assertIn("NOT MET", text)

    def test_one_lane_is_never_better(self):
        policy = lanes.verdict_on([[8, 1, 1, 100, 99, 101]])
        self.assertFalse(policy["met"])
        self.assertEqual(policy["worst_over_one_lane"], 1.01)


def turn(side, *rates):
    report = figures.Report("lanes", "one rank", {})
    for n_threads, rate in rates:
        noun = "thread" if n_threads == 1 else "threads"
        report.rows.append(figures.Row(f"{side}, {n_threads} {noun}, 8 B", "M/s", [rate]))
    return report


class ManyThreads(unittest.TestCase):
    def test_one_lane_is_compared_with_as_many_threads_turn_by_turn(self):
        lane = [turn("1 lane", (1, 3.0), (8, 2.0)), turn("1 lane", (1, 3.0), (8, 4.0))]
        threads = [turn("MPI alone", (1, 6.0), (8, 4.0)), turn("MPI alone", (1, 6.0), (8, 2.0))]
        rows = {row.name: row for row in lanes.beside_threads(lane, threads, 2)}
        self.assertEqual(rows["1 lane, 8 threads, 8 B"].ratios, [0.5, 2.0])
        self.assertEqual(rows["1 lane, 8 threads, 8 B"].ratio_to, "MPI alone, 8 threads, 8 B")
        self.assertTrue(rows["1 lane, 8 threads, 8 B"].is_met)
        self.assertEqual(rows["1 lane, 1 thread, 8 B"].goals, ())

    def test_more_is_wanted_where_the_threads_have_cores(self):
        rows = lanes.beside_threads([turn("1 lane", (8, 2.0))], [turn("MPI alone", (8, 1.0))], 9)
        self.assertFalse(rows[-1].is_met)


if __name__ == "__main__":
    unittest.main()
