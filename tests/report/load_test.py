#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# From records to the run as the analyses see it: a few records of trace_writer.py each, and what tools/report/load.py makes of
# them. Whole traces, damaged ones, and the program are trace_test.py's.
"""Usage: load_test.py FOLDER_OF_THE_REPORT"""
import pathlib
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), sys.argv.pop(1)]

import load  # noqa: E402
import text  # noqa: E402
import trace_run  # noqa: E402
from summary import Summary  # noqa: E402
from trace_writer import CHUNK_BYTES, ENDED, IN_FLIGHT, ISSUE, NOTHING, READY, TraceWriter, pair  # noqa: E402


class Loading(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def one_rank(self):
        out = TraceWriter(0, 1)
        out.communicator(1, "MPI_COMM_WORLD", "0")
        for thread, name, lane in ((1, "main", -1), (2, "worker 0", 0), (3, "another", -1)):
            out.thread(thread, name, lane)
        return out

    def test_a_thread_drives_the_lane_that_it_says(self):
        out = self.one_rank()
        out.state(1, 100_000, ISSUE, lane=1)
        out.state(1, 300_000, NOTHING, lane=1)
        out.state(2, 0, ISSUE, lane=0)
        out.state(2, 400_000, ISSUE, lane=1)  # a callback posts there
        out.state(2, 500_000, ISSUE, lane=0)
        out.state(2, 900_000, NOTHING, lane=0)
        rank, = load.load([out.write(self.folder)]).ranks
        self.assertEqual(rank.driven_between(1, 0, 1000_000), [(100_000, 300_000), (400_000, 500_000)])
        self.assertEqual(rank.driven_between(0, 0, 1000_000), [])
        self.assertEqual([state[:2] for state in rank.workers[0].states], [(0, 400_000), (500_000, 900_000)])
        self.assertEqual([thread.computing() for thread in rank.threads if thread.name == "worker 0"], [[]])

    def test_the_core_of_a_worker_of_another_lane_is_the_ranks_word_and_its_cpu_that_of_its_samples(self):
        for reserved, cpus, cpu in ((1, (5, 5), 5), (0, (5, 6), None), (0, (), None)):
            out = TraceWriter(0, 1, reserved=reserved, cpu=3)
            for lane in (0, 1):
                out.thread(2 + lane, f"worker {lane}", lane)
                out.state(2 + lane, 0, ISSUE, lane)
            for k, one in enumerate(cpus):
                out.processor(3, 1000 + k, k, one)
            first, second = load.load([out.write(self.folder)]).ranks[0].workers
            self.assertEqual((first.cpu, first.has_own_core), (3, bool(reserved)))
            self.assertEqual((second.cpu, second.has_own_core), (cpu, bool(reserved)))

    def test_a_wait_inside_a_wait_ends_first(self):
        out = self.one_rank()
        outer, inner = (out.post(1, at, "recv", 0, at) for at in (1, 2))
        for kind, at, task in ((9, 10, outer), (9, 20, inner), (10, 30, inner), (10, 40, outer)):
            out.put(1, kind, at, task)
        waits = trace_run.read_run([out.write(self.folder)]).ranks[0].threads[1].waits
        self.assertEqual([(wait.id, wait.begin - out.BEGIN, wait.end - out.BEGIN) for wait in waits], [(outer, 10, 40), (inner, 20, 30)])

    def test_a_body_that_waited_suspended_goes_on_because_of_its_message(self):
        out = self.one_rank()
        task, body = out.post(1, 5, "recv", 0, 7), out.new_id(1)
        out.put(1, 17, 0, body, detail=out.text("body"), sub=2)
        out.put(1, 18, 10, body, sub=2)
        out.put(1, 3, 100, body, task)
        out.put(1, 19, 110, body, sub=1)  # paused
        out.compute(1, 120, 300, "something else")
        out.moved(2, task, (READY, 6), (IN_FLIGHT, 7), (ENDED, 500))
        out.put(3, 18, 520, body, sub=2)
        out.put(3, 19, 700, body)
        rank, = load.load([out.write(self.folder)]).ranks
        unblock, = rank.tasks[0].unblocks
        self.assertEqual((unblock.at, unblock.thread, unblock.what), (520, 3, "compute"))
        spans = {thread.identity: [(span.begin, span.end) for span in thread.spans if span.label == "body"] for thread in rank.threads}
        self.assertEqual(spans, {1: [(10, 110)], 3: [(520, 700)]})

    def test_a_task_knows_who_drove_it_and_what_depends_on_it_or_it_on(self):
        out = self.one_rank()
        pack = out.compute(1, 0, 100, "pack")
        clause = out.new_id(1)
        first = out.post(1, 110, "send", 0, 7, inside=clause)
        out.put(1, 17, 50, clause, sub=1)
        out.put(1, 3, 50, clause, pack)
        out.put(1, 18, 105, clause, sub=1)
        out.put(1, 19, 115, clause, sub=2)
        out.moved(2, first, (READY, 120), (IN_FLIGHT, 130))
        second = out.post(1, 140, "recv", 0, 7)
        out.put(1, 3, 140, second, first)
        out.put(3, 6, 300, first, 8, 1, sub=ENDED, flags=IN_FLIGHT)
        out.moved(2, second, (READY, 310), (IN_FLIGHT, 320), (ENDED, 400), matched=(0, 7))
        out.compute(3, 410, 500, "use", after=(second,))
        one, other = load.load([out.write(self.folder)]).ranks[0].tasks
        self.assertEqual([(task.submitter, task.issuer, task.ender) for task in (one, other)], [(1, 2, 3), (1, 2, 2)])
        self.assertEqual((one.computed_before, one.predecessors, one.computed_after), ([(100, 1, "pack")], (), []))
        self.assertEqual((other.computed_before, other.predecessors, other.computed_after), ([], (one,), [(410, 3, "use")]))

    def test_an_operation_sends_or_receives_as_the_trace_says_whatever_its_name(self):
        out = self.one_rank()
        for at, name in enumerate(("offer", "take", "sendrecv", "barrier")):
            out.post(1, at, name, 0, 7)
        tasks = load.load([out.write(self.folder)]).ranks[0].tasks
        self.assertEqual([(task.is_send, task.comes) for task in tasks], [(True, False), (False, True), (False, False), (False, False)])

    def test_what_ended_while_it_was_posted_lets_start_what_waits_for_it(self):
        out = self.one_rank()
        posting = out.new_id(1)
        out.put(1, 17, 0, posting, sub=1)
        out.put(1, 18, 5, posting, sub=1)
        task = out.post(1, 10, "recv", 0, 7, inside=posting)
        out.moved(1, task, (READY, 11), (IN_FLIGHT, 12), (ENDED, 20), matched=(0, 7))
        out.put(1, 19, 25, posting, sub=3)  # its event, before the body is done
        out.put(1, 19, 30, posting, sub=0)
        out.compute(3, 40, 50, "use", after=(posting,))
        received, = load.load([out.write(self.folder)]).ranks[0].tasks
        self.assertEqual((received.computed_after, [each.at for each in received.unblocks]), ([(40, 3, "use")], [40]))

    def left_waiting(self, **head):
        """Rank 0 waits for good: thread 1 for a receive, 2 for several, 3 in MPI. Rank 1 goes on for longer."""
        out = TraceWriter(0, 2, state=0, **head)
        out.communicator(1, "MPI_COMM_WORLD", "0-1")
        for thread, name in ((1, "main"), (2, "second"), (3, "third"), (4, "fourth")):
            out.thread(thread, name)
            for k in range(2):
                out.moved(4, out.post(thread, 10 + k, "recv", 1, 10 * thread + k), (READY, 20), (IN_FLIGHT, 30))
        out.put(1, 9, 100, 1 << 48 | 1)
        out.put(2, 9, 200)
        out.put(3, 20, 300, detail=out.text("MPI_Wait"), sub=1)
        out.put(4, 20, 400, detail=out.text("MPI_Test"), sub=1)
        other = TraceWriter(1, 2, state=0)
        other.thread(1, "main")
        other.communicator(1, "MPI_COMM_WORLD", "0-1")
        other.compute(1, 10, 5_000_000, "work")
        other.write(self.folder)
        return out

    def test_a_wait_that_never_ended_is_a_delay_until_the_end_of_the_run(self):
        self.left_waiting().write(self.folder)
        summary = Summary(load.load([self.folder]))
        self.assertEqual([(one.unblock.thread, one.begin, one.end, one.idle, one.task.title(), one.cause) for one in summary.delays],
                         [(1, 100, 5_000_000, 4_999_900, "recv <- 1 tag 10", "other side unknown"),
                          (2, 200, 5_000_000, 4_999_800, "recv <- 1 tag 21", "other side unknown"),
                          (3, 300, 5_000_000, 4_999_700, "recv <- 1 tag 31", "other side unknown")])
        said = "\n".join(text.render(summary))
        self.assertIn("1. other side unknown", said)
        self.assertNotIn("No thread was seen to wait", said)

    def test_a_thread_that_posted_nothing_waits_for_several_of_other_threads(self):
        out = self.left_waiting()
        out.thread(5, "fifth")
        out.put(5, 9, 600)
        out.write(self.folder)
        mine, = (one for one in Summary(load.load([self.folder])).delays if one.unblock.thread == 5)
        self.assertEqual((mine.begin, mine.idle, mine.task.title()), (600, 4_999_400, "recv <- 1 tag 41"))

    def test_of_a_send_that_never_ended_nobody_knows_whether_it_was_awaited(self):
        out = self.left_waiting()
        out.moved(4, out.post(4, 40, "send", 1, 99), (READY, 50), (IN_FLIGHT, 60), given=1 << 20)
        out.put(4, 9, 500, out.made[4] | 4 << 48)
        out.write(self.folder)
        longest = {one.unblock.thread: one for one in Summary(load.load([self.folder])).delays}
        self.assertEqual((longest[4].task.title(), longest[4].cause), ("send -> 1 tag 99, 1048576 B", "other side unknown"))

    def test_a_wait_whose_end_may_be_lost_is_no_delay(self):
        for lost in ({"n_dropped": 3}, {}):
            path = self.left_waiting(**lost).write(self.folder)
            if not lost:  # copied in part
                path.write_bytes(path.read_bytes()[:-CHUNK_BYTES])
            self.assertEqual(Summary(load.load([self.folder])).delays, [])

    def test_a_task_is_open_until_the_end_where_the_record_of_its_end_cannot_be_lost(self):
        for lost, until in (({}, [300, 300]), ({"keep": 1, "lost": {2: 2}}, [None, 300]), ({"lost": {2: 1}}, [None, None])):
            out = TraceWriter(0, 1, state=0, keep=lost.get("keep", 0))
            out.lost = lost.get("lost", {})
            out.communicator(1, "MPI_COMM_WORLD", "0")
            before, after = (out.post(1, at, "recv", 0, at) for at in (10, 200))
            for at, task in ((20, before), (210, after)):
                out.moved(2, task, (READY, at), (IN_FLIGHT, at + 10))
                out.state(2, at + 90, ISSUE)
            rank, = load.load([out.write(self.folder)]).ranks
            self.assertEqual([task.open_until for task in rank.tasks], until, lost)

    def test_both_messages_of_a_sendrecv_with_one_rank_have_one_other_side(self):
        for rank in range(2):
            out = TraceWriter(rank, 2)
            out.thread(1, "main")
            out.communicator(1, "MPI_COMM_WORLD", "0-1")
            task = out.post(1, 0, "sendrecv", 1 - rank, 7)
            out.put(1, 2, 0, task, pair(1 - rank, 7))
            out.moved(1, task, (READY, 10), (IN_FLIGHT, 20), (ENDED, 100), matched=(1 - rank, 7))
            out.write(self.folder)
        one, other = load.load([self.folder]).tasks()
        self.assertEqual((one.peers, other.peers), ((other,), (one,)))
        self.assertTrue(one.needs_others)

    def test_a_sendrecv_with_oneself_has_no_other_side_that_could_be_unknown(self):
        out = self.one_rank()
        task = out.post(1, 0, "sendrecv", 0, 7)
        out.put(1, 2, 0, task, pair(0, 7))
        out.moved(1, task, (READY, 10), (IN_FLIGHT, 20), (ENDED, 5_000_000), matched=(0, 7))
        out.wait(1, 100, 5_000_100, task)
        said = "\n".join(text.render(Summary(load.load([out.write(self.folder)]))))
        self.assertIn("1. transfer", said)
        self.assertNotIn("unknown", said)

    def test_a_thread_of_onetbb_went_on_when_a_node_last_handed_on_a_message_while_it_idled(self):
        out = self.one_rank()
        first, second = (out.post(1, 5 + k, "recv", 0, k) for k in range(2))

        def span(thread, model, begin, end, name, before=0):
            identity = out.new_id(thread)
            out.put(thread, 17, begin, identity, detail=out.text(name), sub=model)
            if before:
                out.put(thread, 3, begin, identity, before)
            out.put(thread, 18, begin, identity, sub=model)
            out.put(thread, 19, end, identity)

        span(1, 2, 10, 100, "body")
        span(3, 2, 10, 200, "body")
        for task, at in ((first, 400), (second, 600)):
            out.moved(2, task, (READY, 6), (IN_FLIGHT, 7), (ENDED, at), matched=(0, 0))
            span(2, 4, at + 10, at + 20, "recv_node", task)
        span(3, 2, 700, 800, "body")  # the first message it need not have had
        span(1, 2, 900, 950, "body")
        span(1, 2, 960, 990, "body")  # nothing came
        span(4, 2, 10, 200, "body")
        third = out.post(1, 7, "recv", 0, 2)
        out.moved(2, third, (READY, 7), (IN_FLIGHT, 8), (ENDED, 690), matched=(0, 0))
        out.wait(4, 300, 690, third)
        span(4, 2, 700, 800, "body")  # it waited for another message when this one came
        rank, = load.load([out.write(self.folder)]).ranks
        self.assertEqual([[(one.thread, one.at) for one in task.unblocks] for task in rank.tasks],
                         [[], [(1, 610), (3, 610)], [(4, 690)]])
        self.assertEqual([thread.computing() for thread in rank.threads if thread.name == "main"], [[(10, 100), (900, 950), (960, 990)]])
        self.assertEqual([thread.computing() for thread in rank.threads if thread.name == "worker 0"], [])


if __name__ == "__main__":
    unittest.main()
