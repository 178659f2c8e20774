# SPDX-License-Identifier: Apache-2.0
# What is said about samples, written once: quantiles instead of means, since one descheduling on a shared machine moves a mean as
# far as it likes, and ratios round by round, since the speed of the machine itself drifts. Samples come from the benchmarks in
# C++ (bench/harness/report.h) or from the modules here that alternate whole processes; rows, JSON and table are the same.
"""Quantiles, rows, JSON and table."""

import datetime
import json
import math
import subprocess
from pathlib import Path

import whole_file

FACTS = ("cpu", "cores", "kernel", "compiler", "mpi")  # of a machine
SPREAD = (("median", 0.5), ("p10", 0.1), ("p90", 0.9))


def quantile(samples, fraction):
    """Linear between neighbours, as numpy's."""
    ordered = sorted(samples)
    place = fraction * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def paired_ratios(side, reference):
    """For every round the median of `side` over that of `reference`; rounds that cannot be compared are left out."""
    pairs = ((own, quantile(other, 0.5)) for own, other in zip(side, reference) if own and other)
    return [quantile(own, 0.5) / divisor for own, divisor in pairs if divisor != 0]


def _rounded(value):
    """A fifth digit would only be noise."""
    return float(f"{value:.4g}")


class Row:
    """One result. `ratios` has one entry per round."""

    def __init__(self, name, unit, samples, ratio_to=None, ratios=None):
        self.name, self.unit, self.samples, self.ratio_to, self.ratios = name, unit, samples, ratio_to, ratios or []

    def to_json(self):
        out = {"name": self.name, "unit": self.unit}
        out |= {key: _rounded(quantile(self.samples, fraction)) if self.samples else 0 for key, fraction in SPREAD}
        if self.ratios:
            out["ratio_to"] = self.ratio_to
            out |= {key.replace("median", "ratio").replace("p", "ratio_p"): _rounded(quantile(self.ratios, fraction)) for key, fraction in SPREAD}
        return out


def side_rows(times, unit, reference_of, name_of=str):
    """A row for each side of {side: [time of each round]}; its ratio is the reference's time over its own, so above 1 the side is faster."""
    rows = []
    for side, own in times.items():
        to = reference_of(side)
        rows.append(Row(name_of(side), unit, own, name_of(to), [base / mine for base, mine in zip(times[to], own)]) if to in times and to != side
                    else Row(name_of(side), unit, own))
    return rows


class Report:
    def __init__(self, benchmark, setting, machine):
        self.benchmark, self.setting, self.machine, self.rows = benchmark, setting, machine, []

    def to_json(self):
        return {"benchmark": self.benchmark, "setting": self.setting, "machine": {key: self.machine[key] for key in FACTS if key in self.machine},
                "measured": datetime.date.today().isoformat(), "commit": commit(), "results": [row.to_json() for row in self.rows]}

    def to_table(self):
        cells = [["name", "unit", "median", "p10", "p90", "ratio", "[p10..p90]", "to"]]
        for one in (row.to_json() for row in self.rows):
            numbers = [f"{one[key]:.4g}" for key, _ in SPREAD]
            ratio = [f"{one['ratio']:.4g}", f"{one['ratio_p10']:.4g}..{one['ratio_p90']:.4g}", one["ratio_to"]] if "ratio" in one else ["", "", ""]
            cells.append([one["name"], one["unit"], *numbers, *ratio])
        widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
        table = [f"{self.benchmark}, {self.setting}"]
        for line in cells:
            pairs = zip(line, widths, range(len(line)))
            table.append("  ".join(c.rjust(w) if 2 <= i <= 5 else c.ljust(w) for c, w, i in pairs).rstrip())
        return "\n".join(table)


def commit():
    """Of the sources; "+" after it where they differ from it; empty: nobody knows."""
    try:
        done = subprocess.run(["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--exclude=*"], check=False,
                              capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def of_samples(document):
    """The report of what a benchmark in C++ wrote: {"benchmark", "setting", "machine", "samples"}."""
    report = Report(document["benchmark"], document["setting"], document["machine"])
    rounds = {row["name"]: row["rounds"] for row in document["samples"]}
    for row in document["samples"]:
        to = row.get("ratio_to")
        report.rows.append(Row(row["name"], row["unit"], [sample for each in row["rounds"] for sample in each], to,
                               paired_ratios(row["rounds"], rounds[to]) if to else None))
    return report


def write(reports, file_name):
    """A list of documents, with a line for each row, so that a difference of two results can be read."""
    texts = []
    for document in (report.to_json() for report in reports):
        rows = document.pop("results")
        head = json.dumps(document, separators=(",", ":"))[:-1]
        texts.append(head + ',"results":[\n' + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "]}")
    with whole_file.aside(file_name) as part:
        part.write_text("[" + ",\n".join(texts) + "]\n", encoding="utf-8")
