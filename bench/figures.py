# SPDX-License-Identifier: Apache-2.0
# What is said about samples, written once: quantiles instead of means, since one descheduling on a shared machine moves a mean as
# far as it likes, and ratios round by round, since the speed of the machine itself drifts. Samples come from the benchmarks in
# C++ (bench/harness/report.h) or from the drivers here that alternate whole processes; rows, JSON and table are the same.
"""Quantiles, rows with goals, JSON and table."""

import dataclasses

import model
import whole_file


def quantile(samples, fraction):
    """Linear between neighbours, as numpy's."""
    return model.quantile(sorted(samples), fraction)


def quantile_of_counts(counts, fraction):
    """The value of [(value, how often)] below which the fraction lies; 0 of none."""
    left = fraction * sum(n for _, n in counts)
    last = 0
    for last, n in sorted(counts):
        left -= n
        if left <= 0:
            break
    return last


def paired_differences(side, reference):
    """For every round how much the median of `side` is above that of `reference`; rounds without either are left out."""
    return [quantile(own, 0.5) - quantile(other, 0.5) for own, other in zip(side, reference) if own and other]


def paired_ratios(side, reference):
    """For every round the median of `side` over that of `reference`; rounds that cannot be compared are left out."""
    pairs = ((own, quantile(other, 0.5)) for own, other in zip(side, reference) if own and other)
    return [quantile(own, 0.5) / divisor for own, divisor in pairs if divisor != 0]


@dataclasses.dataclass(frozen=True)
class Goal:
    """A bound on "median", "p99", or, each the rounds' median, "ratio" or "difference", which has the row's unit."""

    of: str
    is_upper: bool
    limit: float

    def __str__(self):
        return f"{self.of} {'<=' if self.is_upper else '>='} {self.limit:.4g}"

    def is_met(self, value):
        """A goal on what could not be formed is not met."""
        return value is not None and (value <= self.limit if self.is_upper else value >= self.limit)


def _rounded(value, goals=()):
    """Four digits, since a fifth would only be noise, but as many as it takes to be on the side of each goal that the value is on."""
    of_digits = (float(f"{value:.{n_digits}g}") for n_digits in range(4, 17))
    return next((one for one in of_digits if all(goal.is_met(one) == goal.is_met(value) for goal in goals)), value)


def at_least(limit):
    """The goals of a row whose ratio has a lower bound, or none."""
    return () if limit is None else (Goal("ratio", False, limit),)


class Row:
    """One result. `ratios` has one entry per round."""

    def __init__(self, name, unit, samples, ratio_to=None, ratios=None, goals=(), note="",
                 differences=None):
        self.name = name
        self.unit = unit
        self.samples = samples
        self.ratio_to = ratio_to
        self.ratios = ratios or []
        self.differences = differences or []
        self.goals = goals
        self.note = note

    def _at(self, fraction):
        return quantile(self.samples, fraction) if self.samples else 0.0

    @property
    def ratio(self):
        return quantile(self.ratios, 0.5) if self.ratios else None

    @property
    def difference(self):
        return quantile(self.differences, 0.5) if self.differences else None

    @property
    def is_met(self):
        values = {"median": self._at(0.5), "p99": self._at(0.99), "ratio": self.ratio, "difference": self.difference}
        return all(goal.is_met(values[goal.of]) for goal in self.goals)

    def _shown(self, key, value):
        return _rounded(value, [goal for goal in self.goals if goal.of == key])

    def to_json(self):
        out = {"name": self.name, "unit": self.unit}
        for key, fraction in (("median", 0.5), ("p10", 0.1), ("p90", 0.9), ("p99", 0.99)):
            out[key] = self._shown(key, self._at(fraction))
        out["ratio_to"] = self.ratio_to
        out["ratio"] = self._shown("ratio", self.ratio) if self.ratios else None
        out["goal"] = " and ".join(map(str, self.goals)) or None
        if self.goals:
            out["met"] = self.is_met
        if self.ratios:
            out["ratio_p10"] = _rounded(quantile(self.ratios, 0.1))
            out["ratio_p90"] = _rounded(quantile(self.ratios, 0.9))
            out["rounds"] = len(self.ratios)
        if any(goal.of == "difference" for goal in self.goals):
            out["difference"] = self._shown("difference", self.difference) if self.differences else None
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
            note = f"{one['difference']:.4g} {row.unit} more" if one.get("difference") is not None else ""
            verdict = f"{verdict} ({note})" if note else verdict
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


def _goal_of(data):
    is_upper = "at_most" in data
    return Goal(data["of"], is_upper, data["at_most" if is_upper else "at_least"])


def of_samples(document):
    """The report of what a benchmark in C++ wrote: {"benchmark", "setting", "machine", "samples"}."""
    report = Report(document["benchmark"], document["setting"], document["machine"])
    rounds = {row["name"]: row["rounds"] for row in document["samples"]}
    for row in document["samples"]:
        to = row.get("ratio_to")
        report.rows.append(Row(row["name"], row["unit"], [sample for each in row["rounds"] for sample in each], to,
                               paired_ratios(row["rounds"], rounds[to]) if to else None,
                               tuple(map(_goal_of, row.get("goals", ()))), row.get("note", ""),
                               paired_differences(row["rounds"], rounds[to]) if to else None))
    return report


def write(reports, file_name):
    """One report as an object, several as a list."""
    documents = [report.to_json() for report in reports]
    whole_file.write_json(file_name, documents[0] if len(documents) == 1 else documents)
