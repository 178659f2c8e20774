# SPDX-License-Identifier: Apache-2.0
# Who idled for which message, for how long, and what that time is blamed on, added up to findings. A wait mostly sees the
# last part of a message's life, its transfer; what put that off, a late post or a worker that did not issue it, lies before
# the wait, so a transfer is given to that as far as it would have been over without it. Why a side was late is told from what both
# sides computed meanwhile: an order of messages and computing is blamed only where another order would have been possible.
"""Unblock delays, and findings over all of them."""

import bisect

import units
from causes import (ASLEEP, BUSY, CAUSES, IMBALANCE, LATE_POST, LATE_SENDER, NO_CORE, ORDER, PREDECESSOR, TRANSFER, UNDER_WAY,
                    WAITED, blame)
from model import overlap_length

#: What may put off a message that both sides have posted.
PUTS_OFF = (NO_CORE, ASLEEP, BUSY, PREDECESSOR, ORDER)


#: Calls of MPI's that start something or only look: a thread never waits in them.
NEVER_WAIT = ("MPI_I", "MPI_Start", "MPI_Test")

#: Of two ranks one has more to do if the other computes less than this share of its computing in each of N_PARTS parts of the run.
BALANCED = 0.8
N_PARTS = 4

#: When a task ended that did not.
NEVER = float("inf")


class Delay:
    """One unblock delay: from `begin` until what waited went on at `end`. `idle` is how long its thread idled before `end`,
    `pieces` the causes of that time; of a thread that never idled, the causes of the whole delay."""

    __slots__ = ("task", "unblock", "begin", "end", "idle", "pieces", "cause", "where", "lateness")

    def __init__(self, task, unblock, begin, end, idle, pieces):
        self.task, self.unblock, self.begin, self.end, self.idle, self.pieces = task, unblock, begin, end, idle, pieces
        self.lateness = None  #: of imbalance
        total = {}
        for cause, rank, ns in pieces:
            total[cause, rank] = total.get((cause, rank), 0) + ns
        self.cause, self.where = max(total, key=total.get) if total else (TRANSFER, task.rank)

    @property
    def ns(self):
        return self.end - self.begin


class _Lateness:
    """Why the later of two sides was late: how much of the time is imbalance, the order of its program, or many messages. `computed`:
    by the late rank and the other rank, while both had messages."""

    __slots__ = ("late", "other", "computed", "excess", "order", "moved")

    def __init__(self, late, other, went_on, moments):
        self.late, self.other = late.rank, other
        end = late.posted
        mine, theirs = moments.computed(late.rank, went_on, end), moments.computed(other, went_on, end)
        self.computed, other_computed = moments.in_parts(late.rank, other)
        # One step tells nothing: of two equal ranks either computes longer at times, and more so beside other work.
        is_unequal = all(one < BALANCED * most for one, most in zip(other_computed, self.computed))
        self.computed = sum(self.computed), sum(other_computed)
        self.excess = max(0, mine - theirs) if is_unequal and mine is not None and theirs is not None else 0
        before = max(went_on, moments.free_since(late.rank, late.submitter, end))
        chosen = moments.computed(late.rank, before, end)
        after = moments.computed(late.rank, end, moments.next_free(late.rank, late.submitter, end))
        # Computing behind the post is what its program could put there: it did.
        self.order = float("inf") if chosen is None else chosen if after < chosen else 0
        self.moved = moments.run.rank(late.rank).moved_between(before, end)

    def split(self, cause, ns):
        """Yields (cause, ns)."""
        for part, most in ((IMBALANCE, self.excess), (cause, self.order), (BUSY, self.moved), (WAITED, ns)):
            if (some := min(ns, most)) > 0:
                yield part, some
                ns -= some


def _lateness(task, rank, moments, went_on):
    """Of the sides of a task, of which that of `rank` was late."""
    late = max((one for one in (task, *task.peers) if one.rank == rank), key=lambda one: one.posted)
    other = task.rank if rank != task.rank else min(task.peers, key=lambda one: one.posted).rank if task.peers else rank
    return _Lateness(late, other, went_on, moments)


def _late_post(task, free_since):
    """((cause, rank), ns): by how much the later of the two posts came after the earlier one and after its own thread last
    went on: from then on its program chose what to do first."""
    others = [peer for peer in task.peers if peer is not task]
    last = max((task, *others), key=lambda one: one.posted)
    first = min(one.posted for one in (task, *others))
    ns = last.posted - max(first, free_since(last.rank, last.submitter, last.posted))
    is_sender = last.is_send or last is not task and not task.is_send
    return (LATE_SENDER if is_sender else LATE_POST, last.rank), ns


def _put_off(run, task, since, moments, went_on):
    """{(cause, rank): ns}: by how much each cause put the message off before the wait began."""
    lags = {}
    posted = task.posted
    if task.peers:
        (cause, rank), ns = _late_post(task, moments.free_since)
        if ns > 0:
            for part, some in _lateness(task, rank, moments, went_on).split(cause, ns):
                if part != WAITED:
                    lags[part, rank] = some
        posted = max(posted, *(peer.posted for peer in task.peers))
    if posted < since:
        for cause, rank, ns in blame(run, task, posted, since):
            if cause in PUTS_OFF:
                lags[cause, rank] = lags.get((cause, rank), 0) + ns
    return lags


def _tell_late(task, pieces, moments, went_on):
    """What a side was late by, in the wait itself, with its reason."""
    late = {}
    for cause, rank, ns in pieces:
        if cause in (LATE_SENDER, LATE_POST):
            late[cause, rank] = late.get((cause, rank), 0) + ns
    out = [piece for piece in pieces if piece[:2] not in late]
    for (cause, rank), ns in late.items():
        out += [(part, rank, some) for part, some in _lateness(task, rank, moments, went_on).split(cause, ns)]
    return out


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


class _Moments:
    """When threads computed, and when they waited, for many questions."""

    def __init__(self, run):
        self.run = run
        self._in_parts = {}  #: (rank, rank) -> of each, its computing by parts
        self._spans = {}  #: rank -> (first, last) post of its messages with others
        self._computing = {}  #: (rank, thread) -> (begins, intervals)
        self._of_rank = {}  #: rank -> those of its threads that compute
        self._went_on = {}  #: (rank, thread) -> when it went on after a wait, whether it had idled or not
        for rank in run.ranks:
            for thread in rank.threads:
                key = rank.rank, thread.identity
                busy = thread.computing()
                self._computing[key] = ([b for b, _ in busy], busy)
                if busy:
                    self._of_rank.setdefault(rank.rank, []).append(key)
                self._went_on[key] = [s.end for s in thread.spans
                                      if s.kind == "wait" or s.kind == "call" and not s.label.startswith(NEVER_WAIT)]

    def since(self, rank, thread, at, otherwise):
        """The end of the thread's last computing before `at`."""
        begins, busy = self._computing.get((rank, thread), ((), ()))
        k = bisect.bisect_left(begins, at) - 1
        return min(at, busy[k][1]) if k >= 0 else otherwise

    def remember(self, waits):
        """What a task let go on was waited for, too, where its thread had not idled."""
        for task, unblock, _ in waits:
            self._went_on.setdefault((task.rank, unblock.thread), []).append(unblock.at)
        for times in self._went_on.values():
            times.sort()

    def free_since(self, rank, thread, at):
        """When the thread last went on after a wait, at most `at`; the run's begin if never."""
        times = self._went_on.get((rank, thread), ())
        k = bisect.bisect_right(times, at) - 1
        return times[k] if k >= 0 else 0

    def next_free(self, rank, thread, at):
        """When the thread next goes on after a wait; never where none is known."""
        times = self._went_on.get((rank, thread), ())
        k = bisect.bisect_right(times, at)
        return times[k] if k < len(times) else NEVER

    def in_parts(self, rank, other):
        """How long each of two ranks computed in each of N_PARTS equal parts of the time in which both have messages."""
        key = rank, other
        if key not in self._in_parts:
            spans = [self._span_of_messages(one) for one in key]
            begin, end = max(first for first, _ in spans), min(last for _, last in spans)
            cuts = [begin + max(end - begin, 0) * k // N_PARTS for k in range(N_PARTS + 1)]
            self._in_parts[key] = tuple([self.computed(one, *part) or 0 for part in zip(cuts, cuts[1:])] for one in key)
        return self._in_parts[key]

    def _span_of_messages(self, rank):
        if rank not in self._spans:
            posts = [task.posted for task in self.run.rank(rank).tasks if task.peers]
            self._spans[rank] = min(posts, default=0), max(posts, default=0)
        return self._spans[rank]

    def computed(self, rank, begin, end):
        """How long the rank computed in a time: the mean of its threads that compute; None if it has none."""
        keys = self._of_rank.get(rank, ())
        if not keys:
            return None
        total = 0
        for begins, busy in map(self._computing.get, keys):
            low, high = max(0, bisect.bisect_right(begins, begin) - 1), bisect.bisect_left(begins, end)
            total += overlap_length(busy[low:high], [(begin, end)])
        return total / len(keys)


def _waits(rank, moments):
    """(task, unblock, since when the thread idled): of several tasks before one successor the last to end."""
    last = {}
    for task in rank.tasks:
        for unblock in task.unblocks:
            key = (unblock.thread, unblock.at)
            if key not in last or (task.ended or NEVER) > (last[key][0].ended or NEVER):
                last[key] = (task, unblock)
    for task, unblock in last.values():
        since = moments.since(rank.rank, unblock.thread, unblock.at, task.posted)
        if unblock.idle_from is not None:
            since = max(since, unblock.idle_from) if since < unblock.at else unblock.idle_from
        yield task.decisive, unblock, since


def delays(run):
    """Every unblock delay of the run, longest idle time first."""
    moments = _Moments(run)
    waits = [wait for rank in run.ranks for wait in _waits(rank, moments)]
    moments.remember(waits)
    found = []
    for task, unblock, since in waits:
        begin = min(since, task.ended if task.ended is not None else since, unblock.at)
        if begin < unblock.at:
            went_on = moments.free_since(task.rank, unblock.thread, min(since, unblock.at - 1))
            pieces = _tell_late(task, blame(run, task, since if since < unblock.at else begin, unblock.at), moments, went_on)
            if any(piece[0] in UNDER_WAY for piece in pieces):
                pieces = _shift_blame(pieces, _put_off(run, task, since, moments, went_on))
            delay = Delay(task, unblock, begin, unblock.at, unblock.at - since, pieces)
            for cause, rank, ns in pieces:
                if cause == IMBALANCE:
                    delay.lateness = _lateness(task, rank, moments, went_on)
            found.append(delay)
    found.sort(key=lambda d: (-d.idle, -d.ns))
    return found


class Finding:
    """What one cause cost: idle thread time that it explains, how often it was the first cause, and its worst delay."""

    def __init__(self, cause):
        self.cause, self.ns, self.count, self.worst = cause, 0, 0, None
        self.ranks = {}  #: rank -> ns
        self.computed = {}  #: of imbalance (late rank, rank that waited) -> what each computed

    @property
    def meaning(self):
        return CAUSES[self.cause][0]

    @property
    def advice(self):
        return CAUSES[self.cause][1]

    @property
    def detail(self):
        """Of imbalance the computing times of the two ranks that differ most; else empty."""
        if not self.computed:
            return ""
        (late, other), (mine, theirs) = max(self.computed.items(), key=lambda item: item[1][0] - item[1][1])
        return f"Rank {late} computed {units.time(mine)}, rank {other}, which waited, {units.time(theirs)}."


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
        if delay.lateness:
            found[IMBALANCE].computed[delay.lateness.late, delay.lateness.other] = delay.lateness.computed
        finding = found[delay.cause]
        finding.count += 1
        if finding.worst is None or delay.idle > finding.worst.idle:
            finding.worst = delay
    order = list(CAUSES)
    return sorted(found.values(), key=lambda f: (-f.ns, order.index(f.cause)))
