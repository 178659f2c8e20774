# SPDX-License-Identifier: Apache-2.0
# What is said of the workers in runs of bench_node, without running any: naps and bells are divided by what was sent, so that a part
# whose steps have more messages does not look like one that wakes more often.
"""python3 -m unittest, from the folder above."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import node  # noqa: E402
import schedules  # noqa: E402

N_STEPS = 5
N_RANKS = 4


def naps_of(part, n_naps):
    """The row of naps of a run with one case."""
    run = {"us": {("any", 8, False): 1.0}, "steps": N_STEPS, "processor_ms": 1.0, "worker_us": 1.0, "helper_us": 0.0, "naps": n_naps, "rung": 10, "for_nothing": 1}
    rows = node.worker_rows({side: [run] for side in (node.NATIVE, node.NAPS, node.BELL)}, node.Part(part, 1, N_STEPS), N_RANKS)
    return next(row for row in rows if row.name.startswith("naps per") and row.name.endswith(node.NAPS)), rows


class Workers(unittest.TestCase):
    def test_what_is_counted_is_what_is_sent(self):
        for part, counted, n_in_a_step in (("messages", "message", 2), ("small", "message", 80), ("sweep", "message", 16),
                                           ("puts", "put", 2), ("igather", "collective of a rank", 4)):
            row, _ = naps_of(part, 3.0 * N_STEPS * n_in_a_step)
            self.assertEqual((row.name, row.samples), (f"naps per {counted}, {part}, {N_RANKS} ranks, {node.NAPS}", [3.0]))

    def test_wake_ups_for_nothing_are_judged_of_messages_alone(self):
        for part, is_judged in (("messages", True), ("large", True), ("sweep", False), ("puts", False), ("igather", False)):
            _, rows = naps_of(part, 1.0)
            futile = next(row for row in rows if row.name.startswith("for nothing per "))
            self.assertEqual(bool(futile.goals), is_judged, part)


class Schedules(unittest.TestCase):
    def test_a_schedule_is_mpich_s_variable_of_that_collective_on_every_side(self):
        one = next(part for part in schedules.parts(1, 1) if part.schedule == "tsp_tree" and part.name == "ibcast")
        for side in one.sides:
            self.assertEqual(node.environment_of(one, side, N_RANKS)["MPIR_CVAR_IBCAST_INTRA_ALGORITHM"], "tsp_tree")
        by_itself = next(part for part in schedules.parts(1, 1) if part.schedule == node.AUTO)
        self.assertEqual(node.environment_of(by_itself, node.NATIVE, N_RANKS), {})

    def test_bells_for_nothing_are_judged_by_schedule_with_bells_alone(self):
        run = {"us": {("igather", 8, False): 1.0}, "steps": N_STEPS, "processor_ms": 1.0, "worker_us": 1.0, "helper_us": 0.0, "naps": 1, "rung": 1,
               "for_nothing": 0}
        part = node.Part("igather", 1, N_STEPS, (node.NATIVE, node.NAPS, node.WATCHER, node.BELL), schedule="tsp_tree")
        rows = node.worker_rows({side: [run] for side in part.sides}, part, N_RANKS)
        self.assertEqual([row.name for row in rows if row.goals], [f"for nothing per collective of a rank, igather, {N_RANKS} ranks, by tsp_tree, {node.BELL}"])


class SpareCore(unittest.TestCase):
    """A core that is nobody's follows from those that there are."""

    def test_ranks_have_cores_of_their_own_if_there_are_enough_beside_it(self):
        self.assertEqual([cores for cores, _ in node.beside_spare_core(4, [0, 2, 4, 6, 8, 9], node.NAPS)], [[0], [2], [4], [6]])

    def test_else_they_share_all_but_that_one(self):
        for n_ranks in (4, 8):
            self.assertEqual(node.beside_spare_core(n_ranks, [0, 1], node.WATCHER), [([0], {})] * n_ranks)
        self.assertEqual([cores for cores, _ in node.beside_spare_core(4, [0, 1, 2, 3], node.NATIVE)], [[0, 1, 2]] * 4)

    def test_the_first_rank_s_worker_has_it_on_one_side_alone(self):
        first, *others = node.beside_spare_core(4, [0, 1], node.HELPER)
        self.assertEqual(first, ([0, 1], {"COMMTASK_IDLE": "reserved", "COMMTASK_CORE": "1"}))
        self.assertEqual(others, [([0], {})] * 3)

    def test_only_that_side_has_goals_there_and_what_its_watcher_takes_is_told_apart(self):
        run = {"us": {("receiver early", 1 << 20, computes): 1.0 for computes in (True, False)}, "steps": N_STEPS, "processor_ms": 1.0,
               "worker_us": 3.0, "helper_us": 2.0, "naps": 1, "rung": 1, "for_nothing": 0}
        part = node.Part("large", 1, N_STEPS, node.BESIDE_CORE, True, True)
        results = {side: [run] for side in part.sides}
        rows = node.case_rows(results, part, 8) + node.worker_rows(results, part, 8)
        self.assertEqual({row.name.rpartition(", ")[2] for row in rows if row.goals}, {node.HELPER})
        self.assertEqual([row.samples for row in rows if row.name.startswith("the same but the watcher's")], [[1.0]])


if __name__ == "__main__":
    unittest.main()
