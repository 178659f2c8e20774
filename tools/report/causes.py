# SPDX-License-Identifier: Apache-2.0
# Why something that waited for a message had to wait. Each moment of a wait gets one cause, by what the task, the tasks of
# the other ranks that it needs, and the workers were doing at that moment; docs/report.md has the same table in words.
# The order of the questions is the point: nothing that this rank does matters before the sender has posted.
"""Causes: the table of them, and who is to blame for a time."""

from model import subtract

LATE_SENDER = "late sender"
LATE_POST = "late post"
IMBALANCE = "imbalance"
WAITED = "other side waited"
PREDECESSOR = "predecessor"
ORDER = "program order"
BUSY = "worker busy"
ASLEEP = "worker blocked"
PAUSED = "worker paused"
NO_CORE = "worker shares its core"
NO_THREAD = "no free thread"
TRANSFER = "transfer"
UNKNOWN = "other side unknown"
#: Of a task that is in flight on every side that the trace has.
UNDER_WAY = (TRANSFER, UNKNOWN)

#: Cause: what it means, and one sentence of advice. In the order in which equal times are shown.
CAUSES = {
    LATE_SENDER: ("the other side had not posted its part yet",
                  "Create the send, and what it packs, before the computing that does not need the message (in an OpenMP team of one thread "
                  "after it: the last created runs first); give both a priority."),
    LATE_POST: ("the other side was there, this side had not posted",
                "Post receives before the computing that they do not depend on: a receive costs nothing while it waits."),
    IMBALANCE: ("the other side had more to compute before it came",
                "Give the rank that computes longer less to do; no order of messages gains this time."),
    WAITED: ("the other side came late, and had not computed more",
             ""),
    NO_CORE: ("the worker wanted its core and did not have it",
              "Give each rank one core more than it has compute threads and leave it free for the worker (docs/slow.md says how "
              "for each launcher); commtask-info shows who got one."),
    ASLEEP: ("the worker slept or napped",
             "Raise COMMTASK_SPIN_US where the worker has a core of its own, so that it stays awake between messages."),
    PAUSED: ("the program had paused the workers",
             "Call commtask_resume before something waits for messages: a paused worker only looks now and then."),
    BUSY: ("the lane was occupied with other tasks",
           "Send fewer, larger messages, keep callbacks and the functions of `call` operations short, or use several lanes."),
    PREDECESSOR: ("a communication task before it was not done",
                  "Remove dependences that the data do not need; a chain of messages is as slow as the sum of its links."),
    ORDER: ("it had to keep its place in program order",
            "Give operations that need no common order communicators of their own, or leave out `ordered`."),
    NO_THREAD: ("it was complete, but no thread was free to go on",
                "Make compute tasks shorter, or give what waits for messages a higher priority; no more compute threads than cores "
                "beside the worker's."),
    TRANSFER: ("the message was under way",
               "Nothing is late: only more computing to overlap with, or fewer bytes, hides the network's time."),
    UNKNOWN: ("it was in flight here, and the trace does not tell what the other side did",
              "Trace all ranks into one folder, with room for all records (COMMTASK_TRACE_MB): then the report can say whether the other "
              "side was late; docs/report.md lists what a trace cannot see. Of a message that never came look what the other side posted: "
              "docs/hangs.md."),
}

#: A worker that is awake and has less of its core than this does not have it to itself.
OWN_CORE_SHARE = 0.8


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
    """Pieces of a time in which `task` waited for its rank's lane to be driven."""
    rank = run.rank(task.rank)
    worker = rank.worker_of(task.lane) if rank else None
    if worker is None:
        return [(BUSY, task.rank, end - begin)]
    pieces = []
    for a, b in subtract([(begin, end)], rank.driven_between(task.lane, begin, end)):
        pieces += [(cause, task.rank, ns) for cause, ns in _worker_alone(worker, a, b)]
    driven = end - begin - sum(ns for _, _, ns in pieces)
    return pieces + ([(BUSY, task.rank, driven)] if driven > 0 else [])


def _worker_alone(worker, begin, end):
    """[(cause, ns)] of a time in which no thread of the program drove the lane."""
    if worker.has_own_core is False:
        paused = _time_in(worker, begin, end, "paused")
        return [(cause, ns) for cause, ns in ((PAUSED, paused), (NO_CORE, end - begin - paused)) if ns > 0]
    slept, paused = _time_in(worker, begin, end, "blocked", "timed wait"), _time_in(worker, begin, end, "paused")
    share = worker.share_between(begin, end)
    awake = NO_CORE if share is not None and share < OWN_CORE_SHARE and slept + paused < (end - begin) / 2 else BUSY
    return [(cause, ns) for cause, ns in ((ASLEEP, slept), (PAUSED, paused), (awake, end - begin - slept - paused)) if ns > 0]


def _time_in(worker, begin, end, *wanted):
    return sum(b - a for a, b, state in worker.states_between(begin, end) if state in wanted)


def _not_served(worker, begin, end):
    """(cause, ns): how much of a time the lane's messages got no progress, as far as the trace can tell."""
    paused = _time_in(worker, begin, end, "paused")
    if paused > (end - begin) / 2:
        return PAUSED, paused
    if worker.has_own_core is False and not worker.samples:
        return NO_CORE, end - begin
    slept = _time_in(worker, begin, end, "blocked", "timed wait")
    share = worker.share_between(begin, end)
    if share is not None and share < OWN_CORE_SHARE:
        lacked = int((1 - share) * (end - begin))
        if lacked > slept or worker.has_own_core is False:
            return NO_CORE, max(lacked, slept)
    return (NO_CORE if worker.has_own_core is False else ASLEEP), slept


def _under_way(run, tasks, begin, end):
    """Pieces of a time in which all sides had issued: the network's, but for what a lane was not served."""
    left = end - begin
    pieces = []
    hangs = tasks[0].ended is None
    is_alone = not tasks[0].peers and (tasks[0].needs_others or hangs and tasks[0].is_send)
    for task in tasks if not (is_alone and hangs) else ():  # whatever its worker did meanwhile
        rank = run.rank(task.rank)
        worker = rank.worker_of(task.lane) if rank else None
        if worker is None or left <= 0:
            continue
        for a, b in subtract([(begin, end)], rank.driven_between(task.lane, begin, end)):
            cause, ns = _not_served(worker, a, b)
            ns = min(ns, left)
            if ns > 0:
                pieces.append((cause, task.rank, ns))
                left -= ns
    for rank in () if is_alone else filter(None, map(run.rank, dict.fromkeys(task.rank for task in tasks))):
        ns = min(left, rank.moved_between(begin, end))
        if ns > 0:
            pieces.append((BUSY, rank.rank, ns))
            left -= ns
    if left > 0:
        pieces.append((UNKNOWN if is_alone else TRANSFER, tasks[0].rank, left))
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
    return _under_way(run, [task, *(peer for peer in task.peers if peer is not task)], begin, end)


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
