# SPDX-License-Identifier: Apache-2.0
# Results of benchmarks for a terminal, in at most forty lines: goals that are missed come first, in every benchmark, then those
# that are met, then the rest as far as the lines reach. How many rows are left out is said; the page (--html) has all.
"""Results as lines of text."""

import text

MISSED, MET, OTHER = range(3)


def _number(value):
    return "-" if value is None else f"{value:.4g}"


def _rank(row):
    return OTHER if not row.get("goal") else MET if row.get("met") else MISSED


def _cells(row):
    ratio = f"{_number(row['ratio'])} x {row['ratio_to']}" if row.get("ratio") is not None and row.get("ratio_to") else ""
    verdict = ("", "met", "NOT MET")[2 - _rank(row)]
    return (row["name"], f"{_number(row['median'])} {row['unit']}".rstrip(), f"[{_number(row.get('p10'))}..{_number(row.get('p90'))}]", ratio,
            f"goal {row['goal']}: {verdict}" if row.get("goal") else "")


def _of_document(document):
    """(headline, [(rank, cells)])"""
    n_goals = sum(1 for row in document.rows if row.get("goal"))
    n_missed = sum(1 for row in document.rows if _rank(row) == MISSED)
    said = f"{n_missed} of {n_goals} goals missed" if n_missed else f"{n_goals} goal{'s' if n_goals > 1 else ''} met" if n_goals else "no goals"
    return f"{document.benchmark}, {document.setting}: {said}", [(_rank(row), _cells(row)) for row in document.rows]


def _of_breakdowns(breakdowns):
    rows = []
    for one in breakdowns:
        whole = sum(one.parts.values()) or 1
        rows.append((OTHER, (one.label, f"{whole:.4g} us", *(f"{part} {us / whole:.0%}" for part, us in one.parts.items()))))
    return f"{breakdowns[0].app}, where the time goes", rows


def render(results, most_lines=text.MOST_LINES):
    """Lines, at most `most_lines`."""
    groups = [_of_document(one) for one in results.documents]
    apps = {one.app: [other for other in results.breakdowns if other.app == one.app] for one in results.breakdowns}
    groups += [_of_breakdowns(of_app) for of_app in apps.values()]
    rows = [row for one in results.documents for row in one.rows]
    n_goals, n_missed = sum(1 for row in rows if row.get("goal")), sum(1 for row in rows if _rank(row) == MISSED)
    headline = f"{len(groups)} result{'s' if len(groups) != 1 else ''}; {n_goals - n_missed} of {n_goals} goals are met."
    groups.sort(key=lambda group: min((rank for rank, _ in group[1]), default=OTHER))
    shown = groups[:most_lines - 2]
    left = most_lines - 2 - len(shown)
    # Places of the rows that fit, the most telling first; each group then keeps the order of its own.
    places = sorted((rank, k, place) for k, (_, of_group) in enumerate(shown) for place, (rank, _) in enumerate(of_group))[:left]
    lines = [headline]
    for k, (title, of_group) in enumerate(shown):
        lines.append(title)
        chosen = [of_group[place][1] for _, group, place in places if group == k]
        if chosen:
            lines += text.aligned(chosen)
    n_more = sum(len(of_group) for _, of_group in groups) - len(places)
    n_groups = len(groups) - len(shown)
    if n_more:
        lines.append(f"{n_more} more rows{f', and {n_groups} more results' if n_groups else ''}: --html FILE shows all.")
    return lines
