# SPDX-License-Identifier: Apache-2.0
# Question: what does a second lane bring, and what does it cost? bench_lanes in five ways: over emulated links that inject one message
# per gap and context, which is what lanes are for; then on this machine as it is, one rank to itself and two, with
# MPI_THREAD_SERIALIZED and one lane, and with MPI_THREAD_MULTIPLE, since MPI's thread level is a process's; and in virtual time, on networks and with
# numbers of lanes that are not here.
"""bench_lanes, run by run, as one result."""

import json
import subprocess
import tempfile
from pathlib import Path

import figures
import miniapp
import program

GAP_US = 300.0  # of the links: many messages of what two cores can do beside them
LIMIT_S = 600


def joined(reports):
    """One report of several whose settings are the same: the thread levels of a process each."""
    first = reports[0]
    for other in reports[1:]:
        first.rows += other.rows
    return first


def simulated_report(document):
    """Of what bench_lanes --simulate writes."""
    report = figures.Report("lanes", "simulated", {"cpu": "virtual time"})
    for network in document["networks"]:
        name, policy = network["name"], network["policy"]
        note = f"{policy['mean_over_best']:.3g} and {policy['mean_over_one_lane']:.3g} on average of {policy['cases']} sizes, bursts and limits"
        report.rows.append(figures.Row(f"{name}: the policy's time over the best choice's, at worst", "x", [policy["worst_over_best"]],
                                       goals=(figures.Goal("median", True, 1.1),), note=note))
        report.rows.append(figures.Row(f"{name}: the policy's time over one lane's, at worst", "x", [policy["worst_over_one_lane"]],
                                       goals=(figures.Goal("median", True, 1.0),)))
        report.rows += [figures.Row(f"{name}, messages of {one['size_bytes']} B, {one['n_lanes']} lane{'s' if one['n_lanes'] > 1 else ''}",
                                    "M/s", [one["rate_m_per_s"]]) for one in network["saturation"]]
    return report


def simulate(build, is_quick):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "simulated.json"
        words = [str(build.program("bench_lanes")), "--simulate", "--json", str(file), *(["--quick"] if is_quick else [])]
        done = subprocess.run(words, timeout=LIMIT_S, check=False, stdout=subprocess.DEVNULL)
        if not file.exists():
            raise miniapp.Failed(f"{' '.join(words)}: status {done.returncode}")
        return simulated_report(json.loads(file.read_text(encoding="utf-8")))


def over_gaps(build, is_quick):
    if not build.is_mpich:
        raise miniapp.Skipped("the emulated link needs a build with MPICH")
    library = build.program("libcommtask_emulated_link.so").resolve()
    links = ["env", f"LD_PRELOAD={library}", "EMULATED_LINK_RATE_MBS=1000", f"EMULATED_LINK_GAP_US={GAP_US:g}"]
    return program.report_of(build.mpiexec(2) + links + [str(build.program("bench_lanes")), "--gapped"], is_quick)


def as_it_is(build, is_quick, n_ranks):
    bench = str(build.program("bench_lanes"))
    return joined([program.report_of(build.mpiexec(n_ranks) + [bench, *level], is_quick) for level in (["--serialized"], [])])


def run(build, is_quick, json_file, is_simulated):
    """The exit status of the driver; with `is_simulated` in virtual time alone, with its tables."""
    if is_simulated:
        return miniapp.publish([("lanes, simulated", lambda: simulate(build, is_quick))], json_file)
    parts = [("lanes, links", lambda: over_gaps(build, is_quick))]
    parts += [(f"lanes, {n_ranks} ranks", lambda n=n_ranks: as_it_is(build, is_quick, n)) for n_ranks in (1, 2)]
    return miniapp.publish([*parts, ("lanes, simulated", lambda: simulate(build, is_quick))], json_file)
