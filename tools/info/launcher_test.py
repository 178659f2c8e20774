#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Tests the advice of docs/slow.md for this MPI's launcher, by which a rank gets a core for its
# worker: runs commtask-info on one rank with the table's line, with two CPUs instead of eight.
"""usage: launcher_test.py --page docs/slow.md --row NAME --launcher MPIEXEC PROGRAM"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys

CANNOT_RUN = 77


def words_of(page, row):
    """The launcher's arguments in the table's line that begins with this name."""
    for line in page.splitlines():
        found = re.match(rf"\| {re.escape(row)}[^|]*\| `\S+ ([^`]*) \./app`", line)
        if found:
            return shlex.split(found.group(1))
    sys.exit(f"launcher_test: no line for {row}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--page", required=True, type=pathlib.Path)
    parser.add_argument("--row", required=True)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("program")
    given = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("one CPU alone: a worker shares it, whatever the launcher is told")
        return CANNOT_RUN
    words = words_of(given.page.read_text(encoding="utf-8"), given.row)
    words = ["1" if word == "R" else re.sub(r"\b8\b", "2", word) for word in words]
    command = [given.launcher, *words, given.program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    print(shlex.join(command), done.stdout, done.stderr, sep="\n")
    cpus = re.search(r"rank 0: may use CPUs (\S+); worker: CPU \d+, reserved", done.stdout)
    return 0 if done.returncode == 0 and cpus else "launcher_test: no core for the worker"


if __name__ == "__main__":
    sys.exit(main())
