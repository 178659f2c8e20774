# SPDX-License-Identifier: Apache-2.0
# The chain of work that the run's length hangs on, found backwards from the last thing that ended: a thread's time until
# what it waited for, the message's causes until the later of its two posts, then the thread that made that post. What lies
# beside the chain could be faster without the run becoming shorter; the first such step is not looked for.
"""The critical path of a run."""

import bisect

from causes import blame
from delays import delays
from model import overlap_length


class Step:
    """A piece of the path: `kind` is computing, other (a thread between its compute tasks) or a cause."""

    __slots__ = ("rank", "thread", "begin", "end", "kind", "task")

    def __init__(self, rank, thread, begin, end, kind, task=None):
        self.rank, self.thread, self.begin, self.end, self.kind, self.task = rank, thread, begin, end, kind, task


class _Threads:
    """By rank and thread: computing time, and the delays that ended there."""

    def __init__(self, run, all_delays):
        self.computing = {}
        self.delays = {}
        for rank in run.ranks:
            for thread in rank.threads:
                self.computing[rank.rank, thread.identity] = thread.computing()
        for delay in all_delays:
            # If the task had ended before its thread had nothing else to do, the thread's own work was the longer one.
            if delay.idle > 0 and (delay.task.ended is None or delay.task.ended > delay.end - delay.idle):
                self.delays.setdefault((delay.task.rank, delay.unblock.thread), []).append(delay)
        for found in self.delays.values():
            found.sort(key=lambda d: d.end)
        self._ends = {key: [d.end for d in found] for key, found in self.delays.items()}

    def delay_before(self, key, t):
        at = bisect.bisect_right(self._ends.get(key, ()), t) - 1
        return self.delays[key][at] if at >= 0 else None

    def first(self, key):
        busy = self.computing.get(key)
        return busy[0][0] if busy else None

    def steps(self, key, begin, end):
        """The thread's own time, the last first: the rest, and computing, which is shown as if it came first."""
        busy = overlap_length(_around(self.computing.get(key, ()), begin, end), [(begin, end)])
        yield "other", begin + busy, end
        yield "computing", begin, begin + busy


def _around(intervals, begin, end):
    low = max(0, bisect.bisect_left(intervals, (begin,)) - 1)
    high = bisect.bisect_left(intervals, (end,))
    return intervals[low:high]


def _last_end(run):
    """(time, rank, thread) of the thread span that ends last."""
    best = None
    for rank in run.ranks:
        for thread in rank.threads:
            for span in thread.spans:
                if span.kind in ("compute", "wait", "call") and not thread.is_helper and (best is None or span.end > best[0]):
                    best = (span.end, rank.rank, thread.identity)
    return best


def _later_post(task):
    """The task whose post came last: this one, or that of the other side."""
    latest = task
    if not task.is_send:
        for peer in task.peers:
            if peer.posted > latest.posted:
                latest = peer
    return latest


def _last_predecessor(task):
    done = [p for p in task.predecessors if p.ended is not None and p.ended > task.posted]
    return max(done, key=lambda p: p.ended).decisive if done else None


def critical_path(run, all_delays=None):
    """[Step], first to last; empty where no thread was traced."""
    threads = _Threads(run, all_delays if all_delays is not None else delays(run))
    start = _last_end(run)
    if start is None:
        return []
    t, rank, thread = start
    path = []

    def own_time(begin, end):
        for kind, since, until in threads.steps((rank, thread), begin, end):
            if since < until:
                path.append(Step(rank, thread, since, until, kind))

    while True:  # each turn goes back in time
        delay = threads.delay_before((rank, thread), t)
        if delay is None:
            begin = threads.first((rank, thread))
            if begin is not None and begin < t:
                own_time(begin, t)
            break
        if delay.end < t:
            own_time(delay.end, t)
        task, at = delay.task, delay.end
        cause = _later_post(task)
        before = _last_predecessor(cause)
        while before is not None and before.ended < at:
            _add(path, run, task, before.ended, at)
            task, at = before, before.ended
            cause = _later_post(task)
            before = _last_predecessor(cause)
        if cause.posted >= at:
            # Clocks that are not aligned well enough, or a task that was posted for a wait already over.
            cause = task
        if cause.posted >= at:
            t = min(delay.begin, t - 1)
            continue
        _add(path, run, task, cause.posted, at)
        t, rank = cause.posted, cause.rank
        thread = cause.submitter if (rank, cause.submitter) in threads.computing else thread
    path.reverse()
    return path


def _add(path, run, task, begin, end):
    at = end
    for kind, rank, ns in reversed(blame(run, task, begin, end)):
        path.append(Step(rank, None, at - ns, at, kind, task))
        at -= ns


def by_kind(path):
    """{kind: ns}, most first."""
    total = {}
    for step in path:
        total[step.kind] = total.get(step.kind, 0) + step.end - step.begin
    return dict(sorted(total.items(), key=lambda i: -i[1]))
