#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Real runs with a known fault, as a user would look at them: lqcd_dslash --bad with the options that docs/report.md gives, then
# the report's text, which must name the fault first, and the page, which must say the same; the run without the fault beside it must
# have half as many waits of that cause at most. Other work on the machine can make a run a different one, so two of three pairs
# decide. Two ranks on fewer than four cores have none to spare for their workers anyway: there the habit that takes the worker's core
# has no run beside it, and what it does, a rank alone shows, which has one else. It loses no time by it, since its only thread
# drives while it waits, so that its first cause says nothing.
"""Usage: bad_dslash_test.py HABIT CAUSE COMMTASK_REPORT PAGE_OF_THE_DOCS -- LAUNCHER... RANKS LQCD_DSLASH   (RANKS stands for their number)"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HABIT, CAUSE, REPORT, DOCS = sys.argv[1:5]
COMMAND = sys.argv[sys.argv.index("--") + 1:]
N_HOPS = 20  # of each rank: two an iteration
SHORT = ["--iterations", "10", "--repeat", "1", "--check", "none"]


def options_in_docs():
    """Those of the page's example."""
    return re.search(r"lqcd_dslash (--mode .*?) --bad", pathlib.Path(DOCS).read_text(encoding="utf-8"))[1].split()


def run_and_report(n_ranks, options):
    """The report's text, and the first cause on its page."""
    with tempfile.TemporaryDirectory() as place:
        trace, page = pathlib.Path(place) / "trace", pathlib.Path(place) / "page.html"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMTASK_")}
        environment["COMMTASK_TRACE"] = str(trace)
        command = [str(n_ranks) if word == "RANKS" else word for word in COMMAND]
        subprocess.run([*command, *options, *SHORT], env=environment, stdout=subprocess.DEVNULL, timeout=100, check=True)
        done = subprocess.run([sys.executable, REPORT, "--text", "--html", str(page), str(trace)], stdout=subprocess.PIPE,
                              text=True, timeout=60, check=True)
        return done.stdout, re.search(r'<li data-cause="([\w ]+)">', page.read_text(encoding="utf-8"))


def causes(*habit):
    """{cause: how many waits it is the first cause of} of two ranks, the dearest first, by the text, whose first is the page's; and the text."""
    text, by_page = run_and_report(2, [*options_in_docs(), *habit])
    by_text = {cause: int(n.replace(" ", "")) for cause, n in re.findall(r"^  \d\. ([\w ]+):.*; first cause of ([\d ]+) waits?$", text, re.MULTILINE)}
    if not by_text or not by_page or next(iter(by_text)) != by_page[1]:
        sys.exit(f"text and page name different causes, or none:\n{text}")
    return by_text, text


def core_of_worker(*habit):
    """Where the worker of a rank alone is said to be."""
    text, _ = run_and_report(1, ["--mode", "offload", "--threads", "1", "--force-comm", "--lattice", "8.8.8.16", *habit])
    found = re.search(r"^ +0 +0 +(\w+) +\d+ % +\d+ %", text, re.MULTILINE)
    if not found:
        sys.exit(f"the share of its core that rank 0's worker uses and gets is missing:\n{text}")
    return found[1]


def main():
    right = wrong = 0
    n_cpus, takes_core = len(os.sched_getaffinity(0)), HABIT.startswith("worker")
    while max(right, wrong) < 2:
        found, text = causes("--bad", HABIT)
        least, other_text = 1, ""
        if n_cpus >= 4 or not takes_core:
            without, other_text = causes()
            least = max(N_HOPS, 2 * without.get(CAUSE, 0))
        if next(iter(found)) == CAUSE and found[CAUSE] >= least:
            right += 1
        else:
            wrong += 1
            print(f"--bad {HABIT}: {CAUSE} was expected first, and not without:\n{text}\nwithout:\n{other_text}")
    if takes_core and n_cpus > 1:
        cores = core_of_worker(), core_of_worker("--bad", HABIT)
        if cores != ("own", "shared"):
            sys.exit(f"the worker of a rank alone: without and with the habit its core is {cores}")
    return 0 if right >= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
