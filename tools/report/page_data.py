# SPDX-License-Identifier: Apache-2.0
# The run as columns of numbers for the page: a million objects in JSON would take a browser seconds to read and a gigabyte to
# keep, typed arrays take neither. Rows never hold spans of one kind that overlap, so that the page finds what lies under a
# pixel by bisection and adds up what lies in it by differences of prefix sums, at any zoom.
"""Columns for the timeline."""

import array
import base64
import heapq
import json
import zlib

from model import PHASES

#: Of a rank's tasks that are open at once, so many are drawn below each other; what is more is cut to fit, and counted.
MOST_TASK_ROWS = 64
#: Kinds of a thread's spans, in the order in which they are painted.
THREAD_KINDS = ("region", "drive", "wait", "sync", "call", "compute")
NOTHING = 0xFFFFFFFF


class Columns:
    """Typed arrays, packed one behind the other."""

    def __init__(self):
        self.entries = []
        self._chunks = []
        self._n_bytes = 0

    def add(self, code, values):
        """The number of the new array. Codes: d float64, I uint32, i int32."""
        packed = array.array(code, values).tobytes()
        padding = -len(packed) % 8
        self.entries.append((code, self._n_bytes, len(packed) // array.array(code).itemsize))
        self._chunks += [packed, b"\0" * padding]
        self._n_bytes += len(packed) + padding
        return len(self.entries) - 1

    def text(self):
        return base64.b64encode(zlib.compress(b"".join(self._chunks), 6)).decode("ascii")


class Words:
    """Each text once."""

    def __init__(self):
        self.list = []
        self._numbers = {}

    def number(self, text):
        if text not in self._numbers:
            self._numbers[text] = len(self.list)
            self.list.append(text)
        return self._numbers[text]


def _kind(columns, name, spans):
    """One kind of a row: spans (begin, end, reference), made disjoint: where two overlap, the later one is cut or left out."""
    begins, ends, references = [], [], []
    until = float("-inf")
    for begin, end, reference in sorted(spans, key=lambda span: (span[0], -span[1])):
        begin = max(begin, until)
        if end <= begin:
            continue
        begins.append(begin)
        ends.append(end)
        references.append(reference)
        until = end
    return {"name": name, "begin": columns.add("d", begins), "end": columns.add("d", ends), "ref": columns.add("I", references)}


def innermost(spans):
    """Spans (begin, end, reference) that lie in each other as what can be seen of them: of an outer one the parts beside its inner ones."""
    parts, open_ones, at = [], [], 0

    def show(until):
        if until > at:
            parts.append((at, until, open_ones[-1][1]))

    for begin, end, reference in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_ones and open_ones[-1][0] <= begin:
            show(open_ones[-1][0])
            at = max(at, open_ones.pop()[0])
        if open_ones:
            show(begin)
            end = min(end, open_ones[-1][0])
        at = begin
        open_ones.append((end, reference))
    while open_ones:
        show(open_ones[-1][0])
        at = max(at, open_ones.pop()[0])
    return parts


def _thread_row(columns, words, rank, thread):
    kinds = []
    for name in THREAD_KINDS:
        spans = [(s.begin, s.end, words.number(s.label or name)) for s in thread.spans if s.kind == name]
        if spans:
            kinds.append(_kind(columns, name, innermost(spans)))
    if not any(span.kind == "compute" for span in thread.spans):
        # Nobody told what it did there: it neither waited nor was in MPI, which is what counts as computing.
        spans = [(begin, end, words.number("outside the library")) for begin, end in thread.computing()]
        kinds.insert(0, _kind(columns, "program", spans))
    return {"rank": rank, "type": "thread", "label": thread.name, "thread": thread.identity, "kinds": kinds}


def _worker_row(columns, rank, worker):
    by_state = {}
    for begin, end, state in worker.states:
        by_state.setdefault(state, []).append((begin, end, NOTHING))
    core = f", CPU {worker.cpu}" if worker.cpu is not None else ""
    return {"rank": rank, "type": "worker", "label": f"worker {worker.lane}{core}",
            "kinds": [_kind(columns, state, spans) for state, spans in sorted(by_state.items())]}


def _last_moment(task):
    moments = [t for t in (task.posted, task.waiting, task.held, task.ready, task.issued, task.until, task.unblocked) if t is not None]
    return max(moments)


def place(tasks):
    """Rows of tasks, each in the row that is free first, and how many of them found none: ([[task]], int)."""
    rows, free = [], []  # free: (when, row)
    n_cut = 0
    for task in tasks:
        begin, end = task.posted, max(_last_moment(task), task.posted + 1)
        if free and free[0][0] <= begin or len(rows) == MOST_TASK_ROWS:
            until, at = heapq.heappop(free)
            n_cut += until > begin
        else:
            rows.append([])
            until, at = 0, len(rows) - 1
        rows[at].append(task)
        heapq.heappush(free, (max(until, end), at))
    return rows, n_cut


def _task_rows(columns, rank, index):
    rows = []
    placed, n_cut = place(rank.tasks)
    for number, tasks in enumerate(placed):
        spans = {phase: [] for phase in PHASES}
        for task in tasks:
            for phase, begin, end in task.phases():
                if end > begin:
                    spans[phase].append((begin, end, index[id(task)]))
        label = "tasks" if number == 0 else f"and {n_cut} that are cut" if n_cut > 0 and number == len(placed) - 1 else ""
        rows.append({"rank": rank.rank, "type": "tasks", "label": label,
                     "kinds": [_kind(columns, phase, spans[phase]) for phase in PHASES if spans[phase]]})
    return rows, {id(task): number for number, tasks in enumerate(placed) for task in tasks}


def _task_table(columns, words, tasks, places, index, delays, threads):
    """One column for each fact of a task; times that never came are -1. `threads`: rank -> number -> name."""

    def times(name):
        return columns.add("d", [-1 if (t := getattr(task, name)) is None else t for task in tasks])

    worst = {}
    for delay in delays:
        worst.setdefault(id(delay.task), delay)
    found = [worst.get(id(task)) for task in tasks]
    table = {name: times(name) for name in ("posted", "waiting", "held", "ready", "issued", "ended", "until", "unblocked")}
    table["bytes"] = columns.add("d", [-1 if task.bytes is None else task.bytes for task in tasks])
    for name, value in (("rank", lambda t: t.rank), ("peer", lambda t: -1 if t.peer is None else t.peer),
                        ("tag", lambda t: -1 if t.tag is None else t.tag), ("lane", lambda t: t.lane), ("row", lambda t: places[id(t)])):
        table[name] = columns.add("i", [value(task) for task in tasks])
    for name in ("submitter", "issuer", "ender"):
        table[name] = columns.add("I", [NOTHING if (by := getattr(task, name)) is None else words.number(threads[task.rank].get(by, f"thread {by}"))
                                        for task in tasks])
    for name, value in (("op", lambda t: words.number(t.op)), ("comm", lambda t: words.number(t.comm)),
                        ("state", lambda t: words.number(t.state)), ("number", lambda t: words.number(t.number)),
                        ("partner", lambda t: index[id(t.peers[0])] if len(t.peers) == 1 else NOTHING)):
        table[name] = columns.add("I", [value(task) for task in tasks])
    table["idle"] = columns.add("d", [d.idle if d else -1 for d in found])
    table["cause"] = columns.add("I", [words.number(f"{d.cause} (rank {d.where})") if d else NOTHING for d in found])
    return table


def _dependences(columns, words, tasks, index):
    """Between communication tasks, and of each those with compute tasks: when these ended or began, and where."""
    edges = [(index[id(before)], k) for k, task in enumerate(tasks) for before in task.predecessors]
    computed = [(k, is_after, *one) for k, task in enumerate(tasks)
                for is_after, list_of in enumerate((task.computed_before, task.computed_after)) for one in list_of]
    return ({"from": columns.add("I", [before for before, _ in edges]), "to": columns.add("I", [task for _, task in edges])},
            {"task": columns.add("I", [k for k, *_ in computed]), "is_after": columns.add("I", [is_after for _, is_after, *_ in computed]),
             "time": columns.add("d", [at for _, _, at, _, _ in computed]),
             "thread": columns.add("i", [thread for *_, thread, _ in computed]),
             "name": columns.add("I", [words.number(name or "compute") for *_, name in computed])})


def collect(summary):
    """(what the page reads as JSON, the arrays as text)."""
    columns, words = Columns(), Words()
    tasks = sorted(summary.run.tasks(), key=lambda task: task.posted)
    index = {id(task): number for number, task in enumerate(tasks)}
    rows, places = [], {}
    for rank in summary.run.ranks:
        rows += [_thread_row(columns, words, rank.rank, thread) for thread in rank.threads]
        rows += [_worker_row(columns, rank.rank, worker) for worker in rank.workers]
        more, placed = _task_rows(columns, rank, index)
        rows += more
        places.update(placed)
    table = _task_table(columns, words, tasks, places, index, summary.delays,
                        {rank.rank: rank.facts.get("thread_names", {}) for rank in summary.run.ranks})
    messages = sorted(((send, receive) for send, receive in summary.run.messages if receive.ended is not None),
                      key=lambda pair: pair[0].issued or pair[0].posted)
    path = [step for step in summary.path if step.end > step.begin]
    head = {
        "begin": summary.begin, "end": summary.end, "rows": rows, "tasks": table, "n_tasks": len(tasks),
        "ranks": [{"rank": r.rank, "host": r.facts.get("host", "")} for r in summary.run.ranks],
        "messages": {"from": columns.add("I", [index[id(s)] for s, _ in messages]),
                     "to": columns.add("I", [index[id(r)] for _, r in messages])},
        "path": {"begin": columns.add("d", [s.begin for s in path]), "end": columns.add("d", [s.end for s in path]),
                 "rank": columns.add("i", [s.rank for s in path]),
                 "thread": columns.add("i", [-1 if s.thread is None else s.thread for s in path]),
                 "kind": columns.add("I", [words.number(s.kind) for s in path])},
    }
    head["edges"], head["computed"] = _dependences(columns, words, tasks, index)
    head["words"] = words.list
    head["comes"] = sorted({words.number(task.op) for task in tasks if task.comes})  # operations whose data come from the peer
    head["arrays"] = columns.entries
    return head, columns.text()


def to_json(value):
    """JSON that may stand inside a script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
