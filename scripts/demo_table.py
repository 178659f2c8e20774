# SPDX-License-Identifier: Apache-2.0
# The demo's second half: runs the miniapp once in every mode, with its checks, prints the results
# as one table, and has demo_wins.py add a second table. The modes differ only in how they
# communicate, so their results must agree to the last bit. scripts/demo, which has checked the
# options, starts this script. The figures of one run only give an impression; scripts/bench
# measures.
"""Runs lqcd_dslash in every mode and shows what each costs."""
import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends silently until main() installs its handler

import argparse  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools" / "report"))  # whole_file
import launch  # noqa: E402
import miniapp  # noqa: E402
import whole_file  # noqa: E402

import demo_wins  # noqa: E402

MODES = {
    "baseline": "MPI_Isend, compute, MPI_Waitall, barrier: what most codes do",
    "iprobe": "the same, and a thread probes now and then so that MPI moves",
    "commself": "the same, and a thread of its own sits inside MPI",
    "offload": "the baseline's shape; the messages are commtask's",
    "omp": "a graph of OpenMP tasks with commtask's among them; no barrier",
    "tbb": "the same graph for oneTBB, made once and used for every hop",
}
LIMIT_S = 120  # for one mode; on an idle machine each takes seconds
HEADER = f"{'mode':10}{'check':>8}{'internal':>10}{'post':>8}{'wait':>8}{'misc':>8}{'total':>9}{'overlap':>9}{'GF/s':>8}" \
         f"{'cost':>8}"
TIMES = ("internal_us", "post_us", "wait_us", "misc_us", "total_us", "overlap", "gflops")


def run(build, mode, options, folder):
    """The JSON document of one run; its `passed` is false too when the run did not end well."""
    file = Path(folder) / f"{mode}.json"
    command = build.mpiexec(options.ranks) + [str(build.program("lqcd_dslash", "apps/lqcd_dslash")), "--mode", mode]
    command += ["--lattice", options.lattice, "--grid", f"1.1.1.{options.ranks}", "--threads", str(options.threads)]
    command += ["--iterations", str(options.iterations), "--check", "full", "--json", str(file)]
    has_ended_well = True
    try:
        miniapp.execute(command, file, LIMIT_S)
    except miniapp.Failed:
        if not file.exists():
            raise
        has_ended_well = False
    document = json.loads(file.read_text(encoding="utf-8"))
    median = miniapp.median_run(document)
    if any(not isinstance(median[key], (int, float)) for key in TIMES):
        raise miniapp.Failed("its report has no times")
    return {**document, "median": median, "passed": document["passed"] and has_ended_well}


def row(mode, document, baseline):
    timing = document["median"]
    cost = f"{timing['total_us'] / baseline['median']['total_us']:8.2f}" if baseline else f"{'-':>8}"
    return (f"{mode:10}{'ok' if document['passed'] else 'FAILED':>8}{timing['internal_us']:10.1f}{timing['post_us']:8.1f}"
            f"{timing['wait_us']:8.1f}{timing['misc_us']:8.1f}{timing['total_us']:9.1f}{timing['overlap'] * 100:8.0f}%"
            f"{timing['gflops']:8.1f}{cost}")


def compared(documents):
    """What is to be said of the results of the modes that ran."""
    fingerprints = {document["fingerprint"] for document in documents}
    if len(documents) < 2:
        return "results of two modes are needed to compare them"
    if len(fingerprints) > 1:
        return f"results DIFFER between the {len(documents)} modes that ran"
    return f"results are the same to the last bit in the {len(documents)} modes that ran"


def costs(build, options):
    """The first table; gives its documents by mode, None for one that did not run."""
    n_cores = len(os.sched_getaffinity(0))
    options.threads = options.threads or max(1, n_cores // options.ranks)
    print(f"\n== 3 of 4: Wilson Dslash, {options.lattice} on {options.ranks} ranks with {options.threads} core(s) each, "
          "every check, microseconds per hop\n")
    print(HEADER, flush=True)
    documents = {}
    with tempfile.TemporaryDirectory() as folder:
        for mode in MODES:
            documents[mode] = demo_wins.attempt(mode, lambda mode=mode: run(build, mode, options, folder))
            if documents[mode]:
                print(row(mode, documents[mode], documents["baseline"]), flush=True)
    print("\ncost: time of a hop beside the baseline's; below 1 is faster. "
          "overlap: share of the messages' time that is hidden.")
    for mode, text in MODES.items():
        print(f"  {mode:10}{text}")
    ran = [document for document in documents.values() if document]
    n_checks = sum(len(document["checks"]) for document in ran)
    passed = all(document["passed"] for document in ran)
    print(f"\n{n_checks} checks in {len(ran)} of {len(MODES)} modes: "
          f"{'none ran' if not ran else 'all passed' if passed else 'NOT ALL PASSED'}; {compared(ran)}.")
    if options.ranks * options.threads >= n_cores and options.threads == 1:
        print("Every core of this machine computes, so the workers share cores with it: the crowded setting.", flush=True)
    return documents


def show_workers(build, options):
    print("\n== 2 of 4: where the workers will run (commtask-info)\n", flush=True)
    try:
        subprocess.run(build.mpiexec(options.ranks) + [str(build.program("commtask-info", "tools"))], check=False,
                       timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        print(f"commtask-info was ended after {LIMIT_S} s")


def demonstrate(options):
    build = launch.Build(options.build_dir)
    show_workers(build, options)
    documents = costs(build, options)
    wins = demo_wins.show(build)
    if options.json:
        whole_file.write_json(options.json, {"cores": len(os.sched_getaffinity(0)), "costs": documents, **wins})
    ran = [document for document in documents.values() if document]
    is_same = len({document["fingerprint"] for document in ran}) == 1
    is_good = len(ran) == len(MODES) and is_same and all(document["passed"] for document in ran) and wins["is_complete"]
    return 0 if is_good else 1


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("--lattice", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True, help="0: this machine's, shared out")
    parser.add_argument("--iterations", type=int, required=True)
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # An exception, so that the program that is running is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        status = demonstrate(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("scripts/demo: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except (launch.NotBuilt, OSError) as error:
        print(f"scripts/demo: {error}", file=sys.stderr)
        # The rest of the buffer cannot be written either, and Python would report that again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
