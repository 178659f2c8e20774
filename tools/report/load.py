# SPDX-License-Identifier: Apache-2.0
# From traces as they were written (trace_run.py) to a run as the analyses see it: one list of phases for a task, the spans of
# threads, which tasks of other ranks a task needs, and what each task's end let go on. It takes what is there: a trace
# that was cut off or lost records gives a run with fewer facts, and a sentence about them in `notes`.
"""Makes a model.Run of traces."""

import bisect
from collections import defaultdict

from delays import NEVER_WAIT
from model import Rank, Run, Span, Task, Thread, Unblock, Worker
from trace_reader import COLLECTIVE, ENDS, EVERY_LANE, MRECV, NODE, ONETBB, PROC_NULL, RECEIVES, SENDS
from trace_run import issues_without_gap, read_run, whole_ranks

#: Steps of a task: index of trace_reader.PHASES.
WAITING, HELD, READY, IN_FLIGHT, ENDED, DROPPED = range(1, 7)
#: Names of OpenMP regions in which a thread waits rather than computes.
IDLE_WORDS = ("barrier", "wait", "idle")
#: Class of a region: a call of MPI's.
MPI_CALL = 1


class _Loader:
    """One rank's trace. Identifiers are its own, so nothing is shared with other ranks."""

    def __init__(self, trace, zero, last):
        self.trace, self.zero = trace, zero
        self.last = last - zero  #: until then lasts what is open at the end
        self.tasks = {}  #: identifier -> model.Task
        self.posts = defaultdict(list)  #: compute task -> communication tasks that were posted in it

    def load(self):
        trace = self.trace
        for identity, each in trace.tasks.items():
            if each.posted is not None:
                self.tasks[identity] = self._task(each)
                if each.compute:
                    self.posts[each.compute].append(self.tasks[identity])
        self.began = defaultdict(list)  #: compute task -> (begin, thread) of its slices
        #: compute tasks that end by an event, which may come before the body is done
        self.detached = {identity for identity, each in trace.computes.items() if each.fulfilled is not None}
        self.ends = {}  #: compute task -> (end, thread, name) of its last slice
        self.slices = defaultdict(list)  #: thread -> (begin, end, compute task) of its slices
        self.busy = {}  #: thread -> when its waits and calls of MPI ended
        self.nodes_seen = set()
        self.handed_on = []  #: (when, task) that a node of oneTBB handed on
        self.post_times = defaultdict(list)  #: thread -> when it posted
        self.ended_by = defaultdict(list)  #: thread -> (end, number, task) of what it posted, by end
        self.left_open = {}  #: thread -> (posted, number, task) of what it posted last of all that never ended
        for task in self.tasks.values():
            self.post_times[task.submitter].append(task.posted)
            if task.ended is not None:
                self.ended_by[task.submitter].append((task.ended, task.number, task))
            elif task.open_until is not None and not task.stands:
                self.left_open[task.submitter] = max((task.posted, task.number, task), self.left_open.get(task.submitter, (-1,)), key=lambda row: row[:2])
        for ended in self.ended_by.values():
            ended.sort(key=lambda row: row[:2])
        threads, workers = [], []
        for number in sorted(trace.threads):
            each = trace.threads[number]
            if number != 0:
                self._thread(each, threads, workers)
        self._edges()
        self._go_on_behind_nodes()
        facts = {"host": trace.host, "program": trace.program, "mpi": trace.mpi, "n_ranks": trace.n_ranks,
                 "n_dropped": trace.n_dropped, "thread_names": {number: each.name for number, each in trace.threads.items()}}
        tasks = sorted(self.tasks.values(), key=lambda task: task.posted)
        return Rank(trace.rank, tasks, threads, workers, **facts)

    def _task(self, each):
        begins, by = [None] * (DROPPED + 1), [None] * (DROPPED + 1)
        for step in each.steps:
            begins[step.phase], by[step.phase] = step.time - self.zero, step.thread
        ended = begins[ENDED] if begins[ENDED] is not None else begins[DROPPED]
        flags = self.trace.flags_of(each)
        peer, tag = each.matched if each.matched and not flags & SENDS else (each.peer, each.tag)
        if peer == PROC_NULL and each.others:
            ranks = {rank for rank, _, _ in each.others}
            peer, tag = ranks.pop() if len(ranks) == 1 else PROC_NULL, each.others[0][1]
        elif not flags & (SENDS | RECEIVES):
            tag = None
        ways = self.trace.ways_of(each)
        known = self.trace.communicators.get(each.communicator)
        needs_others = flags & COLLECTIVE and (known is None or known.size > 1) or flags & RECEIVES and not flags & MRECV
        return Task(each.rank, each.number, f"standing {each.operation}" if each.stands else each.operation,
                    each.posted - self.zero, stands=each.stands, needs_others=bool(needs_others),
                    sends=bool(ways & SENDS), receives=bool(ways & RECEIVES),
                    lane=each.lane, comm=self._comm_name(each.communicator), submitter=each.submitter,
                    issuer=by[IN_FLIGHT], ender=by[DROPPED] if by[ENDED] is None else by[ENDED], tag=tag,
                    bytes=each.bytes, peer=peer if peer > PROC_NULL else None, waiting=begins[WAITING], held=begins[HELD],
                    ready=begins[READY], issued=begins[IN_FLIGHT], ended=ended,
                    open_until=self.last if self.trace.is_open(each) else None, state=ENDS[each.end] if ended is not None else "open")

    def _comm_name(self, number):
        known = self.trace.communicators.get(number)
        if known is None:
            return f"communicator {number}"
        place = f" #{known.key[2] + 1}" if known.key and known.key[2] else ""
        return (known.name or f"{known.size} ranks") + place

    def _thread(self, each, threads, workers):
        spans = []

        def cut(span):
            return span.begin - self.zero, self.last if span.end is None else span.end - self.zero

        for span in each.computes:
            begin, end = cut(span)
            known = self.trace.computes.get(span.id)
            if known is not None and known.model == NODE:
                if span.id not in self.nodes_seen:  # it pauses where a body runs inside of it
                    self.handed_on += [(begin, before) for before, _ in known.after if before in self.tasks]
                    self.nodes_seen.add(span.id)
                if not each.is_worker:
                    spans.append(Span(begin, end, "region", span.name))
                continue
            if not each.is_worker:
                self.slices[each.number].append((begin, end, span.id))
            spans.append(Span(begin, end, "compute", span.name))
            self.began[span.id].append((begin, each.number))
            self.ends[span.id] = max((end, each.number, span.name), self.ends.get(span.id, (0,)))
            if span.how == 2:
                self.detached.add(span.id)  # its body only posted: what comes after waits for its event
        for span in each.regions:
            begin, end = cut(span)
            waits = any(word in span.name.lower() for word in IDLE_WORDS)
            spans.append(Span(begin, end, "call" if span.sub == MPI_CALL else "sync" if waits else "region", span.name))
            if span.sub == MPI_CALL and not each.is_helper and not each.waits and not span.name.startswith(NEVER_WAIT):
                if span.end is None:
                    self._never_went_on(each.number, begin, self._left_open(each.number))
                else:
                    self._end_call(each.number, begin, end)
        for span in each.waits:
            begin, end = cut(span)
            task = self.tasks.get(span.id)
            if span.end is None:
                task = task or self._left_open(each.number) or self._left_open(*self.left_open)
                self._never_went_on(each.number, begin, task)
            spans.append(Span(begin, end, "wait", "wait" if task is None else f"wait for {task.title()}"))
            if task is not None and span.end is not None and task.ended is not None:
                task.unblocks.append(Unblock(task, end, each.number, begin, "wait"))
        self.busy[each.number] = sorted(span.end for span in spans if span.kind in ("wait", "call"))
        states = [(begin - self.zero, end - self.zero, state, lane) for begin, end, state, lane in each.intervals(self.last + self.zero) if end > begin]
        if each.is_worker:
            served = [(begin, end, state) for begin, end, state, lane in states if lane == each.lane]
            cpus = {cpu for _, _, cpu in each.processor}
            if each.lane == 0 and self.trace.worker_cpu >= 0:
                cpus = {self.trace.worker_cpu}
            own = self.trace.worker_is_reserved  # all workers of a rank have cores of their own, or none has
            cpu = cpus.pop() if len(cpus) == 1 else None  # of other lanes the samples tell it, unless they went about
            samples = [(at - self.zero, ns) for at, ns, _ in each.processor]
            workers.append(Worker(each.lane, cpu, own, served, samples))
        spans += [Span(begin, end, "drive", state, None if lane == EVERY_LANE else lane)
                  for begin, end, state, lane in states if lane != each.lane]
        posts = self.post_times.get(each.number, ())
        if spans or (posts and not each.is_worker):
            spans.sort(key=lambda span: (span.begin, -span.end))
            name = each.name or f"thread {each.number}"
            threads.append(Thread(each.number, name, spans, posts, is_helper=each.is_helper or each.is_worker))

    def _end_call(self, thread, begin, end):
        """An unmodified program's MPI_Wait and its like: what it waited for is taken to be the last of its thread's operations that
        ended while it was in the call."""
        ended = self.ended_by.get(thread, ())
        k = bisect.bisect_right(ended, (end, chr(0x10ffff))) - 1
        if k >= 0 and ended[k][0] > begin:
            task = ended[k][2]
            task.unblocks.append(Unblock(task, end, thread, begin, "wait"))

    def _left_open(self, *threads):
        """The last task of the threads' that did not end: what a call of its thread, or a wait for several tasks, is taken to have been for;
        such a wait of a thread that left none was for another's."""
        return max((self.left_open[thread] for thread in threads if thread in self.left_open), key=lambda row: row[:2], default=(None,))[-1]

    def _never_went_on(self, thread, begin, task):
        """A wait, or a call of MPI's, in which the thread was until the end."""
        if task is not None and self.trace.has_end:
            task.unblocks.append(Unblock(task, self.last, thread, begin, "wait"))

    def _behind(self, identity):
        """The communication tasks that `identity` stands for: itself, or those that a detached compute task posted."""
        if identity in self.tasks:
            return [self.tasks[identity]]
        return self.posts.get(identity, ()) if identity in self.detached else ()

    def _edges(self):
        """Before a communication task its predecessors; after it the compute tasks that it let start, or go on. One that a detached compute
        task posted depends on what that depends on."""
        for identity, each in self.trace.tasks.items():
            if each.members and identity in self.tasks:
                self.tasks[identity].members = tuple(self.tasks[one] for one in each.members if one in self.tasks)
            befores = each.after
            if each.compute in self.detached and each.compute in self.trace.computes:
                befores = befores + [before for before, _ in self.trace.computes[each.compute].after]
            if befores and identity in self.tasks:
                task = self.tasks[identity]
                task.predecessors = tuple(before for one in befores for before in self._behind(one) if before is not task)
                task.computed_before = [self.ends[one] for one in befores if one in self.ends and one not in self.detached]
        for identity, each in self.trace.computes.items():
            slices = sorted(self.began.get(identity, ())) if identity not in self.detached else ()
            waited_for = defaultdict(list)  # slice -> what it began after: what was said before it
            for before, said in each.after:
                k = bisect.bisect_left(slices, (said - self.zero,))
                if k < len(slices):
                    waited_for[slices[k]].append(before)
            for (at, thread), befores in waited_for.items():
                self._let_start(at, thread, befores, each.name)

    def _go_on_behind_nodes(self):
        """oneTBB does not tell what lets a body start. A thread that idled before it started one is taken to have gone on at the moment,
        while it idled, at which a node last handed on a message, whatever thread did that."""
        times = [at for at, _ in sorted(self.handed_on)]
        tasks = [self.tasks[task] for _, task in sorted(self.handed_on)]
        first = {identity: min(slices) for identity, slices in self.began.items()}
        for thread, slices in self.slices.items():
            idle_from = -1
            for begin, end, identity in sorted(slices):
                k = bisect.bisect_right(times, begin) - 1
                known = self.trace.computes.get(identity)
                n_before = bisect.bisect_right(self.busy[thread], begin)
                idle_from = max(idle_from, self.busy[thread][n_before - 1] if n_before else -1)
                is_its_first = known is not None and known.model == ONETBB and (begin, thread) == first[identity]
                if is_its_first and k >= 0 and times[k] > idle_from:
                    tasks[k].unblocks.append(Unblock(tasks[k], times[k], thread, None, "compute"))
                idle_from = max(idle_from, end)

    def _let_start(self, at, thread, befores, name):
        """What ended last let a slice of a compute task start: of no interest if that was computing."""
        computed = max((self.ends[one][0] for one in befores if one in self.ends and one not in self.detached), default=0)
        for task in (task for one in befores for task in self._behind(one)):
            task.computed_after.append((at, thread, name))
            if task.ended is not None and computed <= task.ended <= at:
                task.unblocks.append(Unblock(task, at, thread, None, "compute"))


def _join_messages(run, messages, loaders):
    peers = defaultdict(list)
    for message in messages:
        send = loaders[message.send.rank].tasks.get(message.send.id)
        receive = loaders[message.receive.rank].tasks.get(message.receive.id)
        if send is None or receive is None:
            continue
        run.messages.append((send, receive))
        if send is receive:
            send.needs_others = False  # a sendrecv with oneself
        else:
            peers[send].append(receive)
            peers[receive].append(send)
    for task, others in peers.items():
        task.peers = tuple(dict.fromkeys(others))  # of a sendrecv both messages may be with one


def _join_collectives(traces, loaders):
    """The k-th collective that each rank of a communicator issued is the same one; where the beginning is lost, the k-th last one."""
    has_begin, has_end = whole_ranks(traces)
    calls = defaultdict(dict)
    for trace in traces:
        for each in issues_without_gap(trace):
            if trace.flags_of(each) & COLLECTIVE and each.communicator in trace.communicators:
                key = trace.communicators[each.communicator].key
                calls[key].setdefault(trace.rank, []).append(loaders[trace.rank].tasks.get(each.id))
    for by_rank in calls.values():
        if by_rank.keys() <= has_end and not by_rank.keys() <= has_begin:
            by_rank = {rank: called[::-1] for rank, called in by_rank.items()}
        elif not by_rank.keys() <= has_begin:
            continue
        for together in zip(*by_rank.values()):
            if len(together) > 1 and None not in together and len({task.op for task in together}) == 1:
                for task in together:
                    task.peers = together  # shared by all: a list for each would be the square of the ranks


def load(paths):
    """The run that files and folders hold. Raises trace_reader.TraceError."""
    return loaded(read_run(paths))


def loaded(read):
    """What was read, as the analyses see it."""
    zero = min(trace.begin for trace in read.ranks)
    last = max(trace.last for trace in read.ranks)
    loaders = {trace.rank: _Loader(trace, zero, trace.last if trace.state == 1 else last) for trace in read.ranks}
    run = Run([loader.load() for loader in loaders.values()], read.remarks, read.clock_error, read.clocks_may_drift)
    _join_messages(run, read.messages, loaders)
    _join_collectives(read.ranks, loaders)
    return run
