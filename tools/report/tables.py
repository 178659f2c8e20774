# SPDX-License-Identifier: Apache-2.0
# What the report counts: time in each phase, overlap by communicator, depth of the queues, share of a worker's core. Each
# is a pure function from a run to rows; the formulas stand in docs/report.md and in the docstrings here, nowhere else.
"""Tables of a run."""

from model import PAUSES, PHASES, length, overlap_length, quantile, union


def phase_table(run):
    """[(operation, phase, count, median, p99, longest, total)], ns; every operation, then "all"."""
    times = {}
    for task in run.tasks():
        if task.stands:
            continue
        for phase, begin, end in task.phases():
            times.setdefault((task.op, phase), []).append(end - begin)
    ops = sorted({op for op, _ in times})
    rows = []
    everything = {}
    for op in ops:
        for phase in PHASES:
            one = sorted(times.get((op, phase), ()))
            if one:
                rows.append((op, phase, len(one), quantile(one, 0.5), quantile(one, 0.99), one[-1], sum(one)))
                everything.setdefault(phase, []).extend(one)
    for phase in PHASES:
        one = sorted(everything.get(phase, ()))
        if one:
            rows.append(("all", phase, len(one), quantile(one, 0.5), quantile(one, 0.99), one[-1], sum(one)))
    return rows


class Overlap:
    """How much of a communicator's time under way was covered by computing: sum over ranks of
    integral over U of (threads that compute) / (threads) dt, over the length of U; U is when any task of the communicator
    is in flight."""

    def __init__(self, comm):
        self.comm, self.sizes, self.under_way, self.covered = comm, [], 0, 0.0

    @property
    def n_tasks(self):
        return len(self.sizes)

    @property
    def share(self):
        return self.covered / self.under_way if self.under_way else None


def overlap_table(run):
    """One Overlap a communicator, the longest under way first."""
    found = {}
    for rank in run.ranks:
        computing = [t.computing() for t in rank.threads]
        computing = [c for c in computing if c]
        flights = {}
        for task in rank.tasks:
            row = found.setdefault(task.comm, Overlap(task.comm))
            row.sizes.append(task.bytes)
            if task.issued is not None and task.until is not None and not task.stands:
                flights.setdefault(task.comm, []).append((task.issued, task.until))
        for comm, one in flights.items():
            one = union(one)
            found[comm].under_way += length(one)
            if computing:
                found[comm].covered += sum(overlap_length(one, c) for c in computing) / len(computing)
    return sorted(found.values(), key=lambda o: -o.under_way)


def depth_steps(rank, lane):
    """[(time, posted and not yet taken over, posted and not yet ended)]: steps of the depth of a lane's queue."""
    changes = []
    for task in rank.tasks:
        if task.lane != lane:
            continue
        changes.append((task.posted, 1, 1))
        if task.accepted is not None:
            changes.append((task.accepted, -1, 0))
        if task.ended is not None:
            changes.append((task.ended, 0, -1))
    # At one time posts come before ends: a task that ends in the pass that took it was open.
    changes.sort(key=lambda c: (c[0], -c[1], -c[2]))
    steps = []
    queued = unfinished = 0
    for at, more_queued, more_open in changes:
        queued += more_queued
        unfinished += more_open
        if steps and steps[-1][0] == at:
            steps[-1] = (at, max(queued, steps[-1][1]) if more_queued > 0 else queued,
                         max(unfinished, steps[-1][2]) if more_open > 0 else unfinished)
        else:
            steps.append((at, queued, unfinished))
    return steps


def lanes_of(run):
    """[(rank, number of a lane)] with tasks."""
    return [(rank, lane) for rank in run.ranks for lane in sorted({task.lane for task in rank.tasks})]


def depth_table(run):
    """[(rank, lane, most that were not yet taken over, most that had not ended)] of every lane with tasks."""
    rows = []
    for rank, lane in lanes_of(run):
        steps = depth_steps(rank, lane)
        rows.append((rank.rank, lane, max(step[1] for step in steps), max(step[2] for step in steps)))
    return rows


def binned(steps, begin, end, n_bins):
    """The largest value of each column in each of n_bins equal intervals, a step lasting until the next."""
    width = max(1, (end - begin) / n_bins)
    columns = len(steps[0]) - 1 if steps else 0
    bins = [[0] * n_bins for _ in range(columns)]
    now = [0] * columns
    at = 0
    for k in range(n_bins):
        high = list(now)
        until = begin + (k + 1) * width
        while at < len(steps) and steps[at][0] < until:
            now = list(steps[at][1:])
            high = [max(a, b) for a, b in zip(high, now)]
            at += 1
        for column in range(columns):
            bins[column][k] = high[column]
    return bins


class WorkerUse:
    """Where a worker's time went. `core_share` is its processor time over the time between its first and last sample, `got` the
    same over the part of that in which it wanted its core; `states` maps a state to its share of the worker's recorded time."""

    def __init__(self, rank, worker, begin, end):
        self.rank, self.lane, self.cpu, self.has_own_core = rank, worker.lane, worker.cpu, worker.has_own_core
        total = {}
        for a, b, state in worker.states:
            total[state] = total.get(state, 0) + b - a
        whole = sum(total.values())
        self.states = {state: ns / whole for state, ns in sorted(total.items(), key=lambda i: -i[1])} if whole else {}
        self.got = worker.share_between(begin, end)
        (t0, c0), (t1, c1) = (worker.samples[0], worker.samples[-1]) if worker.samples else ((0, 0), (0, 0))
        self.core_share = min(1.0, (c1 - c0) / (t1 - t0)) if t1 > t0 else None


def worker_table(run):
    begin, end = run.extent()
    return [WorkerUse(rank.rank, worker, begin, end) for rank in run.ranks for worker in rank.workers]


class RankUse:
    """Times of a rank, ns: computing of its threads, their idle time in waits for messages, processor time of its workers (time awake
    in a trace without samples), and how much of the critical path runs on the rank."""

    def __init__(self, rank, waiting, on_path):
        self.rank, self.waiting, self.on_path = rank.rank, waiting, on_path
        busy = [length(computing) for thread in rank.threads if (computing := thread.computing())]
        self.n_threads, self.computing = len(busy), sum(busy)
        self.worker = sum(_work_of(worker) for worker in rank.workers) if rank.workers else None


def _work_of(worker):
    if len(worker.samples) > 1:
        return worker.samples[-1][1] - worker.samples[0][1]
    return sum(end - begin for begin, end, state in worker.states if state not in PAUSES)


def rank_table(run, delays, path):
    waiting, on_path = {}, {}
    for delay in delays:
        waiting[delay.task.rank] = waiting.get(delay.task.rank, 0) + max(0, delay.idle)
    for step in path:
        on_path[step.rank] = on_path.get(step.rank, 0) + step.end - step.begin
    return [RankUse(rank, waiting.get(rank.rank, 0), on_path.get(rank.rank, 0)) for rank in run.ranks]
