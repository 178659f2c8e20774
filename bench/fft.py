# SPDX-License-Identifier: Apache-2.0
# Question: is SOI faster than the FFTs that people have, and does its pipeline hide the network? Crowded: bench_fft
# alternates everything in one process. Delayed: whole runs of the miniapp over a wire whose rate is chosen so that the
# all-to-all takes 0.5, 1 or 2 times as long as the computing, against the model of docs/fft.md.
"""The FFT miniapp against its peers and its schedules against each other."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import figures
import miniapp

N_RANKS = 2
DELAY_US = 100.0
N_POINTS = 1 << 20
N_CHUNKS = 4  # of 8 segments: messages of 160 KiB
LOADS = (0.5, 1.0, 2.0)  # time of the all-to-all alone over that of the computing
MODES = ("baseline", "seg", "p2p", "offload", "omp", "tbb")


def model(mode, net, produce, consume, n_segments=8, n_chunks=N_CHUNKS):
    """Total time over a link that goes on by itself; of the messages that are ready it takes the most urgent one."""
    if mode == "baseline":
        return produce + net + consume
    ready = {}
    for segment in range(n_segments):
        for chunk in range(n_chunks):
            ready[segment, chunk] = produce if mode == "seg" else produce * (chunk + 1) / n_chunks
    link = 0.0
    there = [0.0] * n_segments
    while ready:
        link = max(link, min(ready.values()))
        segment, chunk = min(message for message, made in ready.items() if made <= link + 1e-12)
        del ready[segment, chunk]
        link += net / (n_segments * n_chunks)
        there[segment] = link
    now = produce
    for moment in there:
        now = max(now, moment) + consume / n_segments
    return now


class Runner:
    """Starts the miniapp, over a wire if there is a rate."""

    def __init__(self, build, rate_mbs=None):
        self.build = build
        self.rate_mbs = rate_mbs
        self.wire = []

    def run(self, mode, method="soi", check="none", trace=""):
        with tempfile.TemporaryDirectory() as folder:
            json_file = str(Path(folder) / "run.json")
            wire_file = str(Path(folder) / "wire.json")
            app = [str(self.build.program("fft_soi", "apps/fft_soi")), "--n", str(N_POINTS), "--mode", mode]
            app += ["--method", method, "--chunks", str(N_CHUNKS), "--repeat", "7", "--check", check, "--json", json_file]
            app += ["--wisdom", str(self.build.folder / "fft.wisdom")]
            app += ["--threads", str(max(1, len(os.sched_getaffinity(0)) // N_RANKS))]
            app += ["--trace", trace] if trace else []
            command = self.build.mpiexec(N_RANKS) + app
            if self.rate_mbs:
                command = [str(self.build.program("commtask_delayed")), "--delay-us", str(DELAY_US)]
                command += ["--rate-mbs", f"{self.rate_mbs:.4g}", "--report", wire_file, "--"] + app
            miniapp.execute(command, json_file)
            if Path(wire_file).exists():
                self.wire.append(json.loads(Path(wire_file).read_text(encoding="utf-8")))
            return json.loads(Path(json_file).read_text(encoding="utf-8"))


def seconds(document):
    return document["median"]["slowest_total_us"] * 1e-6


def delayed(build, is_quick, traces):
    """The report of the delayed setting."""
    report = figures.Report("fft", "delayed", miniapp.machine_of(build))
    alone = min((Runner(build).run("serial") for _ in range(3)), key=seconds)["median"]
    produce, consume = alone["produce_us"] * 1e-6, alone["consume_us"] * 1e-6
    sent = Runner(build).run("serial")["traffic"]
    for load in LOADS:
        net = load * (produce + consume)
        runner = Runner(build, sent["bytes"] / net * 1e-6)
        cases = [(mode, "soi") for mode in MODES] + [("baseline", "sixstep"), ("omp", "sixstep")]
        times = {case: [] for case in cases}
        for turn in range(2 if is_quick else 5):
            for place in range(len(cases)):
                case = cases[(place + turn) % len(cases)]
                trace = ""
                if traces and load == 1.0 and case[1] == "soi" and turn > 0:
                    trace = str(Path(traces) / f"{case[0]}.json")
                took = seconds(runner.run(*case, trace=trace))
                if turn > 0:
                    times[case].append(took)
        for case in cases:
            mode, method = case
            expected = model(mode if mode in ("baseline", "seg") else "tasks", net, produce, consume)
            ratios = [expected / took for took in times[case]] if method == "soi" else None
            is_pipeline = mode in ("offload", "omp", "tbb")
            report.rows.append(figures.Row(
                name=f"{mode} {method}, T_net = {load:g} T_comp", unit="ms", samples=[1e3 * t for t in times[case]],
                ratio_to=f"the model's {1e3 * expected:.2f} ms" if ratios else None, ratios=ratios,
                at_least=0.909 if is_pipeline and method == "soi" else None,
                note=f"wire of {DELAY_US:g} us and {runner.rate_mbs:.4g} MB/s; {miniapp.describe_wire(runner.wire)}"
                if case == cases[0] else ""))
        for mode in ("p2p", "offload", "omp", "tbb"):
            ratios = [seg / own for seg, own in zip(times[("seg", "soi")], times[(mode, "soi")])]
            report.rows.append(figures.Row(
                name=f"{mode} against seg, T_net = {load:g} T_comp", unit="ms",
                samples=[1e3 * t for t in times[(mode, "soi")]], ratio_to="seg soi", ratios=ratios,
                at_least=1.25 if load == 1.0 and mode != "p2p" else None))
    return report


def crowded(build, is_quick, json_file, n_ranks, sizes):
    """bench_fft; its own report goes to `json_file`."""
    command = build.mpiexec(n_ranks) + [str(build.program("bench_fft")), "--json", json_file]
    command += ["--wisdom", str(build.folder / "fft.wisdom"), "--first", str(sizes[0]), "--last", str(sizes[1])]
    command += ["--quick"] if is_quick else []
    return subprocess.run(command, timeout=7200, check=False).returncode


def draw(documents, traces, plots):
    """The figures of docs/fft.md, in the folder `plots`."""
    try:
        import fft_plot  # needs matplotlib, which only this does
    except ImportError as reason:
        print(f"fft: no figures drawn: {reason}", file=sys.stderr)
        return
    Path(plots).mkdir(parents=True, exist_ok=True)
    if any(document["setting"] == "crowded" for document in documents):
        fft_plot.times(documents, Path(plots) / "fft-times.png")
    kept = [trace for trace in (Path(traces) / f"{mode}.json" for mode in MODES) if trace.exists()]
    if kept:
        fft_plot.timeline(Path(plots) / "fft-pipeline.png", kept)


def run(build, setting, is_quick, json_file, plots=""):
    """All settings asked for; the exit status of the driver."""
    with tempfile.TemporaryDirectory() as traces:
        documents = []
        status = measure(build, setting, is_quick, documents, traces if plots else "")
        if json_file and documents:
            Path(json_file).write_text(json.dumps(documents, indent=2) + "\n", encoding="utf-8")
        if plots and documents:
            draw(documents, traces, plots)
        return status


def measure(build, setting, is_quick, documents, traces):
    """Adds the reports to `documents`; gives the exit status of the driver."""
    with tempfile.TemporaryDirectory() as folder:
        if setting in ("crowded", "both"):
            for n_ranks, sizes in ((1, (20, 20)), (N_RANKS, (20, 21 if is_quick else 24))):
                part = str(Path(folder) / f"{n_ranks}.json")
                if crowded(build, is_quick, part, n_ranks, sizes) != 0:
                    return 1
                documents.append(json.loads(Path(part).read_text(encoding="utf-8")))
    if setting in ("delayed", "both"):
        try:
            report = delayed(build, is_quick, traces)
            print(report.to_table(), flush=True)
            documents.append(report.to_json())
        except miniapp.Skipped as reason:
            print(f"fft, delayed: cannot run here: {reason}", file=sys.stderr)
        except miniapp.Failed as error:
            print(f"fft, delayed: {error}", file=sys.stderr)
            return 1
    return 0 if documents else miniapp.SKIPPED
