#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Draws the README's first figure from the output of scripts/demo --json: one picture of one real
# run, with the setting of each half in its title. Needs matplotlib (Debian: python3-matplotlib),
# which the demo itself does not need. Run by hand when the demo changes.
"""usage: scripts/demo_figure.py DEMO.json OUT.png"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "report"))
import whole_file  # noqa: E402

NATIVE, COMMTASK = "#9aa0a6", "#1f6fb2"


def draw_exposed(axes, rows, n_cores):
    names = [f"{row['ranks']} ranks\n{row['size']}" for row in rows]
    places = range(len(rows))
    sides = (("native_us", -0.2, NATIVE, "native MPI"), ("commtask_run_us", 0.2, COMMTASK, "the same program under commtask-run"))
    for key, shift, colour, label in sides:
        bars = axes.bar([place + shift for place in places], [max(1, row[key]) for row in rows], 0.4, color=colour, label=label)
        axes.bar_label(bars, fmt="%.0f", fontsize=7)
    axes.set_yscale("log")
    axes.set_ylim(10, 30 * max(row["native_us"] for row in rows))
    axes.set_ylabel("exposed communication, us per step")
    axes.set_xticks(list(places), names, fontsize=8)
    axes.set_title(f"Exchange, computing off the core, {n_cores} cores: lower is better", fontsize=9)
    axes.legend(fontsize=8, loc="upper left")


def draw_network(axes, network):
    rows = network["rows"]
    bars = axes.bar([row["mode"] for row in rows], [row["ratio"] for row in rows], 0.6,
                    color=[NATIVE if row["mode"] == "baseline" else COMMTASK for row in rows])
    axes.bar_label(bars, fmt="%.2f", fontsize=8)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("speed, baseline = 1")
    axes.set_title(f"Dslash {network['lattice']}, {network['ranks']} ranks,\nemulated network with rendezvous", fontsize=9)


def draw(document, file):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=[2.4, 1])
    draw_exposed(left, document["exposed"], document["cores"])
    draw_network(right, document["rendezvous"])
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    with whole_file.aside(file) as part:
        figure.savefig(part)
    plt.close(figure)


def main(arguments):
    if len(arguments) != 2 or not arguments[1].endswith(".png"):
        print(__doc__, file=sys.stderr)
        return 2
    document = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    if not document["is_complete"]:
        print("scripts/demo_figure.py: the demo's second table is not complete", file=sys.stderr)
        return 1
    draw(document, arguments[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
