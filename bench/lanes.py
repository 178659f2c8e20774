# SPDX-License-Identifier: Apache-2.0
# Question: what do lanes bring, and what do they cost? Rates of small messages of one rank to itself, of two ranks, and over
# links whose contexts inject with gaps; or, simulated, bursts in virtual time on networks that are not here, where the policy
# that chooses lanes is compared with the best choice. Goals there: within 10 % of the best, never slower than one lane.
"""bench_lanes in all its settings, and what is said about the bursts that it simulates."""

import json
import subprocess
import tempfile
from pathlib import Path

import miniapp
import program
import whole_file

GAP_US = 300.0  # of the links: many messages of what two cores can do beside them
MOST_OVER_BEST = 1.1
MOST_OVER_ONE_LANE = 1.0


def run(build, is_quick, json_file):
    """MPI's thread level is a process's: one lane under SERIALIZED is a run of its own. The file is that of two ranks."""
    bench = str(build.program("bench_lanes"))
    runs = []
    if build.is_mpich:
        library = build.program("libcommtask_emulated_link.so").resolve()
        over_links = ["env", f"LD_PRELOAD={library}", "EMULATED_LINK_RATE_MBS=1000", f"EMULATED_LINK_GAP_US={GAP_US:g}"]
        runs.append((build.mpiexec(2) + over_links + [bench, "--gapped"], ""))
    for n_ranks in (1, 2):
        for level in (["--serialized"], []):
            runs.append((build.mpiexec(n_ranks) + [bench, *level], json_file if n_ranks == 2 and not level else ""))
    status = 0
    for command, file in runs:
        status = miniapp.publish([("lanes", lambda words=command: program.report_of(words, is_quick))], file) or status
    return status


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


def summary_of(document):
    """What the program wrote, summed up, and its text."""
    networks, texts = [], []
    for each in document["networks"]:
        curves, policy = curves_of(each["long_bursts"]), verdict_on(each["cases"])
        networks.append({"name": each["name"], "saturation": curves, "policy": policy})
        texts.append(text_of(each["name"], curves, policy))
    return {"benchmark": document["benchmark"], "setting": document["setting"], "networks": networks}, "\n\n".join(texts)


def simulate(build, json_file):
    """The exit status of the driver."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bursts.json"
        words = [str(build.program("bench_lanes")), "--simulate", "--json", str(file)]
        if subprocess.run(words, timeout=600, check=False).returncode != 0:
            raise miniapp.Failed(f"{' '.join(words)} did not end well")
        summary, text = summary_of(json.loads(file.read_text(encoding="utf-8")))
    print(text)
    if json_file:
        whole_file.write_json(json_file, summary)
    return 0
