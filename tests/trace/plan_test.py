#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A program that starts plans, with a trace: each run knows its members, and who waited for a run is told of the message that ended
# last, not of the run, which no other rank has a part in.
"""Usage: plan_test.py FOLDER_OF_THE_REPORT -- LAUNCHER... PROGRAM"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import delays  # noqa: E402
import load  # noqa: E402


def demand(holds, what):
    if not holds:
        sys.exit(f"not so: {what}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMTASK_")}
        subprocess.run(sys.argv[sys.argv.index("--") + 1:], env={**environment, "COMMTASK_TRACE": folder}, timeout=60, check=True)
        run = load.load([folder])
    runs = [task for task in run.tasks() if task.op == "plan"]
    demand(len(runs) >= 2, "every rank starts plans")
    for one in runs:
        demand(len(one.members) == 4, f"a halo has four messages, and this run {len(one.members)}")
        demand(all(member.posted == one.posted and member.ended <= one.ended for member in one.members), "a run ends with its members")
    waited = [delay.task for delay in delays.delays(run)]
    demand(waited and all(task.op != "plan" for task in waited), "a delay is a message's, not a run's")
    demand(any(task.peers for task in waited), "a message of a plan has its other side")


if __name__ == "__main__":
    main()
