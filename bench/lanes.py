# SPDX-License-Identifier: Apache-2.0
# Question: what do lanes bring, and what do they cost? bench_lanes over emulated links that inject one message per gap and context,
# which is what lanes are for; then on this machine as it is, one rank to itself and two, with one lane and several, and with many
# threads, in processes of their own where the thread level differs, since that is MPI's: one lane for them beside the same threads in MPI.
"""bench_lanes in all its settings."""

import figures
import miniapp
import program

GAP_US = 300.0  # of the links: many messages of what two cores can do beside them


def rates(build, is_quick, n_ranks, *words, before=()):
    """What one process, or `n_ranks`, say."""
    return program.report_of(build.mpiexec(n_ranks) + [*before, str(build.program("bench_lanes")), *words], is_quick)


def over_gaps(build, is_quick):
    if not build.is_mpich:
        raise miniapp.Skipped("the emulated link needs a build with MPICH")
    library = build.program("libcommtask_emulated_link.so").resolve()
    return rates(build, is_quick, 2, "--one-submitter", before=["env", f"LD_PRELOAD={library}", "EMULATED_LINK_RATE_MBS=1000", f"EMULATED_LINK_GAP_US={GAP_US:g}"])


def as_it_is(build, is_quick, n_ranks):
    report = rates(build, is_quick, n_ranks, "--serialized")
    report.rows += rates(build, is_quick, n_ranks).rows
    return report


def many_threads(build, is_quick, n_ranks):
    """Threads that post to one lane, each row beside as many that call MPI, by runs of either in turn."""
    levels = {"lane": ["--serialized"], "threads": []}
    sides = miniapp.alternated(tuple(levels), 1 if is_quick else 5, lambda side: rates(build, is_quick, n_ranks, "--submitters", *levels[side]))
    first = sides["lane"][0]
    report = figures.Report(first.benchmark, f"{first.setting}, many threads", first.machine)
    for place, (mine, theirs) in enumerate(zip(first.rows, sides["threads"][0].rows)):
        own, other = ([figures.quantile(turn.rows[place].samples, 0.5) for turn in sides[side]] for side in ("lane", "threads"))
        report.rows += [figures.Row(theirs.name, theirs.unit, other), figures.Row(mine.name, mine.unit, own, theirs.name, [a / b for a, b in zip(own, other)])]
    return report


def run(build, is_quick, json_file):
    """All of it as one result, or with another MPI what is MPI's of it; the exit status of the driver."""
    parts = [] if build.mpi else [("lanes, links", lambda: over_gaps(build, is_quick))]
    for n in (1, 2):
        parts += [(f"lanes, {n} ranks", lambda n=n: as_it_is(build, is_quick, n)), (f"lanes, many threads, {n} ranks", lambda n=n: many_threads(build, is_quick, n))]
    return miniapp.publish(parts, json_file, build.mpi)
