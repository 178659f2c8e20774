# SPDX-License-Identifier: Apache-2.0
#
# Reads a file that COMMTASK_TRACE wrote (docs/trace-format.md) into Python objects, its times as they are: trace_run.py puts
# the ranks of a run together. What a record means is decided here alone; who draws or sums up asks these objects. All of a
# file is read at once: a trace fits into memory, since its writer is bounded.
from __future__ import annotations

import re
import struct
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from printable import printable

CHUNK_BYTES = 16384
MAGIC = b"CTTRACE\0"
VERSION = 2

POSTED, RECEIVES_FROM, AFTER, POSTED_IN, POST_RETURNED, MOVED, MATCHED, SIGNALED, WAIT_BEGIN, WAIT_END, ALSO = range(1, 12)
STATE, COMPUTE_CREATED, COMPUTE_BEGIN, COMPUTE_END, REGION_BEGIN, REGION_END, PROCESSOR = range(16, 23)
TEXT_PART, THREAD, COMMUNICATOR, OPERATION, CLOCK = range(32, 37)
CHUNK = 255

PHASES = ("posted", "waiting", "held", "ready", "in flight", "ended", "dropped")
IN_FLIGHT, ENDED, DROPPED = 4, 5, 6
ENDS = ("open", "completed", "failed", "canceled", "", "given up")
COMPLETED = 1
STATES = ("none", "issue", "poll", "idle", "timed wait", "blocked", "beside others", "callback", "paused")

# Their time is that of their writing; a post's, or a match's, lies before others that were written earlier.
WRITTEN_AT_ONCE = (POST_RETURNED, WAIT_BEGIN, WAIT_END, STATE, COMPUTE_CREATED, COMPUTE_BEGIN, COMPUTE_END, REGION_END, PROCESSOR)

AFTER_ITS_MEMBER = 1  # flag of AFTER
LAST_PART = 1  # flag of TEXT_PART
SENDS, RECEIVES, COLLECTIVE, MPROBE, MRECV, ONE_SIDED = 1, 2, 4, 8, 16, 32  # flags of an operation
STANDS = 8  # flag of POSTED
HELPER_LANE = -2
EVERY_LANE = 255  # of a state: several lanes in turns
ONETBB, NODE = 2, 4  # models of a compute task: a body of oneTBB; one of its nodes hands on what has come
MOST_OTHERS = 1 << 16  # messages that one record may stand for
PROC_NULL = -2

MOST_MEMBERS = 1 << 24  # of a communicator
MOST_LANES = EVERY_LANE  # a record says its lane in a byte

_members = re.compile(r"(-?\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_record = struct.Struct("<QQQIBBBB")
_halves = struct.Struct("<ii")
_whole = struct.Struct("<Q")
_header = struct.Struct("<8s6IQ4I4Q2IQ64s96s256s2Ii")


class TraceError(Exception):
    """A file that cannot be read; the sentence names it."""


def halves(value: int) -> tuple[int, int]:
    return _halves.unpack(_whole.pack(value))


def signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def thread_of(identifier: int) -> int:
    """Who posted or made the task."""
    return identifier >> 48


@dataclass(slots=True)
class Step:
    """One move of a task: from phase to phase, by the thread that drove its lane."""
    time: int
    before: int
    phase: int
    thread: int


@dataclass(slots=True)
class Task:
    id: int
    rank: int
    kind: int = 0
    operation: str = "?"
    communicator: int = 0
    peer: int = PROC_NULL  # destination, source, root, or whose window
    tag: int = 0
    source: int | None = None  # of a sendrecv
    source_tag: int | None = None
    others: list[tuple[int, int, int]] = field(default_factory=list)  # rank, tag, SENDS or RECEIVES, of a task with several messages
    lane: int = 0
    flags: int = 0
    posted: int | None = None
    steps: list[Step] = field(default_factory=list)
    end: int = 0  # index of ENDS; 0: it had not ended
    given: int = 0  # bytes that it sends
    bytes: int | None = None  # sent and received; of one that did not complete what it was to send; None: unknown
    matched: tuple[int, int] | None = None  # source and tag of the message
    after: list[int] = field(default_factory=list)
    members: list[int] = field(default_factory=list)  # of a plan's run
    compute: int = 0  # the compute task in which it was posted

    @property
    def submitter(self) -> int:
        return thread_of(self.id)

    @property
    def number(self) -> str:
        """As people see it: thread and count."""
        return f"{self.submitter}.{self.id & 0xffffffffffff}"

    @property
    def stands(self) -> bool:
        """A standing receive: nobody waits for it."""
        return bool(self.flags & STANDS)

    @property
    def issued(self) -> int | None:
        return next((step.time for step in self.steps if step.phase == IN_FLIGHT), None)

    @property
    def ended(self) -> int | None:
        return self.steps[-1].time if self.steps and self.steps[-1].phase in (ENDED, DROPPED) else None


@dataclass(slots=True)
class Span:
    """What a thread did from begin to end; end is None where the trace ends before."""
    begin: int
    end: int | None
    name: str
    sub: int = 0  # class of a region, model of a compute task
    id: int = 0
    how: int = 0  # how a slice of a compute task ended: `sub` of compute_end


@dataclass(slots=True)
class Thread:
    number: int
    tid: int = 0
    name: str = ""
    lane: int = -1  # whose worker it is; HELPER_LANE
    n_dropped: int = 0
    states: list[tuple[int, int, int]] = field(default_factory=list)  # time, lane, state
    waits: list[Span] = field(default_factory=list)  # id: the task that ended last
    computes: list[Span] = field(default_factory=list)
    regions: list[Span] = field(default_factory=list)
    processor: list[tuple[int, int, int]] = field(default_factory=list)  # time, its processor time, CPU

    @property
    def is_worker(self) -> bool:
        return self.lane >= 0

    @property
    def is_helper(self) -> bool:
        """The library's own, and inside MPI for the program or waiting."""
        return self.lane == HELPER_LANE

    def intervals(self, last: int):
        """Yields (begin, end, state, lane); the last one lasts until `last`. State 0 is nothing to show."""
        for k, (begin, lane, state) in enumerate(self.states):
            if state:
                end = self.states[k + 1][0] if k + 1 < len(self.states) else last
                yield begin, max(begin, end), STATES[state] if state < len(STATES) else "poll", lane


@dataclass(slots=True)
class Communicator:
    number: int
    name: str
    size: int
    members: tuple[int, ...]
    is_inter: bool
    key: tuple = ()  # the same on all ranks


@dataclass(slots=True)
class Compute:
    """A task of OpenMP, oneTBB or the program; its slices are in the threads."""
    id: int
    name: str
    model: int
    after: list[tuple[int, int]] = field(default_factory=list)  # what it waits for, and when that was said: before it starts, or goes on
    fulfilled: int | None = None  # when its event came


@dataclass
class RankTrace:
    path: Path
    rank: int
    n_ranks: int
    session: int
    run: int
    state: int
    begin: int
    end: int | None
    clock_domain: int
    keep: int
    n_dropped: int
    host: str
    mpi: str
    program: str
    n_lanes: int
    worker_is_reserved: bool
    worker_cpu: int
    realtime_offset: int
    threads: dict[int, Thread] = field(default_factory=dict)
    tasks: dict[int, Task] = field(default_factory=dict)
    computes: dict[int, Compute] = field(default_factory=dict)
    events: dict[int, tuple[int, int]] = field(default_factory=dict)  # time of the last signal, thread
    communicators: dict[int, Communicator] = field(default_factory=dict)
    operations: dict[int, tuple[str, int]] = field(default_factory=dict)  # name, flags
    clocks: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # 0 start, 1 end: time, offset, error
    clock_error: int | None = 0  # at most, against rank 0's clock; None: unknown
    last: int = 0  # the latest time in the file
    is_cut: bool = False  # the file is shorter than what was written
    whole_from: int | None = None  # of one that lost records, newest kept: after that moment none is missing; None: no such
    whole_until: int | None = None  # oldest kept: before that moment none is missing

    def thread(self, number: int) -> Thread:
        return self.threads.setdefault(number, Thread(number, name=f"thread {number}"))

    def worker(self, lane: int = 0) -> Thread | None:
        return next((each for each in self.threads.values() if each.lane == lane), None)

    @property
    def has_end(self) -> bool:
        """Whether what a thread began and has no end in it had none."""
        return not self.is_cut and (self.n_dropped == 0 or self.keep == 1)

    def is_open(self, task: Task) -> bool:
        """Whether it never ended: the record of its end is not there, and is not lost either, on whatever thread."""
        seen = task.steps[-1].time if task.steps else task.posted
        return task.ended is None and self.has_end and (self.n_dropped == 0 or self.whole_from is not None and seen > self.whole_from)

    def flags_of(self, task: Task) -> int:
        return self.operations.get(task.kind, ("", 0))[1]

    def ways_of(self, task: Task) -> int:
        """SENDS, RECEIVES or both: of its kind, and of its messages where it has several."""
        ways = self.flags_of(task)
        for _, _, way in task.others:
            ways |= way
        return ways & (SENDS | RECEIVES)


def parse_members(text: str) -> tuple[int, ...]:
    members: list[int] = []
    for part in filter(None, text.split(",")):
        found = _members.fullmatch(part)
        if found is None:  # a damaged file: rather an unknown communicator than another one
            return ()
        first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        if last - first > MOST_MEMBERS or step == 0:
            return ()
        members.extend(range(first, last + 1, step))
    return tuple(members)


def _text(chars: bytes) -> str:
    return printable(chars.split(b"\0", 1)[0])


class _Reader:
    """Puts the records of one file together."""

    def __init__(self, path: Path):
        self.path = path
        try:
            with path.open("rb") as file:
                self.data = file.read(CHUNK_BYTES)
                if self.data[:8] == MAGIC:  # what else it is may never end
                    self.data += file.read()
        except OSError as error:
            raise TraceError(f"{path} cannot be read: {error.strerror}") from error
        self.texts: dict[int, bytearray] = defaultdict(bytearray)
        self.whole_texts: set[int] = set()
        self.after: list[tuple[int, int, int]] = []
        self.members: list[tuple[int, int, int]] = []
        self.fulfilled: list[tuple[int, int]] = []
        self.trace, n_chunks = self._read_header()
        self.chunks = self._order_chunks(n_chunks)

    def _read_header(self) -> tuple[RankTrace, int]:
        if len(self.data) < CHUNK_BYTES or self.data[:8] != MAGIC:
            raise TraceError(f"{self.path} is no trace of commtask's: a file that COMMTASK_TRACE wrote begins with CTTRACE")
        (_, version, chunk_bytes, record_bytes, state, used, room, run, rank, n_ranks, session, _, begin, realtime, end,
         domain, keep, _, n_dropped, host, mpi, program, lanes, reserved, cpu) = _header.unpack_from(self.data)
        if version != VERSION or chunk_bytes != CHUNK_BYTES or record_bytes != _record.size:
            raise TraceError(f"{self.path} has version {version} of the format, and this program reads version {VERSION}: "
                             "take the commtask-report of the library that wrote it")
        if rank >= n_ranks or n_ranks > MOST_MEMBERS:
            raise TraceError(f"{self.path} is damaged: it says that it is of rank {rank} of {n_ranks}")
        if lanes > MOST_LANES:
            raise TraceError(f"{self.path} is damaged: it says that the rank had {lanes} lanes")
        trace = RankTrace(self.path, rank, n_ranks, session, run, state, begin, end or None, domain, keep, n_dropped,
                          _text(host), _text(mpi), _text(program), lanes, bool(reserved), cpu, realtime - begin)
        n_there = len(self.data) // CHUNK_BYTES
        trace.is_cut = n_there < min(used, room)
        return trace, min(used, room, n_there)

    def _order_chunks(self, n_chunks: int) -> list[tuple[int, int, int, int]]:
        """Thread, sequence, lost records, offset; those of a thread in the order of writing."""
        chunks = []
        for offset in range(CHUNK_BYTES, n_chunks * CHUNK_BYTES, CHUNK_BYTES):
            sequence, lost, _, thread, kind, *_ = _record.unpack_from(self.data, offset)
            if kind == CHUNK:
                chunks.append((thread, sequence, lost, offset))
        return sorted(chunks)

    def read(self) -> RankTrace:
        rows = [(thread, list(self._records(offset))) for thread, _, _, offset in self.chunks]
        for thread, lost in ((chunk[0], chunk[2]) for chunk in self.chunks):
            self.trace.thread(thread).n_dropped = lost  # the last chunk has the sum
        if self.trace.n_dropped:
            self._find_gap(rows)
        for thread, records in rows:
            if thread == 0:
                self._take_names(records)
        for thread, records in rows:
            if thread != 0:
                self._take_thread(thread, records)
        self._finish()
        return self.trace

    def _find_gap(self, rows) -> None:
        """Where records of any thread are missing."""
        trace = self.trace
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        for thread, records in rows:
            if thread and trace.threads[thread].n_dropped and records:
                first.setdefault(thread, next((record[0] for record in records if record[4] in WRITTEN_AT_ONCE), records[-1][0]))
                last[thread] = records[-1][0]
        if trace.n_dropped == sum(each.n_dropped for each in trace.threads.values()):
            trace.whole_from = max(first.values(), default=0)
        else:  # threads that found no room at all: nothing was lost until it was given out
            newest = max(range(len(rows)), key=lambda k: self.chunks[k][3], default=None)
            last[0] = 0 if newest is None else min((record[0] for record in rows[newest][1]), default=0)
        trace.whole_until = min(last.values(), default=1 << 63)

    def _records(self, offset: int):
        for record in _record.iter_unpack(self.data[offset + _record.size:offset + CHUNK_BYTES]):
            if record[4] == 0:
                return
            if record[4] == TEXT_PART:
                self.texts[record[3]] += _record.pack(*record)[:record[6]]
                if record[7] & LAST_PART:
                    self.whole_texts.add(record[3])
            else:
                yield record

    def _name(self, number: int) -> str:
        return printable(self.texts[number]) if number in self.texts else ""

    def _take_names(self, records) -> None:
        trace = self.trace
        for time, ident, value, detail, kind, _, sub, flags in records:
            low, high = halves(value)
            if kind == THREAD:
                entry = trace.thread(detail)
                entry.tid, entry.lane, entry.name = ident, low, self._name(high) or entry.name
            elif kind == COMMUNICATOR:
                # Half a list of members would be another communicator.
                members = parse_members(self._name(ident >> 32)) if ident >> 32 in self.whole_texts else ()
                name = self._name(ident & 0xffffffff)
                trace.communicators[detail] = Communicator(detail, name, low, members, bool(flags & 1))
            elif kind == OPERATION:
                trace.operations[sub] = (self._name(detail), flags)
            elif kind == CLOCK:
                trace.clocks[sub] = (time, signed(value), detail)

    def _task(self, ident: int) -> Task:
        tasks = self.trace.tasks
        if ident not in tasks:
            tasks[ident] = Task(ident, self.trace.rank)
        return tasks[ident]

    def _take_thread(self, number: int, records) -> None:
        trace, thread = self.trace, self.trace.thread(number)
        for time, ident, value, detail, kind, lane, sub, flags in records:
            if kind == MOVED and 0 < sub < len(PHASES):
                task = self._task(ident)
                task.steps.append(Step(time, flags, sub, number))
                task.lane = lane
                if sub == IN_FLIGHT:
                    task.given = value
                elif sub in (ENDED, DROPPED):
                    task.end, task.bytes = min(detail, len(ENDS) - 1), value
            elif kind == POSTED:
                task = self._task(ident)
                task.posted, task.kind, task.communicator, task.lane, task.flags = time, sub, detail, lane, flags
                task.operation = trace.operations.get(sub, (f"operation {sub}", 0))[0]
                task.peer, task.tag = halves(value)
            elif kind == STATE:
                thread.states.append((time, lane, sub))
            elif kind == PROCESSOR:
                thread.processor.append((time, ident, halves(value)[0]))
            elif kind == MATCHED:
                self._task(ident).matched = halves(value)
            elif kind == AFTER:
                (self.members if flags & AFTER_ITS_MEMBER else self.after).append((ident, value, time))
            elif kind == RECEIVES_FROM:
                task = self._task(ident)
                task.source, task.source_tag = halves(value)
            elif kind == ALSO:
                self._task(ident).others += [(*halves(value), flags)] * min(detail, MOST_OTHERS)
            elif kind == POSTED_IN:
                self._task(ident).compute = value
            elif kind == SIGNALED:
                trace.events[ident] = (time, number)
            elif kind == WAIT_BEGIN:
                thread.waits.append(Span(time, None, "wait", id=ident))
            elif kind == WAIT_END:
                last = next((span for span in reversed(thread.waits) if span.end is None), None)
                if last is not None:
                    last.end, last.id = time, ident or last.id
                elif ident:  # what it was for had ended
                    thread.waits.append(Span(time, time, "wait", id=ident))
            elif kind == COMPUTE_CREATED:
                trace.computes[ident] = Compute(ident, self._name(detail), sub)
            elif kind == COMPUTE_BEGIN:
                known = trace.computes.get(ident)
                name = self._name(detail) or (known.name if known else "")
                thread.computes.append(Span(time, None, name, sub, ident))
            elif kind == COMPUTE_END:
                if sub == 3:
                    self.fulfilled.append((ident, time))
                else:
                    last = next((span for span in reversed(thread.computes) if span.id == ident), None)
                    if last is not None and last.end is None:
                        last.end, last.how = time, sub
            elif kind == REGION_BEGIN:
                thread.regions.append(Span(time, None, self._name(detail), sub))
            elif kind == REGION_END:
                last = next((span for span in reversed(thread.regions) if span.end is None), None)
                if last is not None:
                    last.end = time
            trace.last = max(trace.last, time)

    def _check_order(self, task: Task) -> None:
        """Every figure of a report counts on it that no task comes into a phase before an earlier one."""
        phase, since = 0, task.posted
        for step in task.steps:
            if step.phase <= phase or since is not None and step.time < since:
                first, last = sorted((phase, step.phase))
                order = "twice" if first == last else f"before it is {PHASES[first]}"
                raise TraceError(f"{self.path} is damaged: it says that task {task.number} is {PHASES[last]} {order}")
            phase, since = step.phase, step.time

    def _finish(self) -> None:
        trace = self.trace
        for task in trace.tasks.values():
            task.steps.sort(key=lambda step: (step.time, step.phase))
            self._check_order(task)
            if task.stands:
                task.bytes = task.bytes or 0
            elif task.end != COMPLETED:
                task.bytes = None if trace.ways_of(task) & RECEIVES else task.given or None
        for ident, before, time in self.after:
            if ident in trace.computes:
                trace.computes[ident].after.append((before, time))
            else:
                self._task(ident).after.append(before)
        for ident, member, _ in self.members:
            self._task(ident).members.append(member)
        for ident, time in self.fulfilled:
            if ident in trace.computes:
                trace.computes[ident].fulfilled = time
        for thread in trace.threads.values():
            for span in thread.computes:
                if not span.name and span.id in trace.computes:
                    span.name = trace.computes[span.id].name
        seen: dict[tuple, int] = defaultdict(int)
        for each in sorted(trace.communicators.values(), key=lambda one: one.number):
            name = (each.members, each.name)
            each.key = (*name, seen[name])
            seen[name] += 1


def read_file(path: Path | str) -> RankTrace:
    """One file, in its own clock."""
    return _Reader(Path(path)).read()
