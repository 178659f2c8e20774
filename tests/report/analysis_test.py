#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The analyses of commtask-report on runs that are made up here, a few tasks each, so that the right answer can be read off
# the numbers. Whether real traces come out as such runs is tested by trace_test.py.
"""Usage: analysis_test.py FOLDER_OF_THE_REPORT"""
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))

import causes  # noqa: E402
import critical_path  # noqa: E402
import delays  # noqa: E402
import tables  # noqa: E402
from model import Rank, Run, Span, Task, Thread, Unblock, Worker, overlap_length, subtract, union  # noqa: E402
from page_data import MOST_TASK_ROWS, collect, innermost, place  # noqa: E402
from summary import Summary  # noqa: E402


def message(send, receive):
    send.peers, receive.peers = (receive,), (send,)


def waited(task, begin, end, thread=1):
    task.unblocks.append(Unblock(task, end, thread, begin, "wait"))


def receive(posted, issued, ended, rank=0, **rest):
    return Task(rank, "1.1", "recv", posted, receives=True, ready=issued, issued=issued, ended=ended, peer=1, tag=7, comm="world", submitter=1,
                **rest)


def send(posted, issued, ended, rank=1, **rest):
    return Task(rank, "1.1", "send", posted, sends=True, ready=issued, issued=issued, ended=ended, peer=0, tag=7, comm="world", submitter=1,
                **rest)


def two_ranks(one, other, threads=((), ()), workers=((), ())):
    return Run([Rank(0, one, threads[0], workers[0]), Rank(1, other, threads[1], workers[1])])


def total(pieces):
    out = {}
    for cause, rank, ns in pieces:
        out[cause, rank] = out.get((cause, rank), 0) + ns
    return out


class Intervals(unittest.TestCase):
    def test_union_joins_what_touches_and_drops_what_is_empty(self):
        self.assertEqual(union([(5, 9), (0, 2), (2, 3), (7, 8), (4, 4)]), [(0, 3), (5, 9)])

    def test_subtract_leaves_what_no_hole_covers(self):
        self.assertEqual(subtract([(0, 10), (20, 30)], [(2, 3), (8, 22), (29, 40)]), [(0, 2), (3, 8), (22, 29)])

    def test_overlap_counts_time_in_both(self):
        self.assertEqual(overlap_length([(0, 10), (20, 30)], [(5, 25)]), 10)

    def test_tasks_that_are_open_at_once_have_rows_of_their_own_and_who_finds_none_is_counted(self):
        def rows_of(n_open):
            return place([receive(k, k + 1, 1000 + k) for k in range(n_open)] + [receive(5000, 5001, 5002)])

        rows, n_cut = rows_of(MOST_TASK_ROWS)
        self.assertEqual(([len(row) for row in rows], n_cut), ([2] + [1] * (MOST_TASK_ROWS - 1), 0))
        rows, n_cut = rows_of(MOST_TASK_ROWS + 6)
        self.assertEqual((len(rows), n_cut), (MOST_TASK_ROWS, 6))

    def test_of_spans_in_each_other_the_inner_ones_are_seen(self):
        self.assertEqual(innermost([(0, 100, "outer"), (10, 20, "in"), (12, 15, "deep"), (20, 30, "next"), (200, 210, "alone")]),
                         [(0, 10, "outer"), (10, 12, "in"), (12, 15, "deep"), (15, 20, "in"), (20, 30, "next"), (30, 100, "outer"),
                          (200, 210, "alone")])


class Plans(unittest.TestCase):
    def test_a_wait_for_a_run_that_never_ended_is_for_the_member_that_did_not(self):
        done, hangs = receive(10, 20, 30), receive(10, 20, None)
        self.assertIs(Task(0, "1.2", "plan", 10, members=(done, hangs)).decisive, hangs)

    def test_a_wait_for_a_plans_run_is_blamed_on_what_kept_its_last_member(self):
        early, late = receive(100, 110, 200), receive(100, 110, 900)
        message(send(90, 95, 200), early)
        message(send(800, 810, 890), late)
        run = Task(0, "1.9", "plan", 100, ready=105, issued=105, ended=905, submitter=1, members=(early, late))
        waited(run, 150, 910)
        found, = delays.delays(two_ranks([run, early, late], [early.peers[0], late.peers[0]],
                                         ([Thread(1, "main", [Span(150, 910, "wait")])], ())))
        self.assertIs(found.task, late)
        self.assertEqual(found.cause, causes.LATE_SENDER)

    def test_a_run_whose_members_are_not_in_the_trace_stands_for_itself(self):
        run = Task(0, "1.9", "plan", 100, ended=905)
        self.assertIs(run.decisive, run)


class Standing(unittest.TestCase):
    def test_a_receive_that_stands_is_under_way_for_nobody_and_its_phases_count_for_nothing(self):
        stands, sent = receive(0, 10, 1000, stands=True), receive(500, 510, 600)
        run = two_ranks([stands, sent], [], ([Thread(1, "main", [Span(0, 1000, "compute")])], ()))
        overlap, = tables.overlap_table(run)
        self.assertEqual((overlap.n_tasks, overlap.under_way), (2, 90))
        self.assertEqual({row[2] for row in tables.phase_table(run)}, {1})

    def test_the_librarys_own_thread_computes_nothing_and_ends_no_critical_path(self):
        helper = Thread(3, "commtask-window", [Span(0, 100, "call"), Span(5000, 6000, "call")], is_helper=True)
        main = Thread(1, "main", [Span(0, 1000, "compute")])
        self.assertEqual(helper.computing(), [])
        self.assertEqual(critical_path.critical_path(two_ranks([], [], ([main, helper], ())))[-1].end, 1000)


class Causes(unittest.TestCase):
    def test_time_before_the_sender_posted_is_the_senders_whatever_the_receiver_did(self):
        late, waiting = send(500, 510, 520), receive(600, 610, 700)
        message(late, waiting)
        run = two_ranks([waiting], [late])
        self.assertEqual(total(causes.blame(run, waiting, 400, 700)),
                         {(causes.LATE_SENDER, 1): 100, (causes.LATE_POST, 0): 100, (causes.BUSY, 0): 10,
                          (causes.TRANSFER, 0): 90})

    def test_pieces_add_up_to_the_interval(self):
        late, waiting = send(500, 510, 520), receive(100, 130, 700, waiting=110, held=120)
        message(late, waiting)
        pieces = causes.blame(two_ranks([waiting], [late]), waiting, 50, 900)
        self.assertEqual(sum(ns for _, _, ns in pieces), 850)

    def test_a_send_that_its_receiver_keeps_waiting_is_a_late_post_there(self):
        waiting, late = send(100, 110, 700), receive(600, 610, 690)
        message(waiting, late)
        found = total(causes.blame(two_ranks([late], [waiting]), waiting, 200, 700))
        self.assertEqual(found[causes.LATE_POST, 0], 400)

    def test_a_worker_that_slept_is_told_from_one_that_was_busy(self):
        task = receive(100, 300, 400)
        sleeper = Worker(states=[(0, 180, "blocked"), (180, 1000, "issue")])
        run = Run([Rank(0, [task], [], [sleeper])])
        self.assertEqual(total(causes.blame(run, task, 100, 300)), {(causes.ASLEEP, 0): 80, (causes.BUSY, 0): 120})

    def test_a_worker_that_the_program_paused_is_not_said_to_sleep(self):
        task = receive(100, 300, 400)
        for own in (True, False):
            run = Run([Rank(0, [task], [], [Worker(has_own_core=own, states=[(0, 1000, "paused")])])])
            self.assertEqual(total(causes.blame(run, task, 100, 400)), {(causes.PAUSED, 0): 300})

    def test_a_worker_without_a_core_of_its_own_is_named_as_that(self):
        task = receive(100, 300, 400)
        run = Run([Rank(0, [task], [], [Worker(has_own_core=False)])])
        self.assertEqual(total(causes.blame(run, task, 100, 300)), {(causes.NO_CORE, 0): 200})

    def test_an_awake_worker_that_gets_little_of_its_core_shares_it(self):
        task = receive(100, 300, 400)
        starved = Worker(has_own_core=True, states=[(0, 1000, "poll")], samples=[(0, 0), (500, 100), (1000, 200)])
        run = Run([Rank(0, [task], [], [starved])])
        self.assertEqual(total(causes.blame(run, task, 100, 300)), {(causes.NO_CORE, 0): 200})
        under_way = total(causes.blame(run, task, 300, 400))
        self.assertEqual(under_way, {(causes.NO_CORE, 0): 80, (causes.TRANSFER, 0): 20})

    def test_a_thread_that_drives_another_lane_does_not_keep_this_one_awake(self):
        task = receive(100, 300, 400)
        worker = Worker(has_own_core=True, states=[(0, 1000, "blocked")])
        for lane, cause in ((1, causes.ASLEEP), (0, causes.BUSY)):
            driver = Thread(1, "main", [Span(0, 1000, "drive", "poll", lane)])
            run = Run([Rank(0, [task], [driver], [worker])])
            self.assertEqual(total(causes.blame(run, task, 100, 300)), {(cause, 0): 200})

    def test_a_lane_that_a_thread_drives_in_turns_with_another_is_driven_between_the_turns_too(self):
        task = receive(0, 10, 100_000)
        worker = Worker(has_own_core=False, states=[(0, 1_000_000, "blocked")], samples=[(0, 0), (1_000_000, 1)])
        for turn, is_driven in ((6_000, True), (30_000, False)):
            turns = [Span(at, at + turn, "drive", "poll", at // turn % 2) for at in range(0, 120_000, turn)]
            run = Run([Rank(0, [task], [Thread(1, "main", turns)], [worker])])
            found = total(causes.blame(run, task, 10, 100_000))
            self.assertEqual((causes.NO_CORE, 0) not in found, is_driven, found)
            self.assertEqual(sum(found.values()), 99_990)

    def test_who_drives_every_lane_drives_each(self):
        rank = Rank(0, [], [Thread(1, "main", [Span(0, 100, "drive", "poll", None), Span(30_000, 30_100, "drive", "poll", 1)])])
        self.assertEqual(rank.driven_between(0, 0, 50_000), [(0, 100)])
        self.assertEqual(rank.driven_between(1, 0, 50_000), [(0, 100), (30_000, 30_100)])

    def test_what_needs_another_side_that_the_trace_lacks_is_not_called_a_transfer(self):
        alone, together = receive(100, 110, 600, needs_others=True), receive(100, 110, 600, needs_others=True)
        message(send(90, 95, 590), together)
        run = two_ranks([alone, together], list(together.peers))
        self.assertEqual(total(causes.blame(run, alone, 110, 600)), {(causes.UNKNOWN, 0): 490})
        self.assertEqual(total(causes.blame(run, together, 110, 600)), {(causes.TRANSFER, 0): 490})

    def test_of_what_hung_the_sleep_of_its_worker_is_not_the_cause(self):
        task = receive(100, 110, None, needs_others=True)
        run = Run([Rank(0, [task], [], [Worker(has_own_core=False, states=[(0, 1000, "timed wait")], samples=[(0, 0), (1000, 1)])])])
        self.assertEqual(total(causes.blame(run, task, 110, 600)), {(causes.UNKNOWN, 0): 490})

    def test_predecessors_and_program_order_are_told_apart(self):
        task = receive(100, 400, 500, waiting=110, held=300)
        task.ready = 400
        run = Run([Rank(0, [task])])
        self.assertEqual(total(causes.blame(run, task, 110, 400)), {(causes.PREDECESSOR, 0): 190, (causes.ORDER, 0): 100})

    def test_of_a_collective_the_last_rank_to_post_is_to_blame(self):
        calls = [Task(rank, "1.1", "allreduce", at, ready=at, issued=at, ended=1000, comm="world")
                 for rank, at in ((0, 100), (1, 900), (2, 400))]
        for call in calls:
            call.peers = tuple(calls)
        run = Run([Rank(call.rank, [call]) for call in calls])
        self.assertEqual(total(causes.blame(run, calls[0], 100, 1000)),
                         {(causes.LATE_SENDER, 1): 800, (causes.TRANSFER, 0): 100})
        self.assertEqual(total(causes.blame(run, calls[1], 500, 1000)), {(causes.LATE_POST, 1): 400, (causes.TRANSFER, 1): 100})


class Delays(unittest.TestCase):
    def run_with_wait(self):
        late, waiting = send(500, 510, 520), receive(100, 110, 600)
        message(late, waiting)
        waited(waiting, 200, 620)
        threads = [Thread(1, "main", [Span(0, 200, "compute"), Span(200, 620, "wait"), Span(620, 900, "compute")])]
        other = [Thread(1, "main", [Span(0, 500, "compute", "pack")])]
        return two_ranks([waiting], [late], (threads, other))

    def test_a_wait_is_a_delay_from_the_moment_at_which_its_thread_idles(self):
        delay, = delays.delays(self.run_with_wait())
        self.assertEqual((delay.begin, delay.end, delay.idle, delay.cause, delay.where), (200, 620, 420, causes.LATE_SENDER, 1))

    def test_a_compute_task_waits_for_the_last_message_before_it(self):
        first, last = receive(0, 10, 100), receive(0, 10, 400)
        for task in (first, last):
            task.unblocks.append(Unblock(task, 450, 1, None, "compute"))
        thread = Thread(1, "main", [Span(0, 200, "compute"), Span(450, 500, "compute")])
        delay, = delays.delays(Run([Rank(0, [first, last], [thread])]))
        self.assertIs(delay.task, last)
        self.assertEqual((delay.idle, delay.ns), (250, 250))

    def test_a_busy_thread_loses_nothing_but_its_successor_waits_for_it(self):
        task = receive(0, 10, 100)
        task.unblocks.append(Unblock(task, 400, 1, None, "compute"))
        thread = Thread(1, "main", [Span(0, 400, "compute"), Span(400, 500, "compute")])
        delay, = delays.delays(Run([Rank(0, [task], [thread])]))
        self.assertEqual((delay.idle, delay.ns, delay.cause), (0, 300, causes.NO_THREAD))
        self.assertEqual(delays.findings([delay]), [])

    def test_findings_come_in_the_order_of_what_they_cost(self):
        found = delays.findings(delays.delays(self.run_with_wait()))
        self.assertEqual([(f.cause, f.ns) for f in found],
                         [(causes.LATE_SENDER, 390), (causes.NO_THREAD, 20), (causes.BUSY, 10)])
        self.assertEqual(found[0].count, 1)
        self.assertTrue(found[0].advice.endswith("."))

    def test_a_transfer_is_blamed_on_a_late_post_only_as_far_as_an_earlier_one_was_possible(self):
        first, second = send(100, 110, 520, rank=1), receive(300, 310, 1000)
        message(first, second)
        waited(second, 300, 1000)
        before = receive(0, 1, 250)
        waited(before, 10, 260)
        threads = [Thread(1, "main", [Span(0, 10, "compute"), Span(10, 260, "wait"), Span(260, 300, "compute"),
                                      Span(300, 1000, "wait")])]
        found = {f.cause: f.ns for f in delays.findings([d for d in delays.delays(two_ranks([before, second], [first], (threads, ())))
                                                         if d.task is second])}
        # Its thread went on at 260: posting at once would have saved 40, not the 200 since the sender posted.
        self.assertEqual(found, {causes.TRANSFER: 650, causes.LATE_POST: 40, causes.BUSY: 10})

    def test_the_critical_path_goes_to_the_rank_that_was_late(self):
        path = critical_path.critical_path(self.run_with_wait())
        self.assertEqual([(s.rank, s.kind) for s in path][0], (1, "computing"))
        self.assertEqual(critical_path.by_kind(path), {"computing": 780, "transfer": 90, "no free thread": 20, "worker busy": 10})
        self.assertEqual(sum(s.end - s.begin for s in path), 900)

    def test_the_steps_of_the_critical_path_come_in_the_order_of_time(self):
        run = self.run_with_wait()
        run.ranks[0].threads[0].spans[-1] = Span(700, 900, "compute")  # after a time between compute tasks
        path = critical_path.critical_path(run)
        self.assertIn("other", {step.kind for step in path})
        self.assertEqual([step.begin for step in path[1:]], [step.end for step in path[:-1]])

    def test_the_critical_path_of_a_long_run_reaches_back_to_its_begin(self):
        tasks, spans = [], []
        for t in range(0, 55_000_000, 1000):
            task = receive(t + 100, t + 110, t + 800)
            waited(task, t + 200, t + 900)
            tasks.append(task)
            spans += [Span(t, t + 200, "compute"), Span(t + 200, t + 900, "wait"), Span(t + 900, t + 1000, "compute")]
        run = Run([Rank(0, tasks, [Thread(1, "main", spans)])])
        summary = Summary(run)
        path = summary.path
        self.assertEqual((path[0].begin, path[-1].end), (0, 55_000_000))
        drawn, _ = collect(summary)
        self.assertEqual(drawn["arrays"][drawn["path"]["begin"]][2], len([step for step in path if step.end > step.begin]))

    def test_the_critical_path_of_a_run_without_threads_is_empty(self):
        self.assertEqual(critical_path.critical_path(Run([Rank(0, [receive(0, 1, 2)])])), [])


class Tables(unittest.TestCase):
    def test_phases_end_where_the_next_one_begins(self):
        task = receive(100, 400, 500, waiting=110, held=300)
        task.ready = 350
        waited(task, 450, 520)
        self.assertEqual(list(task.phases()), [("queued", 100, 110), ("predecessor", 110, 300), ("order", 300, 350),
                                               ("ready", 350, 400), ("in flight", 400, 500), ("unblock", 500, 520)])
        rows = {(op, phase): (count, total_ns) for op, phase, count, _, _, _, total_ns in
                tables.phase_table(Run([Rank(0, [task])]))}
        self.assertEqual(rows["all", "in flight"], (1, 100))

    def test_the_last_phase_of_a_task_that_never_ended_lasts_until_the_end_of_the_run(self):
        hangs, queued, unknown = (receive(100, issued, None) for issued in (400, None, 400))
        hangs.open_until = queued.open_until = 900
        self.assertEqual(list(hangs.phases()), [("queued", 100, 400), ("ready", 400, 400), ("in flight", 400, 900)])
        self.assertEqual(list(queued.phases()), [("queued", 100, 900)])
        self.assertEqual(list(unknown.phases())[-1], ("ready", 400, 400))  # the record of its end may be lost
        run = Run([Rank(0, [hangs], [Thread(1, "main", [Span(0, 500, "compute")])])])
        row, = tables.overlap_table(run)
        self.assertEqual((row.under_way, row.covered, run.extent()), (500, 100, (0, 900)))

    def test_overlap_is_the_share_of_the_time_under_way_in_which_threads_compute(self):
        task = receive(0, 100, 200)
        threads = [Thread(1, "a", [Span(0, 150, "compute")]), Thread(2, "b", [Span(0, 300, "compute")])]
        row, = tables.overlap_table(Run([Rank(0, [task], threads)]))
        self.assertEqual((row.under_way, row.covered, row.share), (100, 75, 0.75))

    def test_a_thread_without_compute_tasks_computes_while_it_neither_waits_nor_calls(self):
        thread = Thread(1, "main", [Span(0, 10, "call"), Span(50, 80, "wait"), Span(100, 110, "call")])
        self.assertEqual(thread.computing(), [(10, 50), (80, 100)])

    def test_a_thread_that_drives_computes_nothing_meanwhile(self):
        waiting = Thread(1, "main", [Span(0, 900, "drive", "poll"), Span(950, 1000, "drive", "poll")], posts=[0])
        self.assertEqual(waiting.computing(), [(900, 950)])
        task = receive(0, 10, 1000)
        overlap, = tables.overlap_table(Run([Rank(0, [task], [waiting])]))
        self.assertEqual((overlap.under_way, overlap.covered), (990, 50))

    def test_a_thread_that_only_stands_in_a_barrier_computes_nothing(self):
        self.assertEqual(Thread(2, "idle", [Span(0, 50, "sync"), Span(60, 90, "sync")]).computing(), [])

    def test_depth_counts_what_is_queued_and_what_is_open(self):
        rank = Rank(0, [receive(0, 10, 30), receive(5, 10, 20)])
        self.assertEqual(tables.depth_steps(rank, 0), [(0, 1, 1), (5, 2, 2), (10, 0, 2), (20, 0, 1), (30, 0, 0)])
        self.assertEqual(tables.binned(tables.depth_steps(rank, 0), 0, 40, 4), [[2, 2, 0, 0], [2, 2, 2, 1]])
        self.assertEqual(tables.depth_table(Run([rank])), [(0, 0, 2, 2)])

    def test_a_workers_share_of_its_core_is_its_processor_time_over_time(self):
        worker = Worker(states=[(0, 600, "poll"), (600, 1000, "blocked")], samples=[(0, 0), (1000, 250)])
        run = Run([Rank(0, [receive(0, 1, 1000)], [], [worker])])
        use, = tables.worker_table(run)
        self.assertEqual((use.core_share, use.got, use.states), (0.25, 250 / 600, {"poll": 0.6, "blocked": 0.4}))


if __name__ == "__main__":
    unittest.main()
