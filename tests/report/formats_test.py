#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# commtask-report --perfetto and --otf2 on traces that no program here can make at will: machines with clocks of their own, tasks that did
# not complete, spans in any order. otf2-print tells what times the archive has, and a reader of protobuf's of its own what the other file has.
"""Usage: formats_test.py COMMTASK_REPORT   (the program, or the folder of its sources)"""
import collections
import re
import shutil
import unittest

from report_case import Case, report

import otf2_regions  # beside this file
import trace_run  # found by what report_case adds to the path
from trace_writer import CALLBACK, ENDED, IN_FLIGHT, ISSUE, NOTHING, READY, TraceWriter

HAS_OTF2 = shutil.which("otf2-print") is not None


def fields(raw):
    """(number, value) of a message of protobuf's; fixed64 and lengths are all that is needed beside varints."""
    at, end = 0, len(raw)

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = raw[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while at < end:
        number, wire = divmod(varint(), 8)
        value = varint() if wire in (0, 2) else 0
        n_bytes = {0: 0, 1: 8, 2: value}[wire]
        if wire:
            value = raw[at:at + n_bytes]
            at += n_bytes
        yield number, value


def arrows_of(path):
    """Of a file for Perfetto: {arrow: ([when it begins], [when it ends])}."""
    found = collections.defaultdict(lambda: ([], []))
    for _, packet in fields(path.read_bytes()):
        known = dict(fields(packet))
        for number, value in fields(known.get(11, b"")):  # TrackEvent
            if number in (47, 48):  # flow_ids, terminating_flow_ids
                found[value][number - 47].append(known[8])
    return found


def sizes_of(path):
    """Of a file for Perfetto: what it says of the bytes of its tasks, in their order."""
    known, sizes = {}, []
    for _, packet in fields(path.read_bytes()):
        packet = dict(fields(packet))
        for number, entry in fields(packet.get(12, b"")):  # InternedData: names of annotations, and texts
            entry = dict(fields(entry))
            known[number, entry[1]] = entry[2]
        for number, value in fields(packet.get(11, b"")):
            annotation = dict(fields(value)) if number == 4 else {}
            if known.get((3, annotation.get(1))) == b"bytes":
                sizes.append(annotation[4] if 4 in annotation else known[29, annotation[17]].decode())
    return sizes


MPI, PROGRAM = 1, 3  # classes of regions


class Formats(Case):
    def setUp(self):
        super().setUp()
        self.traces = self.folder / "traces"

    def written(self, option):
        """Where the traces are in another format."""
        result = self.folder / option
        done = report(f"--{option}", result, self.traces)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return result

    def archive(self):
        shutil.rmtree(self.folder / "otf2", ignore_errors=True)
        return self.written("otf2")


class Clocks(Formats):
    def read(self):
        """The run, once the archive has had the same times."""
        run = trace_run.read_run([self.traces])
        if HAS_OTF2:
            sent = re.findall(r"(?m)^MPI_ISEND +\d+ +(\d+) ", otf2_regions.print_archive(self.archive()))
            self.assertEqual(sorted(map(int, sent)), sorted(task.issued - run.begin for each in run.ranks for task in each.tasks.values()))
        return run

    def machine(self, rank, ahead, domain, *comparisons):
        out = TraceWriter(rank, 4, clock_domain=domain)
        out.BEGIN += ahead
        for at, offset, error in comparisons:
            out.clock(at, offset, error, is_end=at > 0)
        out.thread(1, "main")
        out.communicator(1, "MPI_COMM_WORLD", "0-3")
        for k in range(5):
            at = 1_000_000 * k
            task = out.post(1, at, "send", (rank + 1) % 4, k)
            out.moved(1, task, (READY, at + 10), (IN_FLIGHT, at + 20), (ENDED, at + 30))
        out.write(self.traces)

    def test_drift_is_put_right_by_the_best_of_a_machine_with_or_without_rank_0(self):
        self.machine(0, 0, 1)
        self.machine(1, 3_000_000_000, 2, (0, -3_000_000_000, 400), (10_000_000, -3_000_100_000, 900))
        self.machine(2, 3_000_000_000, 2, (0, -3_000_000_000, 500), (10_000_000, -3_000_100_003, 300))
        self.machine(3, 7_000_000_000, 3, (0, -7_000_000_000, 200))
        whole = self.read()
        self.assertEqual([each.clock_error for each in whole.ranks], [0, 500, 500, 200])
        (self.traces / "rank-0.cttrace").unlink()
        rest = self.read()
        self.assertEqual([sorted(task.issued for task in each.tasks.values()) for each in rest.ranks],
                         [sorted(task.issued for task in each.tasks.values()) for each in whole.ranks[1:]])

    def test_what_was_not_measured_is_put_beside_what_was(self):
        self.machine(1, 3_000_000_000, 2)
        self.machine(2, 0, 3, (0, -500, 100))
        self.assertEqual([each.clock_error for each in self.read().ranks], [None, 100])


class Sizes(Formats):
    def test_of_what_did_not_complete_it_is_what_it_was_to_send_or_unknown(self):
        out = TraceWriter(0, 1)
        out.thread(1, "main")
        out.communicator(1, "MPI_COMM_WORLD", "0")
        rows = (("send", 3000, 1, 3000, 3000), ("send", 700, None, 0, 700), ("send", 60, 2, 0, 60), ("send", 0, None, 0, "unknown"),
                ("recv", 0, None, 0, "unknown"), ("recv", 0, 2, 0, "unknown"), ("sendrecv", 8, None, 0, "unknown"), ("sendrecv", 5, 1, 12, 12))
        for k, (operation, given, end, n_bytes, _) in enumerate(rows):
            task = out.post(1, 100 * k, operation, 0, k)
            if operation == "sendrecv":
                out.put(1, 2, 100 * k, task, 1 << 32)
            steps = ((READY, 100 * k + 10), (IN_FLIGHT, 100 * k + 20), (ENDED, 100 * k + 30))[:2 if end is None else 3]
            out.moved(1, task, *steps, given=given, n_bytes=n_bytes, end=end)
        out.write(self.traces)
        expected = [size for *_, size in rows]
        read = sorted(trace_run.read_run([self.traces]).ranks[0].tasks.values(), key=lambda task: task.posted)
        self.assertEqual(["unknown" if task.bytes is None else task.bytes for task in read], expected)
        if HAS_OTF2:
            lengths = re.findall(r"(MPI_\w+) .* Length: (\d+)", otf2_regions.print_archive(self.archive()))
            self.assertEqual(lengths, [("MPI_ISEND", "3000"), ("MPI_ISEND", "700"), ("MPI_ISEND", "60"), ("MPI_ISEND", "0"), ("MPI_ISEND", "8"),
                                       ("MPI_ISEND", "5"), ("MPI_IRECV", "7")])
        self.assertEqual(sizes_of(self.written("perfetto")), expected)


class Arrows(Formats):
    def test_a_body_goes_on_each_time_because_of_what_it_waited_for(self):
        """So many slices and waits that looking through the ones for each of the others takes longer than `report` gives."""
        out = TraceWriter(0, 1)
        out.thread(1, "main")
        out.thread(2, "worker", lane=0)
        out.thread(3, "another")
        n_waits, n_slices = 500, 50_000
        body, sliced = out.new_id(1), out.new_id(3)
        for thread, each in ((1, body), (3, sliced)):
            out.put(thread, 17, 0, each, detail=out.text("body"), sub=2)
            out.put(thread, 18, 0, each, sub=2)
        for k in range(n_waits):
            at = 1000 * k + 10
            task = out.post(1, at, "recv", 0, 7)
            out.moved(2, task, (READY, at + 5), (IN_FLIGHT, at + 10), (ENDED, at + 500))
            out.put(1, 3, at + 20, body, task)
            out.put(1, 19, at + 30, body, sub=1)
            out.put(1, 18, at + 600, body, sub=2)
        end = 1000 * n_waits + 20
        out.put(1, 19, end, body)
        for k in range(n_slices):
            out.put(3, 19, 5 * k + 2, sliced, sub=1)
            out.put(3, 18, 5 * k + 5, sliced, sub=2)
            out.put(3, 3, end, sliced, task)
        out.put(3, 19, end, sliced, sub=1)
        out.put(3, 18, end + 10, sliced, sub=2)
        out.put(3, 19, end + 20, sliced)
        out.write(self.traces)
        begins = [TraceWriter.BEGIN + 1000 * k + 10 for k in range(n_waits)]
        found = sorted(arrows_of(self.written("perfetto")).values())
        self.assertEqual(found.pop(), ([begins[-1] + 500], [TraceWriter.BEGIN + end + 10]))
        self.assertEqual(found, [([at + 500], [at + 600]) for at in begins])


@unittest.skipUnless(HAS_OTF2, "otf2-print is not there (Debian: otf2-tools)")
class Regions(Formats):
    def test_a_region_around_many_ends_where_it_does(self):
        out = TraceWriter(0, 1)
        out.thread(1, "main")
        n_inside, end = 10_000, 2_000_000
        out.put(1, 20, 0, detail=out.text("outer"), sub=2)
        for k in range(n_inside):
            out.region(1, 100 * k + 10, 100 * k + 50, "inner", 2)
        out.put(1, 21, end, detail=out.text("outer"), sub=2)
        out.region(1, 5_000_000, 5_000_100, "after", 2)
        out.write(self.traces)
        regions = otf2_regions.read(self.archive())[1]
        self.assertEqual([each for each in regions if each[0] == "outer"], [("outer", 0, end)])

    def test_what_ends_inside_of_another_is_left_and_entered_again(self):
        out = TraceWriter(0, 1)
        out.thread(1, "main")
        out.thread(2, "commtask", lane=0)
        for at, state in ((0, ISSUE), (100, CALLBACK), (200, ISSUE), (300, NOTHING)):
            out.state(2, at, state)
        out.compute(2, 100, 250, "body")
        outer = out.compute(1, 0, 50, "outer")
        out.put(1, 20, 30, detail=out.text("taskwait"), sub=2)
        out.compute(1, 60, 150, "inner")
        out.put(1, 18, 160, outer)
        out.put(1, 21, 200, detail=out.text("taskwait"), sub=2)
        out.put(1, 19, 250, outer)
        out.write(self.traces)
        regions = otf2_regions.read(self.archive())
        self.assertEqual(regions[1], [("taskwait", 30, 50), ("outer", 0, 50), ("inner", 60, 150), ("outer", 160, 200),
                                      ("taskwait", 50, 200), ("outer", 200, 250)])
        self.assertEqual(regions[2], [("worker: issue", 0, 100), ("body", 100, 200), ("worker: callback", 100, 200), ("body", 200, 250),
                                      ("worker: issue", 200, 300)])

    def test_one_name_may_be_of_two_kinds(self):
        out = TraceWriter(0, 1)
        out.thread(1, "main")
        out.region(1, 0, 5, "first", PROGRAM)
        out.compute(1, 10, 20, "solve")
        out.region(1, 30, 40, "solve", PROGRAM)
        out.region(1, 50, 60, "MPI_Barrier", MPI)
        out.region(1, 70, 80, "first", MPI)
        out.write(self.traces)
        regions = otf2_regions.read(self.archive())
        self.assertEqual(regions[1], [("first", 0, 5), ("solve", 10, 20), ("solve", 30, 40), ("MPI_Barrier", 50, 60), ("first", 70, 80)])

    def test_every_form_of_a_call_has_the_role_of_what_it_does(self):
        roles = {
            "BARRIER": "MPI_Barrier MPI_Ibarrier MPI_Barrier_init",
            "COLL_ONE2ALL": "MPI_Bcast_c MPI_Iscatterv_c MPI_Bcast_init_c",
            "COLL_ALL2ALL": "MPI_Allreduce MPI_Allreduce_c MPI_Iallreduce_c MPI_Reduce_scatter_init",
            "COLL_OTHER": "MPI_Comm_dup MPI_Comm_idup MPI_Comm_idup_with_info MPI_Comm_dup_with_info MPI_Neighbor_alltoall "
                          "MPI_Ineighbor_allgatherv MPI_Ineighbor_alltoallw_c MPI_Neighbor_alltoall_init",
            "RMA": "MPI_Put_c MPI_Rget_accumulate_c MPI_Win_start MPI_Win_test",
            "POINT2POINT": "MPI_Isend_c MPI_Send_init MPI_Send_init_c MPI_Psend_init MPI_Start MPI_Startall MPI_Waitall MPI_Test_cancelled MPI_Improbe",
            "FILE_IO": "MPI_File_write_at_c",
            "FUNCTION": "MPI_Init MPI_Grequest_start MPI_T_pvar_start MPI_Topo_test MPI_Comm_test_inter MPI_Type_contiguous_c MPI_Comm_split",
        }
        expected = {name: role for role, names in roles.items() for name in names.split()}
        out = TraceWriter(0, 1)
        out.thread(1, "main")
        for k, name in enumerate(expected):
            out.region(1, 10 * k, 10 * k + 5, name, MPI)
        out.write(self.traces)
        self.assertEqual(otf2_regions.kinds(self.archive()), {name: (role, "MPI") for name, role in expected.items()})


if __name__ == "__main__":
    unittest.main()
