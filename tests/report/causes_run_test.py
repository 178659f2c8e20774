#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Real runs of causes.c under commtask-run: the report must name the one mistake of the program first, and advise nothing about the
# program that makes none (that its worker shares a core is true, and how much that costs is the machine's affair). Other work on the
# machine can make a run a different one, so two of three runs decide.
"""Usage: causes_run_test.py MISTAKE CAUSE COMMTASK_REPORT -- LAUNCHER... COMMTASK_RUN PROGRAM   (CAUSE may be "no advice")"""
import os
import re
import subprocess
import sys
import tempfile

MISTAKE, CAUSE, REPORT = sys.argv[1:4]
COMMAND = sys.argv[sys.argv.index("--") + 1:]


def first_cause():
    """The first cause, or "no advice" where each cause is small, and the text."""
    with tempfile.TemporaryDirectory() as trace:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMTASK_")}
        subprocess.run([*COMMAND, MISTAKE], env={**environment, "COMMTASK_TRACE": trace}, timeout=60, check=True)
        text = subprocess.run([sys.executable, REPORT, "--text", trace], stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
    found = re.search(r"^  1\. ([\w ]+):", text, re.MULTILINE)
    if CAUSE == "no advice":
        advised = set(re.findall(r"^  \d\. ([\w ]+):.*\n     [A-Z]", text, re.MULTILINE)) - {"worker shares its core"}
        return ", ".join(sorted(advised)) or CAUSE, text
    return found[1] if found else "none", text


def main():
    right = wrong = 0
    while max(right, wrong) < 2:
        cause, text = first_cause()
        if cause == CAUSE and ("Rank 1 computed" in text or CAUSE != "imbalance"):
            right += 1
        else:
            wrong += 1
            print(f"{MISTAKE}: {CAUSE} was expected, and not {cause}:\n{text}")
    return 0 if right >= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
