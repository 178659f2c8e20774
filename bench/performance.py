#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes docs/performance.md from the stored results: every benchmark in every setting with its machine, its spread, its goals,
# met or not, its pictures, what limits it, and what a paper says of the same question; and the tables of README and other
# pages. Nothing of it is written by hand, so nothing can be forgotten when a figure gets worse; a test compares it with the results.
"""usage: bench/performance.py [--check] [--results DIR] [--page FILE] [--figures DIR] [--tables DIR]"""

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "report"))
sys.path.insert(0, str(ROOT / "bench"))

import campaign  # noqa: E402
import limits  # noqa: E402
import performance_page  # noqa: E402
import performance_plot  # noqa: E402
import published  # noqa: E402
import published_lines  # noqa: E402
import whole_file  # noqa: E402

PAGE = ROOT / "docs" / "performance.md"
FIGURES = ROOT / "docs" / "figures"
OTHER = "16-cores"  # the folder, in that of the results, of those of another machine
#: (results, page, pictures): of the machine that most figures are of, and of others.
PAGES = ((campaign.STORED, PAGE, FIGURES), (campaign.STORED / OTHER, ROOT / "docs" / f"performance-{OTHER}.md", FIGURES / OTHER))


def caption(stored, link_to_all):
    """When and where most of the figures of a table were measured."""
    usual, _ = campaign.of_other_sources(file for file in stored.files.values() if file.exists())
    first = next((documents[0] for documents in stored.documents.values() if documents and documents[0].facts.get("commit", "") == usual), None)
    if first is None:
        return f"What was measured where: [performance]({link_to_all})."
    way = next((row for document in stored.by_name.get("yardstick", ()) for row in document.rows if row["name"] == "ping-pong"), None)
    line = f" A cache line takes {way['median']:.3g} {way['unit']} from one core to the other and back." if way else ""
    when = f"{first.facts.get('measured', '')}{f' at {usual}' if usual else ''}"
    return (f"Measured {when} on {performance_page.machine_text(first.machine)}.{line} All results, with their spread: "
            f"[performance]({link_to_all}).")


def tables(folder, root):
    """({page: its text with the table of today's results}, what is wrong)."""
    stored = performance_page.Stored(folder)
    usual, others = campaign.of_other_sources(file for file in stored.files.values() if file.exists())
    dates = {file.stem: of for file, of in others.items()}
    for part, of_part in stored.by_name.items():  # settings that were measured anew by themselves
        if len({each.facts.get("commit") for each in of_part}) > 1:
            dates |= {(part, each.setting): "" if each.facts.get("commit") == usual else f"{each.facts.get('measured')} {each.facts.get('commit')}"
                      for each in of_part}
    texts, wrong = {}, []
    other = performance_page.Stored(folder / OTHER)
    with_cores = other.by_name.get("dslash-crowded")
    documents = stored.by_name | {f"{OTHER}/{part}": of_part for part, of_part in other.by_name.items()}
    dates |= {f"{OTHER}/{part.name}": of_part[0].facts.get("measured", "another day") for part, of_part in other.documents.items() if of_part}
    for name, lines in published_lines.PAGES.items():
        page = root / name
        said = caption(stored, os.path.relpath(root / "docs" / PAGE.name, page.parent))
        try:
            text = page.read_text(encoding="utf-8")
            text = published.with_table(published.with_speeds(text, with_cores[0]) if with_cores else text,
                                        published.table(lines, documents, dates, said))
            if text is None:
                wrong.append(f"{name} has no lines '{published.BEGIN}' and '{published.END}'")
            else:
                texts[page] = text
        except (OSError, published.Wrong) as error:
            wrong.append(f"{name}: {error}")
    return texts, wrong


def parse(arguments):
    parser = argparse.ArgumentParser(description="Writes the page of performance, and the tables of other pages, from stored results.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page, a table or a picture is not what the results say")
    parser.add_argument("--results", type=Path, metavar="DIR", help="write the page of these alone; without it all that the project has")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    parser.add_argument("--figures", type=Path, default=FIGURES, metavar="DIR")
    parser.add_argument("--tables", type=Path, metavar="DIR", help="a folder with README.md and docs, for their tables; the project's if --page is")
    given = parser.parse_args(arguments)
    if given.results is None and (given.page, given.figures, given.tables) != (PAGE, FIGURES, None):
        parser.error("--page, --figures and --tables go with --results")
    if given.tables is None and given.page.resolve() == PAGE:
        given.tables = ROOT
    return given


def check_demo(given):
    """README's picture is of the stored run of the demo, where there is one."""
    file = given.results / f"{campaign.DEMO.name}.json"
    if not file.exists():
        return []
    right = performance_plot.digest_in(given.figures / campaign.DEMO_PICTURE) == performance_plot.digest(json.loads(file.read_text(encoding="utf-8")))
    return [] if right else [f"{campaign.DEMO_PICTURE} is missing, or not drawn from {file.name}"]


def check(given, text, pictures):
    """What is not as it should be."""
    found = []
    if not given.page.exists() or given.page.read_text(encoding="utf-8") != text:
        found.append(f"{given.page.name} is not what the results say")
    if given.tables:
        texts, wrong = tables(given.results, given.tables)
        found += wrong + [f"the table of {page.name} is not what the results say" for page, right in texts.items()
                          if page.read_text(encoding="utf-8") != right]
    for name, plots in pictures.items():
        if performance_plot.digest_in(given.figures / name) != performance_plot.digest(plots):
            found.append(f"{name} is missing, or drawn from other results")
    found += check_demo(given)
    known = {f"{part.name}.json" for part in (*campaign.PARTS, campaign.DEMO)}
    found += [f"{file.name} is no part of scripts/bench all" for file in sorted(given.results.glob("*.json"))
              if file.name not in known | {limits.FILE}]
    found += [f"{file.name} belongs to no result" for file in sorted(given.figures.glob("performance-*.png")) if file.name not in pictures]
    found += [f"limits.json: {one.part} has no goal in a row '{one.rows}'"
              for one in limits.without_a_goal(limits.stored(given.results), performance_page.Stored(given.results).by_name)]
    return found


def draw(given, pictures):
    """Those that are not there, or of other results."""
    given.figures.mkdir(parents=True, exist_ok=True)
    for name, plots in pictures.items():
        if performance_plot.digest_in(given.figures / name) != performance_plot.digest(plots):
            performance_plot.draw(plots, given.figures / name)
    for file in given.figures.glob("performance-*.png"):
        if file.name not in pictures:
            file.unlink()
    if check_demo(given):
        sys.path.append(str(ROOT / "scripts"))
        import demo_figure
        demo_figure.draw(json.loads((given.results / f"{campaign.DEMO.name}.json").read_text(encoding="utf-8")), given.figures / campaign.DEMO_PICTURE)


def write(page, text):
    with whole_file.aside(page) as part:
        part.write_text(text, encoding="utf-8")


def work_on(given):
    """One page; the exit status."""
    if not any(given.results.glob("*.json")):
        print(f"bench/performance.py: {given.results} has no results", file=sys.stderr)
        return 1
    text, pictures = performance_page.render(given.results, os.path.relpath(given.figures, given.page.parent))
    if given.check:
        found = check(given, text, pictures)
        print(*found, f"{len(pictures)} pictures; {len(found)} findings", sep="\n")
        if found:
            print("run bench/performance.py, which needs matplotlib, and look at what it changed")
        return 1 if found else 0
    draw(given, pictures)
    write(given.page, text)
    texts, wrong = tables(given.results, given.tables) if given.tables else ({}, [])
    for page, with_table in texts.items():
        write(page, with_table)
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


def main(arguments):
    given = parse(arguments)
    if given.results is not None:
        return work_on(given)
    return max(work_on(argparse.Namespace(check=given.check, results=results, page=page, figures=figures, tables=ROOT if page == PAGE else None))
               for results, page, figures in PAGES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
