# SPDX-License-Identifier: Apache-2.0
# The pictures of docs/performance.md. What is drawn is first put into plain lists, of which a digest goes into the picture, so
# that a test can say that a picture is old without drawing it again; matplotlib is needed to draw alone. Which rows are
# lines and which are bars, and which axis is logarithmic, is decided where commtask-report decides it, tools/report/bench_results.py.
"""Results as pictures."""

import hashlib
import json
import struct

import bench_results
import whole_file

MOST_BARS = 22  # of one plot
AGAIN = ("again", "beside MPI_Startall")  # rows that compare what is a line already with another one
MOST_PLOTS = 12  # of one picture
STYLE = 2  # another number draws all pictures anew


def _bars(title, unit, rows, names=None):
    """Plots of at most MOST_BARS bars each."""
    names = names or [row["name"] for row in rows]
    n_plots = -(-len(rows) // MOST_BARS)
    n_each = -(-len(rows) // n_plots)
    return [_some_bars(title, unit, rows[k:k + n_each], names[k:k + n_each]) for k in range(0, len(rows), n_each)]


def _some_bars(title, unit, rows, names):
    return {"kind": "bars", "title": title, "unit": unit, "names": names,
            "values": [[row["median"], row.get("p10", row["median"]), row.get("p90", row["median"])] for row in rows],
            "missed": [bool(row.get("goal")) and not row.get("met") for row in rows]}


def _lines(lines):
    return {"kind": "lines", "title": lines.title, "unit": lines.unit, "axis": f"{lines.axis} {lines.axis_unit}".strip(), "log": lines.is_log,
            "series": {side: [[x, row["median"], row.get("p10", row["median"]), row.get("p90", row["median"])] for x, row in sorted(one.items())]
                       for side, one in lines.series.items() if not side.endswith(AGAIN)}}


def plots_of(document):
    """What is to be drawn of one result: all of it but a row that no other stands beside."""
    plots = [_lines(lines) for lines in document.lines]
    for what, sides in document.groups.items():
        plots += _bars(what, sides[0][1]["unit"], [row for _, row in sides], [side for side, _ in sides])
    by_unit = {}
    for row in document.bars:
        by_unit.setdefault(row["unit"], []).append(row)
    for unit, rows in by_unit.items():
        plots += _bars("", unit, rows) if len(rows) > 1 else []
    return plots


def in_pictures(plots, name):
    """{picture file: plots}; one picture would be too tall for many, and long names of bars leave lines no room there."""
    pieces = [plots]
    if len(plots) > MOST_PLOTS:
        kinds = [[plot for plot in plots if (plot["kind"] == "lines") == are_lines] for are_lines in (True, False)]
        pieces = [some[k:k + MOST_PLOTS] for some in kinds for k in range(0, len(some), MOST_PLOTS)]
    return {f"{name}{f'-{k + 1}' if k else ''}.png": piece for k, piece in enumerate(pieces) if piece}


def some_lines(document, title, sides):
    """Of the plot that has these sides, in their order."""
    lines = next(lines for lines in document.lines if set(sides) <= lines.series.keys())
    plot = _lines(lines)
    return {**plot, "title": title, "series": {side: plot["series"][side] for side in sides}}


def stacked(rows):
    """Shares of a miniapp's time: [(label, {part: us})]."""
    return {"kind": "stacked", "rows": [[label, parts] for label, parts in rows]}


def digest(plots):
    return hashlib.sha256(json.dumps([STYLE, plots], sort_keys=True).encode()).hexdigest()[:24]


def digest_in(file):
    """The digest that a picture says it was drawn from; empty: none, or no picture."""
    try:
        data = file.read_bytes()
    except OSError:
        return ""
    at = 8
    while at + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"tEXt" and data[at + 8:].startswith(b"Description\0"):
            return data[at + 20:at + 8 + length].decode("latin-1")
        at += 12 + length
    return ""


def _draw_bars(axes, plot):
    places = range(len(plot["names"]))
    medians = [median for median, _, _ in plot["values"]]
    spread = [[max(0, m - low) for m, low, _ in plot["values"]], [max(0, high - m) for m, _, high in plot["values"]]]
    axes.barh(places, medians, color=["#e15759" if missed else "#4e79a7" for missed in plot["missed"]], height=0.7)
    axes.errorbar(medians, places, xerr=spread, fmt="none", ecolor="#333333", elinewidth=0.8, capsize=2)
    if min(medians) > 0 and max(medians) / min(medians) > 50:
        axes.set_xscale("log")
    for place, median in zip(places, medians):
        axes.annotate(f"{median:.3g}", (median, place), xytext=(3, 3), textcoords="offset points", fontsize=6)
    axes.set_yticks(list(places), plot["names"], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel(plot["unit"] + ("; red: a goal is missed" if any(plot["missed"]) else ""), fontsize=8)


def _draw_lines(axes, plot):
    for side, points in plot["series"].items():
        xs, medians = [point[0] for point in points], [point[1] for point in points]
        line, = axes.plot(xs, medians, marker="o", markersize=3, linewidth=1.2, label=side)
        axes.fill_between(xs, [low for _, _, low, _ in points], [high for _, _, _, high in points], alpha=0.15, color=line.get_color())
    if plot["log"]:
        axes.set_xscale("symlog" if any(point[0] == 0 for points in plot["series"].values() for point in points) else "log", base=2)
    if bench_results.is_log(plot["unit"], [median for points in plot["series"].values() for _, median, _, _ in points]):
        axes.set_yscale("log")
    axes.set_xlabel(plot["axis"], fontsize=8)
    axes.set_ylabel(plot["unit"], fontsize=8)
    axes.legend(fontsize=6)


def _draw_stacked(axes, plot):
    for place, (_, parts) in enumerate(plot["rows"]):
        left, whole = 0.0, sum(parts.values()) or 1
        for part, us in parts.items():
            axes.barh(place, 100 * us / whole, left=left, color=bench_results.PART_COLOURS[part], label=part if place == 0 else None, height=0.7)
            left += 100 * us / whole
    axes.set_yticks(range(len(plot["rows"])), [label for label, _ in plot["rows"]], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("% of a run's time", fontsize=8)
    axes.legend(fontsize=7, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1))


DRAWN = {"bars": _draw_bars, "lines": _draw_lines, "stacked": _draw_stacked}


def _height(plot):
    n_bars = len(plot.get("names", plot.get("rows", ())))
    return 0.8 + 0.22 * n_bars if n_bars else 2.8


def draw(plots, file):
    """One picture with all plots below each other, lines two in a row."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    lines = [plot for plot in plots if plot["kind"] == "lines"]
    rows = [lines[k:k + 2] for k in range(0, len(lines), 2)] + [[plot] for plot in plots if plot["kind"] != "lines"]
    heights = [max(map(_height, row)) for row in rows]
    n_columns = 2 if len(plots) > 1 or not lines else 1
    figure = plt.figure(figsize=(4.5 * n_columns, sum(heights)), layout="constrained")
    grid = figure.add_gridspec(len(rows), n_columns, height_ratios=heights)
    for k, row in enumerate(rows):
        for column, plot in enumerate(row):
            axes = figure.add_subplot(grid[k, column] if len(row) == 2 or plot["kind"] == "lines" else grid[k, :])
            DRAWN[plot["kind"]](axes, plot)
            axes.set_title(plot.get("title", ""), fontsize=8)
            axes.tick_params(labelsize=7)
            axes.spines[["top", "right"]].set_visible(False)
    with whole_file.aside(file) as part:
        figure.savefig(part, dpi=80, metadata={"Description": digest(plots), "Software": ""})
    plt.close(figure)
