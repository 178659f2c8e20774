# SPDX-License-Identifier: Apache-2.0
# Why something that waited for a message had to wait. Each moment of a wait gets one cause, by what the task, the tasks of
# the other ranks that it needs, and the workers were doing at that moment; docs/report.md has the same table in words.
# The order of the questions is the point: nothing that this rank does matters before the sender has posted.
"""Unblock delays and their causes."""

import bisect

LATE_SENDER = "late sender"
LATE_POST = "late post"
PREDECESSOR = "predecessor"
ORDER = "program order"
BUSY = "worker busy"
ASLEEP = "worker asleep"
NO_CORE = "worker shares its core"
NO_THREAD = "no free thread"
TRANSFER = "transfer"

#: Cause: what it means, and one sentence of advice. In the order in which equal times are shown.
CAUSES = {
    LATE_SENDER: ("the other side had not posted its part yet",
                  "Create the send, and what it packs, before the computing that does not need the message; give both a priority; "
                  "if the sender simply has more to do, balance the work."),
    LATE_POST: ("the other side was there, this side had not posted",
                "Post receives before the computing that they do not depend on: a receive costs nothing while it waits."),
    NO_CORE: ("the worker wanted its core and did not have it",
              "Give each rank one core more than it has compute threads and leave it free for the worker (docs/slow.md says how "
              "for each launcher); commtask-info shows who got one."),
    ASLEEP: ("the worker slept or napped",
             "Raise COMMTASK_SPIN_US where the worker has a core of its own, so that it stays awake between messages."),
    BUSY: ("the worker was occupied with other tasks",
           "Send fewer, larger messages, keep callbacks and call doors short, or use several lanes."),
    PREDECESSOR: ("a communication task before it was not done",
                  "Remove dependences that the data do not need; a chain of messages is as slow as the sum of its links."),
    ORDER: ("it had to keep its place in program order",
            "Give operations that need no common order communicators of their own, or leave out `ordered`."),
    NO_THREAD: ("it was complete, but no thread was free to go on",
                "Make compute tasks shorter, or give what waits for messages a higher priority; no more compute threads than cores "
                "beside the worker's."),
    TRANSFER: ("the message was under way",
               "Nothing is late: only more computing to overlap with, or fewer bytes, hides the network's time."),
}

#: A worker that is awake and has less of its core than this does not have it to itself.
OWN_CORE_SHARE = 0.8


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


def _phase_at(task, t):
    """The phase of a posted task at time t; "done" after its end."""
    if task.ended is not None and t >= task.ended:
        return "done"
    for name, begin in (("in flight", task.issued), ("ready", task.ready), ("order", task.held),
                        ("predecessor", task.waiting)):
        if begin is not None and t >= begin:
            return name
    return "queued"


def _in_worker(run, task, begin, end):
    """Pieces of a time in which `task` waited for its rank's worker."""
    rank = run.rank(task.rank)
    worker = rank.worker_of(task.lane) if rank else None
    if worker is None:
        return [(BUSY, task.rank, end - begin)]
    if worker.has_own_core is False:
        return [(NO_CORE, task.rank, end - begin)]
    pieces = []
    known = 0
    for a, b, state in worker.states_between(begin, end):
        known += b - a
        if state in ("asleep", "nap"):
            pieces.append((ASLEEP, task.rank, b - a))
        else:
            pieces += _awake(worker, task.rank, a, b)
    if known < end - begin:
        pieces += _awake(worker, task.rank, begin, end - known)
    return pieces


def _awake(worker, rank, begin, end):
    """A time in which the worker was awake: had it its core?"""
    share = worker.share_between(begin, end)
    cause = NO_CORE if share is not None and share < OWN_CORE_SHARE else BUSY
    return [(cause, rank, end - begin)]


def _under_way(run, tasks, begin, end):
    """Pieces of a time in which all sides had issued: the network's, but for what a worker slept or lacked its core."""
    left = end - begin
    pieces = []
    for task in tasks:
        rank = run.rank(task.rank)
        worker = rank.worker_of(task.lane) if rank else None
        if worker is None or left <= 0:
            continue
        away = sum(b - a for a, b, state in worker.states_between(begin, end) if state in ("asleep", "nap"))
        cause = NO_CORE if worker.has_own_core is False else ASLEEP
        share = worker.share_between(begin, end)
        if share is not None and share < OWN_CORE_SHARE:
            lacked = int((1 - share) * (end - begin))
            if lacked > away:
                away, cause = lacked, NO_CORE
        away = min(away, left)
        if away > 0:
            pieces.append((cause, task.rank, away))
            left -= away
    if left > 0:
        pieces.append((TRANSFER, tasks[0].rank, left))
    return pieces


def _of_phase(run, task, phase, begin, end):
    """Pieces of a time in which one side was posted and not issued; nothing if it was further."""
    if phase in ("queued", "ready"):
        return _in_worker(run, task, begin, end)
    if phase == "predecessor":
        return [(PREDECESSOR, task.rank, end - begin)]
    if phase == "order":
        return [(ORDER, task.rank, end - begin)]
    return []


def _cause_of(run, task, begin, end):
    """Pieces of an interval in which no side changes its phase."""
    if task.ended is not None and begin >= task.ended:
        return [(NO_THREAD, task.rank, end - begin)]
    if not task.is_send:
        absent = [p for p in task.peers if p is not task and p.posted > begin]
        if absent:
            return [(LATE_SENDER, max(absent, key=lambda p: p.posted).rank, end - begin)]
    if task.posted > begin:
        return [(LATE_POST, task.rank, end - begin)]
    pieces = _of_phase(run, task, _phase_at(task, begin), begin, end)
    if pieces:
        return pieces
    for peer in task.peers:
        if peer.posted > begin:
            return [(LATE_POST, peer.rank, end - begin)]
        pieces = _of_phase(run, peer, _phase_at(peer, begin), begin, end)
        if pieces:
            return pieces
    return _under_way(run, [task, *task.peers], begin, end)


def blame(run, task, begin, end):
    """[(cause, rank, ns)] that add up to the interval: who is to blame that `task` had not ended, and been used, in it."""
    cuts = {begin, end}
    for one in (task, *task.peers):
        cuts.update(t for t in (one.posted, one.waiting, one.held, one.ready, one.issued, one.ended)
                    if t is not None and begin < t < end)
    cuts = sorted(cuts)
    pieces = []
    for a, b in zip(cuts, cuts[1:]):
        for piece in _cause_of(run, task, a, b):
            if pieces and pieces[-1][:2] == piece[:2]:
                pieces[-1] = (*piece[:2], pieces[-1][2] + piece[2])
            else:
                pieces.append(piece)
    return pieces


def _lateness(task, free_since):
    """(cause, rank, ns): by how much the later of the two posts came after the earlier one and after its own thread last
    stood idle: from then on its program chose what to do first. A transfer that a wait sees is the late post's up to that."""
    if task.is_send or not task.peers:
        return None
    others = [peer for peer in task.peers if peer is not task]
    last = max((task, *others), key=lambda one: one.posted)
    first = min(one.posted for one in (task, *others))
    ns = last.posted - max(first, free_since(last.rank, last.poster, last.posted))
    return (LATE_POST if last is task else LATE_SENDER), last.rank, ns


def _shift_blame(pieces, lateness):
    """Gives the transfer to the lateness, as far as that reaches: posted in time it would have been over."""
    if lateness is None or lateness[2] <= 0:
        return pieces
    cause, rank, left = lateness
    out = []
    for piece in pieces:
        moved = min(left, piece[2]) if piece[0] == TRANSFER else 0
        left -= moved
        if moved:
            out.append((cause, rank, moved))
        if piece[2] > moved:
            out.append((*piece[:2], piece[2] - moved))
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
            if key not in last or (task.ended or 0) > (last[key][0].ended or 0):
                last[key] = (task, unblock)
    for task, unblock in last.values():
        since = idle.since(rank.rank, unblock.thread, unblock.at, task.posted)
        if unblock.idle_from is not None:
            since = max(since, unblock.idle_from) if since < unblock.at else unblock.idle_from
        yield task, unblock, since


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
            found.append(Delay(task, unblock, begin, unblock.at, unblock.at - since,
                               _shift_blame(pieces, _lateness(task, idle.free_since))))
    found.sort(key=lambda d: (-d.idle, -d.ns))
    return found


class Finding:
    """What one cause cost: idle thread time that it explains, how often it was the first cause, and its worst delay."""

    def __init__(self, cause):
        self.cause, self.ns, self.count, self.worst = cause, 0, 0, None
        self.ranks = {}  #: rank -> ns

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
