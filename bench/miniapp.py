# SPDX-License-Identifier: Apache-2.0
# What the comparisons of whole runs share: how a run is started and judged, how runs alternate, and on which machine. A run that
# cannot be made here is told apart from one that failed.
"""Whole runs of programs, and the reports that are made of them."""

import json
import subprocess
import sys
import time
from pathlib import Path

import figures

SKIPPED = 77
END_S = 3  # between a run's report and the end of its processes


class Skipped(Exception):
    """The setting cannot be made here."""


class Failed(Exception):
    """A run of the miniapp did not end well."""


def containing(wanted, things, what):
    """Those of `things`, pairs of a name and a thing, whose name contains `wanted`. @throws Failed where there is none: `what` says what they are"""
    found = [thing for name, thing in things if wanted in name]
    if not found:
        raise Failed(f"no {what} contains {wanted!r}: there are {'; '.join(dict.fromkeys(name for name, _ in things))}")
    return found


def is_complete(report_file):
    """Whether the miniapp has written all of its report."""
    try:
        json.loads(Path(report_file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True


def execute(command, report_file, limit_s=120):
    """One run, which writes `report_file`; its output is shown only if it does not end well.

    A run that has written its report and does not end is ended: an MPI that hangs in MPI_Finalize says nothing about what was measured.
    """
    Path(report_file).unlink(missing_ok=True)  # another run's would end this one
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    report_seen = None
    begin = time.monotonic()
    try:
        while True:
            try:
                out, errors = program.communicate(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                now = time.monotonic()
                if report_seen is None and is_complete(report_file):
                    report_seen = now
                if report_seen is not None and now > report_seen + END_S:
                    program.terminate()
                    program.communicate(timeout=10)
                    return
                if now > begin + limit_s:
                    raise subprocess.TimeoutExpired(command, limit_s) from None
    finally:
        if program.poll() is None:
            program.terminate()
            program.communicate()
    if program.returncode == SKIPPED:
        raise Skipped(errors.strip())
    if program.returncode != 0:
        raise Failed(f"{' '.join(command)}: status {program.returncode}\n{out}\n{errors}")


def machine_of(build):
    command = build.mpiexec(1) + [str(build.program("bench_yardstick")), "--machine"]
    return json.loads(subprocess.run(command, timeout=60, check=True, capture_output=True, text=True).stdout)


def median_run(data):
    """Of a miniapp's runs, which it writes the fastest first, that of the median time, whole, since the parts of different ones do not add up."""
    return data["repeats"][len(data["repeats"]) // 2]


def alternated(sides, n_rounds, once):
    """{side: [what `once(side)` gave in each round]}; the side that begins moves on, and one round before the first warms up, if figures are
    wanted: of a single one nobody quotes any."""
    results = {side: [] for side in sides}
    n_warm_ups = 1 if n_rounds > 1 else 0
    for turn in range(n_warm_ups + n_rounds):
        for place in range(len(sides)):
            side = sides[(place + turn) % len(sides)]
            result = once(side)
            if turn >= n_warm_ups:
                results[side].append(result)
    return results


def publish(parts, json_file, mpi=""):
    """Makes the report of each (name, function), prints it and writes all to `json_file`; the exit status of the driver. With another MPI than
    the build folder's own the settings say so."""
    reports = []
    for name, report_of in parts:
        try:
            report = report_of()
        except Skipped as reason:
            print(f"{name}: cannot run here: {reason}", file=sys.stderr)
            continue
        except Failed as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        report.setting += f", {mpi}" if mpi else ""
        print(report.to_table(), flush=True)
        reports.append(report)
    if json_file and reports:
        figures.write(reports, json_file)
    return 0 if reports else SKIPPED
