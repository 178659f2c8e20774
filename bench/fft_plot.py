#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Draws what bench fft measured: time against N for SOI, six-step and FFTW, and the pipeline as a timeline per rank. Reads
# the JSON that the benchmark and `fft_soi --trace` write; needs matplotlib, which nothing else here does.
"""usage: bench/fft_plot.py times RESULTS.json OUT.png | timeline OUT.png TRACE.json..."""

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools" / "report"))
import whole_file  # noqa: E402

SIDES = ("SOI p2p", "SOI offload", "six-step p2p", "FFTW-MPI", "FFTW serial")
COLOURS = {"produce": "#4c72b0", "consume": "#55a868", "wait": "#dddddd"}


def save(figure, name):
    with whole_file.aside(name) as part:
        figure.savefig(part, bbox_inches="tight", dpi=110)


def times(documents, out):
    figure, axes = plt.subplots(figsize=(6, 4))
    for side in SIDES:
        points = {}
        for document in documents:
            if document["setting"] != "crowded":
                continue
            for row in document["results"]:
                if row["name"].startswith(f"{side} 2^"):
                    points[int(row["name"].rsplit("^", 1)[1])] = row
        sizes = sorted(points)
        medians = [points[n]["median"] for n in sizes]
        spread = [[m - points[n]["p10"] for n, m in zip(sizes, medians)],
                  [points[n]["p90"] - m for n, m in zip(sizes, medians)]]
        axes.errorbar(sizes, medians, yerr=spread, label=side, marker="o", capsize=3)
    axes.set_yscale("log")
    axes.set_xlabel("log2 N")
    axes.set_ylabel("ms per transform, median [p10..p90]")
    axes.set_title("2 ranks on 2 cores, shared memory")
    axes.legend()
    axes.grid(alpha=0.3)
    save(figure, out)


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
    if len(arguments) >= 3 and arguments[0] == "times":
        return times(json.loads(Path(arguments[1]).read_text(encoding="utf-8")), arguments[2])
    if len(arguments) >= 3 and arguments[0] == "timeline":
        return timeline(arguments[1], arguments[2:])
    sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
