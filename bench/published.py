# SPDX-License-Identifier: Apache-2.0
# The tables of results that README and the pages show, between two markers in each: this file says which rows of which stored
# results they have and in what words, performance.py writes them. A row has one figure, the goal that the benchmark itself
# has for it, and whether it is met; rows without a goal have no place here, since nobody could say what their figure means.
"""Rows of stored results as tables in pages."""

import dataclasses
import re


BEGIN, END = "<!-- results: written by bench/performance.py -->", "<!-- end of the results -->"
BLOCK = re.compile(f"{BEGIN}\n(?:.*?\n)?{END}\n", re.S)
UNITS = {"ns": "ns", "us": "µs", "ms": "ms", "ns/message": "ns", "ms per hop": "ms", "ms per V-cycle": "ms"}
SIGNS = {"<=": "≤", ">=": "≥"}
OTHER_WAY = {"<=": ">=", ">=": "<="}


class Wrong(Exception):
    """A sentence about a line that is asked for and cannot be had from its result."""


@dataclasses.dataclass(frozen=True)
class Line:
    """`of`: median, p99, ratio, or inverse, one over the ratio; `setting` is for parts with several."""

    text: str
    part: str
    row: str
    of: str = "ratio"
    setting: str = ""


README = (
    Line("A thread posts a message of 8 B, in bursts of eight; the goal is a quarter of a cache line's way there and back. One rank.", "post", "post 8 B", "median"),
    Line("An empty task is posted and waited for; the goal is 1.7 such ways. One rank.", "roundtrip", "empty task", "median"),
    Line("Messages a second by tasks over MPI alone, 64 outstanding. One rank.", "rate", "messages by tasks, 64 outstanding"),
    Line("The start of a plan of 16 messages over one post. One rank.", "replay", "start of a plan of 16"),
    Line("Eight messages of one held task over eight communication tasks: creating them. One rank.", "hold", "create, team of 1: one held task"),
    Line("From a message's completion to the first instruction of the OpenMP task that depends on it. One rank.", "unblock", "commtask", "median"),
    Line("The same: 99 of 100 are within", "unblock", "commtask", "p99"),
    Line("From a message's completion to the first instruction of the oneTBB node behind it. One rank.", "tbb", "successor of recv_node", "median"),
    Line("The same: 99 of 100 are within", "tbb", "successor of recv_node", "p99"),
    Line("An exchange of sixteen messages by a plan over `MPI_Startall` with nothing to compute. Two ranks that share their cores with their workers.",
         "patterns", "QCD 2^4, plan, all, beside MPI_Startall"),
    Line("The same by a plan among OpenMP tasks over a task for each message.", "patterns", "QCD 2^4, OpenMP plan, all"),
    Line("Speed of Dslash `offload` over `baseline`. Two ranks on two cores: the worker shares one with computing.", "dslash-crowded",
         "offload 16.16.16.32 double"),
    Line("The same of `omp`.", "dslash-crowded", "omp 16.16.16.32 double"),
    Line("The same of `omp` on the small lattice, 8.8.8.16.", "dslash-crowded", "omp 8.8.8.16 double"),
    Line("The same of `offload`. A slow wire with TCP between the ranks.", "dslash-delayed", "offload 16.16.16.32 double"),
    Line("The same of `omp`. That wire; TCP takes the processor time that overlap would win.", "dslash-delayed", "omp 16.16.16.32 double"),
    Line("The same of `offload`. A slow network with rendezvous that takes no processor time.", "dslash-rendezvous", "offload 16.16.16.32 double"),
    Line("The same of `omp`. That network.", "dslash-rendezvous", "omp 16.16.16.32 double"),
    Line("Speed of multigrid with two lanes over one, small messages. Links that inject one message per 100 µs and lane.", "multigrid-link",
         "omp, 2 lanes: 64 boxes, faces"),
    Line("Time of an FFT of 2^21 points over FFTW-MPI's. Two ranks.", "fft-crowded", "SOI p2p 2^21"),
    Line("Speed of that FFT over what perfect overlap would give. A slow network that takes no processor time.", "fft-link",
         "offload soi, T_net = 1 T_comp"),
    Line("`commtask-run`: time in `Isend` of 8 KiB over native. Computing leaves the core.", "offload-crowded", "Isend of 8192 B, commtask-run", "inverse",
         "free"),
    Line("`commtask-run`: what an exchange of 4 MiB takes beyond its computing. Computing leaves the core.", "offload-crowded",
         "exposed of 4194304 B, commtask-run", "median", "free"),
    Line("The same of native MPI over it.", "offload-crowded", "exposed of 4194304 B, commtask-run", "ratio", "free"),
    Line("`commtask-run`: blocking round trip of 8 B over native. Computing leaves the core.", "offload-crowded", "round trip of 8 B, commtask-run",
         "inverse", "free"),
    Line("`commtask-run`: speed of a FUNNELED program over native. The worker has a core.", "offload-crowded",
         "dslash baseline, 1 ranks, commtask-run", "ratio", "crowded"),
    Line("An accumulate of 8 B to a rank that computes, over one to a rank that waits.", "rma",
         "accumulate of 8 B, Win_create: target computes, tasks"),
    Line("`COMMTASK_TRACE`: one event.", "trace", "event, trace", "median"),
    Line("Speed of Dslash `offload` with a trace over without, 8.8.8.16, one rank with a core for each thread.", "trace", "offload 8.8.8.16, trace"),
)
INTERPOSER = (
    *(Line(f"`Isend` of {size}, time over native. Two ranks with a core each that their workers share.", "offload-crowded",
           f"Isend of {n_bytes} B, commtask-run", "inverse", "free") for size, n_bytes in (("8 B", 8), ("8 KiB", 8192), ("64 KiB", 65536))),
    Line("`Isend` of 4 MiB, the same; the goal is native's and 2 µs.", "offload-crowded", "Isend of 4194304 B, commtask-run", "median", "free"),
    *(Line(f"{call} of 4 MiB over 8 B, time of the call. One rank and its worker on a core each.", "offload-crowded",
           f"{call} of 4194304 B, commtask-run, again", "inverse", "own cores") for call in ("Isend", "Irecv", "Ibcast", "Iallreduce", "Ialltoall")),
    *(Line(f"What an exchange of {size} takes beyond its computing, which leaves the core: native over `commtask-run`.", "offload-crowded",
           f"exposed of {n_bytes} B, commtask-run", "ratio", "free") for size, n_bytes in (("64 KiB", 65536), ("512 KiB", 524288), ("4 MiB", 4194304))),
    Line("The same of 4 MiB under `commtask-run`.", "offload-crowded", "exposed of 4194304 B, commtask-run", "median", "free"),
    *(Line(f"Blocking round trip of {size}, time over native.", "offload-crowded", f"round trip of {n_bytes} B, commtask-run", "inverse", "free")
      for size, n_bytes in (("8 B", 8), ("8 KiB", 8192), ("256 KiB", 262144))),
    Line("Speed of a FUNNELED miniapp over native. The worker has a core.", "offload-crowded", "dslash baseline, 1 ranks, commtask-run", "ratio",
         "crowded"),
)
TBB = tuple(Line(f"{what}{words}", "tbb", row, of) for what, row in (
    ("From MPI's completion to the first instruction of the node behind a `recv_node`", "successor of recv_node"),
    ("From MPI's completion to the first instruction of a task behind `wait()`", "task behind wait()"))
    for of, words in (("median", "."), ("p99", ": 99 of 100 are within")))
#: From the root.
PAGES = {"README.md": README, "docs/interposer.md": INTERPOSER, "docs/tbb.md": TBB}


def _short(value):
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _goals(row):
    """{what of the row: (sign, limit)}"""
    found = {}
    for one in (row.get("goal") or "").split(" and "):
        words = one.split()
        if len(words) == 3:
            found[words[0]] = (words[1], float(words[2]))
    return found


def _in_units_of_the_row(document, row, goals):
    """A goal for the ratio as one for the median: that of the row it is compared with stands for the whole."""
    sign, limit = goals["ratio"]
    other = next((one for one in document.rows if one["name"] == row["ratio_to"] and one["unit"] == row["unit"]), None)
    if other is None or sign != "<=":
        raise Wrong(f"{row['name']}: no goal for its median follows from '{row['goal']}'")
    return sign, limit * other["median"]


def figure(document, row, of):
    """(value, unit, sign of the goal, goal, is met). Raises Wrong."""
    goals = _goals(row)
    key = "ratio" if of == "inverse" else of
    if not goals or row.get(key) is None or (of != "median" and key not in goals):
        raise Wrong(f"{row['name']}: its {key} has no goal or no value")
    value, unit = row[key], "×"
    sign, limit = goals[key] if key in goals else _in_units_of_the_row(document, row, goals)
    # Of several goals this is one; what the result says is of all.
    is_met = row["met"] if len(goals) == 1 else value <= limit if sign == "<=" else value >= limit
    if of == "inverse":
        if value == 0:
            raise Wrong(f"{row['name']}: its ratio is 0")
        value, sign, limit = 1 / value, OTHER_WAY[sign], 1 / limit
    elif of != "ratio":
        if row["unit"] not in UNITS:
            raise Wrong(f"{row['name']}: a time is asked for, not {row['unit']}")
        unit = UNITS[row["unit"]]
    return value, unit, sign, limit, is_met


def _row_of(line, documents):
    for document in documents.get(line.part, ()):
        for row in document.rows:
            if row["name"] == line.row and line.setting in ("", document.setting):
                return document, row
    return None, None


def _table_line(line, documents, dates):
    document, row = _row_of(line, documents)
    if row is None:
        if line.part in documents and line.part not in dates:
            raise Wrong(f"{line.part} has no row '{line.row}'")
        return f"| {line.text} | not measured | | |"
    value, unit, sign, limit, is_met = figure(document, row, line.of)
    verdict = "met" if is_met else "**missed**"
    when = f", of {dates[line.part]}" if dates.get(line.part) else ""
    return f"| {line.text} | {_short(value)} {unit} | {SIGNS[sign]} {_short(limit)} {unit} | {verdict}{when} |"


def table(lines, documents, dates, caption):
    """`documents` by the name of their part; `dates` has that of each part that is of other sources than most."""
    return "\n".join(["| question | measured | goal | |", "| --- | --- | --- | --- |",
                      *(_table_line(line, documents, dates) for line in lines), "", caption]) + "\n"


def with_table(text, table_text):
    """The page with another table; None: it has no place for it."""
    return BLOCK.sub(lambda _: f"{BEGIN}\n{table_text}{END}\n", text) if BLOCK.search(text) else None


