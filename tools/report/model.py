# SPDX-License-Identifier: Apache-2.0
# What a traced run is, as the analyses see it: ranks with tasks, threads and workers on one clock. Nothing here knows how a
# trace is stored (load.py) or shown (text.py, page.py), so that an analysis is tested with a run made up in ten lines.
# Times are nanoseconds since the run began, on the clock that all ranks share after alignment; None is "never".
"""The model of a traced run."""

import bisect

#: The phases of a task, in the order of its life: name, and where the phase begins.
PHASES = ("queued", "predecessor", "order", "ready", "in flight", "unblock")


class Task:
    """One communication task. `peers` are the tasks of other ranks without which it cannot end, `members` those of its own rank of
    which it consists, if it is the run of a plan. `bytes` is None where it did not complete and only its end would say its size. `submitter`,
    `issuer` and `ender` are threads. `computed_before` are the compute tasks that it depends on, `computed_after` those that depend on it: (end or begin, thread, name)."""

    __slots__ = ("rank", "lane", "number", "op", "peer", "tag", "comm", "bytes", "posted", "submitter", "issuer", "ender", "waiting",
                 "held", "ready", "issued", "ended", "open_until", "state", "stands", "sends", "receives", "needs_others", "predecessors", "peers", "members", "unblocks",
                 "computed_before", "computed_after")

    def __init__(self, rank, number, op, posted, **rest):
        self.rank, self.number, self.op, self.posted = rank, number, op, posted
        self.lane, self.peer, self.tag, self.comm, self.bytes = 0, None, None, "", 0
        self.submitter = self.issuer = self.ender = self.waiting = self.held = self.ready = self.issued = self.ended = None
        self.open_until = None  #: of one that never ended the end of the run; None where the record of its end may be lost
        self.state, self.stands = "open", False
        self.sends = self.receives = False  #: messages, as the trace says of its kind
        self.needs_others = False  #: it cannot end without another rank, whose task `peers` has if the trace has it
        self.predecessors, self.peers, self.members, self.unblocks = (), (), (), []
        self.computed_before, self.computed_after = [], []
        for name, value in rest.items():
            setattr(self, name, value)

    @property
    def accepted(self):
        """When a driver first saw it."""
        for when in (self.waiting, self.held, self.ready, self.issued, self.ended):
            if when is not None:
                return when
        return None

    @property
    def until(self):
        """When it ended; of one that never did, until when it was open."""
        return self.ended if self.ended is not None else self.open_until

    @property
    def is_send(self):
        return self.sends and not self.receives

    @property
    def decisive(self):
        """What its end waited for: of the run of a plan the member that ended last, or never did."""
        if self.ended is None:
            return next((one for one in self.members if one.ended is None), self)
        return max((one for one in self.members if one.ended is not None), key=lambda one: one.ended, default=self)

    @property
    def unblocked(self):
        """When the first of what waited for it went on."""
        return min((u.at for u in self.unblocks), default=None) if self.ended is not None else None

    def phases(self):
        """Yields (name, begin, end) of every phase that it went through and left, or was in until the run's end."""
        marks = (("queued", self.posted), ("predecessor", self.waiting), ("order", self.held), ("ready", self.ready),
                 ("in flight", self.issued), ("unblock", self.ended))
        known = [(name, at) for name, at in marks if at is not None]
        for (name, begin), (_, end) in zip(known, known[1:]):
            yield name, begin, end
        if self.ended is None and self.open_until is not None:
            yield *known[-1], self.open_until
        elif self.ended is not None and self.unblocked is not None:
            yield "unblock", self.ended, max(self.ended, self.unblocked)

    @property
    def comes(self):
        """Whether the data come from the peer."""
        return self.receives and not self.sends or self.op in ("get", "get_notify")

    def title(self):
        """`recv <- 1 tag 7, 8192 B`: the words that people search by."""
        way = "<-" if self.comes else "->"
        to = f" {way} {self.peer}" if self.peer is not None and self.peer >= 0 else ""
        tag = f" tag {self.tag}" if self.tag is not None and to else ""
        size = f", {self.bytes} B" if self.bytes else ""
        return f"{self.op}{to}{tag}{size}"


class Unblock:
    """Something went on because a task ended: a wait returned, a compute task started. Of a wait that never did, the end of the run."""

    __slots__ = ("task", "at", "thread", "idle_from", "what")

    def __init__(self, task, at, thread=None, idle_from=None, what="wait"):
        self.task, self.at, self.thread, self.idle_from, self.what = task, at, thread, idle_from, what


class Span:
    """What a thread did from `begin` to `end`. Kinds: compute, wait (in the library), call (of MPI), sync (a barrier or
    wait of OpenMP), region, drive (it does the work of the worker of `lane`; None: of several lanes in turns)."""

    __slots__ = ("begin", "end", "kind", "label", "lane")

    def __init__(self, begin, end, kind, label="", lane=0):
        self.begin, self.end, self.kind, self.label, self.lane = begin, end, kind, label, lane


class Thread:
    """A thread of the program. Spans are sorted by their begin; a compute span may lie inside a wait. `posts`: times at which it
    posted, of interest only as signs of life. A helper is the library's own and never computes."""

    def __init__(self, identity, name, spans=(), posts=(), is_helper=False):
        self.is_helper = is_helper
        self.identity, self.name, self.spans = identity, name, list(spans)
        self._seen = (min(posts), max(posts)) if posts else None

    def computing(self):
        """Its compute spans united; without any, all of its time but waits, calls and driving, from its first sign of life to the last.
        A thread that never had to do with messages, as one that only stands in OpenMP's barrier, computes nothing then."""
        if self.is_helper:
            return []
        compute = [(s.begin, s.end) for s in self.spans if s.kind == "compute"]
        if compute:
            return union(compute)
        if not self._seen and all(s.kind in ("sync", "region") for s in self.spans):
            return []
        signs = [(s.begin, s.end) for s in self.spans] + ([self._seen] if self._seen else [])
        whole = [(min(begin for begin, _ in signs), max(end for _, end in signs))]
        return subtract(whole, union((s.begin, s.end) for s in self.spans if s.kind in ("wait", "call", "sync", "drive")))


#: A lane that waits no longer for its next turn counts as one in which a thread makes progress, ns: the library leaves out pauses of that length itself.
MOMENT = 20_000
#: So many posts and ends, none more than MOMENT after the last, are many small messages.
MANY = 32
#: States of a worker in which it wants no processor.
PAUSES = ("blocked", "timed wait", "beside others", "paused")


class Worker:
    """The worker of a lane. States: issue, poll, idle, timed wait, blocked, beside others, callback, paused; `samples` are (time, its processor time)."""

    def __init__(self, lane=0, cpu=None, has_own_core=None, states=(), samples=()):
        self.lane, self.cpu, self.has_own_core = lane, cpu, has_own_core
        self.states, self.samples = list(states), list(samples)
        self.index()

    def index(self):
        """After states or samples were added."""
        self._begins = [s[0] for s in self.states]
        self._sampled = [s[0] for s in self.samples]

    def states_between(self, begin, end):
        """Yields (begin, end, state), cut to the interval; nothing where the trace knows no state."""
        at = max(0, bisect.bisect_right(self._begins, begin) - 1)
        while at < len(self.states) and self.states[at][0] < end:
            a, b, state = self.states[at]
            if b > begin:
                yield max(a, begin), min(b, end), state
            at += 1

    def share_between(self, begin, end):
        """Processor time over time awake, from the samples around the interval; None without samples, or if it slept."""
        if len(self.samples) < 2:
            return None
        first = max(0, bisect.bisect_right(self._sampled, begin) - 1)
        last = min(len(self.samples) - 1, bisect.bisect_left(self._sampled, end))
        first = min(first, last - 1) if last > 0 else 0
        last = max(last, first + 1)
        (t0, c0), (t1, c1) = self.samples[first], self.samples[last]
        awake = t1 - t0 - sum(b - a for a, b, state in self.states_between(t0, t1) if state in PAUSES)
        return min(1.0, (c1 - c0) / awake) if awake > 0 else None


class Rank:
    """One rank of the run."""

    def __init__(self, rank, tasks=(), threads=(), workers=(), **facts):
        self.rank, self.tasks, self.threads, self.workers = rank, list(tasks), list(threads), list(workers)
        self.facts = facts  #: what the trace's head says: host, program, n_ranks, dropped, …
        self._driven = {}  # lane -> intervals
        self._moved = None

    def driven_between(self, lane, begin, end):
        """When threads beside the lane's worker did its work, united with the moments between two turns; intervals that reach beyond are
        not cut."""
        if lane not in self._driven:
            self._driven[lane] = union(((s.begin, s.end) for t in self.threads for s in t.spans if s.kind == "drive" and s.lane in (lane, None)),
                                       MOMENT)
        driven = self._driven[lane]
        first = max(0, bisect.bisect_right(driven, (begin,)) - 1)
        return driven[first:bisect.bisect_left(driven, (end,))]

    def moved_between(self, begin, end):
        """How long many tasks were posted and ended one right after the other."""
        if self._moved is None:
            times = sorted(t for task in self.tasks for t in (task.posted, task.ended) if t is not None)
            cuts = [0, *(k for k in range(1, len(times)) if times[k] - times[k - 1] > MOMENT), len(times)]
            self._moved = [(times[a], times[b - 1]) for a, b in zip(cuts, cuts[1:]) if b - a >= MANY]
        low = max(0, bisect.bisect_right(self._moved, (begin,)) - 1)
        return overlap_length(self._moved[low:bisect.bisect_left(self._moved, (end,))], [(begin, end)])

    def worker_of(self, lane):
        for worker in self.workers:
            if worker.lane == lane:
                return worker
        return None


class Run:
    """All that was traced."""

    def __init__(self, ranks, notes=(), clock_error_ns=0, clocks_may_drift=False):
        self.ranks = sorted(ranks, key=lambda r: r.rank)
        self.clock_error_ns = clock_error_ns  #: how far the clocks of two ranks are off at most; None: unknown
        self.clocks_may_drift = clocks_may_drift  #: that is so at the start only, since some were not compared at the end
        self.notes = list(notes)  #: sentences about what the trace lacks
        self.messages = []  #: (send, receive) of different or the same rank
        self._by_rank = {r.rank: r for r in self.ranks}

    def rank(self, number):
        return self._by_rank.get(number)

    def tasks(self):
        for rank in self.ranks:
            yield from rank.tasks

    def extent(self):
        """(first, last) time of anything."""
        first, last = [], []
        for rank in self.ranks:
            for task in rank.tasks:
                first.append(task.posted)
                last.append(task.until if task.until is not None else task.posted)
            for thread in rank.threads:
                first += [s.begin for s in thread.spans[:1]]
                last += [s.end for s in thread.spans]
            for worker in rank.workers:
                first += [s[0] for s in worker.states[:1]]
                last += [s[1] for s in worker.states[-1:]]
        return (min(first), max(last)) if first else (0, 0)


def union(intervals, gap=0):
    """Sorted, disjoint intervals that cover the same time, and what lies between two of them if it is not longer than the gap."""
    out = []
    for begin, end in sorted(intervals):
        if end <= begin:
            continue
        if out and begin <= out[-1][1] + gap:
            if end > out[-1][1]:
                out[-1] = (out[-1][0], end)
        else:
            out.append((begin, end))
    return out


def subtract(whole, holes):
    """What of sorted, disjoint `whole` is not in sorted, disjoint `holes`."""
    out = []
    at = 0
    for begin, end in whole:
        while at < len(holes) and holes[at][1] <= begin:
            at += 1
        k = at
        while k < len(holes) and holes[k][0] < end:
            if holes[k][0] > begin:
                out.append((begin, holes[k][0]))
            begin = max(begin, holes[k][1])
            k += 1
        if begin < end:
            out.append((begin, end))
    return out


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def overlap_length(one, other):
    """Time in both of two sorted, disjoint lists."""
    total = i = j = 0
    while i < len(one) and j < len(other):
        begin, end = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        total += max(0, end - begin)
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return total


def quantile(ordered, fraction):
    """Of a sorted list, linear between neighbours; 0 of an empty one."""
    if not ordered:
        return 0
    position = fraction * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
