# SPDX-License-Identifier: Apache-2.0
# What the comparisons of whole runs of a miniapp share: how a run is started and judged, what the emulated wire did, and
# on which machine. A run that cannot be made here is told apart from one that failed.
"""Runs of miniapps for dslash.py and fft.py."""

import json
import subprocess

import figures

SKIPPED = 77


class Skipped(Exception):
    """The setting cannot be made here."""


class Failed(Exception):
    """A run of the miniapp did not end well."""


def execute(command, limit_s=120):
    """One run; its output is shown only if it does not end well."""
    done = subprocess.run(command, timeout=limit_s, check=False, capture_output=True, text=True)
    if done.returncode == SKIPPED:
        raise Skipped(done.stderr.strip())
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}\n{done.stderr}")


def describe_wire(runs):
    """How late frames were, over all runs of a case: a wire later than its delay would measure the scheduler."""
    directions = [direction for run in runs for direction in run["directions"]]
    n_frames = sum(one["frames"] for one in directions)
    n_late = sum(one["later_than_us"]["200"] for one in directions)
    median = figures.quantile([one["late_us"]["median"] for one in directions], 0.5)
    worst = max(one["late_us"]["p99"] for one in directions)
    return f"{n_frames} frames, late by {median:.0f} us (median; worst p99 of a run {worst:.0f} us), {n_late} by > 200 us"


def machine_of(build):
    command = build.mpiexec(1) + [str(build.program("bench_yardstick")), "--machine"]
    return json.loads(subprocess.run(command, timeout=60, check=True, capture_output=True, text=True).stdout)
