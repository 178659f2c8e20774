# SPDX-License-Identifier: Apache-2.0
# The text of docs/performance.md and which pictures it shows: every benchmark in every setting with its machine, its spread, its
# goals, met or not, what limits it, and what a paper says of the same question; at the top what is missed, what of that nobody
# can explain, what has no result, and what is of other sources. performance.py writes it.
"""The page of performance from stored results."""

import dataclasses
import re
from pathlib import Path

import bench_results
import campaign
import limits
import performance_plot
import run

MOST_ROWS = 20  # of a table on the page; of a longer result the rows with a goal, and how to see the rest
MOST_NAMES = 5  # of missed goals in one line
#: A picture of one plot for a page of its own: part, setting, title, sides.
CHOSEN = {"fft-times.png": ("fft-crowded", "crowded", "2 ranks on 2 cores, shared memory",
                            ("SOI p2p", "SOI offload", "six-step p2p", "FFTW-MPI", "FFTW serial"))}
INTRODUCTION = """\
# Performance

Written by `scripts/bench all` from the results in `bench/results`; a test compares the two, so nothing here is edited by hand.
How each figure is measured: [benchmarks](benchmarks.md). Behind each missed goal a number leads to what limits it, where that is known.
Medians; in brackets the 10th and the 90th percentile. A ratio is formed within a round, in which both sides ran in turn; its spread is
that of the rounds. Machines may differ from section to section: compare within one. Where a paper has a figure that a section answers, it is quoted there.
"""


#: In a folder of results of another machine than most: the introduction of its page, which has no word on parts without a result.
ABOUT = "about.txt"


def number(value):
    return "" if value is None else f"{value:.4g}"


def range_text(low, high):
    return "" if low is None or high is None else f"[{number(low)}..{number(high)}]"


def cell(text):
    return text.replace("|", "\\|")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows]


def is_missed(row):
    return bool(row.get("goal")) and not row.get("met")


class Reasons:
    """The limits of one section, numbered as they come up in its table."""

    def __init__(self, known, part, document):
        self.known, self.part, self.document, self.shown = known, part, document, []

    def verdict(self, row):
        if not is_missed(row):
            return "met" if row.get("goal") else ""
        limit = limits.find(self.known, self.part.name, self.document, row)
        if limit is None:
            return "**missed**, limit not known yet"
        if limit not in self.shown:
            self.shown.append(limit)
        return f"**missed** ({self.shown.index(limit) + 1})"

    def lines(self):
        return [f"- ({k}) {one.limit} [{one.page.partition('#')[0].removesuffix('.md')}]({one.page})" for k, one in enumerate(self.shown, 1)]


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
    parts = [machine.get("cpu", ""), f"{cores} core{'s' if cores != 1 else ''}" if cores else "", str(machine.get("kernel", "")).split("-")[0],
             str(machine.get("compiler", "")).split(" (")[0], mpi]
    if machine.get("worker_on_own_core") is False:
        parts.append("worker without a core of its own")
    if machine.get("assertions"):
        parts.append("build with assertions")
    return ", ".join(part for part in parts if part)


def facts(document, part):
    words = [machine_text(document.get("machine", {}))]
    measured = f"measured {document['measured']}" if document.get("measured") else ""
    measured += f" at {document['commit']}" if document.get("commit") else ""
    words += [measured + (f", in {campaign.seconds_text(document['seconds'])}" if document.get("seconds") else "")] if measured else []
    words += ["a quick run: not to be quoted"] if document.get("quick") else []
    prefix = f"{document['prefix']} " if document.get("prefix") else ""
    command = f"`{prefix}scripts/bench {' '.join(part.words)}`"
    return f"*{'; '.join(word for word in words if word)}; {command}.*"


def picture_name(document, given):
    """Without its ending."""
    return given.picture_prefix + re.sub(r"[^a-z0-9]+", "-", f"{document.benchmark} {document.setting}".lower())


def paper_lines(papers, benchmark, setting):
    return [f"> {one['figure']} ({one['source']})" for one in papers
            if one.get("benchmark") == benchmark and one.get("setting", setting) == setting]


def section(document, part, file, given):
    """(lines, {picture file: plots})."""
    rows, n_more = rows_of(document)
    heads = ("", "median", "", "ratio", "", "to", "goal", "")
    reasons = Reasons(given.limits, part, document)
    cells = [(row["name"], f"{number(row['median'])} {row['unit']}", range_text(row.get("p10"), row.get("p90")), number(row.get("ratio")),
              range_text(row.get("ratio_p10"), row.get("ratio_p90")), row.get("ratio_to") or "", row.get("goal") or "", reasons.verdict(row))
             for row in rows]
    lines = [f"### {document.benchmark}, {document.setting}", "", facts(document.facts, part), ""]
    pictures = performance_plot.in_pictures(performance_plot.plots_of(document), picture_name(document, given))
    for name in pictures:
        lines += [f"![{document.benchmark}, {document.setting}]({given.figures_seen}/{name})", ""]
    lines += table(heads, cells) + [""]
    if n_more:
        lines += [f"{n_more} more rows, which have no goal: `commtask-report --html all.html {given.results_seen}/{file.name}`.", ""]
    lines += reasons.lines()
    lines += [f"- {row['name']}: {row['note']}" for row in rows if row.get("note")]
    lines += [""] if lines[-1] else []
    quotes = paper_lines(given.papers, document.benchmark, document.setting)
    return lines + (quotes + [""] if quotes else []), pictures


def breakdown_section(part, results, given):
    lines, pictures, papers = [], {}, given.papers
    for app in sorted({one.app for one in results.breakdowns}):
        ours = [one for one in results.breakdowns if one.app == app]
        rows = [(one.label, one.parts) for one in ours] + [(row["label"], row["parts"]) for one in papers if one.get("app") == app
                                                          for row in one["rows"]]
        name = f"{given.picture_prefix}breakdown-{app.replace('_', '-')}.png"
        pictures[name] = [performance_plot.stacked(rows)]
        lines += [f"### breakdown, {app}", "", facts(ours[0].facts, part), "",
                  f"![where the time of {app} goes]({given.figures_seen}/{name})", ""]
        parts = list(ours[0].parts)
        lines += table(("run", *parts, "total [us]"), [
            (label, *(f"{value:.4g} ({value / (sum(times.values()) or 1):.0%})" for value in times.values()), f"{sum(times.values()):.4g}")
            for label, times in rows]) + [""]
        quotes = [f"> The paper: {one['source']}. Another machine and size: compare the shares." for one in papers if one.get("app") == app]
        lines += quotes + [""] if quotes else []
    return lines, pictures


def some(names):
    return "; ".join(names[:MOST_NAMES]) + (f"; and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def link(document):
    return f"[{document.benchmark}, {document.setting}](#{anchor(document)})"


def goals(documents, known):
    """What is missed, a line for each section, and what of that nobody can explain yet; `documents` by their part."""
    lines, unknown, n_goals, n_missed = [], [], 0, 0
    for part, document in ((part, document) for part, of_part in documents.items() for document in of_part):
        rows = [row for row in document.rows if row.get("goal")]
        missed = [row for row in rows if is_missed(row)]
        n_goals, n_missed = n_goals + len(rows), n_missed + len(missed)
        if missed:
            said = some([f"{row['name']} ({reached(row)}, goal: {row['goal']})" for row in missed])
            lines.append(f"- {link(document)}, {len(missed)} of {len(rows)}: {said}")
        names = [row["name"] for row in missed if limits.find(known, part.name, document, row) is None]
        if names:
            unknown.append(f"- {link(document)}: {some(names)}")
    lines = [f"Of {n_goals} goals {n_goals - n_missed} are met." + (" Missed:" if lines else ""), "", *lines, *([""] if lines else [])]
    return lines + (["Of these, missed, limit not known yet:", "", *unknown, ""] if unknown else [])


def anchor(document):
    return re.sub(r"[^a-z0-9 -]", "", f"{document.benchmark}, {document.setting}".lower()).replace(" ", "-")


def reached(row):
    """What the row has of each part of its goal."""
    said = {"difference": f"{number(row.get('difference'))} {row['unit']} more", "ratio": f"ratio {number(row.get('ratio'))}",
            "median": f"median {number(row['median'])}", "p99": f"99th percentile {number(row.get('p99'))}"}
    wanted = [part.split()[0] for part in row["goal"].split(" and ")]
    if wanted in (["ratio"], ["median"]):
        return number(row.get(wanted[0]))
    return ", ".join(said[key] for key in wanted)


def missing(parts):
    """What the page says of parts without a result."""
    if not parts:
        return []
    return [f"Without a result: {', '.join(part.name for part in parts)}. `scripts/bench all --resume` measures what is missing.", ""]


def older(files):
    """What the page says of parts that were measured with other sources than most."""
    usual, others = campaign.of_other_sources(files.values())
    if not others:
        return []
    names = ", ".join(f"{file.stem} ({of})" for file, of in others.items())
    return [f"Of other sources than most ({usual}), so not to be compared with the rest: {names}.", ""]


def part_section(part, file, documents, given):
    """(lines, {picture file: plots}) of one part of `scripts/bench all`."""
    if not file.exists():
        return [f"*{part.benchmark}{', ' + part.setting if part.setting else ''}: no result is stored. Either it was not measured yet, or "
                f"it could not run; `scripts/bench {' '.join(part.words)}` says which.*", ""], {}
    if part.benchmark == "breakdown":
        return breakdown_section(part, bench_results.read([file]), given)
    lines, pictures = [], {}
    for document in documents:
        more, drawn = section(document, part, file, given)
        lines += more
        pictures |= drawn
    return lines, pictures


def chosen(documents):
    """{picture file: plots} of those for other pages."""
    return {name: [performance_plot.some_lines(document, title, sides)] for name, (stem, setting, title, sides) in CHOSEN.items()
            for part, of_part in documents.items() if part.name == stem for document in of_part if document.setting == setting}


@dataclasses.dataclass
class Given:
    """What all sections of a page have in common."""

    papers: list
    limits: list
    figures_seen: str  # the folder of the pictures, from the page
    results_seen: str  # the folder of the results, as a user names it
    picture_prefix: str  # of the names of pictures, which doxygen wants to be one page's


class Stored:
    """The results of a folder, in the order of the page."""

    def __init__(self, folder):
        self.files = {part: folder / f"{part.name}.json" for part in campaign.PARTS}
        self.documents = {part: bench_results.read([file]).documents for part, file in self.files.items() if file.exists()}
        self.by_name = {part.name: documents for part, documents in self.documents.items()}


def render(folder, figures_folder):
    """(the page, {picture file: plots})."""
    stored = Stored(folder)
    of_machine = folder.name if folder.resolve().parent == campaign.STORED else ""
    given = Given(bench_results.papers(), limits.stored(folder), figures_folder, f"bench/results/{of_machine}".rstrip("/"),
                  f"performance-{of_machine}-" if of_machine else "performance-")
    questions = {**run.PROGRAMS, **run.COMPARISONS}
    is_of_some = (folder / ABOUT).exists()
    introduction = (folder / ABOUT).read_text(encoding="utf-8") if is_of_some else INTRODUCTION
    lines = introduction.splitlines() + ["", *goals(stored.documents, given.limits)]
    if not is_of_some:
        lines += missing([part for part, file in stored.files.items() if not file.exists()])
    lines += older({part: file for part, file in stored.files.items() if file.exists()})
    pictures, seen = chosen(stored.documents), set()
    for part, file in stored.files.items():
        if is_of_some and not file.exists():
            continue
        if part.benchmark not in seen:
            seen.add(part.benchmark)
            lines += [f"## {part.benchmark}: {questions[part.benchmark]}", ""]
        more, drawn = part_section(part, file, stored.documents.get(part, []), given)
        lines += more
        pictures |= drawn
    return "\n".join(lines).rstrip("\n") + "\n", pictures
