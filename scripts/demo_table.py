# SPDX-License-Identifier: Apache-2.0
# The demo's second half: runs the miniapp once in every mode on two ranks, checks included, and puts the results into
# one table. The modes differ only in how they communicate, so their results must be the same to the last bit: the
# fingerprints are compared too. Figures of one run on a busy machine are for the eye; scripts/bench measures.
"""Runs lqcd_dslash in every mode and shows what each costs."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import launch  # noqa: E402

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


def run(build, mode, options, folder):
    """The JSON document of one run, with its exit status as `status`."""
    file = Path(folder) / f"{mode}.json"
    command = build.mpiexec(options.ranks) + [str(build.program("lqcd_dslash", "apps/lqcd_dslash")), "--mode", mode]
    command += ["--lattice", options.lattice, "--grid", f"1.1.1.{options.ranks}", "--threads", str(options.threads)]
    command += ["--iterations", str(options.iterations), "--check", "full", "--json", str(file)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as started:
        try:
            output, _ = started.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            started.terminate()  # mpiexec ends its ranks
            print(f"{mode:10}  was ended after {LIMIT_S} s")
            return None
    if not file.exists():
        print(f"{mode:10}  did not run: status {started.returncode}\n{output}")
        return None
    return {**json.loads(file.read_text(encoding="utf-8")), "status": started.returncode}


def row(mode, document, baseline):
    timing = document["median"]
    passed = document["passed"] and document["status"] == 0
    cost = timing["total_us"] / baseline["median"]["total_us"] if baseline else 1.0
    return (f"{mode:10}{'ok' if passed else 'FAILED':>8}{timing['internal_us']:10.1f}{timing['post_us']:8.1f}"
            f"{timing['wait_us']:8.1f}{timing['misc_us']:8.1f}{timing['total_us']:9.1f}{timing['overlap'] * 100:8.0f}%"
            f"{timing['gflops']:8.1f}{cost:8.2f}")


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--build-dir", default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--lattice", default="8.8.8.16", help="global extents X.Y.Z.T (default: %(default)s)")
    parser.add_argument("--ranks", type=int, default=2, help="MPI ranks, along T (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=None,
                        help="cores per rank, the worker's included (default: this machine's, shared out)")
    parser.add_argument("--iterations", type=int, default=100, help="per timed run (default: %(default)s)")
    options = parser.parse_args()
    n_cores = len(os.sched_getaffinity(0))
    if options.threads is None:
        options.threads = max(1, n_cores // options.ranks)

    try:
        build = launch.Build(options.build_dir)
        print("\n== where the workers will run (commtask-info)\n", flush=True)
        subprocess.run(build.mpiexec(options.ranks) + [str(build.program("commtask-info", "tools"))], check=False,
                       timeout=120)
        print(f"\n== Wilson Dslash, {options.lattice} on {options.ranks} ranks with {options.threads} core(s) each, "
              "every check, microseconds per hop\n")
        print(HEADER, flush=True)
        documents = {}
        with tempfile.TemporaryDirectory() as folder:
            for mode in MODES:
                documents[mode] = run(build, mode, options, folder)
                if documents[mode]:
                    print(row(mode, documents[mode], documents["baseline"]), flush=True)
    except launch.NotBuilt as error:
        print(f"scripts/demo: {error}", file=sys.stderr)
        return 1

    print("\ncost: time of a hop beside the baseline's; below 1 is faster. "
          "overlap: share of the messages' time that is hidden.")
    for mode, text in MODES.items():
        print(f"  {mode:10}{text}")
    ran = [document for document in documents.values() if document]
    fingerprints = {document["fingerprint"] for document in ran}
    n_checks = sum(len(document["checks"]) for document in ran)
    good = len(ran) == len(MODES) and all(document["passed"] and document["status"] == 0 for document in ran)
    same = len(fingerprints) == 1
    print(f"\n{n_checks} checks in {len(ran)} of {len(MODES)} modes: {'all passed' if good else 'NOT ALL PASSED'}; results "
          f"{'are the same to the last bit in all of them' if same else 'DIFFER between modes'}.")
    if options.ranks * options.threads >= n_cores and options.threads == 1:
        print("Every core of this machine computes, so the workers share cores with it: the crowded setting.")
    return 0 if good and same else 1


if __name__ == "__main__":
    sys.exit(main())
