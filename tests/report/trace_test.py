#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# From bytes to findings: traces written by trace_writer.py, whole and damaged, through the reader and the analyses. What a
# user sees of them, text, sentences of refusal and exit status, is tested by running commtask-report as a program.
"""Usage: trace_test.py COMMTASK_REPORT   (the program, or the folder of its sources)"""
import os
import re
import resource
import signal
import subprocess
import sys
import unittest

from report_case import PROGRAM, Case, report

import load  # found by what report_case adds to the path
import page
import text
import trace_run
from summary import Summary
from trace_writer import CHUNK_BYTES, ENDED, IN_FLIGHT, ISSUE, READY, TraceWriter, halo_run


class Findings(Case):
    def first_cause(self, **how):
        text = self.text_of(halo_run(self.folder / "trace", **how))
        line = next(line for line in text.splitlines() if line.startswith("  1. "))
        return line[5:].split(":")[0], text

    def test_a_send_after_the_interior_is_named_first_as_a_late_sender_of_that_rank(self):
        cause, text = self.first_cause(late="send")
        self.assertEqual(cause, "late sender", text)
        self.assertIn("mostly rank 1", text.split("  1. ")[1].split("\n")[0])

    def test_a_receive_after_the_interior_is_named_first_as_a_late_post_of_that_rank(self):
        cause, text = self.first_cause(late="receive")
        self.assertEqual(cause, "late post", text)
        self.assertIn("mostly rank 0", text.split("  1. ")[1].split("\n")[0])

    def test_a_run_in_which_nothing_is_late_names_neither(self):
        text = self.text_of(halo_run(self.folder / "trace"))
        self.assertNotIn("late sender", text)
        self.assertNotIn("late post", text)

    def test_a_worker_that_shares_its_core_is_named_where_its_tasks_wait(self):
        out = TraceWriter(0, 1, reserved=0)
        out.thread(1, "main")
        out.communicator(1, "MPI_COMM_WORLD", "0")
        for k in range(5):
            t = k * 10_000_000
            task = out.post(1, t, "recv", 0, k)
            out.moved(1, task, (READY, t + 4_000_000), (IN_FLIGHT, t + 4_000_000), (ENDED, t + 4_100_000), matched=(0, k))
            out.wait(1, t + 1_000, t + 4_101_000, task)
            out.compute(1, t + 4_101_000, t + 9_000_000, "work")
        out.thread(2, "worker 0", lane=0)
        out.state(2, 0, 2)
        out.state(2, 60_000_000, 0)
        text = self.text_of(out.write(self.folder / "trace"))
        self.assertIn("1. worker shares its core", text)

    def test_an_unmodified_programs_wait_is_for_what_ended_last_in_it(self):
        for rank in range(2):
            out = TraceWriter(rank, 2)
            out.thread(1, "main")
            out.communicator(1, "MPI_COMM_WORLD", "0-1")
            for k in range(5):
                t = k * 1_000_000
                at = t + 2_000 if rank == 0 else t + 700_000
                other, mine = out.post(1, t + 1_000, "recv", 1 - rank, 9), out.post(1, at, "recv" if rank == 0 else "send", 1 - rank, k)
                out.moved(1, other, (READY, t + 1_100), (IN_FLIGHT, t + 1_200), (ENDED, t + 5_000))
                out.moved(1, mine, (READY, at + 10), (IN_FLIGHT, at + 20), (ENDED, t + 720_000), matched=(1, k) if rank == 0 else None)
                out.region(1, t + 100, t + 900, "MPI_Irecv", 1)
                out.region(1, t + 200_000 if rank == 0 else t + 719_000, t + 721_000, "MPI_Waitall", 1)
            out.write(self.folder)
        text = self.text_of(self.folder)
        self.assertIn("1. imbalance", text)
        self.assertIn("first cause of 10 waits", text)

    def test_the_depth_of_the_queues_is_said(self):
        out = TraceWriter(0, 1)
        out.thread(1, "main")
        for k in range(3):
            task = out.post(1, k, "send", 0, k)
            out.moved(1, task, (READY, 10 + k), (IN_FLIGHT, 20 + k), (ENDED, 30 + k))
        self.assertIn("at most: 3 tasks posted and not finished (rank 0, lane 0), 3 not yet taken over", self.text_of(out.write(self.folder)))

    def test_a_task_is_named_by_the_message_that_it_met_and_a_collective_has_no_tag(self):
        out = TraceWriter(0, 2)
        out.thread(1, "main")
        out.communicator(1, "MPI_COMM_WORLD", "0-1")
        anything, known, both = out.post(1, 0, "recv", -1, -1), out.post(1, 0, "recv", 1, -1), out.post(1, 0, "allreduce")
        for task, tag in ((anything, 5), (known, 6), (both, None)):
            out.moved(1, task, (READY, 1), (IN_FLIGHT, 2), (ENDED, 3), matched=(1, tag) if tag else None)
        rank, = load.load([out.write(self.folder)]).ranks
        self.assertEqual([(task.title(), task.tag) for task in rank.tasks],
                         [("recv <- 1 tag 5", 5), ("recv <- 1 tag 6", 6), ("allreduce", None)])

    def test_text_and_page_have_the_ten_longest_idle_times_and_the_text_forty_lines_whatever_else_there_is(self):
        folder = halo_run(self.folder / "trace", n_ranks=8, late="send", state=0)
        lines = self.text_of(folder).splitlines()
        self.assertLessEqual(len(lines), 40)
        at = next(k for k, line in enumerate(lines) if line.startswith("Unblock delays, the longest idle time first; 10 of ")) + 2
        self.assertEqual(lines[at + 10], "Time of a task in each phase:")
        self.assertEqual(lines[-1][:14], "Critical path:")
        shown = page.render(Summary(load.load([folder])), "0").split('<section id="delays">')[1].split("</section>")[0]
        self.assertEqual(shown.count("data-task="), 10)

    def test_each_rank_has_a_row_of_the_page_and_the_critical_path_names_its_ranks(self):
        folder = halo_run(self.folder / "trace", late="send")
        self.assertRegex(self.text_of(folder).splitlines()[-1], r"^Critical path: .*; on rank 1 \d+ %, rank 0 \d+ %\.$")
        file = self.folder / "page.html"
        self.assertEqual(report("--html", file, folder).returncode, 0)
        shown = file.read_text(encoding="utf-8")
        rows = re.findall(r"<tr>(.*?)</tr>", re.search(r'<section id="ranks">(.*?)</section>', shown)[1])[1:]
        self.assertEqual([re.findall(r"<td[^>]*>(.*?)</td>", row)[:2] for row in rows], [["0", "1"], ["1", "1"]])
        self.assertRegex(shown, r"The path runs on rank 1 \d+ %, rank 0 \d+ %\.")

    def test_lines_beyond_the_most_are_counted_in_the_last_line(self):
        lines = text.render(Summary(load.load([halo_run(self.folder / "trace")])), 5)
        self.assertEqual(len(lines), 5)
        self.assertRegex(lines[-1], r"^\d+ more lines are left out: --html FILE shows all\.$")

    def test_a_message_is_matched_over_the_ranks_of_a_communicator_that_turns_them_round(self):
        for rank in range(2):
            out = TraceWriter(rank, 2)
            out.thread(1, "main")
            out.communicator(1, "reversed", "1,0", me=1 - rank)
            t = 0 if rank == 0 else 500_000
            task = out.post(1, t, "recv" if rank == 0 else "send", 0 if rank == 0 else 1, 3)
            out.moved(1, task, (READY, t), (IN_FLIGHT, t), (ENDED, 600_000), matched=(0, 3) if rank == 0 else None)
            if rank == 0:
                out.wait(1, 100, 600_100, task)
            out.write(self.folder)
        self.assertIn("1. late sender", self.text_of(self.folder))

    def test_clocks_that_differ_and_drift_are_put_right(self):
        halo_run(self.folder, late="send")
        # Rank 1 again, as another machine 3 s ahead, whose clock gains 1 ms in 20.
        ahead, lasted, sent = 3_000_000_000, 20_000_000, 10_000_000
        other = TraceWriter(1, 2, clock_domain=6)
        other.clock(ahead, -ahead, 900)
        other.clock(ahead + lasted, -ahead - 1_000_000, 1_200, is_end=True)
        other.thread(1, "main")
        other.communicator(1, "MPI_COMM_WORLD", "0-1")
        at = ahead + sent * 20 // 19
        task = other.post(1, at, "send", 0, 0)
        other.moved(1, task, (READY, at), (IN_FLIGHT, at + 100), (ENDED, at + 100_000))
        other.write(self.folder)
        moment = trace_run.read_run([self.folder]).ranks[1].tasks[task].posted
        self.assertLessEqual(abs(moment - (TraceWriter.BEGIN + sent)), 1_200)
        self.assertIn("clocks agree within 1.20 us.", self.text_of(self.folder))

    def test_clocks_that_were_compared_at_the_start_only_are_said_to_drift_unknown(self):
        halo_run(self.folder)
        other = TraceWriter(1, 2, clock_domain=6, state=0)  # killed after ten minutes
        other.clock(0, 0, 900)
        other.thread(1, "main")
        other.post(1, 600_000_000_000, "send", 0, 0)
        other.write(self.folder)
        self.assertIn("clocks agree within 900 ns at the start, drift unknown.", self.text_of(self.folder))

    def test_clocks_are_put_right_where_the_file_of_rank_0_is_missing(self):
        for rank, ahead, error in ((1, 3_000_000_000, 900), (2, 7_000_000_000, 700)):
            out = TraceWriter(rank, 3, clock_domain=rank)
            out.clock(ahead, -ahead, error)
            out.clock(ahead + 20_000_000, -ahead, error, is_end=True)
            out.thread(1, "main")
            out.communicator(1, "MPI_COMM_WORLD", "0-2")
            task = out.post(1, ahead + 5_000_000, "send", 0, 0)
            out.write(self.folder)
        run = trace_run.read_run([self.folder])
        self.assertEqual([each.tasks[task].posted for each in run.ranks], 2 * [TraceWriter.BEGIN + 5_000_000])
        self.assertIn("clocks agree within 1.60 us", self.text_of(self.folder))

    def test_a_rank_that_was_never_compared_is_put_beside_the_others_by_the_time_of_day(self):
        for rank, ahead in ((1, 3_000_000_000), (2, 0)):
            out = TraceWriter(rank, 3, clock_domain=rank)
            if rank == 1:
                out.clock(ahead, -ahead, 900)
            out.thread(1, "main")
            task = out.post(1, 4_000_000_000, "send", 0, 0)
            out.write(self.folder)
        first, second = (each.tasks[task].posted for each in trace_run.read_run([self.folder]).ranks)
        self.assertEqual(first, second)  # both began at one time of day
        self.assertIn("clocks of some ranks were not compared", self.text_of(self.folder))


class Lost(Case):
    """Traces that had no room for all records."""

    def test_of_the_newest_records_messages_are_told_from_the_end_on(self):
        run = trace_run.read_run([halo_run(self.folder / "trace", late="send", keep=1, lost={1: 70, 2: 120})])
        self.assertEqual(len(run.messages), len({message.id for message in run.messages}))
        self.assertGreater(len(run.messages), 10)
        for message in run.messages:
            self.assertLess(message.key[-1], 0)
            self.assertLess(abs(message.send.posted - message.receive.posted), 900_000, "they are of one hop")
        self.assertIn("1. late sender", self.text_of(self.folder / "trace"))

    def test_without_the_end_either_nothing_is_said_of_the_other_side(self):
        folder = halo_run(self.folder / "trace", late="send", keep=1, state=0, lost={1: 70, 2: 120})
        self.assertEqual(trace_run.read_run([folder]).messages, [])
        text = self.text_of(folder)
        self.assertIn("1. other side unknown", text)
        self.assertNotIn("Nothing is late", text)

    def test_a_message_that_nobody_received_does_not_join_the_wrong_ones(self):
        for rank in range(2):
            out = TraceWriter(rank, 2, keep=1)
            out.thread(1, "main")
            out.communicator(1, "MPI_COMM_WORLD", "0-1")
            out.state(1, 0, ISSUE)
            for k in range(30 if rank == 0 else 29):
                t = 1_000_000 * k
                task = out.post(1, t, "send" if rank == 0 else "recv", 1 - rank, 3)
                out.moved(1, task, (READY, t + 10), (IN_FLIGHT, t + 20), (ENDED, t + 500_000), matched=(0, 3) if rank else None)
            out.lost = {1: 9}
            out.write(self.folder)
        self.assertEqual(trace_run.read_run([self.folder]).messages, [])

    def test_of_the_oldest_records_none_is_told_after_the_first_that_may_be_missing(self):
        for rank in range(2):
            out = TraceWriter(rank, 2)
            out.communicator(1, "MPI_COMM_WORLD", "0-1")
            for thread in (1, 2, 3):
                out.thread(thread, f"thread {thread}")
            for k in range(40):  # two threads post in turn; the third drives
                t, thread = 1_000_000 * k, 1 + k % 2
                task = out.post(thread, t, "send" if rank == 0 else "recv", 1 - rank, 3)
                out.moved(3, task, (READY, t + 10), (IN_FLIGHT, t + 20 + rank), (ENDED, t + 500_000), matched=(0, 3) if rank else None)
            out.lost = {1: 10} if rank == 0 else {}
            out.write(self.folder)
        run = trace_run.read_run([self.folder])
        self.assertIn(len(run.messages), (18, 19, 20))
        for message in run.messages:
            self.assertEqual(message.send.posted, message.receive.posted)


    def test_threads_without_any_room_make_the_end_unknown(self):
        run = trace_run.read_run([halo_run(self.folder / "trace", hops=200, n_dropped=5)])
        self.assertIn(len(run.messages), range(10, 399))


class Refusals(Case):
    def test_another_format_that_cannot_be_written_to_its_end_leaves_what_was_there(self):
        trace = halo_run(self.folder / "trace")
        file, folder = self.folder / "picture", self.folder / "full"
        file.write_text("old", encoding="utf-8")
        folder.mkdir()
        (folder / "something").touch()
        self.refusal("--otf2", folder, trace, contains="full is not empty")
        self.refusal("--perfetto", self.folder / "no" / "picture", trace, contains="picture cannot be written")
        self.assertEqual(self.cut_short("--perfetto", file, trace).returncode, 2)
        self.assertEqual(self.cut_short("--otf2", self.folder / "archive", trace).returncode, 2)
        self.assertEqual(file.read_text(encoding="utf-8"), "old")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"picture", "full", "trace"})

    def test_an_archive_without_the_library_of_otf2_says_what_is_missing(self):
        trace = halo_run(self.folder / "trace")
        # Files of these names are nowhere, so open() fails as loading a library that is missing does.
        done = subprocess.run([sys.executable, "-c", f"import ctypes, runpy; ctypes.CDLL = open; runpy.run_path({PROGRAM!r}, run_name='__main__')", "--otf2", self.folder / "archive", trace],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("Debian: libopen-trace-format2-10", done.stderr)

    def cut_short(self, *words):
        """Runs the program, which may write no more than 1000 bytes to a file."""
        def allow_little():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        return subprocess.run([sys.executable, "-B", PROGRAM, *words], capture_output=True, text=True, timeout=60, check=False,
                              preexec_fn=allow_little)

    def test_a_folder_without_traces(self):
        self.refusal("--text", self.folder, contains="COMMTASK_TRACE")

    def test_what_is_not_there(self):
        self.refusal("--text", self.folder / "nowhere", contains="nowhere")

    def test_what_is_no_trace(self):
        (self.folder / "rank-0.cttrace").write_bytes(b"hello, world" * 5000)
        self.refusal("--text", self.folder, contains="rank-0.cttrace")

    def test_an_empty_file(self):
        (self.folder / "rank-0.cttrace").touch()
        self.refusal("--text", self.folder, contains="rank-0.cttrace")

    def test_half_a_header(self):
        path = halo_run(self.folder) / "rank-0.cttrace"
        path.write_bytes(path.read_bytes()[:300])
        self.refusal("--text", self.folder, contains="rank-0.cttrace")

    def test_another_version_says_which_one_is_read(self):
        halo_run(self.folder, version=1)
        self.refusal("--text", self.folder, contains="version 1 of the format, and this program reads version 2: ")

    def test_a_page_that_cannot_be_written(self):
        halo_run(self.folder)
        self.refusal("--html", self.folder / "no" / "page.html", self.folder, contains="page.html")

    def test_a_page_in_place_of_a_folder(self):
        halo_run(self.folder)
        self.refusal("--html", self.folder, self.folder, contains=str(self.folder))

    def test_a_page_that_cannot_be_written_to_its_end_leaves_the_old_one(self):
        page = self.folder / "page.html"
        page.write_text("old", encoding="utf-8")
        trace = halo_run(self.folder / "trace")

        done = self.cut_short("--html", page, trace)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("cannot be written", done.stderr)
        self.assertEqual(page.read_text(encoding="utf-8"), "old")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"page.html", "trace"})

    def test_a_text_that_nobody_could_read_is_a_failure(self):
        trace = halo_run(self.folder / "trace")
        with open("/dev/full", "w", encoding="utf-8") as full:
            lost = subprocess.run([sys.executable, PROGRAM, "--text", trace], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60, check=False)
        closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", sys.executable, PROGRAM, "--text", str(trace)],
                                stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        for done in (lost, closed):
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("standard output was lost", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_file_that_is_no_trace_is_refused(self):
        (self.folder / "a.json").write_text('{"some": "thing"}')
        self.refusal("--html", "out.html", "a.json", contains="a.json")

    def test_what_never_ends(self):
        self.refusal("--text", "/dev/zero", contains="no trace of commtask's")

    def test_an_empty_name(self):
        halo_run(self.folder)
        for words in ([""], ["--html", "", self.folder], ["--otf2", "", self.folder]):
            done = report(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("a name must not be empty", done.stderr)

    def test_an_unknown_option_and_no_input(self):
        self.assertEqual(report("--colour", self.folder).returncode, 2)
        self.assertEqual(report().returncode, 2)


class Leniency(Case):
    def test_a_trace_that_was_cut_off_is_told_as_far_as_it_goes(self):
        path = halo_run(self.folder, hops=200) / "rank-0.cttrace"
        raw = path.read_bytes()
        path.write_bytes(raw[:2 * CHUNK_BYTES + 5000])
        self.assertIn("2 ranks", self.text_of(self.folder))

    def test_a_killed_program_and_lost_records_are_said(self):
        halo_run(self.folder, state=0, n_dropped=12)
        text = self.text_of(self.folder)
        self.assertIn("commtask_finalize", text)
        self.assertIn("12", text)

    def test_the_size_of_what_did_not_complete_is_unknown(self):
        for n_bytes, total in ((0, "unknown"), (2048, "2.00 KiB, 2 unknown")):
            out = TraceWriter(0, 1, state=0)
            out.thread(1, "main")
            out.communicator(1, "MPI_COMM_WORLD", "0")
            out.moved(1, out.post(1, 0, "send", 0, 7), (READY, 10), (IN_FLIGHT, 20))
            out.moved(1, out.post(1, 0, "send", 0, 8), (READY, 10), (IN_FLIGHT, 20), (ENDED, 30), end=2)  # failed
            if n_bytes:
                out.moved(1, out.post(1, 0, "send", 0, 9), (READY, 10), (IN_FLIGHT, 20), (ENDED, 30), n_bytes=n_bytes)
            text = self.text_of(out.write(self.folder))
            self.assertIn(f"tasks, {total if n_bytes else 'size unknown'}\n", text)
            self.assertRegex(text, rf"MPI_COMM_WORLD +\d +{total} ")

    def test_what_all_ranks_lost_is_said_in_the_shortest_text_and_that_more_is_to_say(self):
        folder = halo_run(self.folder / "trace", n_ranks=8, late="send", state=0, n_dropped=12)
        (folder / "rank-7.cttrace").unlink()
        lines = self.text_of(folder).splitlines()
        self.assertLessEqual(len(lines), 40)
        notes = [line for line in lines if line.startswith("Note: ")]
        self.assertIn(", ".join(f"12 of rank {rank}" for rank in range(7)), notes[0])
        self.assertEqual(notes[1:], ["Note: of 8 ranks 1 are missing: 7.", "Note: did not come to the end of commtask_finalize: ranks 0, 1, 2, 3, 4, 5, 6."])
        shortest = text.render(Summary(load.load([folder])), len(lines) - 1)
        self.assertIn("Note: 2 more notes: --html FILE shows them.", shortest)

    def test_a_rank_that_is_missing_is_said(self):
        (halo_run(self.folder) / "rank-1.cttrace").unlink()
        self.assertIn("missing", self.text_of(self.folder))

    def test_a_trace_without_any_task_is_a_report_without_findings(self):
        out = TraceWriter(0, 1)
        out.thread(1, "main")
        self.assertIn("No thread was seen to wait", self.text_of(out.write(self.folder)))

    def test_a_reader_who_leaves_early_is_no_error(self):
        halo_run(self.folder)
        end_read, end_write = os.pipe()
        os.close(end_read)
        with os.fdopen(end_write, "wb") as closed:
            done = subprocess.run([sys.executable, PROGRAM, "--text", str(self.folder)], stdout=closed, stderr=subprocess.PIPE,
                                  timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_help_and_version_need_no_input(self):
        self.assertIn("COMMTASK_TRACE", report("--help").stdout)
        self.assertTrue(report("--version").stdout.startswith("commtask-report "))


if __name__ == "__main__":
    unittest.main()
