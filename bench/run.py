#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs one benchmark by name and passes on what it prints, all of them one after the other, or a check against thresholds: one
# command for programs that need mpiexec and for the comparisons of whole runs. Exit status 0 says that it was measured; of `check`,
# that nothing got worse.
"""usage: bench/run.py NAME [--json FILE] [--quick] [--build-dir DIR]"""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
sys.path.append(str(ROOT / "tools" / "report"))  # whole_file

import check  # noqa: E402
import dslash  # noqa: E402
import fft  # noqa: E402
import lanes  # noqa: E402
import launch  # noqa: E402
import miniapp  # noqa: E402
import multigrid  # noqa: E402
import network  # noqa: E402
import node  # noqa: E402
import offload  # noqa: E402
import poisson  # noqa: E402
import program  # noqa: E402
import rma  # noqa: E402
import spikes  # noqa: E402
import trace_cost  # noqa: E402

PROGRAMS = {
    "yardstick": "reference times of this machine: cache-line round trip, clock, wake-up of a thread",
    "post": "cost of posting a task for the posting thread",
    "roundtrip": "time of an empty task and of a message, from post to end of wait",
    "unblock": "time from MPI's completion of a receive to the start of the dependent OpenMP task",
    "tbb": "time from MPI's completion of a receive to the start of the dependent node of a oneTBB flow graph",
    "bind": "cost of one task with eight bound messages, compared with eight communication tasks",
    "rate": "messages and tasks per second",
    "patterns": "repeated exchanges of two ranks by MPI, by MPI_Startall, by a post for each message, by a plan",
}
OF_TWO_RANKS = ("patterns",)  # each on a core that its worker shares
COMPARISONS = {
    "lanes": "gain and cost of a second lane, and one lane for many threads",
    "trace": "cost of COMMTASK_TRACE for a task, an event and a whole program",
    "rma": "one-sided access to a computing rank by MPI, by MPI with its progress thread, by commtask-run and by tasks; a notified put",
    "poisson": "the modes of poisson2d, each with halos by messages, by a collective, by notified puts and by gets",
    "offload": "commtask-run compared with native MPI: starting a message, overlap, round trips, a FUNNELED miniapp",
    "node": "doorbells between ranks that share cores, compared with timed waits, native MPI and MPI's progress thread",
    "multigrid": "modes and lanes of the multigrid miniapp, with many and few boxes, crowded and over links",
    "spikes": "the exchange of spikes by allgather and by multicast, with few and many targets of a cell",
    "dslash": "modes of the lattice-QCD miniapp compared with its baseline, crowded and over links",
    "fft": "the FFT miniapp compared with six-step, FFTW-MPI and serial FFTW, and its schedules over links",
}
ALL = "all benchmarks, with the results in bench/results (more than an hour)"
CHECK = "quick runs, compared with the limits in bench/thresholds.json"
#: The settings that a benchmark can be asked for one of, and the options that are for some benchmarks only.
SETTINGS = {"dslash": ("crowded", *network.LINKS), "fft": ("crowded", "link"), "multigrid": ("crowded", "link"), "spikes": ("crowded", "link")}
OF_SOME = {"case": ("dslash", "multigrid"), "mpi": ("lanes",)}
OTHER_MPIS = ("mpich5", "intel")  # scripts/get_mpi has them
#: Beside bench_yardstick, which tells what the machine is: what a benchmark is built from; else bench_NAME.
LINK = "commtask_emulated_link"
TARGETS = {"lanes": ("bench_lanes", LINK), "trace": ("bench_trace", "lqcd_dslash"), "rma": ("bench_rma", "bench_rma_tasks", "commtask_mpi"),
           "poisson": ("poisson2d",), "offload": ("bench_offload", "bench_exposed", "lqcd_dslash", "commtask_mpi"), "multigrid": ("multigrid", LINK),
           "dslash": ("lqcd_dslash", LINK), "fft": ("fft_soi", "bench_fft", LINK), "spikes": ("spikes", LINK)}


def parse(arguments):
    names = {**PROGRAMS, **COMPARISONS, "check": CHECK, "all": ALL}
    parser = argparse.ArgumentParser(
        description="Runs one benchmark.",
        allow_abbrev=False,  # scripts/bench knows whole options only
        epilog="\n".join(f"  {name:10} {text}" for name, text in names.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=names, metavar="NAME")
    parser.add_argument("--json", metavar="FILE", help="also write the results to this file")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds: a test of the benchmark, not a measurement")
    parser.add_argument("--build-dir", default="build/release", metavar="DIR", help="the build folder (default: %(default)s)")
    parser.add_argument("--setting", choices=["crowded", *network.LINKS, "all"], default="all",
                        help="; ".join(f"{name}: {', '.join(settings)}" for name, settings in SETTINGS.items()))
    parser.add_argument("--case", default="", metavar="TEXT", help="dslash and multigrid: cases whose name contains TEXT")
    parser.add_argument("--mpi", choices=OTHER_MPIS, default="", help="lanes only: use this MPI, built in the folder DIR-MPI")
    parser.add_argument("--check-options", action="store_true", help="only print the targets of the benchmark")
    return parser.parse_args(arguments)


def measure(given, build):
    """One benchmark; the exit status of the driver."""
    if given.name in PROGRAMS:
        launcher = build.mpiexec(2, cores_each=1) if given.name in OF_TWO_RANKS else build.mpiexec(1)
        command = launcher + [str(build.program(f"bench_{given.name}"))]
        return miniapp.publish([(given.name, lambda: program.report_of(command, given.quick))], given.json)
    if given.name == "dslash":
        return dslash.run(build, given.setting, given.quick, given.json, given.case)
    if given.name == "multigrid":
        return multigrid.run(build, given.setting, given.quick, given.json, given.case)
    if given.name == "spikes":
        return spikes.run(build, given.setting, given.quick, given.json)
    if given.name == "fft":
        return fft.run(build, given.setting, given.quick, given.json)
    of_one_setting = {"lanes": lanes, "trace": trace_cost, "rma": rma, "poisson": poisson, "offload": offload, "node": node}
    return of_one_setting[given.name].run(build, given.quick, given.json)


def run_itself(given, words, json_file):
    """The exit status of another benchmark, in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), *words, "--build-dir", given.build_dir, "--json", str(json_file)]
    return subprocess.run(command + (["--quick"] if given.quick else []), check=False).returncode


def run_all(given):
    """Each benchmark into the results of this machine, if quick, which is nobody's figure, into the build folder; then the page."""
    n_cores = len(os.sched_getaffinity(0))
    folder = Path(given.build_dir) / "bench-quick" if given.quick else ROOT / "bench" / "results" / f"{n_cores}-cores"
    folder.mkdir(parents=True, exist_ok=True)
    names = [*PROGRAMS, *COMPARISONS]
    failed = []
    for k, name in enumerate(names, 1):
        print(f"\n== [{k}/{len(names)}] {name}", file=sys.stderr, flush=True)
        if run_itself(given, [name], folder / f"{name}.json") not in (0, miniapp.SKIPPED):
            failed.append(name)
    if not given.quick:
        subprocess.run([sys.executable, str(ROOT / "bench" / "performance.py")], check=False)
    print(f"\n== results: {folder}" + (f"; failed: {', '.join(failed)}" if failed else ""), file=sys.stderr)
    return 1 if failed else 0


def complaint(given):
    """Why these options do not go together; empty: they do."""
    if given.name in ("all", "check") and given.json:
        return f"{given.name}: --json is for one benchmark"
    if given.setting not in ("all", *SETTINGS.get(given.name, ())):
        known = ", ".join(SETTINGS[given.name]) if given.name in SETTINGS else ""
        return f"--setting {given.setting}: {given.name} has {f'{known} or all' if known else 'one setting, and no need to name it'}"
    for option, names in OF_SOME.items():
        if getattr(given, option) and given.name not in names:
            return f"--{option}: {' and '.join(names)} only"
    if given.json and (Path(given.json).is_dir() or not Path(given.json).parent.is_dir()):
        return f"--json {given.json}: choose a file in a folder that is there"
    return ""


def targets_of(name):
    """What must be built for it, each target once."""
    names = {"all": [*PROGRAMS, *COMPARISONS], "check": [one["run"].split()[0] for one in check.thresholds()]}.get(name, [name])
    return list(dict.fromkeys(["bench_yardstick", *(target for one in names for target in TARGETS.get(one, (f"bench_{one}",)))]))


def build_of(given):
    """The build folder, or the one beside it for another MPI."""
    if not given.mpi:
        return launch.Build(given.build_dir)
    try:
        return launch.Build(f"{given.build_dir.rstrip('/')}-{given.mpi}", given.mpi)
    except launch.NotBuilt as error:
        raise miniapp.Skipped(f"{error}; scripts/bench {given.name} --mpi {given.mpi} builds it") from None


def main(arguments):
    given = parse(arguments)
    if complaint(given):
        print(f"bench/run.py: {complaint(given)}", file=sys.stderr)
        return 2
    if given.check_options:
        print(*targets_of(given.name))
        return 0
    # As an exception, so that the program under way is ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        build = build_of(given)
        if given.name == "all":
            return run_all(given)
        if given.name == "check":
            given.quick = True
            return check.run(lambda words, json_file: run_itself(given, words, json_file))
        return measure(given, build)
    except KeyboardInterrupt:
        print("bench/run.py: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except (launch.NotBuilt, miniapp.Failed, subprocess.TimeoutExpired) as error:
        print(f"bench/run.py: {error}", file=sys.stderr)
        return 1
    except miniapp.Skipped as reason:
        print(f"bench/run.py: {given.name}: cannot run here: {reason}", file=sys.stderr)
        return miniapp.SKIPPED


if __name__ == "__main__":
    try:
        try:
            sys.exit(main(sys.argv[1:]))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
