# SPDX-License-Identifier: Apache-2.0
# Results of benchmarks on the page: lines by uPlot, bars and breakdowns as plain elements, and each benchmark's whole table
# below its pictures, so that a picture can be checked and a goal that was missed is seen. Figures of papers stand beside
# ours where papers.json has them; other machines made them, so their shares are what to compare.
"""Plots and tables of results of benchmarks."""

import bench_results
import units
from page_tables import escape, plot_box, stack, table


def _number(value):
    return "-" if value is None else f"{value:.4g}"


def _lines(document):
    plots = []
    for lines in document.lines:
        xs = sorted({x for one in lines.series.values() for x in one})
        is_log = bench_results.is_log(lines.unit, [row["median"] for one in lines.series.values() for row in one.values()])
        plots.append(plot_box({
            "title": f"{lines.title} [{lines.unit}]",
            "x": {"label": lines.axis, "unit": lines.axis_unit, "values": xs, "log": lines.is_log and xs[0] > 0},
            "y": {"label": lines.unit, "unit": lines.unit, "log": is_log},
            "series": [{"label": side, "dash": side.endswith(("again", "beside MPI_Startall")),
                        "values": [one[x]["median"] if x in one else None for x in xs]}
                       for side, one in lines.series.items()]}))
    return f'<div class="plots">{"".join(plots)}</div>' if plots else ""


def _bar(row, widest):
    """A bar to the median, and a line from the 10th to the 90th percentile."""
    scale = 100 / widest if widest else 0
    low, high = row.get("p10", row["median"]), row.get("p90", row["median"])
    return (f'<div class="value"><i style="width:{min(100, scale * row["median"]):.1f}%"></i>'
            f'<u style="left:{min(100, scale * low):.1f}%;width:{max(0, min(100, scale * high) - min(100, scale * low)):.1f}%"></u></div>',)


def _bars(rows, names=None):
    by_unit = {}
    for k, row in enumerate(rows):
        by_unit.setdefault(row["unit"], []).append((names[k] if names else row["name"], row))
    parts = []
    for unit, named in by_unit.items():
        widest = max(max(row["median"], row.get("p90", 0) if row.get("p90", 0) < 3 * row["median"] else 0) for _, row in named)
        parts.append(table(("", unit, "", ""), [("", (name, _number(row["median"]), _bar(row, widest), _verdict(row)))
                                                 for name, row in named], (1,)))
    return "".join(parts)


def _verdict(row):
    if not row.get("goal"):
        return f"{_number(row['ratio'])} x {row['ratio_to']}" if row.get("ratio") is not None and row.get("ratio_to") else ""
    met = "met" if row.get("met") else "NOT MET"
    ratio = f"{_number(row['ratio'])} x {row['ratio_to']}; " if row.get("ratio") is not None and row.get("ratio_to") else ""
    return f"{ratio}goal {row['goal']}: {met}"


def _table_of(document):
    rows = []
    for row in document.rows:
        spread = f"{_number(row.get('p10'))} to {_number(row.get('p90'))}"
        ratio_spread = f"{_number(row['ratio_p10'])} to {_number(row['ratio_p90'])}" if "ratio_p10" in row else ""
        rows.append(("", (row["name"], row["unit"], _number(row["median"]), spread, _number(row.get("ratio")), ratio_spread,
                          row.get("ratio_to") or "", row.get("goal") or "", "" if not row.get("goal") else "met" if row.get("met") else "NOT MET",
                          row.get("note", ""))))
    return ("<details><summary>All rows</summary>" +
            table(("name", "unit", "median", "10 to 90 %", "ratio", "10 to 90 %", "to", "goal", "", "note"), rows, (2, 3, 4, 5)) + "</details>")


def _papers(document):
    """What a paper says of the same question."""
    return "".join(f'<p class="soft">{escape(paper["figure"])} ({escape(paper["source"])})</p>' for paper in bench_results.papers()
                   if paper.get("benchmark") == document.benchmark and paper.get("setting", document.setting) == document.setting)


def _document(document):
    machine = ", ".join(str(value) for key, value in document.machine.items() if isinstance(value, str))
    n_cores = document.machine.get("cores", "?")
    cores = f"{n_cores} core{'' if n_cores == 1 else 's'}"
    groups = "".join(f"<h3>{escape(what)}</h3>" + _bars([row for _, row in sides], [side for side, _ in sides])
                       for what, sides in document.groups.items())
    bars = _bars(document.bars) if document.bars else ""
    return (f'<section class="bench"><h2>{escape(document.benchmark)}, {escape(document.setting)}</h2>'
            f'<p class="soft">{escape(machine)}{", " if machine else ""}{escape(cores)}. Medians; '
            f'thin lines from the 10th to the 90th percentile.</p>{_lines(document)}{groups}{bars}{_papers(document)}{_table_of(document)}'
            '</section>')


def _breakdowns(results):
    if not results.breakdowns:
        return ""
    papers = bench_results.papers()
    parts = []
    for app in sorted({one.app for one in results.breakdowns}):
        rows = [(one.label, one.parts, one.overlap) for one in results.breakdowns if one.app == app]
        sources = [paper for paper in papers if paper.get("app") == app]
        rows += [(row["label"], row["parts"], None) for paper in sources for row in paper["rows"]]
        cells = []
        for label, values, overlap in rows:
            whole = sum(values.values()) or 1
            cells.append(("", (label, stack([(part, us / whole) for part, us in values.items()], bench_results.PART_COLOURS),
                               *(f"{units.time(us * 1000)} ({units.share(us / whole)})" for us in values.values()), units.time(whole * 1000),
                               units.share(overlap))))
        notes = "".join(f'<p class="soft">Paper: {escape(paper["source"])}. Another machine and size: compare the shares.</p>' for paper in sources)
        parts.append(f'<section class="bench"><h2>Where the time of {escape(app)} goes</h2>' +
                     table(("run", "", "compute", "post", "wait", "misc", "total", "overlap"), cells, (2, 3, 4, 5, 6, 7)) + notes + "</section>")
    return "".join(parts)


def render(results, with_header):
    header = ("<header><h1>Results of benchmarks</h1><p class=\"soft\">Every figure is a median; how each was measured: docs/benchmarks.md"
              "</p></header>") if with_header else ""
    return header + "<main>" + _breakdowns(results) + "".join(_document(document) for document in results.documents) + "</main>"
