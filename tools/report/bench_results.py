# SPDX-License-Identifier: Apache-2.0
# Results of scripts/bench and of the miniapps (--json), sorted into what can be drawn: lines over a size, a number of threads or
# of points, bars where there is no such axis, and breakdowns of a miniapp's time. Which is which is read off the names
# of the rows, in one table here; a row that no pattern knows is a bar.
"""Reads results and groups them for plots."""

import json
import pathlib
import re

#: Pattern of a row's name, title of the axis, its unit, whether it is logarithmic. `side` is a line, `what` a plot.
AXES = (
    (re.compile(r"(?P<what>.+) of (?P<x>\d+) B, (?P<side>.+)"), "message", "B", True),
    (re.compile(r"(?P<what>.+) by (?P<x>\d+) threads, (?P<side>.+)"), "threads", "", False),
    (re.compile(r"(?P<side>.+), (?P<x>\d+) outstanding"), "outstanding", "", True),
    (re.compile(r"(?P<side>.+), (?P<x>\d+) receives waiting"), "receives that wait", "", False),
    (re.compile(r"(?P<side>.+) 2\^(?P<x>\d+)"), "points", "2^", False),
    (re.compile(r"(?P<side>.+), T_net = (?P<x>[\d.]+) T_comp"), "network's time over computing's", "", False),
)
#: Bars that belong side by side: a mode on a lattice.
LATTICE = re.compile(r"(?P<side>\S+) (?P<what>\d+\.\d+\.\d+\.\d+ \w+)")
#: Parts of a miniapp's time in the order of the papers' tables; the FFT computes in two steps.
PARTS = (("compute", ("internal_us", "produce_us", "consume_us")), ("post", ("post_us",)), ("wait", ("wait_us",)), ("misc", ("misc_us",)))


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
        self.lines, self.bars, self.lattices = [], [], {}
        self._sort()

    def _sort(self):
        found = {}
        for row in self.rows:
            name = row["name"]
            for pattern, axis, axis_unit, is_log in AXES:
                match = pattern.fullmatch(name)
                if match:
                    what = match.groupdict().get("what", "")
                    key = (what, axis, row["unit"])
                    lines = found.setdefault(key, Lines(what or self._title(axis, row["unit"]), axis, axis_unit, is_log, row["unit"]))
                    lines.series.setdefault(match["side"], {})[float(match["x"])] = row
                    break
            else:
                match = LATTICE.fullmatch(name)
                if match:
                    self.lattices.setdefault(match["what"], []).append((match["side"], row))
                else:
                    self.bars.append(row)
        for lines in found.values():
            if len({x for one in lines.series.values() for x in one}) > 1:
                self.lines.append(lines)
            else:
                self.bars += [row for one in lines.series.values() for row in one.values()]

    @staticmethod
    def _title(axis, unit):
        return f"{'rate' if '/s' in unit else 'time'} against {axis.split(',')[0]}"


class Breakdown:
    """Where a miniapp's time went: {part: us}."""

    def __init__(self, data, name):
        median = data["median"]
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

    def __bool__(self):
        return bool(self.documents or self.breakdowns)


def papers():
    """What papers say: {"app", "source", "rows"} of a breakdown, {"benchmark", "source", "figure"} of a question."""
    return json.loads((pathlib.Path(__file__).resolve().parent / "papers.json").read_text(encoding="utf-8"))


def read(paths):
    """Results of all files. Raises ResultError."""
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
        for one in data if isinstance(data, list) else [data]:
            if isinstance(one, dict) and isinstance(one.get("results"), list) and all(
                    isinstance(row, dict) and {"name", "unit", "median"} <= row.keys() for row in one["results"]):
                results.documents.append(Document(one))
            elif isinstance(one, dict) and isinstance(one.get("median"), dict) and "post_us" in one["median"]:
                results.breakdowns.append(Breakdown(one, path.name))
            else:
                raise ResultError(f"{path} is neither a result of scripts/bench --json nor of a miniapp's --json.")
    return results
