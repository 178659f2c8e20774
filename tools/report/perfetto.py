# SPDX-License-Identifier: Apache-2.0
# A run in Perfetto's native format: a process for each rank; in it the threads with what they did, the lanes with their tasks, and
# the depth of the queues. Arrows go from a message's issue to its arrival, between tasks and what waited for them, and from the compute
# task that posted a task to that. The numbers are those of Perfetto's .proto files, which never change once released; a test reads
# every packet with the schema of the perfetto package.
"""Writes a run for ui.perfetto.dev."""

import heapq
from bisect import bisect_right
from collections import defaultdict
from functools import cache

import spans
import tables
import whole_file
from trace_reader import EVERY_LANE, IN_FLIGHT, NODE

SEQUENCE, MONOTONIC = 1, 3
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
#: Of InternedData: texts that are written once.
CATEGORIES, NAMES, FACT_NAMES, FACT_TEXTS = 1, 2, 3, 29


ONE_BYTE = [bytes((value,)) for value in range(128)]


def varint(value):
    if 0 <= value < 128:
        return ONE_BYTE[value]
    value &= 0xFFFFFFFFFFFFFFFF  # a damaged file may have times before any clock
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


@cache
def _tag(field, wire):
    return varint(field << 3 | wire)


def number(field, value):
    return _tag(field, 0) + varint(value)


def fixed(field, value):
    return _tag(field, 1) + value.to_bytes(8, "little")


def data(field, value):
    if isinstance(value, str):
        value = value.encode()
    return _tag(field, 2) + varint(len(value)) + value


class _Writer:
    """Packets of one sequence, in any order: each has its time."""

    def __init__(self, file):
        self.file, self.n_tracks, self.n_arrows = file, 0, 0
        # The first event clears the state of the sequence; all need it.
        self.head, self.next_head = (number(10, SEQUENCE) + number(58, MONOTONIC) + number(13, flags) for flags in (3, 2))
        self.known = {kind: {} for kind in (CATEGORIES, NAMES, FACT_NAMES, FACT_TEXTS)}
        self.new = []

    def _put(self, packet):
        self.file.write(data(1, packet))

    def track(self, parent, place, own):
        """Tracks with the same parent and name are shown as one; `place`: in which order those of a parent are."""
        self.n_tracks += 1
        self._put(number(10, SEQUENCE) + data(60, number(1, self.n_tracks) + (number(5, parent) if parent else b"") + number(11, 3) + number(12, place) + own))
        return self.n_tracks

    def arrow(self):
        """A new identifier, far from those of messages."""
        self.n_arrows += 1
        return self.n_arrows * 0x9e3779b97f4a7c15 % (1 << 64)

    def _number_of(self, kind, text):
        known = self.known[kind]
        if text not in known:
            known[text] = len(known) + 1
            self.new.append(data(kind, number(1, known[text]) + data(2, text)))
        return known[text]

    def _event(self, track, time, kind, rest=b""):
        interned, self.new = b"".join(self.new), []
        self._put(number(8, time) + self.head + (data(12, interned) if interned else b"") + data(11, number(9, kind) + number(11, track) + rest))
        self.head = self.next_head

    def begin(self, track, time, category, name, flows=(), ending=(), facts=(), kind=BEGIN):
        """A slice; of an instant that is all."""
        rest = number(3, self._number_of(CATEGORIES, category)) + number(10, self._number_of(NAMES, name))
        rest += b"".join(fixed(47, flow) for flow in flows) + b"".join(fixed(48, flow) for flow in ending)
        for fact, value in facts:
            said = number(4, value) if isinstance(value, int) else number(17, self._number_of(FACT_TEXTS, value))
            rest += data(4, number(1, self._number_of(FACT_NAMES, fact)) + said)
        self._event(track, time, kind, rest)

    def end(self, track, time):
        self._event(track, time, END)

    def count(self, track, time, value):
        self._event(track, time, COUNTER, number(30, value))


class _Rank:
    """One rank: `trace` as it was read, `rank` as the analyses see it, whose times begin at `zero`."""

    def __init__(self, out, zero, trace, rank, sent, received):
        self.out, self.zero, self.trace, self.rank, self.sent, self.received = out, zero, trace, rank, sent, received
        self.tasks = {task.number: task for task in rank.tasks}
        self.from_end, self.to_issue = defaultdict(list), defaultdict(list)  #: task -> arrows
        self.from_slice, self.to_slice = defaultdict(list), defaultdict(list)  #: (thread, its end, or begin) -> arrows
        self._find_arrows()

    def write(self):
        out, trace = self.out, self.trace
        pid = trace.rank + 1
        self.process = out.track(0, pid, data(3, number(1, pid) + data(6, f"rank {trace.rank} ({trace.host})")))
        self.threads = {}
        for place, thread in enumerate((trace.threads[k] for k in sorted(trace.threads) if k), 1):
            name = spans.name_of(thread) if thread.is_worker else thread.name
            self.threads[thread.number] = here = out.track(self.process, place, data(4, number(1, pid) + number(2, thread.tid) + data(5, name)))
            self._write_thread(here, thread)
        for lane in range(max(1, trace.n_lanes)):
            self._write_lane(lane, len(self.threads) + 3 * lane + 1)

    def _find_arrows(self):
        """Forwards alone: where records were lost, something may seem to have ended too late to have let the other begin."""

        def add(begin, end, source, target):
            if begin <= end:
                arrow = self.out.arrow()
                source.append(arrow)
                target.append(arrow)

        for task in self.rank.tasks:
            if task.issued is not None:
                for before in dict.fromkeys(task.predecessors):
                    if before.ended is not None:
                        add(before.ended, task.issued, self.from_end[before], self.to_issue[task])
                for at, thread, _ in dict.fromkeys(task.computed_before):
                    add(at, task.issued, self.from_slice[thread, at + self.zero], self.to_issue[task])
            if task.ended is not None:
                for at, thread, _ in dict.fromkeys(task.computed_after):
                    add(task.ended, at, self.from_end[task], self.to_slice[thread, at + self.zero])
        begins = {}
        for thread in self.trace.threads.values():
            for span in thread.computes:
                begins[span.id] = min((span.begin, thread.number), begins.get(span.id, (span.begin, thread.number)))
        for node in (each for each in self.trace.computes.values() if each.model == NODE and each.id in begins):
            at, thread = begins[node.id]
            for before, _ in node.after:
                task = self.trace.tasks.get(before)
                task = self.tasks.get(task.number) if task else None
                if task is not None and task.ended is not None:
                    add(task.ended + self.zero, at, self.from_end[task], self.to_slice[thread, at])

    def _write_thread(self, here, thread):
        out, opened = self.out, []
        for begin, end, category, span, is_rest in spans.nest(spans.of_thread(self.trace, thread)):
            while opened and opened[-1] <= begin:
                out.end(here, opened.pop())
            flows = ending = ()
            if category == "compute":
                flows = self.from_slice.pop((thread.number, end), ())
                ending = () if is_rest else self.to_slice.pop((thread.number, begin), ())
            name = span.name or "compute task"
            if category == "wait" and span.id in self.trace.tasks:
                task = self.tasks.get(self.trace.tasks[span.id].number)
                name = f"wait for {task.title()}" if task else name
            out.begin(here, begin, category, name, flows, ending)
            opened.append(end)
        while opened:
            out.end(here, opened.pop())
        if thread.states:
            states = out.track(here, 0, data(2, "state" if thread.is_worker else "makes progress"))
            for begin, end, state, _ in thread.intervals(self.trace.last):
                out.begin(states, begin, "state", state)
                out.end(states, end)

    def _write_lane(self, lane, place):
        out = self.out
        free = []  #: (when, track): tasks that overlap lie below each other
        for each in sorted((each for each in self.trace.tasks.values() if each.number in self.tasks and each.lane == lane),
                           key=lambda each: each.posted):
            task = self.tasks[each.number]
            phases = [phase for phase in task.phases() if phase[0] != "unblock"]
            if task.issued is not None and task.until is None:
                phases.append(("in flight", task.issued, task.issued))  # the record of its end is lost
            end = max([task.posted, *(until for _, _, until in phases)])
            if free and free[0][0] <= task.posted:
                _, here = heapq.heappop(free)
            else:
                here = out.track(self.process, place + 2, data(2, f"lane {lane}: tasks"))
            heapq.heappush(free, (end, here))
            self._write_task(here, each, task, phases, end)
        steps = tables.depth_steps(self.rank, lane)
        for k, what in enumerate(("not yet taken over", "posted, not finished")):
            here = out.track(self.process, place + k, data(2, f"lane {lane}: {what}") + data(8, b""))
            depth = None
            for step in steps:
                if step[k + 1] != depth:
                    depth = step[k + 1]
                    out.count(here, step[0] + self.zero, depth)

    def _write_task(self, here, each, task, phases, end):
        out, title, zero = self.out, task.title(), self.zero
        posts = [out.arrow()] if each.compute in self.trace.computes else ()
        if task.submitter in self.threads:
            out.begin(self.threads[task.submitter], each.posted, "post", f"post {title}", posts, kind=INSTANT)
        known = self.trace.communicators.get(each.communicator)
        facts = [("bytes", "unknown" if task.bytes is None else task.bytes), ("end", task.state), ("communicator", known.name if known else "")]
        out.begin(here, each.posted, "task", title, (), posts, facts + list(self._threads_of(each, task)))
        for phase, begin, until in phases:
            is_issue = phase == "in flight"
            out.begin(here, begin + zero, "phase", phase, self.sent[each.id] if is_issue else (), self.to_issue[task] if is_issue else ())
            out.end(here, until + zero)
        if self.from_end[task] or self.received[each.id]:
            out.begin(here, end + zero, "task", "arrived" if self.received[each.id] else "ended", self.from_end[task], self.received[each.id],
                      kind=INSTANT)
        out.end(here, end + zero)

    def _threads_of(self, each, task):
        if task.submitter in self.trace.threads:
            yield "posted by", spans.name_of(self.trace.threads[task.submitter])
        for step in each.steps:
            if step.phase >= IN_FLIGHT:
                yield "issued by" if step.phase == IN_FLIGHT else "ended by", self._role_of(each, step)

    def _role_of(self, each, step):
        """The thread that moved a task, and what for: a worker, the task's submitter, or a thread that waited."""
        thread = self.trace.threads[step.thread]
        name = spans.name_of(thread)
        if thread.is_worker:
            return name
        k = bisect_right(thread.states, step.time, key=lambda said: said[0]) - 1
        _, lane, state = thread.states[k] if k >= 0 else (0, 0, 0)
        if state and lane in (each.lane, EVERY_LANE):
            return f"waiting {name}"
        return f"submitter, {name}" if thread.number == each.submitter else name


def write(read, run, path):
    """`read`: the run as trace_run.py read it, `run`: as load.py made it of that."""
    sent, received = defaultdict(lambda: defaultdict(list)), defaultdict(lambda: defaultdict(list))
    for message in read.messages:
        sent[message.send.rank][message.send.id].append(message.id)
        received[message.receive.rank][message.receive.id].append(message.id)
    with whole_file.aside(path) as part:
        with part.open("wb") as file:
            out = _Writer(file)
            for trace, rank in zip(read.ranks, run.ranks):
                _Rank(out, read.begin, trace, rank, sent[trace.rank], received[trace.rank]).write()
