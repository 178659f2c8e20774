#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Draws the pipeline of the FFT as a timeline per rank, from what `fft_soi --trace` writes. These traces are not stored, so this
# one picture cannot be drawn again from bench/results, as performance.py draws the others. Needs matplotlib.
"""usage: bench/fft_plot.py OUT.png TRACE.json..."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools" / "report"))
import whole_file  # noqa: E402

COLOURS = {"produce": "#4c72b0", "consume": "#55a868", "wait": "#dddddd"}


def save(figure, name):
    with whole_file.aside(name) as part:
        figure.savefig(part, bbox_inches="tight", dpi=110)


def timeline(out, traces):
    documents = [json.loads(Path(name).read_text(encoding="utf-8")) for name in traces]
    figure, all_axes = plt.subplots(len(documents), 1, figsize=(8, 1.3 * len(documents)), sharex=True, squeeze=False)
    for axes, document in zip(all_axes[:, 0], documents):
        rows = sorted({(span["rank"], span["worker"]) for span in document["spans"]})
        for span in document["spans"]:
            axes.broken_barh([(span["begin_us"] * 1e-3, (span["end_us"] - span["begin_us"]) * 1e-3)],
                             (rows.index((span["rank"], span["worker"])) - 0.4, 0.8),
                             facecolor=COLOURS[span["what"]], edgecolor="white", linewidth=0.3)
        axes.set_yticks(range(len(rows)), [f"rank {rank}" for rank, _ in rows], fontsize=7)
        axes.set_title(document["mode"], fontsize=8, loc="left")
    all_axes[-1, 0].set_xlabel("ms; blue: convolution, green: long FFTs, grey: waiting")
    figure.tight_layout()
    save(figure, out)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    timeline(arguments[0], arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
