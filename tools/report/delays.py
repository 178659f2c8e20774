# SPDX-License-Identifier: Apache-2.0
# Who idled for which message, for how long, and what that time is blamed on, added up to findings. A wait mostly sees the
# last part of a message's life, its transfer; what put that off, a late post or a worker that did not issue it, lies before
# the wait, so a transfer is given to that as far as it would have been over without it.
"""Unblock delays, and findings over all of them."""

import bisect

from causes import ASLEEP, BUSY, CAUSES, LATE_POST, LATE_SENDER, NO_CORE, ORDER, PREDECESSOR, TRANSFER, UNDER_WAY, blame

#: What may put off a message that both sides have posted.
PUTS_OFF = (NO_CORE, ASLEEP, BUSY, PREDECESSOR, ORDER)


#: When a task ended that did not.
NEVER = float("inf")


class Delay:
    """One unblock delay: from `begin` until what waited went on at `end`. `idle` is how long its thread idled before `end`,
    `pieces` the causes of that time; of a thread that never idled, the causes of the whole delay."""

    __slots__ = ("task", "unblock", "begin", "end", "idle", "pieces", "cause", "where")

    def __init__(self, task, unblock, begin, end, idle, pieces):
        self.task, self.unblock, self.begin, self.end, self.idle, self.pieces = task, unblock, begin, end, idle, pieces
        total = {}
        for cause, rank, ns in pieces:
            total[cause, rank] = total.get((cause, rank), 0) + ns
        self.cause, self.where = max(total, key=total.get) if total else (TRANSFER, task.rank)

    @property
    def ns(self):
        return self.end - self.begin


def _late_post(task, free_since):
    """((cause, rank), ns): by how much the later of the two posts came after the earlier one and after its own thread last
    stood idle: from then on its program chose what to do first."""
    others = [peer for peer in task.peers if peer is not task]
    last = max((task, *others), key=lambda one: one.posted)
    first = min(one.posted for one in (task, *others))
    ns = last.posted - max(first, free_since(last.rank, last.poster, last.posted))
    return (LATE_POST if last is task else LATE_SENDER, last.rank), ns


def _put_off(run, task, since, free_since):
    """{(cause, rank): ns}: by how much each cause put the message off before the wait began."""
    lags = {}
    posted = task.posted
    if not task.is_send and task.peers:
        key, ns = _late_post(task, free_since)
        if ns > 0:
            lags[key] = ns
        posted = max(posted, *(peer.posted for peer in task.peers))
    if posted < since:
        for cause, rank, ns in blame(run, task, posted, since):
            if cause in PUTS_OFF:
                lags[cause, rank] = lags.get((cause, rank), 0) + ns
    return lags


def _shift_blame(pieces, lags):
    """Gives the transfer to what put it off, the longest first, as far as that reaches."""
    left = sorted(([ns, key] for key, ns in lags.items()), reverse=True)
    out = []
    for cause, rank, ns in pieces:
        while cause in UNDER_WAY and ns > 0 and left:
            moved = min(ns, left[0][0])
            out.append((*left[0][1], moved))
            ns -= moved
            left[0][0] -= moved
            if left[0][0] <= 0:
                left.pop(0)
        if ns > 0:
            out.append((cause, rank, ns))
    return out


class _Idle:
    """When each thread last computed, and when it last stood idle until a task ended, for many questions."""

    def __init__(self, run):
        self._computing = {}
        self._went_on = {}
        for rank in run.ranks:
            for thread in rank.threads:
                busy = thread.computing()
                self._computing[rank.rank, thread.identity] = ([b for b, _ in busy], busy)

    def since(self, rank, thread, at, otherwise):
        """The end of the thread's last computing before `at`."""
        begins, busy = self._computing.get((rank, thread), ((), ()))
        k = bisect.bisect_left(begins, at) - 1
        return min(at, busy[k][1]) if k >= 0 else otherwise

    def remember(self, waits):
        for task, unblock, since in waits:
            if since < unblock.at:
                self._went_on.setdefault((task.rank, unblock.thread), []).append(unblock.at)
        for times in self._went_on.values():
            times.sort()

    def free_since(self, rank, thread, at):
        """When the thread last went on after it had stood idle, at most `at`; the run's begin if never."""
        times = self._went_on.get((rank, thread), ())
        k = bisect.bisect_right(times, at) - 1
        return times[k] if k >= 0 else 0


def _waits(rank, idle):
    """(task, unblock, since when the thread idled): of several tasks before one successor the last to end."""
    last = {}
    for task in rank.tasks:
        for unblock in task.unblocks:
            key = (unblock.thread, unblock.at)
            if key not in last or (task.ended or NEVER) > (last[key][0].ended or NEVER):
                last[key] = (task, unblock)
    for task, unblock in last.values():
        since = idle.since(rank.rank, unblock.thread, unblock.at, task.posted)
        if unblock.idle_from is not None:
            since = max(since, unblock.idle_from) if since < unblock.at else unblock.idle_from
        yield task.decisive, unblock, since


def delays(run):
    """Every unblock delay of the run, longest idle time first."""
    idle = _Idle(run)
    waits = [wait for rank in run.ranks for wait in _waits(rank, idle)]
    idle.remember(waits)
    found = []
    for task, unblock, since in waits:
        begin = min(since, task.ended if task.ended is not None else since, unblock.at)
        if begin < unblock.at:
            pieces = blame(run, task, since if since < unblock.at else begin, unblock.at)
            if any(piece[0] in UNDER_WAY for piece in pieces):
                pieces = _shift_blame(pieces, _put_off(run, task, since, idle.free_since))
            found.append(Delay(task, unblock, begin, unblock.at, unblock.at - since, pieces))
    found.sort(key=lambda d: (-d.idle, -d.ns))
    return found


class Finding:
    """What one cause cost: idle thread time that it explains, how often it was the first cause, and its worst delay."""

    def __init__(self, cause):
        self.cause, self.ns, self.count, self.worst = cause, 0, 0, None
        self.ranks = {}  #: rank -> ns

    @property
    def meaning(self):
        return CAUSES[self.cause][0]

    @property
    def advice(self):
        return CAUSES[self.cause][1]


def findings(all_delays):
    """Causes by the idle time of threads that they explain, most first."""
    found = {}
    for delay in all_delays:
        if delay.idle <= 0:
            continue
        for cause, rank, ns in delay.pieces:
            finding = found.setdefault(cause, Finding(cause))
            finding.ns += ns
            finding.ranks[rank] = finding.ranks.get(rank, 0) + ns
        finding = found[delay.cause]
        finding.count += 1
        if finding.worst is None or delay.idle > finding.worst.idle:
            finding.worst = delay
    order = list(CAUSES)
    return sorted(found.values(), key=lambda f: (-f.ns, order.index(f.cause)))
