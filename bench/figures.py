# SPDX-License-Identifier: Apache-2.0
# The report of bench/harness for benchmarks that alternate whole processes: the same quantiles, rows, JSON and table,
# so that a reader cannot tell which half wrote a result. bench/tests holds both to the same examples.
"""Quantiles, rows with goals, JSON and table."""

import math

import whole_file


def quantile(samples, fraction):
    """Linear between neighbours."""
    ordered = sorted(samples)
    position = fraction * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def _rounded(value):
    return float(f"{value:.4g}")


class Row:
    """One result. `ratios` has one entry per round; a goal is a lower bound on their median."""

    def __init__(self, name, unit, samples, ratio_to=None, ratios=None, at_least=None, note=""):
        self.name = name
        self.unit = unit
        self.samples = samples
        self.ratio_to = ratio_to
        self.ratios = ratios or []
        self.at_least = at_least
        self.note = note

    @property
    def ratio(self):
        return quantile(self.ratios, 0.5) if self.ratios else None

    @property
    def is_met(self):
        return self.at_least is None or (self.ratio is not None and self.ratio >= self.at_least)

    def to_json(self):
        out = {"name": self.name, "unit": self.unit, "median": _rounded(quantile(self.samples, 0.5))}
        for key, fraction in (("p10", 0.1), ("p90", 0.9), ("p99", 0.99)):
            out[key] = _rounded(quantile(self.samples, fraction))
        out["ratio_to"] = self.ratio_to
        out["ratio"] = _rounded(self.ratio) if self.ratios else None
        out["goal"] = f"ratio >= {self.at_least:g}" if self.at_least is not None else None
        if self.at_least is not None:
            out["met"] = self.is_met
        if self.ratios:
            out["ratio_p10"] = _rounded(quantile(self.ratios, 0.1))
            out["ratio_p90"] = _rounded(quantile(self.ratios, 0.9))
            out["rounds"] = len(self.ratios)
        out["samples"] = len(self.samples)
        if self.note:
            out["note"] = self.note
        return out


class Report:
    def __init__(self, benchmark, setting, machine):
        self.benchmark = benchmark
        self.setting = setting
        self.machine = machine
        self.rows = []

    def to_json(self):
        return {
            "benchmark": self.benchmark,
            "setting": self.setting,
            "machine": self.machine,
            "results": [row.to_json() for row in self.rows],
        }

    def to_table(self):
        cells = [["name", "unit", "median", "p10", "p90", "p99", "ratio", "[p10..p90]", "to", "goal", ""]]
        for row in self.rows:
            one = row.to_json()
            verdict = "" if one["goal"] is None else "met" if row.is_met else "NOT MET"
            spread = f"{one['ratio_p10']:.4g}..{one['ratio_p90']:.4g}" if row.ratios else ""
            numbers = [f"{one[key]:.4g}" for key in ("median", "p10", "p90", "p99")]
            ratio = f"{one['ratio']:.4g}" if row.ratios else ""
            cells.append([row.name, row.unit, *numbers, ratio, spread, row.ratio_to or "", one["goal"] or "", verdict])
        widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
        table = [f"{self.benchmark}, {self.setting}"]
        for line in cells:
            pairs = zip(line, widths, range(len(line)))
            table.append("  ".join(c.rjust(w) if 2 <= i <= 6 else c.ljust(w) for c, w, i in pairs).rstrip())
        table += [f"  {row.name}: {row.note}" for row in self.rows if row.note]
        return "\n".join(table)


def write(reports, file_name):
    """One report as an object, several as a list."""
    documents = [report.to_json() for report in reports]
    whole_file.write_json(file_name, documents[0] if len(documents) == 1 else documents)
