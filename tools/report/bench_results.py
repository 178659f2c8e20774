# SPDX-License-Identifier: Apache-2.0
# Results of scripts/bench and of the miniapps (--json), sorted into what can be drawn: lines over a size, a number of threads or
# of points, bars where there is no such axis, and breakdowns of a miniapp's time. Which is which is read off the names
# of the rows, in one table here; a row that no pattern knows is a bar.
"""Reads results and groups them for plots."""

import json
import pathlib
import re

SIZE = r"(?P<x>\d+) (?P<scale>B|KiB|MiB)"
SCALES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
#: Pattern of a row's name, title of the axis, its unit, whether it is logarithmic. `side` (and `instead`, `level`) is a line, `what` (and
#: `more`) a plot. As many lanes as threads are one line.
AXES = tuple((re.compile(pattern), *axis) for pattern, *axis in (
    (rf"(?P<what>.+) of {SIZE}, (?P<more>[^,:]+: [^,]+), (?P<side>.+)", "access", "B", True),
    (rf"(?P<what>.+) of {SIZE}, (?P<side>.+)", "message", "B", True),
    (rf"(?P<what>.+), {SIZE}, \d+ ranks, (?P<side>.+)", "message", "B", True),
    (rf"(?P<side>.+), messages of {SIZE}", "message", "B", True),
    (rf"(?P<what>[^,]+) {SIZE}, (?P<side>.+)", "message", "B", True),
    (r"(?P<what>.+) by (?P<x>\d+) threads, (?P<side>.+)", "threads", "", False),
    (r"(?P<n>\d+) (?P<side>lanes), (?P<x>(?P=n)) threads, (?P<what>\d+ B)(?P<level>, \w+)", "threads", "", False),
    (r"(?P<side>.+?), (?P<x>\d+) threads?(?P<instead>, \d+ ranks in the place of each)?, (?P<what>\d+ B)(?P<level>, \w+)", "threads", "", False),
    (r"(?P<what>.+ B) to (?P<x>\d+), (?P<side>.+)", "destinations", "", False),
    (r"(?P<what>QCD )(?P<x>\d+)\^4(?P<more>.*?), (?P<side>.+)", "sites per side", "", True),
    (r"(?P<side>.+), (?P<x>\d+) outstanding", "outstanding", "", True),
    (r"(?P<side>.+), (?P<x>\d+) receives waiting", "receives that wait", "", False),
    (r"(?P<side>.+) 2\^(?P<x>\d+)", "points", "2^", False),
    (r"(?P<side>.+), T_net = (?P<x>[\d.]+) T_comp", "network's time over computing's", "", False),
))
#: Bars that belong side by side: a mode on a lattice, a side of a case.
GROUPS = (re.compile(r"(?P<side>.+?) (?P<what>\d+\.\d+\.\d+\.\d+ \w+)"),
          re.compile(r"(?P<side>(?:baseline|offload|omp|tbb)[^:]*): (?P<what>.+)"), re.compile(r"(?P<what>[^:]+): (?P<side>.+)"))
#: Parts of a miniapp's time in the order of the papers' tables; the FFT computes in two steps.
PARTS = (("compute", ("internal_us", "external_us", "produce_us", "consume_us")), ("post", ("post_us",)), ("wait", ("wait_us",)), ("misc", ("misc_us",)))
PART_COLOURS = {"compute": "#4e79a7", "post": "#e15759", "wait": "#f0b64d", "misc": "#b8c4cf"}


def is_log(unit, values):
    """Whether the values of a plot's lines are drawn on a logarithmic axis."""
    return unit != "%" and min(values, default=0) > 0


class ResultError(Exception):
    """A sentence about a file that is no result."""


class Lines:
    """One plot: series over an axis."""

    def __init__(self, title, axis, axis_unit, is_log, unit):
        self.title, self.axis, self.axis_unit, self.is_log, self.unit = title, axis, axis_unit, is_log, unit
        self.series = {}  #: side -> {x: row}


class Document:
    """One benchmark in one setting."""

    def __init__(self, data):
        self.benchmark, self.setting = data.get("benchmark", "?"), data.get("setting", "")
        self.machine = data.get("machine", {})
        self.facts = {key: value for key, value in data.items() if key != "results"}
        self.rows = data["results"]
        self.lines, self.bars, self.groups = [], [], {}
        self._sort()

    def _sort(self):
        found, groups = {}, {}
        for row in self.rows:
            name = row["name"]
            for pattern, axis, axis_unit, is_log in AXES:
                match = pattern.fullmatch(name)
                if match:
                    said = match.groupdict(default="")
                    what = " ".join(f"{said.get('what', '')} {said.get('more', '')}".split())
                    side = "".join(said.get(part, "") for part in ("side", "instead", "level"))
                    key = (what, axis, row["unit"])
                    lines = found.setdefault(key, Lines(what or self._title(axis, row["unit"]), axis, axis_unit, is_log, row["unit"]))
                    x = float(match["x"]) * SCALES[said.get("scale", "B")]
                    lines.series.setdefault(side, {})[x] = row
                    break
            else:
                match = next(filter(None, (pattern.fullmatch(name) for pattern in GROUPS)), None)
                if match:
                    groups.setdefault((match["what"], row["unit"]), []).append((match["side"], row))
                else:
                    self.bars.append(row)
        for lines in found.values():
            if len({x for one in lines.series.values() for x in one}) > 1:
                self.lines.append(lines)
            else:
                self.bars += [row for one in lines.series.values() for row in one.values()]
        for (what, unit), sides in groups.items():
            if len(sides) > 1:
                self.groups[f"{what} [{unit}]" if what in self.groups else what] = sides
            else:
                self.bars.append(sides[0][1])

    @staticmethod
    def _title(axis, unit):
        return f"{'rate' if '/s' in unit else 'time'} against {axis.split(',')[0]}"


def median_run(data):
    """Of a miniapp's runs, which it writes the fastest first, that of the median time, whole, since the parts of different ones do not add up;
    a breakdown that was stored has kept this one alone. None: no miniapp wrote it."""
    runs = data.get("repeats")
    return runs[len(runs) // 2] if isinstance(runs, list) and runs else data.get("median")


class Breakdown:
    """Where a miniapp's time went: {part: us}."""

    def __init__(self, data, name):
        median = median_run(data)
        self.app = data.get("program") or ("fft_soi" if "produce_us" in median else "lqcd_dslash")
        extents = data.get("lattice") or data.get("points")
        lattice = ".".join(map(str, extents)) if extents else f"n = {data.get('n', '?')}"
        setting = f", {data['setting']}" if data.get("setting") else ""
        self.label = f"{data.get('mode', '?')}, {lattice}, {data.get('ranks', data.get('n_ranks', '?'))} ranks{setting}"
        self.facts = data
        self.file = name
        self.parts = {part: sum(median.get(key, 0) for key in keys) for part, keys in PARTS}
        self.overlap = median.get("overlap")


class Results:
    """All files together."""

    def __init__(self):
        self.documents, self.breakdowns = [], []
        self.left_out = []  #: a sentence of each file that is something else

    def __bool__(self):
        return bool(self.documents or self.breakdowns)


def papers():
    """What papers say: {"app", "source", "rows"} of a breakdown, {"benchmark", "source", "figure"} of a question."""
    return json.loads((pathlib.Path(__file__).resolve().parent / "papers.json").read_text(encoding="utf-8"))


def _is_row(row):
    return isinstance(row, dict) and all(isinstance(row.get(key), of) for key, of in (("name", str), ("unit", str), ("median", (int, float))))


def read(paths):
    """Results of all files, which a folder may have beside other JSON. Raises ResultError, also where none has a result."""
    results = Results()
    for path in map(pathlib.Path, paths):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ResultError(f"{path} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise ResultError(f"{path} is no JSON: {error}.") from error
        except RecursionError as error:
            raise ResultError(f"{path} is nested too deeply for a result.") from error
        if data == []:
            raise ResultError(f"{path} has no result.")
        documents, breakdowns = [], []
        for one in data if isinstance(data, list) else [data]:
            if isinstance(one, dict) and isinstance(one.get("results"), list) and all(map(_is_row, one["results"])):
                documents.append(Document(one))
            elif isinstance(one, dict) and isinstance(median_run(one), dict) and "post_us" in median_run(one):
                breakdowns.append(Breakdown(one, path.name))
            else:
                results.left_out.append(f"{path} is neither a result of scripts/bench --json nor of a miniapp's --json.")
                break
        else:
            results.documents += documents
            results.breakdowns += breakdowns
    if results.left_out and not results:
        raise ResultError(results.left_out[0])
    return results
