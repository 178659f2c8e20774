# SPDX-License-Identifier: Apache-2.0
# A run as an OTF2 archive, written by OTF2's own library, which is loaded when an archive is asked for. OTF2 wants the events of a
# location in the order of time and its regions nested, so they are collected first. The states of a worker are regions of it. Tasks
# overlap, so they are no regions but MPI's nonblocking events: messages, collectives, puts, gets and atomics. Of messages between ranks that
# nobody matched each side is there. Collectives of neighborhoods, flushes, epochs and files have no event here.
"""Writes a run for Vampir and Scalasca."""

import ctypes
import itertools
import os
import shutil
from pathlib import Path

import spans
from trace_reader import COMPLETED, IN_FLIGHT, NODE, ONE_SIDED, ONETBB, RECEIVES, SENDS, TraceError

#: Of OTF2 3; other versions have other arguments.
LIBRARIES = ("libopen-trace-format2.so.10", "libotf2.so.10")
CHUNK_BYTES = 1 << 20
NONE = 0xFFFFFFFF

#: The arguments of its functions behind the handle and, of events, the time: of 1, 4 and 8 bytes, a text, a pointer.
EVENTS = {"Enter": "4", "Leave": "4", "MpiIsend": "44488", "MpiIsendComplete": "8", "MpiIrecvRequest": "8", "MpiIrecv": "44488",
          "MpiRequestCancelled": "8", "NonBlockingCollectiveRequest": "8", "NonBlockingCollectiveComplete": "144888", "RmaPut": "4488",
          "RmaGet": "4488", "RmaAtomic": "441888", "RmaOpCompleteNonBlocking": "48"}
DEFINITIONS = {"ClockProperties": "8888", "String": "4s", "Paradigm": "141", "Region": "4444114444", "SystemTreeNode": "4444",
               "LocationGroup": "44144", "Location": "84184", "Group": "441144p", "Comm": "44444", "RmaWin": "4444"}
TYPES = {"1": ctypes.c_uint8, "4": ctypes.c_uint32, "8": ctypes.c_uint64, "s": ctypes.c_char_p, "p": ctypes.c_void_p}

# Numbers of OTF2's.
FUNCTION, CODE, PARALLEL, BARRIER, TASK, TASK_WAIT = 1, 4, 5, 15, 20, 22  # roles of regions
ONE2ALL, ALL2ONE, ALL2ALL, OTHER, FILE_IO, POINT2POINT, RMA, ARTIFICIAL = 23, 24, 25, 26, 27, 28, 29, 31
USER, OPENMP, MPI, MEASUREMENT, TBB = 1, 3, 4, 6, 17  # paradigms
PARADIGMS = {MPI: ("MPI", 0), OPENMP: ("OpenMP", 1), TBB: ("oneTBB", 1)}  # and their class: process, fork and join
COMM_LOCATIONS, COMM_GROUP = 4, 5
#: In the order of OTF2's numbers; the last makes a handle.
COLLECTIVES = ("barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw allreduce reduce "
               "reduce_scatter scan exscan reduce_scatter_block comm_dup").split()
PUTS, GETS = ("put", "put_notify"), ("get", "get_notify")
ATOMICS = {"accumulate": 0, "compare_and_swap": 3, "get_accumulate": 7, "fetch_and_op": 7}


def _role_of_collective(name):
    if name == "barrier":
        return BARRIER
    for begins, role in ((("all", "reduce_scatter"), ALL2ALL), (("bcast", "scatter"), ONE2ALL), (("gather", "reduce"), ALL2ONE)):
        if name.startswith(begins):
            return role
    return OTHER


def _role_of_call(call):
    """`MPI_Ibarrier` is a barrier. A call that makes a persistent request has the role of what that does."""
    name = call.lower().removeprefix("mpi_").removesuffix("_c").removesuffix("_init")
    for each in (name, name.removeprefix("i")):
        if each in COLLECTIVES:
            return _role_of_collective(each)
        if each.startswith("neighbor_"):
            return OTHER
    if name.startswith(("comm_idup", "comm_dup_")):
        return OTHER
    if name.startswith("win_") or {name, name.removeprefix("r")} & {*PUTS, *GETS, *ATOMICS}:
        return RMA
    if name.startswith("file_"):
        return FILE_IO
    # Whole words or at the front: MPI_Grequest_start and MPI_Topo_test have them at the end.
    if any(word in name for word in ("send", "recv", "probe")) or name.startswith(("wait", "test")) or name in ("start", "startall"):
        return POINT2POINT
    return FUNCTION


def _kind_of(trace, category, span):
    """(role, paradigm) of a region."""
    if category == "state":
        return ARTIFICIAL, MEASUREMENT
    if category == "wait":
        return TASK_WAIT, USER
    if category == "compute":
        known = trace.computes.get(span.id)
        return {1: (TASK, OPENMP), ONETBB: (TASK, TBB), NODE: (CODE, TBB)}.get(known.model if known else 0, (TASK, USER))
    if category == "mpi":
        return _role_of_call(span.name), MPI
    if category == "openmp":
        return BARRIER if span.name == "barrier" else TASK_WAIT if span.name.startswith("task") else PARALLEL, OPENMP
    return (PARALLEL, TBB) if category == "onetbb" else (CODE, USER)


class _Library:
    """Its functions, which raise TraceError where they fail."""

    def __init__(self, folder):
        self.folder = folder
        for name in LIBRARIES:
            try:
                self.loaded = ctypes.CDLL(name)
                return
            except OSError:
                pass
        raise TraceError(f"--otf2 needs the library of OTF2 3, and neither {' nor '.join(LIBRARIES)} was found "
                         "(Debian: libopen-trace-format2-10)")

    def function(self, name, takes, gives=ctypes.c_int):
        found = getattr(self.loaded, f"OTF2_{name}")
        found.argtypes, found.restype = [TYPES[one] for one in takes], gives
        return found

    def call(self, name, takes, *words):
        self.check(self.function(name, takes)(*words))

    def open(self, name, takes, *words):
        """A handle."""
        handle = self.function(name, takes, ctypes.c_void_p)(*words)
        if not handle:
            raise TraceError(f"{self.folder} cannot be written: OTF2 opens no file there")
        return handle

    def check(self, code):
        if code:
            why = self.function("Error_GetDescription", "4", ctypes.c_char_p)(code).decode()
            raise TraceError(f"{self.folder} cannot be written: {why}")


class _Flushes(ctypes.Structure):
    """What OTF2 asks when a buffer is full: write it, and do not say when."""
    _Before = ctypes.CFUNCTYPE(ctypes.c_uint8, ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_bool)
    _After = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint64)
    _fields_ = [("before", _Before), ("after", _After)]

    def __init__(self):
        super().__init__(self._Before(lambda *_: 1), self._After(lambda *_: 0))


class _Location:
    """A thread: its events are (time, name, arguments)."""

    def __init__(self, group, trace, thread):
        self.number, self.group, self.trace, self.thread, self.events = trace.rank << 32 | thread.number, group, trace, thread, []

    def name(self):
        paradigms = {_kind_of(self.trace, category, span)[1] for _, _, category, span in spans.of_thread(self.trace, self.thread)}
        team = "" if self.thread.is_worker else "oneTBB " if TBB in paradigms else "OpenMP " if OPENMP in paradigms else ""
        return team + spans.name_of(self.thread)

    def collect_regions(self, number_of):
        """`number_of(name, kind)`: the region's."""
        found, opened = list(spans.of_thread(self.trace, self.thread)), []
        if self.thread.is_worker:  # of other threads waits and calls say more
            found += [(begin, end, "state", f"worker: {state}") for begin, end, state, _ in self.thread.intervals(self.trace.last)]

        def leave_until(time):
            while opened and opened[-1][0] <= time:
                end, region = opened.pop()
                self.events.append((end, "Leave", region))

        for begin, end, category, span, _ in spans.nest(found):
            leave_until(begin)
            name = span if category == "state" else span.name or "compute task"
            region = number_of(name, _kind_of(self.trace, category, span))
            self.events.append((begin, "Enter", region))
            opened.append((end, region))
        leave_until(float("inf"))


class Archive:
    def __init__(self, read):
        self.read = read
        self.texts, self.regions, self.comms, self.windows = {}, {}, {}, {}  #: number by what has it
        self.locations = []
        self.requests = itertools.count(1)
        for group, trace in enumerate(read.ranks):
            for known in trace.communicators.values():
                if not known.is_inter:
                    self.comms.setdefault(known.key, len(self.comms))
            here = {number: _Location(group, trace, trace.threads[number]) for number in sorted(trace.threads) if number}
            self.locations += here.values()
            for location in here.values():
                location.collect_regions(lambda name, kind: self.regions.setdefault((self.text(name), *kind), len(self.regions)))
            for task in trace.tasks.values():
                self._collect(trace, task, here)

    def text(self, words):
        return self.texts.setdefault(words, len(self.texts))

    def _collect(self, trace, task, here):
        """The events of a task that was issued, by the threads that issued and ended it."""
        known = trace.communicators.get(task.communicator)
        issue = next((step for step in task.steps if step.phase == IN_FLIGHT), None)
        if known is None or known.is_inter or issue is None:
            return
        comm, flags, last = self.comms[known.key], trace.flags_of(task), task.steps[-1]
        has_completed = task.end == COMPLETED
        n_bytes = task.bytes if has_completed and task.bytes else 0
        received_bytes = max(0, n_bytes - task.given)

        def add(step, *event):
            if step.thread in here:
                here[step.thread].events.append((step.time, *event))

        def send(peer, tag, length):
            request = next(self.requests)
            add(issue, "MpiIsend", peer, comm, tag, length, request)
            if has_completed:
                add(last, "MpiIsendComplete", request)

        def receive(peer, tag, length):
            request = next(self.requests)
            add(issue, "MpiIrecvRequest", request)
            if has_completed and peer >= 0:
                add(last, "MpiIrecv", peer, comm, tag, length, request)
            elif task.end:
                add(last, "MpiRequestCancelled", request)

        if flags & SENDS and task.peer >= 0:
            send(task.peer, task.tag, 0 if flags & ONE_SIDED else task.given)  # a notification's data go another way
        # A list has the sum of its messages.
        n_sent = sum(way == SENDS for _, _, way in task.others)
        for peer, tag, way in task.others:
            if peer >= 0:
                send(peer, tag, task.given // n_sent) if way == SENDS else receive(peer, tag, received_bytes // (len(task.others) - n_sent))
        if flags & RECEIVES:
            peer, tag = task.matched or ((task.peer, task.tag) if task.source is None else (task.source, task.source_tag))
            if peer >= 0 or not flags & ONE_SIDED:  # of a notification that might come from anybody the sender is not known
                receive(peer, tag, received_bytes)
        if task.operation in COLLECTIVES and has_completed:
            request = next(self.requests)
            add(issue, "NonBlockingCollectiveRequest", request)
            # The trace has the bytes that this rank gave; what it got only MPI knows.
            add(last, "NonBlockingCollectiveComplete", COLLECTIVES.index(task.operation), comm, NONE if task.peer < 0 else task.peer, n_bytes, 0, request)
        if task.operation in (*PUTS, *GETS, *ATOMICS) and task.peer >= 0:
            request, window = next(self.requests), self.windows.setdefault(comm, len(self.windows))
            if task.operation in ATOMICS:
                add(issue, "RmaAtomic", window, task.peer, ATOMICS[task.operation], task.given, 0, request)
            else:
                add(issue, "RmaPut" if task.operation in PUTS else "RmaGet", window, task.peer, task.given, request)
            if has_completed:
                add(last, "RmaOpCompleteNonBlocking", window, request)

    def definitions(self):
        """(name, arguments), in the order that readers want: numbers of a kind from 0 on."""
        text, read = self.text, self.read
        found = [("SystemTreeNode", 0, text("machine"), text("machine"), NONE)]
        hosts = {}
        for group, trace in enumerate(read.ranks):
            if trace.host not in hosts:
                hosts[trace.host] = len(hosts) + 1
                found.append(("SystemTreeNode", hosts[trace.host], text(trace.host), text("node"), 0))
            found.append(("LocationGroup", group, text(f"rank {trace.rank}"), 1, hosts[trace.host], NONE))
        first = {}
        for one in self.locations:
            first.setdefault(one.trace.rank, one.number)
            found.append(("Location", one.number, text(one.name()), 1, len(one.events), one.group))
        # Ranks are places in one list of locations; a communicator is a list of these places.
        found.append(self._group(0, COMM_LOCATIONS, [first.get(rank, rank << 32) for rank in range(read.ranks[0].n_ranks)]))
        for key, comm in self.comms.items():
            found += [self._group(comm + 1, COMM_GROUP, key[0]), ("Comm", comm, text(key[1]), comm + 1, NONE, 0)]
        names = {comm: key[1] for key, comm in self.comms.items()}
        found += [("RmaWin", window, text(names[comm]), comm, 0) for comm, window in self.windows.items()]
        return found

    def _group(self, number, kind, members):
        return "Group", number, self.text(""), kind, MPI, 0, len(members), (ctypes.c_uint64 * len(members))(*members)

    def write(self, library, handle):
        library.call("Archive_OpenEvtFiles", "p", handle)
        functions = {name: library.function(f"EvtWriter_{name}", f"pp8{takes}") for name, takes in EVENTS.items()}
        for one in self.locations:
            writer = library.open("Archive_GetEvtWriter", "p8", handle, one.number)
            for time, name, *words in sorted(one.events, key=lambda event: event[0]):
                library.check(functions[name](writer, None, max(0, time - self.read.begin), *words))
            library.call("Archive_CloseEvtWriter", "pp", handle, writer)
        library.call("Archive_CloseEvtFiles", "p", handle)
        library.call("Archive_OpenDefFiles", "p", handle)
        for one in self.locations:
            library.call("Archive_CloseDefWriter", "pp", handle, library.open("Archive_GetDefWriter", "p8", handle, one.number))
        library.call("Archive_CloseDefFiles", "p", handle)
        writer = library.open("Archive_GetGlobalDefWriter", "p", handle)
        for name, *words in self._in_order():
            library.call(f"GlobalDefWriter_Write{name}", f"p{DEFINITIONS[name]}", writer, *words)
        library.call("Archive_CloseGlobalDefWriter", "pp", handle, writer)

    def _in_order(self):
        """Texts before what names them."""
        read, none, found = self.read, self.text(""), self.definitions()
        used = {paradigm for _, _, paradigm in self.regions}
        found = [("Paradigm", number, self.text(name), kind) for number, (name, kind) in PARADIGMS.items() if number in used] + [
            ("Region", number, name, name, none, role, paradigm, 0, none, 0, 0) for (name, role, paradigm), number in self.regions.items()] + found
        last = max(max(trace.end or 0, trace.last) for trace in read.ranks)
        yield "ClockProperties", 10 ** 9, 0, last - read.begin + 1, read.begin + read.ranks[0].realtime_offset
        for words, number in self.texts.items():
            yield "String", number, words.encode()
        yield from found


def write(read, folder):
    """`read`: the run as trace_run.py read it. The folder takes its name when all is written."""
    target = Path(os.path.realpath(folder))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise TraceError(f"{folder} is not empty: name a folder that is to be made")
    library = _Library(folder)
    archive = Archive(read)
    part = target.with_name(f".{target.name}.{os.getpid()}")
    flushes = _Flushes()
    handle = None
    try:
        handle = library.open("Archive_Open", "ss18811", os.fsencode(part), b"traces", 0, CHUNK_BYTES, 4 * CHUNK_BYTES, 1, 1)
        library.call("Archive_SetFlushCallbacks", "ppp", handle, ctypes.addressof(flushes), None)
        library.call("Archive_SetSerialCollectiveCallbacks", "p", handle)
        library.call("Archive_SetCreator", "ps", handle, b"commtask")
        archive.write(library, handle)
        done, handle = handle, None
        library.call("Archive_Close", "p", done)
        part.replace(target)
    finally:
        if handle:
            library.function("Archive_Close", "p")(handle)
        shutil.rmtree(part, ignore_errors=True)
