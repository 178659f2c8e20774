# SPDX-License-Identifier: Apache-2.0
# Question: what do lanes bring, and what do they cost? bench_lanes over emulated links that inject one message per gap and context,
# which is what lanes are for; then on this machine as it is, one rank to itself and two, with one lane, several, and more ranks
# instead, in processes of their own where the thread level differs, since that is MPI's; and in virtual time, on networks that are not
# here, where the policy that chooses lanes is within 10 % of the best choice. One lane for many threads is compared with these
# threads in MPI_THREAD_MULTIPLE by runs of either in turn.
"""bench_lanes in all its settings, and what is said about the bursts that it simulates."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import figures
import miniapp
import program
import whole_file

GAP_US = 300.0  # of the links: many messages of what two cores can do beside them
LIMIT_S = 600
N_POSTERS = 8  # threads, for which the goal holds
MORE_RANKS = (2, 4)  # in the place of one
WITH_CORES = 3.0  # times the rate of as many threads in MPI, where they and the worker have cores
MOST_OVER_BEST = 1.1
MOST_OVER_ONE_LANE = 1.0


def joined(reports):
    """One report of several whose settings are the same: the thread levels of a process each."""
    first = reports[0]
    for other in reports[1:]:
        first.rows += other.rows
    return first


def over_gaps(build, is_quick):
    if not build.is_mpich:
        raise miniapp.Skipped("the emulated link needs a build with MPICH")
    library = build.program("libcommtask_emulated_link.so").resolve()
    links = ["env", f"LD_PRELOAD={library}", "EMULATED_LINK_RATE_MBS=1000", f"EMULATED_LINK_GAP_US={GAP_US:g}"]
    return program.report_of(build.mpiexec(2) + links + [str(build.program("bench_lanes")), "--one-poster"], is_quick)


def rates(build, is_quick, n_ranks, *words):
    """What one process, or `n_ranks`, say; in the place of one rank there may be several that send to themselves."""
    return program.report_of(build.mpiexec(n_ranks) + [str(build.program("bench_lanes")), *words], is_quick)


def as_it_is(build, is_quick, n_ranks):
    itself = ["--to-itself"] if n_ranks == 1 else []
    instead = [rates(build, is_quick, n_ranks * more, "--serialized", *itself) for more in MORE_RANKS]
    return joined([rates(build, is_quick, n_ranks, "--serialized"), rates(build, is_quick, n_ranks), *instead])


def threads_in(name):
    """The number of threads in a row's name."""
    return int(name.split(" thread")[0].rsplit(" ", 1)[1])


def beside_threads(lanes, threads, n_cores):
    """The rows of one lane, each beside as many threads in MPI; both as [report of a turn]."""
    rows = []
    for place, mine in enumerate(lanes[0].rows):
        own, other = ([figures.quantile(turn.rows[place].samples, 0.5) for turn in side] for side in (lanes, threads))
        theirs = threads[0].rows[place]
        n_threads = threads_in(mine.name)
        goal = None
        if n_threads == N_POSTERS:
            goal = WITH_CORES if n_cores > n_threads else 1.0
        rows.append(figures.Row(theirs.name, theirs.unit, other))
        rows.append(figures.Row(mine.name, mine.unit, own, theirs.name, [a / b for a, b in zip(own, other)], figures.at_least(goal)))
    return rows


def posters(build, is_quick, n_ranks):
    """Threads that post to one lane, and as many that call MPI."""
    sides = {"lane": [], "threads": []}
    for turn in range(2 if is_quick else 5):
        order = list(sides) if turn % 2 == 0 else list(sides)[::-1]
        for side in order:
            level = ["--serialized"] if side == "lane" else []
            sides[side].append(rates(build, is_quick, n_ranks, "--posters", *level))
    report = sides["lane"][0]
    n_cores = len(os.sched_getaffinity(0)) // n_ranks
    report.setting += ", many threads"
    report.rows = beside_threads(sides["lane"], sides["threads"], n_cores)
    return report


def curves_of(long_bursts):
    """Millions of messages a second: [{size_bytes, n_lanes, rate_m_per_s}]."""
    return [{"size_bytes": one["size_bytes"], "n_lanes": one["n_lanes"], "rate_m_per_s": one["messages"] * 1e3 / one["ns"]}
            for one in long_bursts]


def verdict_on(cases):
    """How the policy does over all sizes, bursts and limits of one network."""
    over_best = [policy / best for *_, _, best, policy in cases]
    over_one = [policy / one_lane for *_, one_lane, _, policy in cases]
    return {
        "worst_over_best": max(over_best),
        "worst_over_one_lane": max(over_one),
        "mean_over_best": sum(over_best) / len(cases),
        "mean_over_one_lane": sum(over_one) / len(cases),
        "cases": len(cases),
        "met": max(over_best) <= MOST_OVER_BEST and max(over_one) <= MOST_OVER_ONE_LANE,
    }


def text_of(name, curves, policy):
    lanes = list(dict.fromkeys(one["n_lanes"] for one in curves))
    lines = [f"{name}: millions of messages a second in a long burst", f"{'bytes':>10}" + "".join(f"{n:9}" for n in lanes) + "  lanes"]
    for size in dict.fromkeys(one["size_bytes"] for one in curves):
        rates = (one["rate_m_per_s"] for one in curves if one["size_bytes"] == size)
        lines.append(f"{size:10}" + "".join(f"{rate:9.3f}" for rate in rates))
    lines.append(f"the policy: {policy['worst_over_best']:.3f} of the best time at worst (goal {MOST_OVER_BEST:g}), "
                 f"{policy['mean_over_best']:.3f} on average; {policy['worst_over_one_lane']:.3f} of one lane's at worst "
                 f"(goal {MOST_OVER_ONE_LANE:g}), {policy['mean_over_one_lane']:.3f} on average; {policy['cases']} cases: "
                 f"{'met' if policy['met'] else 'NOT MET'}")
    return "\n".join(lines)


def simulated(build):
    """What the program writes of its bursts in virtual time."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bursts.json"
        words = [str(build.program("bench_lanes")), "--simulate", "--json", str(file)]
        if subprocess.run(words, timeout=LIMIT_S, check=False).returncode != 0:
            raise miniapp.Failed(f"{' '.join(words)} did not end well")
        return json.loads(file.read_text(encoding="utf-8"))


def policy_report(document):
    """How the policy does on each network; the curves are for --simulate."""
    report = figures.Report("lanes", "simulated", {"cpu": "virtual time"})
    for network in document["networks"]:
        name, policy = network["name"], verdict_on(network["cases"])
        note = f"{policy['mean_over_best']:.3g} and {policy['mean_over_one_lane']:.3g} on average of {policy['cases']} sizes, bursts and limits"
        report.rows.append(figures.Row(f"{name}: the policy's time over the best choice's, at worst", "x", [policy["worst_over_best"]],
                                       goals=(figures.Goal("median", True, MOST_OVER_BEST),), note=note))
        report.rows.append(figures.Row(f"{name}: the policy's time over one lane's, at worst", "x", [policy["worst_over_one_lane"]],
                                       goals=(figures.Goal("median", True, MOST_OVER_ONE_LANE),)))
    return report


def summary_of(document):
    """What the program wrote, summed up, and its text."""
    networks, texts = [], []
    for each in document["networks"]:
        curves, policy = curves_of(each["long_bursts"]), verdict_on(each["cases"])
        networks.append({"name": each["name"], "saturation": curves, "policy": policy})
        texts.append(text_of(each["name"], curves, policy))
    return {"benchmark": document["benchmark"], "setting": document["setting"], "networks": networks}, "\n\n".join(texts)


def show_simulated(build, json_file):
    """In virtual time alone, with its tables; the exit status of the driver."""
    summary, text = summary_of(simulated(build))
    print(text)
    if json_file:
        whole_file.write_json(json_file, summary)
    return 0


def run(build, is_quick, json_file):
    """All of it as one result, or with another MPI what is MPI's of it; the exit status of the driver."""
    parts = [("lanes, one thread", lambda: rates(build, is_quick, 2, "--one-poster"))]
    for n_ranks in (1, 2):
        parts += [(f"lanes, {n_ranks} ranks", lambda n=n_ranks: as_it_is(build, is_quick, n)),
                  (f"lanes, many threads, {n_ranks} ranks", lambda n=n_ranks: posters(build, is_quick, n))]
    if not build.mpi:
        parts = [("lanes, links", lambda: over_gaps(build, is_quick)), *parts, ("lanes, simulated", lambda: policy_report(simulated(build)))]
    return miniapp.publish(parts, json_file, build.mpi)
