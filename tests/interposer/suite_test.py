# SPDX-License-Identifier: Apache-2.0
# What the runner of MPICH's suite says of tests that pass, fail or take too long, and what it runs again when it goes on with
# the results of an earlier go. The tests here are shell scripts and nothing launches ranks, so that neither MPI nor the suite is needed.
"""python3 tests/interposer/suite_test.py"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUITE = pathlib.Path(__file__).resolve().parent / "suite.py"
LAUNCHER = "sh -c 'shift 2; exec \"$@\"' sh"  # as mpiexec: the words -n and 2 are not the program's
PRAISES = "echo No Errors"
#: Stays until it is ended.
HANGS = "exec cat <fifo"
#: Three seconds, where the suite allows a minute.
HURRIED = ("--patience", "0.05")
PROGRAMS = {
    "right": PRAISES,
    "wrong": f'[ "$UNDER" ] && echo Found 1 error || {PRAISES}',
    "native": "echo Found 1 error",
    "late": f'if [ "$UNDER" ]; then {HANGS}; fi; {PRAISES}',
    "slow": HANGS,
}


class Suite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        self.json = self.build / "results.json"
        self.rma = self.build / "rma"
        self.rma.mkdir()
        os.mkfifo(self.rma / "fifo")
        self.write(self.build / "under", 'UNDER=1 exec "$@"')
        for name, text in PROGRAMS.items():
            self.write(self.rma / name, text)

    def write(self, file, text):
        """A script that leaves a line of the file `runs` each time it runs."""
        file.write_text(f"#!/bin/sh\necho {file.name} >>{self.build}/runs\n{text}\n")
        file.chmod(0o755)

    def go(self, tests, *options):
        """One go: the exit status, the results by name, and which programs ran."""
        (self.rma / "testlist").write_text("".join(f"{name} 2 timeLimit=60\n" for name in tests))
        runs = self.build / "runs"
        runs.unlink(missing_ok=True)
        status = subprocess.run([sys.executable, str(SUITE), "--source", str(self.build), "--build", str(self.build), "--run",
                                 str(self.build / "under"), "--launcher", LAUNCHER, "--only", "rma", "--json", str(self.json), *options],
                                stdout=subprocess.DEVNULL).returncode
        results = {one["test"]: one["result"] for one in json.loads(self.json.read_text())}
        return status, results, [name for name in runs.read_text().split() if name != "under"] if runs.exists() else []

    def test_what_fails_or_is_late_natively_too_is_no_failure(self):
        status, results, _ = self.go(["right", "native", "slow"], *HURRIED)
        self.assertEqual(results, {"rma/right 2": "passed", "rma/native 2": "native", "rma/slow 2": "slow"})
        self.assertEqual(status, 0)

    def test_what_fails_or_is_late_here_only_is_one(self):
        for name, result in (("wrong", "failed"), ("late", "late")):
            status, results, _ = self.go(["right", name], *HURRIED)
            self.assertEqual((status, results[f"rma/{name} 2"]), (1, result))

    def test_a_later_go_runs_what_is_new_and_what_was_late(self):
        self.go(["right", "native", "late"], *HURRIED)
        self.write(self.rma / "late", PRAISES)
        self.write(self.rma / "new", PRAISES)
        status, results, ran = self.go(["right", "native", "new", "late"], "--resume")
        self.assertEqual((status, ran), (0, ["new", "late"]))
        self.assertEqual(list(results.items()), [("rma/right 2", "passed"), ("rma/native 2", "native"), ("rma/new 2", "passed"),
                                                 ("rma/late 2", "passed")])


if __name__ == "__main__":
    unittest.main()
