# SPDX-License-Identifier: Apache-2.0
#
# The traces of all ranks of a run as one: on the clock of rank 0, with the messages that two ranks share. The rules
# are those of docs/trace-format.md.
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from trace_reader import (IN_FLIGHT, MRECV, RECEIVES, SENDS, Communicator, RankTrace, Task, TraceError, read_file)


@dataclass(slots=True)
class Message:
    """Found on both ranks. The identifier is the same whatever files are read beside these two."""
    id: int
    key: tuple
    send: Task
    receive: Task


@dataclass
class Run:
    ranks: list[RankTrace]
    messages: list[Message]
    remarks: list[str]  # what the reader of a report must know: drops, clocks, missing ranks
    clock_error: int | None = 0  # how far the clocks of two ranks are off at most; None: unknown
    clocks_may_drift: bool = False  # some were compared at the start only: the error holds there, and nobody knows how it grew

    @property
    def begin(self) -> int:
        return min(each.begin for each in self.ranks)

    @property
    def end(self) -> int:
        return max(each.end or each.last for each in self.ranks)


def _same(time: int) -> int:
    return time


class _Clock:
    """The clock that some ranks share, those of a machine: what turns their times into rank 0's, and how well."""

    def __init__(self, ranks: list[RankTrace]):
        self.ranks = ranks
        measured = [each for each in ranks if 0 in each.clocks]
        self.has_rank_0 = ranks[0].rank == 0
        self.is_known = self.has_rank_0 or bool(measured)
        self.convert = _same
        self.error, self.may_drift = 0, False
        if measured and not self.has_rank_0:
            self._measure(min(measured, key=lambda each: (1 not in each.clocks, _error_of(each))))

    def _measure(self, by: RankTrace) -> None:
        start, end = by.clocks[0], by.clocks.get(1)
        self.error = _error_of(by)
        if end is None or end[0] <= start[0]:
            self.may_drift = True
            self.convert = lambda time: time + start[1]
            return
        slope = (end[1] - start[1]) / (end[0] - start[0])
        self.convert = lambda time: time + start[1] + round(slope * (time - start[0]))

    def guess(self, known: _Clock) -> None:
        """Nothing was measured: by the time of day, beside another clock."""
        shift = self.ranks[0].realtime_offset - known.ranks[0].realtime_offset
        self.error, self.may_drift = None, True
        self.convert = lambda time: known.convert(time + shift)


def _error_of(trace: RankTrace) -> int:
    return max(error for _, _, error in trace.clocks.values())


def _align(ranks: list[RankTrace]) -> tuple[int | None, bool]:
    """Puts all times on rank 0's clock, whether its file is there or not; Run's clock_error and clocks_may_drift."""
    by_domain: dict[object, list[RankTrace]] = defaultdict(list)
    for each in ranks:
        by_domain[each.clock_domain or (each.rank,)].append(each)
    clocks = [_Clock(members) for members in by_domain.values()]
    known = next((clock for clock in clocks if clock.is_known), clocks[0])
    for clock in clocks:
        if not clock.is_known and clock is not known:
            clock.guess(known)
        for each in clock.ranks:
            each.clock_error = clock.error
            if clock.convert is not _same:
                _shift(each, clock.convert)
    errors = [clock.error for clock in clocks]
    if len(clocks) == 1:
        return 0, False
    return None if None in errors else sum(sorted(errors)[-2:]), any(clock.may_drift for clock in clocks)


def _shift(trace: RankTrace, clock) -> None:
    shifted = lambda time: None if time is None else clock(time)
    trace.begin, trace.end, trace.last = clock(trace.begin), shifted(trace.end), clock(trace.last)
    trace.whole_from, trace.whole_until = shifted(trace.whole_from), shifted(trace.whole_until)
    for task in trace.tasks.values():
        task.posted = shifted(task.posted)
        for step in task.steps:
            step.time = clock(step.time)
    for thread in trace.threads.values():
        thread.states = [(clock(time), lane, state) for time, lane, state in thread.states]
        thread.processor = [(clock(time), used, cpu) for time, used, cpu in thread.processor]
        for span in (*thread.waits, *thread.computes, *thread.regions):
            span.begin, span.end = clock(span.begin), shifted(span.end)
    for compute in trace.computes.values():
        compute.fulfilled = shifted(compute.fulfilled)
        compute.after = [(before, clock(said)) for before, said in compute.after]
    trace.events = {ident: (clock(time), thread) for ident, (time, thread) in trace.events.items()}


def _world(communicator: Communicator, rank: int) -> int | None:
    return communicator.members[rank] if 0 <= rank < len(communicator.members) else None


def issues_without_gap(trace: RankTrace) -> list[Task]:
    """The tasks in the order of issue: of a trace that lost records those before the first, or after the last, that may be missing."""
    issues = sorted(((step.time, place, task) for place, task in enumerate(trace.tasks.values()) for step in task.steps
                     if step.phase == IN_FLIGHT), key=lambda row: row[:2])
    if trace.n_dropped == 0:
        return [task for _, _, task in issues]
    first, last = trace.whole_from, trace.whole_until
    unknown = [place for place, (_, _, task) in enumerate(issues) if task.posted is None]
    if trace.keep == 1:
        return [task for time, _, task in issues[unknown[-1] + 1 if unknown else 0:] if first is not None and time > first]
    return [task for time, _, task in issues[:unknown[0] if unknown else None] if last is not None and time < last]


def _message_ends(trace: RankTrace):
    """The task's ends of messages in the order of issue: key without k, whether it is the sender's, task."""
    for task in issues_without_gap(trace):
        communicator, flags = trace.communicators.get(task.communicator), trace.flags_of(task)
        if communicator is None or communicator.is_inter:
            continue
        has_come = task.end == 1 and (trace.n_dropped == 0 or trace.keep == 1 or task.ended < trace.whole_until)
        if flags & SENDS and (peer := _world(communicator, task.peer)) is not None:
            yield (communicator.key, trace.rank, peer, task.tag), True, task
        if flags & RECEIVES and not flags & MRECV and has_come:
            source, tag = (task.source, task.source_tag) if flags & SENDS else (task.peer, task.tag)
            source, tag = task.matched or (source, tag)
            if source is not None and (peer := _world(communicator, source)) is not None:
                yield (communicator.key, peer, trace.rank, tag), False, task
        for rank, tag, direction in task.others:
            if (peer := _world(communicator, rank)) is None or (direction == RECEIVES and not has_come):
                continue
            way = (trace.rank, peer) if direction == SENDS else (peer, trace.rank)
            yield (communicator.key, *way, tag), direction == SENDS, task


def _fnv(text: str, value: int = 0xcbf29ce484222325) -> int:
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


@cache
def _hash_of(communicator: tuple) -> int:
    members, name, place = communicator
    return _fnv(f"{','.join(map(str, members))}|{name}|{place}|")


def _flow_id(key: tuple, k: int) -> int:
    """The same in every program that reads the trace: FNV-1a of the key's text."""
    communicator, source, destination, tag = key
    return _fnv(f"{source}|{destination}|{tag}|{k}", _hash_of(communicator))


def _pairs(sends: list[Task], receives: list[Task], from_the_end: bool):
    """(k, send, receive): the k-th of each; counted from the end -1 is the last."""
    if not from_the_end:
        return [(k, *pair) for k, pair in enumerate(zip(sends, receives))]
    pairs = [(-k, *pair) for k, pair in enumerate(zip(reversed(sends), reversed(receives)), 1)]
    # One that nobody received, and the count is wrong: as far as that shows, nothing is said of the channel.
    return [] if any(receive.ended < send.issued for _, send, receive in pairs) else pairs


def whole_ranks(ranks: list[RankTrace]) -> tuple[set[int], set[int]]:
    """Those whose trace has the beginning, and those that have the end, without a gap."""
    return ({trace.rank for trace in ranks if trace.n_dropped == 0 or trace.keep == 0},
            {trace.rank for trace in ranks if trace.state == 1 and (trace.n_dropped == 0 or trace.keep == 1)})


def match_messages(ranks: list[RankTrace]) -> list[Message]:
    sends: dict[tuple, list[Task]] = defaultdict(list)
    receives: dict[tuple, list[Task]] = defaultdict(list)
    has_begin, has_end = whole_ranks(ranks)
    for trace in ranks:
        for key, is_send, task in _message_ends(trace):
            (sends if is_send else receives)[key].append(task)
    found = []
    for key, sent in sends.items():
        between = {key[1], key[2]}
        if between <= has_begin or between <= has_end:
            pairs = _pairs(sent, receives.get(key, []), not between <= has_begin)
            found += [Message(_flow_id(key, k), (*key, k), send, receive) for k, send, receive in pairs]
    return found


def _some(what, count=None) -> str:
    """The first ones, and whether there are more."""
    what = iter(what)
    words = [str(one) for one in islice(what, 8)]
    n_more = sum(1 for _ in what) if count is None else count - len(words)
    return ", ".join(words + ([f"and {n_more} more"] if n_more > 0 else []))


def _ranks(numbers: list[int]) -> str:
    return f"rank{'s' if len(numbers) > 1 else ''} {_some(numbers)}"


def find_files(paths) -> list[Path]:
    """The files of traces: folders stand for what is in them."""
    files: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(path.glob("*.cttrace"))
            if not inside:
                raise TraceError(f"{path} has no trace: a folder that COMMTASK_TRACE named has files rank-N.cttrace")
            files += inside
        else:
            files.append(path)
    return files


def read_run(paths) -> Run:
    """All ranks of a run, on the clock of rank 0, and their messages."""
    traces = sorted((read_file(path) for path in find_files(paths)), key=lambda each: (each.session, each.rank))
    if not traces:
        raise TraceError("no trace is given: name the folder that COMMTASK_TRACE named")
    remarks: list[str] = []
    newest = max(traces, key=lambda each: each.begin + each.realtime_offset)
    ranks = [each for each in traces if each.run == newest.run and each.session == newest.session]
    for each in traces:
        if each not in ranks:
            remarks.append(f"{each.path} is of another run, or of another start of the library, and is left out")
    numbers = [each.rank for each in ranks]
    if len(set(numbers)) < len(numbers):
        raise TraceError("two files are of the same rank: name the files of one run")
    root = ranks[0]
    there = set(numbers)
    if n_missing := root.n_ranks - sum(1 for rank in there if rank < root.n_ranks):
        missing = (rank for rank in range(root.n_ranks) if rank not in there)
        remarks.insert(0, f"of {root.n_ranks} ranks {n_missing} are missing: {_some(missing, n_missing)}")
    clock_error, clocks_may_drift = _align(ranks)
    if lost := [each for each in ranks if each.n_dropped]:
        kept = "the newest" if lost[0].keep else "the oldest"
        remarks.insert(0, f"records were lost, {_some(f'{each.n_dropped} of rank {each.rank}' for each in lost)}, and {kept} are here: "
                          "COMMTASK_TRACE_MB makes room")
    if killed := [each.rank for each in ranks if each.state == 0]:
        remarks.append(f"did not come to the end of commtask_finalize: {_ranks(killed)}")
    if guessed := [each.rank for each in ranks if each.clock_error is None]:
        remarks.append(f"the time of day stands in for clocks that were not compared with rank 0's: {_ranks(guessed)}")
    return Run(ranks, match_messages(ranks), remarks, clock_error, clocks_may_drift)
