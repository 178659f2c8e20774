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

N_STEPS = 5
N_RANKS = 4


def naps_of(part, n_naps):
    """The row of naps of a run with one case."""
    run = {"us": {("any", 8, False): 1.0}, "steps": N_STEPS, "processor_ms": 1.0, "worker_us": 1.0, "naps": n_naps, "rung": 10, "for_nothing": 1}
    rows = node.worker_rows({side: [run] for side in (node.NATIVE, node.NAPS, node.BELL)}, node.Part(part, 1, N_STEPS), N_RANKS)
    return next(row for row in rows if row.name.startswith("naps per") and row.name.endswith(node.NAPS)), rows


class Workers(unittest.TestCase):
    def test_what_is_counted_is_what_is_sent(self):
        for part, counted, n_in_a_step in (("messages", "message", 2), ("small", "message", 80), ("sweep", "message", 16),
                                           ("puts", "put", 2), ("collectives", "collective of a rank", 4)):
            row, _ = naps_of(part, 3.0 * N_STEPS * n_in_a_step)
            self.assertEqual((row.name, row.samples), (f"naps per {counted}, {part}, {N_RANKS} ranks, {node.NAPS}", [3.0]))

    def test_wake_ups_for_nothing_are_judged_of_messages_alone(self):
        for part, is_judged in (("messages", True), ("large", True), ("sweep", False), ("puts", False), ("collectives", False)):
            _, rows = naps_of(part, 1.0)
            futile = next(row for row in rows if row.name.startswith("for nothing per "))
            self.assertEqual(bool(futile.goals), is_judged, part)


if __name__ == "__main__":
    unittest.main()
