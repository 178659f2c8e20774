# SPDX-License-Identifier: Apache-2.0
# Question: where does the time of a miniapp go, in each of its modes? Whole runs, the modes alternated; of each mode the run
# whose time is the median is kept as it was, since the parts of different runs do not add up. It is the table of the paper
# that the modes come from, and commtask-report draws it.
"""Compute, post, wait and the rest, of lqcd_dslash and fft_soi in every mode."""

import json
import tempfile
from pathlib import Path

import dslash
import fft
import miniapp
import network
import whole_file

N_RANKS = 2
KEPT = ("program", "mode", "method", "lattice", "n", "precision", "ranks", "compute_threads", "median")


def dslash_run(over, mode, json_file):
    app = [str(over.build.program("lqcd_dslash", "apps/lqcd_dslash")), "--lattice", "16.16.16.32", "--grid", f"1.1.1.{N_RANKS}"]
    app += ["--mode", mode, "--threads", str(network.cores_of(N_RANKS)), "--iterations", "20", "--repeat", "3", "--check", "none"]
    return over.execute(app + ["--json", json_file], json_file)


def fft_run(over, mode, json_file):
    app = [str(over.build.program("fft_soi", "apps/fft_soi")), "--n", str(1 << 21), "--mode", mode, "--repeat", "7"]
    app += ["--threads", str(network.cores_of(N_RANKS)), "--wisdom", str(over.build.folder / "fft.wisdom"), "--check", "none"]
    return over.execute(app + ["--json", json_file], json_file)


def measure(over, once, modes, n_rounds, setting):
    """The median run of each mode; one round before the first warms up."""
    with tempfile.TemporaryDirectory() as folder:
        json_file = str(Path(folder) / "run.json")
        runs = network.alternated(modes, n_rounds, lambda mode, _: once(over, mode, json_file))
    kept = []
    for documents in runs.values():
        documents.sort(key=lambda one: one["median"]["slowest_total_us"])
        median = documents[len(documents) // 2]
        kept.append({"setting": setting, **{key: median[key] for key in KEPT if key in median}, "rounds": n_rounds})
    return kept


def line(document):
    parts = "  ".join(f"{key[:-3]} {value:.0f}" for key, value in document["median"].items() if key.endswith("_us"))
    return f"  {document['mode']:10} {parts}"


def run(build, is_quick, json_file):
    """Both miniapps as they come, Dslash over links with rendezvous too; the exit status of the driver."""
    n_rounds = 1 if is_quick else 5
    as_it_comes = network.Network(build, "", N_RANKS)
    documents = measure(as_it_comes, dslash_run, dslash.PROGRAMS_MODES, n_rounds, "crowded")
    documents += measure(as_it_comes, fft_run, fft.MODES, n_rounds, "crowded")
    try:
        case = next(case for case in dslash.CASES if case.setting == "rendezvous")
        over = network.Network(build, "rendezvous", N_RANKS, dslash.balanced_rate_mbs(build, case))
        documents += measure(over, dslash_run, dslash.PROGRAMS_MODES, n_rounds, "rendezvous")
    except miniapp.Skipped as reason:
        print(f"breakdown, rendezvous: cannot run here: {reason}")
    machine = miniapp.machine_of(build)
    for document in documents:
        document["machine"] = machine
        print(line(document), flush=True)
    if json_file:
        whole_file.write_json(json_file, documents)
    return 0
