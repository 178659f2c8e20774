# SPDX-License-Identifier: Apache-2.0
# Writes trace files as docs/trace-format.md says, so that the report can be tested with any run one can think of and with
# damaged files. It shares no code with the reader: a mistake in the format cannot cancel itself out. Python is slow
# enough that a million records take some seconds, which no test needs.
"""A writer of trace files for tests."""

import pathlib
import struct

CHUNK_BYTES = 16384
WAITING, HELD, READY, IN_FLIGHT, ENDED, DROPPED = range(1, 7)
NOTHING, ISSUE, POLL, IDLE, NAP, ASLEEP, DRIVEN, CALLBACK = range(8)
OPERATIONS = {"send": (1, 1), "recv": (2, 2), "allreduce": (3, 4), "barrier": (4, 4), "sendrecv": (5, 3), "put_notify": (6, 33),
              "await_notify": (7, 34),
              "offer": (8, 1), "take": (9, 2)}


def pair(low, high):
    return struct.unpack("<Q", struct.pack("<ii", low, high))[0]


class TraceWriter:
    """One rank's file. Times are nanoseconds from BEGIN, where its clock stood when the run began, at one time of day everywhere."""

    BEGIN = 1_000_000

    def __init__(self, rank, n_ranks, **head):
        self.rank, self.n_ranks = rank, n_ranks
        self.head = {"version": 2, "state": 1, "run": 77, "session": 1, "clock_domain": 5, "keep": 0, "n_dropped": 0, "reserved": 1,
                     "cpu": rank, "host": "node", "program": "made_up", "n_lanes": 1, "end": 0, **head}
        self.records = {0: []}
        self.texts = {}
        self.made = {}
        self.lost = {}  #: thread -> how many of its records are lost: the first ones where head["keep"] is 1, else the last ones
        for name, (number, flags) in OPERATIONS.items():
            self.put(0, 35, 0, detail=self.text(name), sub=number, flags=flags)

    def put(self, thread, kind, at, identity=0, value=0, detail=0, lane=0, sub=0, flags=0):
        time = self.BEGIN + at
        self.head["end"] = max(self.head["end"], time)
        self.records.setdefault(thread, []).append(
            struct.pack("<QQQIBBBB", time, identity, value % (1 << 64), detail, kind, lane, sub, flags))

    def text(self, words):
        if words not in self.texts:
            number = self.texts[words] = len(self.texts) + 1
            raw = words.encode("utf-8", "surrogateescape")
            pieces = [raw[k:k + 24] for k in range(0, len(raw), 24)] or [b""]
            for piece in pieces:
                last = piece is pieces[-1]
                self.records[0].append(piece.ljust(24, b"\0") + struct.pack("<IBBBB", number, 32, 0, len(piece), int(last)))
        return self.texts[words]

    def thread(self, number, name, lane=-1):
        self.put(0, 33, 0, 1000 + number, pair(lane, self.text(name)), detail=number)

    def communicator(self, number, name, members="0-1", me=None):
        size = self.n_ranks
        self.put(0, 34, 0, self.text(members) << 32 | self.text(name), pair(size, self.rank if me is None else me), detail=number)

    def clock(self, at, offset, error, is_end=False):
        self.put(0, 36, at, value=offset, detail=error, sub=int(is_end))

    def new_id(self, thread):
        self.made[thread] = self.made.get(thread, 0) + 1
        return thread << 48 | self.made[thread]

    def post(self, thread, at, operation, peer=-2, tag=0, comm=1, inside=0):
        identity = self.new_id(thread)
        self.put(thread, 1, at, identity, pair(peer, tag), comm, sub=OPERATIONS[operation][0])
        if inside:
            self.put(thread, 4, at, identity, inside)
        return identity

    def moved(self, driver, identity, *steps, n_bytes=0, given=0, matched=None, end=1):
        """Steps are (where to, when), from the post on. `given`: how many of its bytes it sends."""
        before = 0
        for to, at in steps:
            final = to in (ENDED, DROPPED)
            self.put(driver, 6, at, identity, n_bytes if final else given if to == IN_FLIGHT else 0, end if final else 0, sub=to, flags=before)
            before = to
        if matched:
            self.put(driver, 7, steps[-1][1], identity, pair(*matched))

    def wait(self, thread, begin, end, identity):
        self.put(thread, 9, begin, identity)
        self.put(thread, 10, end, identity)

    def state(self, thread, at, state, lane=0):
        self.put(thread, 16, at, lane=lane, sub=state)

    def compute(self, thread, begin, end, name, after=(), detached=False, identity=0):
        identity = identity or self.new_id(thread)
        self.put(thread, 17, begin, identity, detail=self.text(name), sub=1)
        for one in after:
            self.put(thread, 3, begin, identity, one)
        self.put(thread, 18, begin, identity, sub=1)
        self.put(thread, 19, end, identity, sub=2 if detached else 0)
        return identity

    def region(self, thread, begin, end, name, sub):
        self.put(thread, 20, begin, detail=self.text(name), sub=sub)
        self.put(thread, 21, end, detail=self.text(name), sub=sub)

    def processor(self, thread, at, cpu_ns, cpu=0):
        self.put(thread, 22, at, cpu_ns, pair(cpu, 0))

    def to_bytes(self):
        head, per_chunk = self.head, CHUNK_BYTES // 32 - 1
        chunks = []
        for thread, records in sorted(self.records.items()):
            n_lost = self.lost.get(thread, 0)
            records = records[n_lost:] if head["keep"] else records[:len(records) - n_lost]
            for sequence, k in enumerate(range(0, len(records), per_chunk)):
                first = struct.pack("<QQQIBBBB", sequence, n_lost, 0, thread, 255, 0, 0, 0)
                chunks.append((first + b"".join(records[k:k + per_chunk])).ljust(CHUNK_BYTES, b"\0"))
        header = struct.pack(
            "<8s6IQ4I4Q2IQ64s96s256s2Ii", b"CTTRACE\0", head["version"], CHUNK_BYTES, 32, head["state"], len(chunks) + 1,
            len(chunks) + 1, head["run"], self.rank, self.n_ranks, head["session"], 100 + self.rank, self.BEGIN,
            10 ** 18 + TraceWriter.BEGIN, head["end"], head["clock_domain"], head["keep"], len(self.records), head["n_dropped"] + sum(self.lost.values()),
            head["host"].encode(), b"MPICH made up", head["program"].encode(), head["n_lanes"], head["reserved"], head["cpu"])
        return header.ljust(CHUNK_BYTES, b"\0") + b"".join(chunks)

    def write(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rank-{self.rank}.cttrace"
        path.write_bytes(self.to_bytes())
        return path


def halo_run(folder, hops=20, n_ranks=2, tiles=4, late="", lost=None, **head):
    """A ring of ranks that exchange halos under computing: thread 1 computes and waits, thread 2 is the worker. With
    late="send" rank 1 sends after its interior, with late="receive" rank 0 posts after it. `lost`: TraceWriter's, of every rank."""
    writers = []
    for rank in range(n_ranks):
        out = TraceWriter(rank, n_ranks, **head)
        out.thread(1, "main")
        out.thread(2, "worker 0", lane=0)
        out.communicator(1, "MPI_COMM_WORLD", f"0-{n_ranks - 1}")
        left, right = (rank - 1) % n_ranks, (rank + 1) % n_ranks
        hop_ns, work_ns = 1_000_000, 600_000
        out.state(2, 0, ISSUE)
        for hop in range(hops):
            t = hop * hop_ns
            late_post = work_ns if late == "receive" and rank == 0 else 0
            late_send = work_ns if late == "send" and rank == 1 else 0
            peers_late = work_ns if late == "send" and left == 1 else 0
            receive_at, send_at = t + 1_000 + late_post, t + 30_000 + late_send
            sent = t + 30_000 + peers_late
            arrived = max(sent + 150_000, receive_at + 140_000)
            out.compute(1, t + 2_000, t + 20_000, "pack")
            if not late_post:
                receive = out.post(1, receive_at, "recv", left, hop % 7)
            if not late_send:
                send = out.post(1, send_at, "send", right, hop % 7)
            for k in range(tiles):
                out.compute(1, t + 40_000 + k * work_ns // tiles, t + 40_000 + (k + 1) * work_ns // tiles - 500, f"tile {k}")
            if late_post:
                receive = out.post(1, receive_at + 41_000, "recv", left, hop % 7)
                receive_at, arrived = receive_at + 41_000, arrived + 41_000
            if late_send:
                send_at += 15_000
                send = out.post(1, send_at, "send", right, hop % 7)
            out.moved(2, receive, (READY, receive_at + 300), (IN_FLIGHT, receive_at + 400), (ENDED, arrived), n_bytes=65_536,
                      matched=(left, hop % 7))
            out.moved(2, send, (READY, send_at + 300), (IN_FLIGHT, send_at + 400), (ENDED, send_at + 90_000), n_bytes=65_536, given=65_536)
            ready = t + 45_000 + work_ns + 10_000
            if arrived > ready:
                out.wait(1, ready, arrived + 600, receive)
            begin = max(ready, arrived + 600)
            out.compute(1, begin + 100, begin + 80_000, "boundary", after=(receive,))
            out.state(2, t + 500_000, POLL)
            out.state(2, t + 900_000, ASLEEP if hop % 5 == 4 else ISSUE)
            out.processor(2, t + 900_000, int((t + 900_000) * 0.93), rank)
        total = out.post(1, hops * hop_ns, "allreduce", -2, 0)
        out.moved(2, total, (READY, hops * hop_ns + 200), (IN_FLIGHT, hops * hop_ns + 300), (ENDED, hops * hop_ns + 9_000), n_bytes=8)
        out.wait(1, hops * hop_ns + 400, hops * hop_ns + 9_500, total)
        out.state(2, hops * hop_ns + 20_000, NOTHING)
        writers.append(out)
    for out in writers:
        out.lost = lost or {}
        out.write(folder)
    return folder
