# SPDX-License-Identifier: Apache-2.0
# Question: is SOI faster than the FFTs that people have, and does its pipeline hide the network? Crowded: bench_fft
# alternates everything in one process. Delayed: whole runs of the miniapp over a wire whose rate is chosen so that the
# all-to-all takes 0.5, 1 or 2 times as long as the computing, against the model of docs/fft.md. Link: the same over links
# that take no processor time, as the model's.
"""The FFT miniapp against its peers and its schedules against each other."""

import sys
import tempfile
from pathlib import Path

import figures
import miniapp
import network
import program
from network import LANES, LEVEL

SLOW = ("delayed", "link")  # of network.SLOW: those that the models were made for
DRAWN = "link"
N_RANKS = 2
N_SEGMENTS = 8  # the miniapp's default
# Points and chunks, such that messages have 160 KiB. Over the wire, less than the model's 8 chunks: there messages are dear.
SIZES = {"delayed": (1 << 20, 4), "link": (1 << 21, 8)}
LOADS = (0.5, 1.0, 2.0)  # time of the all-to-all alone over that of the computing
MODES = ("baseline", "seg", "p2p", "offload", "omp", "tbb")
PRICE = {LEVEL: None, LANES: 0.97}  # least time of omp over theirs


def model(mode, net, produce, consume, n_segments, n_chunks):
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
    """Starts the miniapp over a network, with the size of `setting`."""

    def __init__(self, over, setting):
        self.over = over
        self.n_points, self.n_chunks = SIZES[setting]

    def run(self, mode, method="soi", check="none", trace=""):
        with tempfile.TemporaryDirectory() as folder:
            json_file = str(Path(folder) / "run.json")
            build = self.over.build
            app = network.with_thread_multiple(build) if mode == LEVEL else []
            app += [str(build.program("fft_soi", "apps/fft_soi")), "--n", str(self.n_points)]
            app += ["--mode", "omp" if mode in PRICE else mode] + (["--lanes", "2"] if mode == LANES else [])
            app += ["--method", method, "--chunks", str(self.n_chunks), "--repeat", "7", "--check", check, "--json", json_file]
            app += ["--wisdom", str(build.folder / "fft.wisdom"), "--threads", str(network.cores_of(N_RANKS))]
            app += ["--trace", trace] if trace else []
            return self.over.execute(app, json_file)


def seconds(document):
    return document["median"]["slowest_total_us"] * 1e-6


def price_row(mode, where, plain, own):
    """What a second lane, or its thread level alone, costs mode omp; both are seconds of each round."""
    return figures.Row(name=f"{mode} soi{where}", unit="ms", samples=[1e3 * t for t in own], ratio_to=f"omp soi{where}",
                       ratios=[one / two for one, two in zip(plain, own)], goals=figures.at_least(PRICE[mode]))


def lanes_as_it_comes(build, is_quick):
    """The report of omp with one lane, with the thread level of several, and with two, between ranks that share memory."""
    runner = Runner(network.Network(build, "", N_RANKS, cores_each=network.cores_of(N_RANKS)), "link")
    times = network.alternated(network.OF_LANES, 1 if is_quick else 7, lambda mode, _: seconds(runner.run(mode)), network.OF_LANES)
    report = figures.Report("fft", "crowded, lanes", miniapp.machine_of(build))
    report.rows.append(figures.Row("omp soi", "ms", [1e3 * t for t in times["omp"]]))
    report.rows += [price_row(mode, "", times["omp"], times[mode]) for mode in PRICE]
    return report


def over_network(build, setting, is_quick, traces):
    """The report of a setting with a slow network, "delayed" or "link"."""
    network.Network(build, setting, N_RANKS)  # refuses what cannot be had before anything is measured
    report = figures.Report("fft", setting, miniapp.machine_of(build))
    as_it_comes = Runner(network.Network(build, "", N_RANKS, cores_each=network.cores_of(N_RANKS)), setting)
    alone = min((as_it_comes.run("serial") for _ in range(3)), key=seconds)
    produce, consume = alone["median"]["produce_us"] * 1e-6, alone["median"]["consume_us"] * 1e-6
    # What copying takes processor time for, in a link as in shared memory. Over the wire the network's share is unknown.
    copies = min(as_it_comes.run("baseline")["median"]["wait_us"] for _ in range(3)) * 1e-6 if setting == "link" and not build.mpi else 0.0
    n_chunks = SIZES[setting][1]
    for load in LOADS:
        net = load * (produce + consume)
        over = network.Network(build, setting, N_RANKS, alone["traffic"]["bytes"] / net * 1e-6)
        runner = Runner(over, setting)
        modes = network.sides_over(build, setting, (*MODES, *PRICE), network.OF_LANES)
        cases = [(mode, "soi") for mode in modes] + ([] if build.mpi else [("baseline", "sixstep"), ("omp", "sixstep")])

        def once(case, turn, runner=runner, load=load):
            is_drawn = traces and load == 1.0 and case[1] == "soi" and case[0] not in PRICE and turn > 0
            return seconds(runner.run(*case, trace=str(Path(traces) / f"{case[0]}.json") if is_drawn else ""))

        times = network.alternated(cases, 1 if is_quick else 4, once, [(mode, "soi") for mode in network.OF_LANES])
        for case in cases:
            mode, method = case
            if mode in PRICE:
                report.rows.append(price_row(mode, f", T_net = {load:g} T_comp", times[("omp", "soi")], times[case]))
                continue
            kind = mode if mode in ("baseline", "seg") else "tasks"
            expected = model(kind, net, produce, consume, N_SEGMENTS, n_chunks)
            ratios = [expected / took for took in times[case]] if method == "soi" else None
            is_pipeline = mode in ("offload", "omp", "tbb") and not build.mpi
            report.rows.append(figures.Row(
                name=f"{mode} {method}, T_net = {load:g} T_comp", unit="ms", samples=[1e3 * t for t in times[case]],
                ratio_to=f"the model's {1e3 * expected:.2f} ms" if ratios else None, ratios=ratios,
                goals=figures.at_least(0.909 if is_pipeline and method == "soi" else None),
                note=over.describe() if case == cases[0] else ""))
            if copies and method == "soi":
                report.rows.append(figures.Row(
                    name=f"{mode} with copies, T_net = {load:g} T_comp", unit="ms", samples=[1e3 * t for t in times[case]],
                    ratio_to=f"the model's {1e3 * expected:.2f} ms and {1e3 * copies:.2f} ms of copies",
                    ratios=[(expected + copies) / took for took in times[case]]))
        if build.mpi:
            continue
        seg_model, tasks_model = (model(kind, net, produce, consume, N_SEGMENTS, n_chunks) for kind in ("seg", "tasks"))
        for mode in ("p2p", "offload", "omp", "tbb"):
            ratios = [seg / own for seg, own in zip(times[("seg", "soi")], times[(mode, "soi")])]
            report.rows.append(figures.Row(
                name=f"{mode} against seg, T_net = {load:g} T_comp", unit="ms",
                samples=[1e3 * t for t in times[(mode, "soi")]], ratio_to="seg soi", ratios=ratios,
                goals=figures.at_least(1.25 if load == 1.0 and mode != "p2p" else None),
                note=f"the model's own ratio is {seg_model / tasks_model:.2f}" if mode == "p2p" else ""))
    return report


def crowded(build, is_quick, n_ranks, sizes):
    """The report of bench_fft."""
    command = build.mpiexec(n_ranks) + [str(build.program("bench_fft"))]
    command += ["--wisdom", str(build.folder / "fft.wisdom"), "--first", str(sizes[0]), "--last", str(sizes[1])]
    return program.report_of(command, is_quick, limit_s=7200)


def draw(traces, plots):
    """The timeline of docs/fft.md, in the folder `plots`."""
    kept = [trace for trace in (Path(traces) / f"{mode}.json" for mode in MODES) if trace.exists()]
    if not kept:
        return
    try:
        import fft_plot  # needs matplotlib, which only this does
    except ImportError as reason:
        print(f"fft: no timeline drawn: {reason}", file=sys.stderr)
        return
    Path(plots).mkdir(parents=True, exist_ok=True)
    fft_plot.timeline(Path(plots) / "fft-pipeline.png", kept)


def run(build, setting, is_quick, json_file, plots=""):
    """All settings asked for; the exit status of the driver."""
    with tempfile.TemporaryDirectory() as traces:
        status = miniapp.publish(parts_of(build, setting, is_quick, traces if plots else ""), json_file, build.mpi)
        if plots:
            draw(traces, plots)
        return status


def parts_of(build, setting, is_quick, traces):
    """The reports to make, as (name, function)."""
    parts = []
    # FFTW's MPI layer is built with the usual MPI only.
    if setting in ("crowded", "all") and not build.mpi:
        parts += [(f"fft, crowded, {n_ranks} ranks", lambda n=n_ranks, sizes=sizes: crowded(build, is_quick, n, sizes))
                  for n_ranks, sizes in ((1, (20, 20)), (N_RANKS, (20, 21 if is_quick else 24)))]
    if setting in ("crowded", "all"):
        parts.append(("fft, crowded, lanes", lambda: lanes_as_it_comes(build, is_quick)))
    # The timeline is of the links, whose network takes no processor time: over the wire it would show TCP's.
    return parts + [(f"fft, {slow}", lambda slow=slow: over_network(build, slow, is_quick, traces if slow == DRAWN else ""))
                    for slow in SLOW if setting in (slow, "all")]
