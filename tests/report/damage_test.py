#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Traces that no library wrote so: damaged anywhere, out of order, without an end, with names that would steer a terminal. Each is a report
# or a sentence, never a traceback, and nothing of a file reaches the terminal as it is.
"""Usage: damage_test.py COMMTASK_REPORT   (the program, or the folder of its sources)"""
import random
import unittest

from report_case import Case, report

import load  # found by what report_case adds to the path
import otf2_archive
import page
import perfetto
import text
import trace_run
from summary import Summary
from trace_reader import TraceError
from trace_writer import CHUNK_BYTES, ENDED, IN_FLIGHT, READY, TraceWriter, halo_run


class Damage(Case):
    def test_damage_anywhere_is_a_sentence_or_a_report(self):
        orders = random.Random(7)
        whole = {path: path.read_bytes() for path in halo_run(self.folder, hops=4).iterdir()}
        refused = 0
        for _ in range(150):
            for path, raw in whole.items():
                damaged = bytearray(raw)
                for _ in range(orders.choice((1, 3, 20))):
                    damaged[orders.choice((orders.randrange(600), orders.randrange(CHUNK_BYTES, len(raw))))] = orders.choice((0, 255, 57))
                path.write_bytes(damaged)
            try:
                read = trace_run.read_run([self.folder])
                run = load.loaded(read)
                summary = Summary(run)
                text.render(summary)
                page.render(summary, "")
                perfetto.write(read, run, "/dev/null")
                otf2_archive.Archive(read)
            except TraceError as refusal:
                self.assertIn("cttrace", str(refusal))
                refused += 1
        self.assertIn(refused, range(1, 150))

    def test_a_task_that_ends_before_it_was_issued_or_posted_is_damage(self):
        for head in ({}, {"n_dropped": 3}, {"n_dropped": 3, "keep": 1}):
            for steps, said in ((((IN_FLIGHT, 20), (ENDED, 10)), "task 1.1 is ended before it is in flight"),
                                (((READY, 1), (ENDED, 2)), "task 1.1 is ready before it is posted"),
                                (((ENDED, 10), (IN_FLIGHT, 20), (ENDED, 30)), "task 1.1 is ended before it is in flight")):
                for rank in range(2):
                    out = TraceWriter(rank, 2, **head)
                    out.thread(1, "main")
                    out.communicator(1, "MPI_COMM_WORLD", "0-1")
                    out.moved(1, out.post(1, 5, "recv" if rank else "send", 1 - rank, 7), *steps, matched=(0, 7) if rank else None)
                    out.write(self.folder)
                self.refusal("--text", self.folder, contains=said)

    def test_more_lanes_than_a_record_can_name(self):
        halo_run(self.folder, n_lanes=4_294_967_295)
        self.refusal("--text", self.folder, contains="4294967295 lanes")

    def test_a_list_of_members_without_its_end_is_no_communicator(self):
        for rank in range(2):
            out = TraceWriter(rank, 2)
            out.thread(1, "main")
            out.communicator(1, "a long one", "0-1" + ",0-1" * 20)
            out.records[0] = [record for record in out.records[0] if record[28] != 32 or b"0-1" not in record or record[31] != 1]
            task = out.post(1, 0, "recv" if rank else "send", 1 - rank, 7)
            out.moved(1, task, (READY, 1), (IN_FLIGHT, 2), (ENDED, 3), matched=(0, 7) if rank else None)
            out.write(self.folder)
        run = trace_run.read_run([self.folder])
        self.assertEqual([each.communicators[1].members for each in run.ranks], [(), ()])
        self.assertEqual(run.messages, [])


class Names(Case):
    def test_control_characters_of_names_are_escaped_everywhere(self):
        evil = "\x1b[2Jx\n\x7f\u202e"
        halo = self.folder / "trace"
        for rank in range(2):
            out = TraceWriter(rank, 2, host="h" + evil, program="p" + evil)
            out.thread(1, "t" + evil)
            out.communicator(1, "c" + evil, "0-1")
            task = out.post(1, 0, "recv" if rank else "send", 1 - rank, 7)
            out.moved(1, task, (READY, 1), (IN_FLIGHT, 2), (ENDED, 900), n_bytes=8, matched=(0, 7) if rank else None)
            out.wait(1, 5, 910, task)
            out.compute(1, 910, 950, "w" + evil)
            out.write(halo)
        shown = r"\x1b[2Jx\x0a\x7f\xe2\x80\xae"
        text = self.text_of(halo)
        for letter in "hpc":
            self.assertIn(letter + shown, text)
        page, picture = self.folder / "page.html", self.folder / "picture"
        self.assertEqual(report("--html", page, "--perfetto", picture, halo).returncode, 0)
        for letter in "hct":
            self.assertIn((letter + shown).encode(), picture.read_bytes())
        html = page.read_text(encoding="utf-8")
        for letter in "hpctw":
            self.assertIn(letter + shown, html.replace("\\\\", "\\"))
        for both in (text, html):
            self.assertNotRegex(both, "[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]")

    def test_a_name_of_a_file_is_escaped_in_a_refusal(self):
        (self.folder / "rank\x1b[1m-0.cttrace").touch()
        self.refusal("--text", self.folder, contains=r"rank\x1b[1m-0.cttrace")


if __name__ == "__main__":
    unittest.main()
