#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Programs of two ranks that make one mistake each, and one that makes none, as traces that are worked out here: each step posts a receive
# and a send, computes, waits, and computes a border. The first cause must be the mistake, whatever else there is. Real runs have noise,
# so they are in bad_dslash_test.py, with fewer mistakes.
"""Usage: causes_test.py COMMTASK_REPORT   (the program, or the folder of its sources)"""
import re
import unittest

from report_case import Case

from trace_writer import ENDED, IN_FLIGHT, ISSUE, NOTHING, POLL, READY, TraceWriter

US = 1000


class Program:
    """What its ranks do in each of the steps; times in us. `under_way`: how long a message takes once both sides have posted."""

    def __init__(self, work=(600, 600), late_send=(), late_receive=(), under_way=150, n_steps=20, shows_waits=True):
        self.work, self.late_send, self.late_receive, self.under_way, self.n_steps = work, late_send, late_receive, under_way, n_steps
        self.shows_waits = shows_waits  #: for what has ended already, too

    def write(self, folder):
        outs, now = [], [0, 0]
        for rank in range(2):
            out = TraceWriter(rank, 2)
            out.thread(1, "main")
            out.thread(2, "worker 0", lane=0)
            out.communicator(1, "MPI_COMM_WORLD", "0-1")
            out.state(2, 0, ISSUE)
            outs.append(out)
        for step in range(self.n_steps):
            received = [at + (self.work[rank] + 20) * US if rank in self.late_receive else at + 1 * US for rank, at in enumerate(now)]
            sent = [at + (self.work[rank] + 15) * US if rank in self.late_send else at + 10 * US for rank, at in enumerate(now)]
            now = [self._step(out, rank, now[rank], step, received, sent) for rank, out in enumerate(outs)]
        for rank, out in enumerate(outs):
            out.state(2, max(now), NOTHING)
            out.write(folder)
        return folder

    def _step(self, out, rank, at, step, received, sent):
        """When the next one begins."""
        other, waits_from = 1 - rank, at + (self.work[rank] + 30) * US
        tasks = {}
        for when, name in sorted([(received[rank], "recv"), (sent[rank], "send")]):
            tasks[name] = out.post(1, when, name, other, step % 7)
        arrived = max(sent[other], received[rank]) + self.under_way * US
        taken = max(sent[rank], received[other]) + self.under_way * US
        for name, posted, ended in (("recv", received[rank], arrived), ("send", sent[rank], taken)):
            out.moved(2, tasks[name], (READY, posted + 300), (IN_FLIGHT, posted + 400), (ENDED, ended), n_bytes=65_536,
                      given=65_536 if name == "send" else 0, matched=(other, step % 7) if name == "recv" else None)
        if arrived > waits_from:
            out.wait(1, waits_from, arrived + 600, tasks["recv"])
        elif self.shows_waits:
            out.put(1, 10, waits_from, tasks["recv"])
        return max(waits_from, arrived + 600) + 50 * US


class Causes(Case):
    def causes(self, folder):
        """The text, and [(cause, rank)] of what it finds."""
        text = self.text_of(folder)
        return text, [(cause, int(rank)) for cause, rank in re.findall(r"^  \d\. ([\w ]+):.* mostly rank (\d)", text, re.MULTILINE)]

    def first(self, **how):
        text, found = self.causes(Program(**how).write(self.folder / "trace"))
        self.assertTrue(found, text)
        return found[0][0], text

    def test_nothing_is_advised_to_a_program_that_posts_before_it_computes(self):
        for how in ({}, {"work": (600, 606)}, {"work": (606, 600), "shows_waits": False}):
            text = self.text_of(Program(**how).write(self.folder / "trace"))
            for word in ("Post receives", "Create the send", "Give the rank"):
                self.assertNotIn(word, text)

    def test_nor_where_its_messages_take_longer_than_its_computing(self):
        for work in ((600, 600), (590, 600), (600, 590)):
            cause, text = self.first(work=work, under_way=900)
            self.assertEqual(cause, "transfer", text)
            self.assertNotIn("Post receives", text)
            self.assertNotIn("Create the send", text)

    def test_packing_after_the_computing_is_a_late_sender(self):
        cause, text = self.first(late_send=(0, 1), under_way=300)
        self.assertEqual(cause, "late sender", text)
        self.assertIn("Create the send, and what it packs, before the computing", text)

    def test_receiving_after_the_computing_is_a_late_post(self):
        for ranks in ((0, 1), (0,)):
            cause, text = self.first(late_receive=ranks)
            self.assertEqual(cause, "late post", text)
            self.assertIn("Post receives before the computing", text)

    def test_three_times_as_much_computing_is_imbalance_in_any_order(self):
        for how in ({}, {"shows_waits": False}, {"late_send": (0, 1)}, {"late_receive": (0, 1)}):
            cause, text = self.first(work=(200, 600), **how)
            self.assertEqual(cause, "imbalance", text)
            mine, theirs = re.search(r"Rank 1 computed (\S+) ms, rank 0, which waited, (\S+) ms\.", text).groups()
            self.assertGreater(float(mine), 1.5 * float(theirs))

    def test_a_rank_that_waited_itself_is_not_told_to_balance_or_to_send_earlier(self):
        for rank in range(3):  # 0 waits for 1, which waits for 2, which computes; all have computed as long as each other before
            out = TraceWriter(rank, 3)
            out.thread(1, "main")
            out.communicator(1, "MPI_COMM_WORLD", "0-2")
            for step in range(10):
                at = step * 2_000 * US
                out.compute(1, at, at + 100 * US, "work")
                if rank < 2:
                    coming = 700 * US if rank == 1 else 760 * US
                    task = out.post(1, at + 1 * US, "recv", rank + 1, 0)
                    out.moved(1, task, (READY, at + 1 * US), (IN_FLIGHT, at + 1 * US), (ENDED, at + coming), n_bytes=8, matched=(rank + 1, 0))
                    out.wait(1, at + 100 * US, at + coming, task)
                if rank > 0:
                    going = 690 * US if rank == 2 else 750 * US
                    out.compute(1, at + (110 if rank == 2 else 705) * US, at + going - 10 * US, "more")
                    task = out.post(1, at + going, "send", rank - 1, 0)
                    out.moved(1, task, (READY, at + going), (IN_FLIGHT, at + going), (ENDED, at + going + 5 * US), n_bytes=8, given=8)
            out.write(self.folder / "trace")
        text, found = self.causes(self.folder / "trace")
        self.assertIn(("other side waited", 1), found, text)
        self.assertIn(("imbalance", 2), found, text)

    def test_a_worker_without_a_core_and_many_small_messages(self):
        for own, cause in ((0, "worker shares its core"), (1, "worker busy")):
            for rank in range(2):
                out = TraceWriter(rank, 2, reserved=own)
                out.thread(1, "main")
                out.thread(2, "worker 0", lane=0)
                out.communicator(1, "MPI_COMM_WORLD", "0-1")
                out.state(2, 0, ISSUE)
                for step in range(4):
                    at = step * 10_000 * US
                    posted = [(out.post(1, at + k * 200, "send" if rank else "recv", 1 - rank, k), k) for k in range(200)]
                    for task, k in posted:  # one after the other
                        begins = at + 50 * US + k * 20 * US
                        out.moved(2, task, (READY, begins), (IN_FLIGHT, begins + 15 * US), (ENDED, begins + 19 * US), n_bytes=8,
                                  given=8 if rank else 0, matched=None if rank else (1, k))
                    out.wait(1, at + 60 * US, at + 50 * US + 200 * 20 * US, posted[-1][0])
                    out.compute(1, at + 50 * US + 200 * 20 * US, at + 9_000 * US, "work")
                out.state(2, 40_000 * US, POLL)
                out.write(self.folder / "trace")
            text, found = self.causes(self.folder / "trace")
            self.assertEqual(found[0][0], cause, text)


if __name__ == "__main__":
    unittest.main()
