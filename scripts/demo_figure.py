#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Draws the README's first figure from what scripts/demo --json wrote: one picture of one real run, with the setting of
# each half in its title. Needs matplotlib (Debian: python3-matplotlib), which the demo itself does not.
"""usage: scripts/demo_figure.py DEMO.json OUT.svg"""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

NATIVE, COMMTASK = "#9aa0a6", "#1f6fb2"


def draw_exposed(axes, rows, n_cores):
    names = [f"{row['ranks']} ranks\n{row['bytes'] >> 10} KiB" for row in rows]
    places = range(len(rows))
    axes.bar([place - 0.2 for place in places], [row["native_us"] for row in rows], 0.4, color=NATIVE, label="native MPI")
    axes.bar([place + 0.2 for place in places], [row["commtask_run_us"] for row in rows], 0.4, color=COMMTASK,
             label="the same program under commtask-run")
    axes.set_yscale("log")
    axes.set_ylabel("exposed communication, us per step")
    axes.set_xticks(list(places), names, fontsize=8)
    axes.set_title(f"Exchange, computing off the core, {n_cores} cores: lower is better", fontsize=10)
    axes.legend(fontsize=8)


def draw_network(axes, network):
    rows = network["rows"]
    axes.bar([row["mode"] for row in rows], [row["ratio"] for row in rows], 0.6,
             color=[NATIVE if row["mode"] == "baseline" else COMMTASK for row in rows])
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("speed, baseline = 1")
    axes.set_title(f"Dslash {network['lattice']}, {network['ranks']} ranks,\nemulated network with rendezvous", fontsize=10)


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    document = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    if not document["is_complete"]:
        print("scripts/demo_figure.py: the demo's second table is not complete", file=sys.stderr)
        return 1
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=[2.4, 1])
    draw_exposed(left, document["exposed"], document["cores"])
    draw_network(right, document["rendezvous"])
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(arguments[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
