# SPDX-License-Identifier: Apache-2.0
#
# The traces of all ranks of a run as one: on the clock of the first rank, with the messages that two ranks share. The rules
# are those of docs/trace-format.md; commtask-trace-convert follows the same ones, and a test compares the two.
from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
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

    @property
    def begin(self) -> int:
        return min(each.begin for each in self.ranks)

    @property
    def end(self) -> int:
        return max(each.end or each.last for each in self.ranks)


def _clock_of(trace: RankTrace, root: RankTrace | None):
    """What turns this rank's time into rank 0's; says in the trace how well."""
    if root is None or trace is root or (trace.clock_domain == root.clock_domain and trace.clock_domain != 0):
        trace.clock_how = "its own" if root is None or trace is root else f"the same clock as rank {root.rank}"
        return None
    start, end = trace.clocks.get(0), trace.clocks.get(1)
    if start is None:
        trace.clock_error = trace.clock_drift_ppm = None
        trace.clock_how = "the time of day: not measured"
        shift = trace.realtime_offset - root.realtime_offset
        return lambda time: time + shift
    if end is None or end[0] <= start[0]:
        trace.clock_error, trace.clock_drift_ppm = start[2], None
        trace.clock_how = "measured at the start only"
        return lambda time: time + start[1]
    slope = (end[1] - start[1]) / (end[0] - start[0])
    trace.clock_error, trace.clock_drift_ppm = max(start[2], end[2]), slope * 1e6
    trace.clock_how = "measured at start and end"
    return lambda time: time + start[1] + round(slope * (time - start[0]))


def _shift(trace: RankTrace, clock) -> None:
    if clock is None:
        return
    shifted = lambda time: None if time is None else clock(time)
    trace.begin, trace.end, trace.last = clock(trace.begin), shifted(trace.end), clock(trace.last)
    for task in trace.tasks.values():
        task.posted, task.post_returned = shifted(task.posted), shifted(task.post_returned)
        for step in task.steps:
            step.time = clock(step.time)
    for thread in trace.threads.values():
        thread.states = [(clock(time), lane, state) for time, lane, state in thread.states]
        thread.processor = [(clock(time), used, cpu) for time, used, cpu in thread.processor]
        for span in (*thread.waits, *thread.computes, *thread.regions):
            span.begin, span.end = clock(span.begin), shifted(span.end)
    for compute in trace.computes.values():
        compute.created, compute.fulfilled = clock(compute.created), shifted(compute.fulfilled)
    trace.events = {ident: (clock(time), thread) for ident, (time, thread) in trace.events.items()}


def _world(communicator: Communicator, rank: int) -> int | None:
    return communicator.members[rank] if 0 <= rank < len(communicator.members) else None


def _message_ends(trace: RankTrace):
    """The task's ends of messages in the order of issue: key without k, whether it is the sender's, task."""
    issued = sorted(((step.time, place, task) for place, task in enumerate(trace.tasks.values()) for step in task.steps
                     if step.phase == IN_FLIGHT), key=lambda row: row[:2])
    for _, _, task in issued:
        communicator, flags = trace.communicators.get(task.communicator), trace.flags_of(task)
        if communicator is None or communicator.is_inter:
            continue
        if flags & SENDS and (peer := _world(communicator, task.peer)) is not None:
            yield (communicator.key, trace.rank, peer, task.tag), True, task
        if flags & RECEIVES and not flags & MRECV and task.end == 1:
            source, tag = (task.source, task.source_tag) if flags & SENDS else (task.peer, task.tag)
            source, tag = task.matched or (source, tag)
            if source is not None and (peer := _world(communicator, source)) is not None:
                yield (communicator.key, peer, trace.rank, tag), False, task
        for rank, tag, direction in task.others:
            if (peer := _world(communicator, rank)) is None or (direction == RECEIVES and task.end != 1):
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


def match_messages(ranks: list[RankTrace]) -> list[Message]:
    sends: dict[tuple, list[Task]] = defaultdict(list)
    receives: dict[tuple, list[Task]] = defaultdict(list)
    lost = {trace.rank for trace in ranks if trace.keep == 1 and trace.n_dropped > 0}
    for trace in ranks:
        for key, is_send, task in _message_ends(trace):
            if key[1] not in lost and key[2] not in lost:
                (sends if is_send else receives)[key].append(task)
    return [Message(_flow_id(key, k), (*key, k), send, receive) for key in sends
            for k, (send, receive) in enumerate(zip(sends[key], receives.get(key, ())))]


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
    """All ranks of a run, on the clock of the first rank, and their messages."""
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
    if missing := sorted(set(range(root.n_ranks)) - set(numbers)):
        remarks.append(f"of {root.n_ranks} ranks {len(missing)} are missing: {', '.join(map(str, missing[:8]))}"
                       f"{', …' if len(missing) > 8 else ''}")
    for each in ranks:
        _shift(each, _clock_of(each, root))
        if each.n_dropped:
            kept = "the newest" if each.keep else "the oldest"
            remarks.append(f"rank {each.rank} lost {each.n_dropped} records, {kept} are here: COMMTASK_TRACE_MB makes room")
        if each.state == 0:
            remarks.append(f"rank {each.rank} did not come to the end of commtask_finalize")
        if each.clock_error is None:
            remarks.append(f"rank {each.rank}: its clock was not compared with rank {root.rank}'s; the time of day stands in")
    return Run(ranks, match_messages(ranks), remarks)


if __name__ == "__main__":
    import sys

    try:
        run = read_run(sys.argv[1:])
    except TraceError as error:
        sys.exit(f"trace_run: {error}")
    for each in run.ranks:
        print(f"rank {each.rank}: {len(each.tasks)} tasks, {len(each.computes)} compute tasks, {len(each.threads)} threads, "
              f"clock: {each.clock_how}, error at most {each.clock_error} ns")
    print(f"{len(run.messages)} messages are on both ranks")
    print(*run.remarks, sep="\n")
