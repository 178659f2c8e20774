# SPDX-License-Identifier: Apache-2.0
# What is said about runs of bench_rma, without running any: what each row is compared with, and which have a goal, since a row that
# is judged by the wrong one would show a goal met that is not.
"""python3 -m unittest, from the folder above."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import rma  # noqa: E402


def run_of(name, alone_us, overlap, busy_us=None):
    """The answers of one run about one access."""
    answers = {f"{name}: alone": ("us", [alone_us]), f"{name}: overlap": ("%", [overlap])}
    if busy_us is not None:
        answers[f"{name}: target computes"] = ("us", [busy_us])
    return answers


def rows_of(runs):
    """By name, of one round."""
    return {row.name: row for row in rma.access_rows({side: [run] for side, run in runs.items()})}


class Accesses(unittest.TestCase):
    def test_a_name_says_access_bytes_and_window(self):
        self.assertEqual(rma.what_of("put in a lock of 8 B, Win_create: alone"), ("put in a lock", 8, "Win_create"))

    def test_an_accumulate_is_judged_by_the_native_time_to_a_target_that_waits(self):
        name = "accumulate of 8 B, Win_create"
        rows = rows_of({"native": run_of(name, 5, 0, 3000), "tasks": run_of(name, 8, 0, 9)})
        tasks = rows[f"{name}: target computes, tasks"]
        self.assertEqual((tasks.ratio, tasks.ratio_to, tasks.is_met), (1.8, f"{name}: alone, native", True))
        native = rows[f"{name}: target computes, native"]
        self.assertEqual((native.ratio, native.goals), (600, ()))
        slow = rows_of({"native": run_of(name, 5, 0, 3000), "tasks": run_of(name, 8, 0, 11)})
        self.assertFalse(slow[f"{name}: target computes, tasks"].is_met)

    def test_beside_the_judged_ratio_is_one_to_mpi_alone_after_as_long_a_pause(self):
        name = "accumulate of 8 B, Win_create"
        runs = {side: {**run_of(name, 1, 0, busy), f"{name}: alone, after a pause": ("us", [paused])}
                for side, paused, busy in (("native", 3, 3000), ("tasks", 9, 4.5))}
        rows = rows_of(runs)
        judged, told = rows[f"{name}: target computes, tasks"], rows[f"{name}: target computes, over a pause, tasks"]
        self.assertEqual((judged.ratio, judged.ratio_to, judged.is_met), (4.5, f"{name}: alone, native", False))
        self.assertEqual((told.ratio, told.ratio_to, told.goals), (1.5, f"{name}: alone, after a pause, native", ()))

    def test_only_large_accesses_that_are_tasks_must_hide(self):
        large, small, fence = (f"{what}, Win_allocate" for what in ("put of 65536 B", "put of 8 B", "put between fences of 65536 B"))
        sides = ("native", "commtask-run", "tasks")
        rows = rows_of({side: {**run_of(large, 9, 94, 9), **run_of(small, 9, 0, 9), **run_of(fence, 9, 96)} for side in sides})
        verdicts = {name: row.is_met for name, row in rows.items() if row.goals and ": overlap" in name}
        self.assertEqual(verdicts, {f"{large}: overlap, commtask-run": False, f"{large}: overlap, tasks": False,
                                    f"{fence}: overlap, tasks": True})


class Others(unittest.TestCase):
    def test_work_is_compared_with_the_same_sides_work_without_a_window(self):
        access = "put of 65536 B, Win_create: target works on its core"
        run = {"work: no window": ("ms", [4.0]), "work: Win_create, nobody accesses it": ("ms", [5.0]), access: ("us", [30.0])}
        rows = {row.name: row for row in rma.slowdown_rows({"native": [run], "tasks": [run]})}
        self.assertIsNone(rows["work: no window, tasks"].ratio)
        self.assertEqual(rows["work: Win_create, nobody accesses it, tasks"].ratio, 1.25)
        self.assertEqual((rows[f"{access}, tasks"].ratio, rows[f"{access}, tasks"].goals), (None, ()))

    def test_a_notified_put_is_compared_with_a_message_of_its_size(self):
        run = {"message of 8 B": ("us", [2.0]), "put_notify of 8 B": ("us", [2.8])}
        message, put = rma.hop_rows([run])
        self.assertEqual(message.goals, ())
        self.assertEqual((put.ratio, put.is_met), (1.4, False))


if __name__ == "__main__":
    unittest.main()
