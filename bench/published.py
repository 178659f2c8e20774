# SPDX-License-Identifier: Apache-2.0
# The tables of results that README and the pages show, between two markers in each: published_lines.py says which rows of which
# stored results they have and in what words, performance.py writes them. A row has one figure, the goal that the benchmark
# itself has for it, and whether it is met; rows without a goal have no place here, since nobody could say what their figure means.
"""Rows of stored results as tables in pages."""

import re


BEGIN, END = "<!-- results: written by bench/performance.py -->", "<!-- end of the results -->"
BLOCK = re.compile(f"{BEGIN}\n(?:.*?\n)?{END}\n", re.S)
SPEEDS = re.compile("(<!-- speeds: written by bench/performance.py -->).*?(<!-- end of the speeds -->)", re.S)
UNITS = {"ns": "ns", "us": "µs", "ms": "ms", "s": "s", "ns/message": "ns", "ms per hop": "ms", "ms per V-cycle": "ms", "of the FMA peak": "×",
         "of convolution and short FFTs": "×", "of STREAM's triad": "×"}
SIGNS = {"<=": "≤", ">=": "≥"}
OTHER_WAY = {"<=": ">=", ">=": "<="}


class Wrong(Exception):
    """A sentence about a line that is asked for and cannot be had from its result."""


def _short(value, n_digits=3):
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.{n_digits}g}"


def _told_apart(value, limit):
    """Both in words, with more digits where they would look the same: a goal that is missed by little would look met."""
    pairs = [(_short(value, n_digits), _short(limit, n_digits)) for n_digits in range(3, 7)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


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
    key = "ratio" if of == "inverse" else of  # a difference is in the unit of its row
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
            raise Wrong(f"{row['name']}: a time or a share is asked for, not {row['unit']}")
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
        if line.part in documents:
            raise Wrong(f"{line.part} has no row '{line.row}'")
        return f"| {line.text} | not measured | | |"
    value, unit, sign, limit, is_met = figure(document, row, line.of)
    verdict = "met" if is_met else "**missed**"
    own = dates.get((line.part, document.setting), dates.get(line.part))
    when = f", of {own}" if own else ""
    value_text, limit_text = _told_apart(value, limit)
    return f"| {line.text} | {value_text} {unit} | {SIGNS[sign]} {limit_text} {unit} | {verdict}{when} |"


def table(lines, documents, dates, caption):
    """`documents` by the name of their part; `dates` has that of each part that is of other sources than most, and of a part's settings, as (part,
    setting), that are of other sources than its first."""
    return "\n".join(["| question | measured | goal | |", "| --- | --- | --- | --- |",
                      *(_table_line(line, documents, dates) for line in lines), "", caption]) + "\n"


def with_table(text, table_text):
    """The page with another table; None: it has no place for it."""
    return BLOCK.sub(lambda _: f"{BEGIN}\n{table_text}{END}\n", text) if BLOCK.search(text) else None


def with_speeds(text, document):
    """The page with other words about how fast Dslash's modes are beside its baseline, from the slowest lattice to the fastest; as it is where it has
    no place for them."""
    def of(mode):
        ratios = [row["ratio"] for row in document.rows if row["name"].split()[0] == mode and (row.get("ratio_to") or "").startswith("baseline ")]
        if not ratios:
            raise Wrong(f"{document.benchmark} has no {mode} beside its baseline")
        return f"{min(ratios):.2f} to {max(ratios):.2f} times"
    return SPEEDS.sub(lambda found: f"{found[1]}`omp` has {of('omp')} the speed of `baseline`, `tbb` {of('tbb')}, and `offload` "
                                    f"{of('offload')}{found[2]}", text)
