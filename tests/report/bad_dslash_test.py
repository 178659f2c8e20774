#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Real runs with a known fault, as a user would look at them: lqcd_dslash --bad on two ranks with a trace, then the report's
# text, which must name the fault first, and the page, which must say the same. Other work on the machine can make a run a
# different one, so two of three runs decide.
"""Usage: bad_dslash_test.py HABIT CAUSE COMMTASK_REPORT -- LAUNCHER... LQCD_DSLASH"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HABIT, CAUSE, REPORT = sys.argv[1:4]
COMMAND = sys.argv[sys.argv.index("--") + 1:]
OPTIONS = ["--mode", "offload", "--threads", "2", "--lattice", "16.16.16.32", "--iterations", "10", "--repeat", "1", "--check", "none"]


def first_cause(folder):
    """Of one run: by the text and by the page."""
    trace, page = folder / "trace", folder / "page.html"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMTASK_")}
    environment["COMMTASK_TRACE"] = str(trace)
    subprocess.run([*COMMAND, *OPTIONS, "--bad", HABIT], env=environment, stdout=subprocess.DEVNULL, timeout=100, check=True)
    done = subprocess.run([sys.executable, REPORT, "--text", "--html", str(page), str(trace)], stdout=subprocess.PIPE, text=True,
                          timeout=60, check=True)
    by_text = re.search(r"^  1\. ([\w ]+):", done.stdout, re.MULTILINE)
    by_page = re.search(r'<li data-cause="([\w ]+)">', page.read_text(encoding="utf-8"))
    if not by_text or not by_page or by_text[1] != by_page[1]:
        sys.exit(f"text and page name different causes, or none:\n{done.stdout}")
    if not re.search(r"^ +0 +0 +\w+ +\d+ % +\d+ %", done.stdout, re.MULTILINE):
        sys.exit(f"the share of its core that rank 0's worker uses and gets is missing:\n{done.stdout}")
    return by_text[1], done.stdout


def main():
    right = wrong = 0
    while max(right, wrong) < 2:
        with tempfile.TemporaryDirectory() as folder:
            cause, text = first_cause(pathlib.Path(folder))
        if cause == CAUSE:
            right += 1
        else:
            wrong += 1
            print(f"--bad {HABIT}: {CAUSE} was expected first:\n{text}")
    return 0 if right >= 2 else 1


if __name__ == "__main__":
    sys.exit(main())
