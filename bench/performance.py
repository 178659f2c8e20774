#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes docs/performance.md from the stored results: every benchmark in every setting with its machine, its spread, its goals,
# met or not, its picture, and what a paper says of the same question. Nothing on the page is written by hand, so nothing on
# it can be forgotten when a figure gets worse; a test compares it with the results.
"""usage: bench/performance.py [--check] [--results DIR] [--page FILE] [--figures DIR]"""

import argparse
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "report"))
sys.path.insert(0, str(ROOT / "bench"))

import bench_results  # noqa: E402
import campaign  # noqa: E402
import performance_plot  # noqa: E402
import run  # noqa: E402
import whole_file  # noqa: E402

MOST_ROWS = 20  # of a table on the page; of a longer result the rows with a goal, and how to see the rest
INTRODUCTION = """\
# Performance

Written by `scripts/bench all` from the results in `bench/results`; a test compares the two, so nothing here is edited by hand.
How each figure is measured, and why those that fall short do: [benchmarks](benchmarks.md). Medians; in brackets the 10th and the 90th
percentile. A ratio is formed within a round, in which both sides ran in turn; its spread is that of the rounds. Machines differ
from section to section: compare within one.
"""


def number(value):
    return "" if value is None else f"{value:.4g}"


def range_text(low, high):
    return "" if low is None or high is None else f"[{number(low)}..{number(high)}]"


def cell(text):
    return text.replace("|", "\\|")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]


def verdict(row):
    return "" if not row.get("goal") else "met" if row.get("met") else "**missed**"


def rows_of(document):
    """(those on the page, how many are left out)."""
    rows = document.rows
    if len(rows) > MOST_ROWS:
        rows = [row for row in rows if row.get("goal")] or rows[:MOST_ROWS]
    return rows, len(document.rows) - len(rows)


def machine_text(machine):
    """Of the machine, what a reader compares."""
    mpi = re.sub(r"^(MPICH) Version:\s*", r"\1 ", str(machine.get("mpi", ""))).split(",")[0]
    cores = machine.get("cores")
    parts = [machine.get("cpu", ""), f"{cores} core{'s' if cores != 1 else ''}" if cores else "", machine.get("kernel", ""),
             str(machine.get("compiler", "")).split(" (")[0], mpi]
    if machine.get("worker_on_own_core") is False:
        parts.append("worker without a core of its own")
    if machine.get("assertions"):
        parts.append("build with assertions")
    return ", ".join(part for part in parts if part)


def facts(document, file):
    words = [machine_text(document.get("machine", {}))]
    measured = f"measured {document['measured']}" if document.get("measured") else ""
    measured += f" at {document['commit']}" if document.get("commit") else ""
    words += [measured + (f", in {campaign.seconds_text(document['seconds'])}" if document.get("seconds") else "")] if measured else []
    words += ["a quick run: not to be quoted"] if document.get("quick") else []
    prefix = f"{document['prefix']} " if document.get("prefix") else ""
    command = f"`{prefix}scripts/bench {file.stem.replace('-', ' --setting ', 1)}`"
    return f"*{'; '.join(word for word in words if word)}; {command}.*"


def picture_name(document):
    return "performance-" + re.sub(r"[^a-z0-9]+", "-", f"{document.benchmark} {document.setting}".lower()) + ".png"


def paper_lines(papers, benchmark, setting):
    return [f"> {one['figure']} ({one['source']})" for one in papers
            if one.get("benchmark") == benchmark and one.get("setting", setting) == setting]


def section(document, file, papers, figures_folder):
    """(lines, {picture file: plots})."""
    rows, n_more = rows_of(document)
    heads = ("", "median", "", "ratio", "", "to", "goal", "")
    cells = [(row["name"], f"{number(row['median'])} {row['unit']}", range_text(row.get("p10"), row.get("p90")), number(row.get("ratio")),
              range_text(row.get("ratio_p10"), row.get("ratio_p90")), row.get("ratio_to") or "", row.get("goal") or "", verdict(row))
             for row in rows]
    lines = [f"### {document.benchmark}, {document.setting}", "", facts(document.facts, file), ""]
    plots = performance_plot.plots_of(document)
    pictures = {}
    if plots:
        name = picture_name(document)
        pictures[name] = plots
        lines += [f"![{document.benchmark}, {document.setting}]({figures_folder}/{name})", ""]
    lines += table(heads, cells) + [""]
    if n_more:
        lines += [f"{n_more} more rows, which have no goal: `commtask-report --html all.html bench/results/{file.name}`.", ""]
    lines += [f"- {row['name']}: {row['note']}" for row in rows if row.get("note")]
    lines += [""] if lines[-1] else []
    quotes = paper_lines(papers, document.benchmark, document.setting)
    return lines + (quotes + [""] if quotes else []), pictures


def breakdown_section(results, papers, figures_folder):
    lines, pictures = [], {}
    for app in sorted({one.app for one in results.breakdowns}):
        ours = [one for one in results.breakdowns if one.app == app]
        rows = [(one.label, one.parts) for one in ours] + [(row["label"], row["parts"]) for one in papers if one.get("app") == app
                                                          for row in one["rows"]]
        name = f"performance-breakdown-{app.replace('_', '-')}.png"
        pictures[name] = [performance_plot.stacked(rows)]
        lines += [f"### breakdown, {app}", "", facts(ours[0].facts, Path("breakdown.json")), "",
                  f"![where the time of {app} goes]({figures_folder}/{name})", ""]
        parts = list(ours[0].parts)
        lines += table(("run", *parts, "total [us]"), [
            (label, *(f"{value:.4g} ({value / (sum(times.values()) or 1):.0%})" for value in times.values()), f"{sum(times.values()):.4g}")
            for label, times in rows]) + [""]
        lines += [f"> The paper's rows: {one['source']}. Another machine and size: compare the shares." for one in papers
                  if one.get("app") == app] + [""]
    return lines, pictures


def goals(documents):
    """What is missed, a line for each section."""
    lines, n_goals, n_missed = [], 0, 0
    for document in documents:
        rows = [row for row in document.rows if row.get("goal")]
        missed = [row for row in rows if not row.get("met")]
        n_goals, n_missed = n_goals + len(rows), n_missed + len(missed)
        if missed:
            names = "; ".join(f"{row['name']} ({reached(row)}, goal: {row['goal']})" for row in missed)
            lines.append(f"- [{document.benchmark}, {document.setting}](#{anchor(document)}), {len(missed)} of {len(rows)}: {names}")
    return [f"Of {n_goals} goals {n_goals - n_missed} are met." + (" Missed:" if lines else ""), "", *lines, *([""] if lines else [])]


def anchor(document):
    return re.sub(r"[^a-z0-9 -]", "", f"{document.benchmark}, {document.setting}".lower()).replace(" ", "-")


def reached(row):
    if "difference" in row["goal"]:
        return f"{number(row.get('difference'))} {row['unit']} more"
    if "ratio" in row["goal"]:
        return number(row.get("ratio"))
    return number(row["median"]) + (f", 99th percentile {number(row.get('p99'))}" if "p99" in row["goal"] else "")


def missing(parts):
    """What the page says of parts without a result."""
    if not parts:
        return []
    return [f"Without a result: {', '.join(part.name for part in parts)}. `scripts/bench all --resume` measures what is missing.", ""]


def part_section(part, file, documents, papers, figures_folder):
    """(lines, {picture file: plots}) of one part of `scripts/bench all`."""
    if not file.exists():
        return [f"*{part.benchmark}{', ' + part.setting if part.setting else ''}: no result is stored. Either it was not measured yet, or "
                f"it could not run; `scripts/bench {' '.join(part.words)}` says which.*", ""], {}
    if part.benchmark == "breakdown":
        return breakdown_section(bench_results.read([file]), papers, figures_folder)
    lines, pictures = [], {}
    for document in documents:
        more, drawn = section(document, file, papers, figures_folder)
        lines += more
        pictures |= drawn
    return lines, pictures


def render(folder, figures_folder):
    """(the page, {picture file: plots})."""
    papers = bench_results.papers()
    questions = {**run.PROGRAMS, **run.COMPARISONS}
    files = {part: folder / f"{part.name}.json" for part in campaign.PARTS}
    documents = {part: bench_results.read([file]).documents for part, file in files.items() if file.exists()}
    lines = INTRODUCTION.splitlines() + ["", *goals([one for some in documents.values() for one in some])]
    lines += missing([part for part, file in files.items() if not file.exists()])
    pictures, seen = {}, set()
    for part, file in files.items():
        if part.benchmark not in seen:
            seen.add(part.benchmark)
            lines += [f"## {part.benchmark}: {questions[part.benchmark]}", ""]
        more, drawn = part_section(part, file, documents.get(part, []), papers, figures_folder)
        lines += more
        pictures |= drawn
    return "\n".join(lines).rstrip("\n") + "\n", pictures


def parse(arguments):
    parser = argparse.ArgumentParser(description="Writes the page of performance from stored results.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page or a picture is not what the results say")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", metavar="DIR")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "performance.md", metavar="FILE")
    parser.add_argument("--figures", type=Path, default=ROOT / "docs" / "figures", metavar="DIR")
    return parser.parse_args(arguments)


def check(given, text, pictures):
    """What is not as it should be."""
    found = []
    if not given.page.exists() or given.page.read_text(encoding="utf-8") != text:
        found.append(f"{given.page.name} is not what the results say")
    for name, plots in pictures.items():
        if performance_plot.digest_in(given.figures / name) != performance_plot.digest(plots):
            found.append(f"{name} is missing, or drawn from other results")
    known = {f"{part.name}.json" for part in campaign.PARTS}
    found += [f"{file.name} is no part of scripts/bench all" for file in sorted(given.results.glob("*.json")) if file.name not in known]
    found += [f"{file.name} belongs to no result" for file in sorted(given.figures.glob("performance-*.png")) if file.name not in pictures]
    return found


def main(arguments):
    given = parse(arguments)
    if not any(given.results.glob("*.json")):
        print(f"bench/performance.py: {given.results} has no results", file=sys.stderr)
        return 1
    text, pictures = render(given.results, os.path.relpath(given.figures, given.page.parent))
    if given.check:
        found = check(given, text, pictures)
        print(*found, f"{len(pictures)} pictures; {len(found)} findings", sep="\n")
        if found:
            print("run bench/performance.py, which needs matplotlib, and look at what it changed")
        return 1 if found else 0
    given.figures.mkdir(parents=True, exist_ok=True)
    for name, plots in pictures.items():
        if performance_plot.digest_in(given.figures / name) != performance_plot.digest(plots):
            performance_plot.draw(plots, given.figures / name)
    for file in given.figures.glob("performance-*.png"):
        if file.name not in pictures:
            file.unlink()
    with whole_file.aside(given.page) as part:
        part.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
