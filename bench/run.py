#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs one benchmark by name and passes on what it prints: one command for programs that need mpiexec, and for the
# comparison of whole runs of the miniapp, which alternates processes. Exit status 0 says that it was measured, not
# that every goal was met; the table says that.
"""usage: bench/run.py NAME [--json FILE] [--quick] [--build-dir DIR]"""

import argparse
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools" / "report"))  # whole_file

import breakdown  # noqa: E402
import campaign  # noqa: E402
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
import schedules  # noqa: E402
import trace_cost  # noqa: E402
import whole_file  # noqa: E402

PROGRAMS = {
    "post": "what posting a task costs the thread that posts it",
    "replay": "what starting a plan costs, whatever its size, and sixteen messages by it",
    "patterns": "exchanges of ranks, two if not told otherwise, again and again: MPI, MPI_Startall, a post for each message, a plan",
    "roundtrip": "what an empty task costs from post to the end of the wait",
    "unblock": "how long after MPI's completion the dependent OpenMP task starts",
    "hold": "what one task that holds eight messages costs against eight communication tasks",
    "clause": "what the comm clause costs over the detach clause written by hand",
    "lanes": "what a second lane brings and costs: one rank to itself, then two ranks",
    "rate": "messages and tasks per second, and whether waiting receives slow one completion",
    "tbb": "the oneTBB face: a node's successor, wait(), 100 000 receives, an idle graph",
    "matmul": "whether a matrix product in blocks waits for the blocks that it gets from other ranks",
    "yardstick": "the units of this machine: cache line, clock, wake-up",
}
OF_TWO_RANKS = ("matmul", "patterns")  # each on a core that its worker shares
COMPARISONS = {
    "trace": "what COMMTASK_TRACE costs a task, an event and a whole program",
    "dslash": "the miniapp's modes against its baseline, crowded, delayed and over links",
    "multigrid": "the multigrid miniapp's modes and lanes, many and few boxes, crowded and over links",
    "breakdown": "where the time of lqcd_dslash and fft_soi goes, in every mode",
    "offload": "commtask-run against native MPI: starting, overlap, round trips, threads, a FUNNELED miniapp",
    "rma": "one-sided access to a rank that computes: MPI, its progress thread, commtask-run and tasks; a notified put",
    "node": "bells between ranks that share cores, against naps, native MPI and a progress thread",
    "schedules": "bells for Ialltoall, Igather and Ibcast, by each schedule of MPICH's",
    "poisson": "poisson2d's modes, each with halos by messages, a collective, notified puts and gets",
    "fft": "the FFT miniapp against six-step, FFTW-MPI and serial FFTW, and its schedules over a slow network",
}
ALL = "all of these in all settings, stored in bench/results, and docs/performance.md from them: an hour and more"
#: The settings that a benchmark can be asked for one of, and the options that are for some benchmarks only.
SETTINGS = {
    "dslash": ("crowded", *network.SLOW),
    "fft": ("crowded", *fft.SLOW),
    "multigrid": ("crowded", "link"),
    "offload": ("crowded", "delayed"),
    "trace": ("crowded",),
}
OF_SOME = {"case": ("dslash", "multigrid", "node", "schedules"), "plots": ("fft",), "simulate": ("lanes",), "mpi": ("lanes", "dslash", "multigrid", "fft"),
           "results": ("all",), "resume": ("all",), "slice": ("all",)}


def minutes(text):
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is no number of minutes")
    return value


def ranks(text):
    if not text.isdecimal() or not 2 <= int(text) <= 8:
        raise argparse.ArgumentTypeError(f"{text} ranks cannot be had: 2 to 8")
    return int(text)


def parse(arguments):
    names = {**PROGRAMS, **COMPARISONS, "all": ALL}
    parser = argparse.ArgumentParser(
        description="Runs one benchmark.",
        allow_abbrev=False,  # scripts/bench knows whole options only
        epilog="\n".join(f"  {name:10} {text}" for name, text in names.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=names, metavar="NAME")
    parser.add_argument("--json", metavar="FILE", help="write the results there as well")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds: to see that it works")
    parser.add_argument("--build-dir", default="build/release", metavar="DIR")
    parser.add_argument("--setting", choices=["crowded", *network.SLOW, "all"], default="all",
                        help="; ".join(f"{name}: {', '.join(settings)}" for name, settings in SETTINGS.items()))
    parser.add_argument("--case", default="", metavar="TEXT", help="dslash and multigrid: cases whose name contains TEXT; node and schedules: settings")
    parser.add_argument("--ranks", type=ranks, default=2, metavar="N", help="patterns only: of so many ranks, 2 to 8, each on one core")
    parser.add_argument("--plots", default="", metavar="DIR", help="fft only: draw the timeline of the pipeline there (needs matplotlib)")
    parser.add_argument("--results", default="", metavar="DIR", help="all only: store there instead, with a page of its own")
    parser.add_argument("--simulate", action="store_true", help="lanes only: in virtual time, on networks that are not here")
    parser.add_argument("--mpi", choices=campaign.OTHER_MPIS, default="", help="lanes, dslash, multigrid and fft only: with that MPI, in the build folder DIR-MPI")
    parser.add_argument("--resume", action="store_true", help="all only: leave out what is stored there of these sources already")
    parser.add_argument("--slice", type=minutes, metavar="MIN",
                        help="all only: begin nothing that would not end within so many minutes; the exit status is then 75")
    parser.add_argument("--check-options", action="store_true", help="do nothing else")
    return parser.parse_args(arguments)


def run_program(given, build):
    launcher = build.mpiexec(given.ranks, cores_each=1) if given.name in OF_TWO_RANKS else build.mpiexec(1)
    command = launcher + [str(build.program(f"bench_{given.name}"))]
    return miniapp.publish([(given.name, lambda: program.report_of(command, given.quick))], given.json)


def measure(given, build):
    """One benchmark; the exit status of the driver."""
    if given.name == "dslash":
        return dslash.run(build, given.setting, given.quick, given.json, given.case)
    if given.name == "multigrid":
        return multigrid.run(build, given.setting, given.quick, given.json, given.case)
    if given.name == "fft":
        return fft.run(build, given.setting, given.quick, given.json, given.plots)
    if given.name == "offload":
        return offload.run(build, given.setting, given.quick, given.json)
    if given.name == "poisson":
        return poisson.run(build, given.quick, given.json)
    if given.name == "breakdown":
        return breakdown.run(build, given.quick, given.json)
    if given.name == "node":
        return node.run(build, given.quick, given.json, given.case)
    if given.name == "schedules":
        return schedules.run(build, given.quick, given.json, given.case)
    if given.name == "rma":
        return rma.run(build, given.quick, given.json)
    if given.name == "lanes":
        return lanes.show_simulated(build, given.json) if given.simulate else lanes.run(build, given.quick, given.json)
    if given.name == "trace":
        return trace_cost.run(build, given.setting, given.quick, given.json)
    return run_program(given, build)


def stamp(file, seconds, is_quick):
    """Adds to a result when and of which sources it was measured and how long that took: the next run says from it how long it will take."""
    commit = campaign.sources()
    documents = json.loads(Path(file).read_text(encoding="utf-8"))
    for document in documents if isinstance(documents, list) else [documents]:
        document["measured"] = datetime.date.today().isoformat()
        document["seconds"] = max(1, round(seconds))
        document["commit"] = commit
        if os.sched_getscheduler(0) != os.SCHED_OTHER:
            document["prefix"] = f"chrt -f {os.sched_getparam(0).sched_priority}"  # other work was kept off the cores
        if is_quick:
            document["quick"] = True
    whole_file.write_json(file, documents)


def complaint(given):
    """Why these options do not go together; empty: they do."""
    if given.name == "all" and (given.json or given.plots or given.case or given.setting != "all"):
        return "all: --json, --plots, --case and --setting are for one benchmark; --results names the folder for all"
    if given.ranks != 2 and given.name != "patterns":
        return "--ranks: patterns only"
    if given.setting not in ("all", *SETTINGS.get(given.name, ())):
        known = ", ".join(SETTINGS[given.name]) if given.name in SETTINGS else ""
        return f"--setting {given.setting}: {given.name} has {f'{known} or all' if known else 'one setting, and no need to name it'}"
    if given.simulate and given.mpi:
        return "--simulate: in virtual time there is no MPI"
    for option, names in OF_SOME.items():
        if getattr(given, option) and given.name not in names:
            return f"--{option}: {' and '.join(names)} only"
    if given.json and (Path(given.json).is_dir() or not Path(given.json).parent.is_dir()):
        return f"--json {given.json}: choose a file in a folder that is there"
    return ""


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
        return 0
    # As an exception, so that the program under way is ended too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        build = build_of(given)
        if given.name == "all":
            return campaign.run(given.build_dir, given.quick, given.results, given.resume, 60 * given.slice if given.slice else None)
        begin = time.monotonic()
        status = measure(given, build)
        if status == 0 and given.json and Path(given.json).is_file():
            stamp(given.json, time.monotonic() - begin, given.quick)
        return status
    except KeyboardInterrupt:
        print("bench/run.py: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except (launch.NotBuilt, miniapp.Failed) as error:
        print(f"bench/run.py: {error}", file=sys.stderr)
        return 1
    except miniapp.Skipped as reason:
        print(f"bench/run.py: {given.name}: cannot run here: {reason}", file=sys.stderr)
        return miniapp.SKIPPED
    except subprocess.TimeoutExpired as error:
        print(f"bench/run.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    try:
        try:
            sys.exit(main(sys.argv[1:]))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
