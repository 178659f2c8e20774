#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes docs/performance.md and README's first table from the results in bench/results, in the words of performance_rows.py. No
# figure is written by hand, so a test can tell that the pages say what was measured.
"""usage: bench/performance.py [--check]     (--check: write nothing; fail if a page does not agree with the results)"""

import json
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from performance_rows import PAPERS, README, SECTIONS, Row, Span  # noqa: E402

RESULTS = ROOT / "bench" / "results"
MACHINES = {"2-cores": "two cores", "16-cores": "sixteen cores"}
UNITS = {"us": "µs", "ms per hop": "ms", "ms per V-cycle": "ms", "us per step": "µs", "ns/message": "ns"}
BEGIN, END = "<!-- results: written by bench/performance.py -->", "<!-- end of the results -->"
INTRODUCTION = """# Performance

Gains and costs of this library on two machines, with two and with sixteen cores. `bench/performance.py` writes this page from the medians
in [bench/results](../bench/results). [Benchmarks](benchmarks.md) describes the measurements; `scripts/bench NAME` repeats one.

A *gain* above 1 means that this library is better than the alternative under *instead of*; below 1 it is worse. In brackets are the 10th and
90th percentile over the rounds, in each of which both sides ran in turn. With ≈ only medians can be compared. Before the gain are the medians:
this library / the alternative.
"""


class Results:
    """The stored rows of one machine."""

    def __init__(self, folder):
        self.documents = [one for file in sorted(folder.glob("*.json")) for one in json.loads(file.read_text(encoding="utf-8"))]
        self.rows = {(one["benchmark"], one["setting"], row["name"]): row for one in self.documents for row in one["results"]}

    def named(self, benchmark, setting, pattern):
        return [row for (of, where, name), row in self.rows.items() if (of, where) == (benchmark, setting) and re.fullmatch(pattern, name)]

    def facts(self):
        """The machine and when it was measured."""
        machine = self.documents[0]["machine"]
        days = sorted({one["measured"] for one in self.documents})
        mpi = re.sub(r"^(MPICH) Version:\s*", r"\1 ", machine["mpi"]).split(",")[0]
        return (f"{machine['cpu']}, {machine['cores']} cores (a virtual machine), {machine['kernel'].split('-')[0]}, "
                f"{machine['compiler'].split(' (')[0]}, {mpi} unless a row says otherwise; measured {days[0]} to {days[-1]}")


def short(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def is_more_better(unit):
    return unit.endswith("/s") or unit == "%"


def gain(row, own, other):
    """(gain, its 10th and 90th percentile or None). Above 1 `own` is better."""
    for ours, theirs, turned in ((own, other, False), (other, own, True)):
        if ours.get("ratio_to") == theirs["name"] and ours.get("ratio"):
            three = [ours["ratio"], ours["ratio_p10"], ours["ratio_p90"]]
            # Stored is time over time, or reference over side, which is a gain already; of the other's row it is the other way round.
            if row.time_over != turned:
                three = [1 / value if value else math.inf for value in (three[0], three[2], three[1])]
            return three[0], three[1:]
    ratio = own["median"] / other["median"] if other["median"] else math.inf
    return ratio if is_more_better(own["unit"]) or not ratio else 1 / ratio, None


def cells(row, results):
    """(the medians, the gain) of a row on one machine; dashes where it was not measured."""
    own, other = (results.rows.get((row.benchmark, row.setting, name)) for name in (row.own, row.other))
    if own is None or other is None:
        return "–", "–"
    value, spread = gain(row, own, other)
    unit = UNITS.get(own["unit"], own["unit"])
    numbers = [short(own["median"]), short(other["median"])]
    if unit == "µs" and max(own["median"], other["median"]) >= 1e4:
        numbers, unit = [short(own["median"] / 1e3), short(other["median"] / 1e3)], "ms"
    spread_text = f" [{short(spread[0])}..{short(spread[1])}]" if spread else ""
    return f"{numbers[0]} / {numbers[1]} {unit}", f"{'' if spread else '≈ '}{short(value)} ×{spread_text}"


def span_text(span, results):
    gains = [row["ratio"] for row in results.named(span.benchmark, span.setting, span.names) if row.get("ratio")]
    return f"{min(gains):.2f} to {max(gains):.2f} ×" if gains else "–"


def table(heads, lines):
    return ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |", *("| " + " | ".join(one) + " |" for one in lines)]


def page(machines):
    lines = [INTRODUCTION]
    lines += [f"- *{MACHINES[name].capitalize()}*: {results.facts()}." for name, results in machines.items()] + [""]
    for question, setting, rows in SECTIONS:
        lines += [f"## {question}", "", setting, ""]
        has_papers = any(row.paper for row in rows)
        heads = ["what was done", "instead of", *(word for name in machines for word in (MACHINES[name], "gain")), *(["paper"] if has_papers else [])]
        lines += table(heads, [[row.words, row.instead, *(cell for results in machines.values() for cell in cells(row, results)),
                                *([row.paper] if has_papers else [])] for row in rows]) + [""]
    lines += ["## Papers", "", "The last column of a table has the result of a paper for the same question, on the paper's machine:", ""]
    return "\n".join(lines + [f"- {paper}" for paper in PAPERS]) + "\n"


def readme_table(machines):
    def words(row):
        if isinstance(row, Span):
            return [span_text(row, results) if row.only in ("", name) else "–" for name, results in machines.items()]
        found = [cells(row, results) for results in machines.values()]
        return ["–" if medians == "–" else f"{medians}: {share.partition(' [')[0]}" for medians, share in found]

    return "\n".join(table(["what", "instead of", *MACHINES.values()], [[row.words, row.instead, *words(row)] for row in README]))


def pages():
    """{file: its text as the results have it}"""
    machines = {name: Results(RESULTS / name) for name in MACHINES}
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"README.md has no lines '{BEGIN}' and '{END}'")
    return {ROOT / "docs" / "performance.md": page(machines), readme: f"{before}{BEGIN}\n{readme_table(machines)}\n{END}{after}"}


def missing():
    """Rows that no machine has a result for: a renamed row of a benchmark would go unseen."""
    machines = [Results(RESULTS / name) for name in MACHINES]
    rows = [row for _, _, of_section in SECTIONS for row in of_section] + [row for row in README if isinstance(row, Row)]
    return [f"{row.benchmark}, {row.setting}: neither machine has '{row.own}' and '{row.other}'" for row in rows
            if all(cells(row, results)[0] == "–" for results in machines)]


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    wrong = missing()
    for file, text in pages().items():
        if not arguments:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            wrong.append(f"{file.name} is not what the results say: run bench/performance.py")
    for sentence in wrong:
        print(f"bench/performance.py: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
