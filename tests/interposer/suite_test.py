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
#: What hangs is ended after five or one second, all others have ten minutes, beside whatever load.
HURRIED = ("--timeout-factor", "0.05")
LIMITS_S = {"late": 100, "slow": 20}
PROGRAMS = {
    "right": PRAISES,
    "wrong": f'[ "$UNDER" ] && echo Found 1 error || {PRAISES}',
    "native": "echo Found 1 error",
    "late": f'if [ "$UNDER" ]; then {HANGS}; fi; {PRAISES}',
    "slow": HANGS,
}
FOLDERS = ("rma", "topo")


class Suite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        self.json = self.build / "results.json"
        self.rma = self.build / "rma"
        self.write(self.build / "under", 'UNDER=1 exec "$@"')
        for folder in FOLDERS:
            (self.build / folder).mkdir()
            os.mkfifo(self.build / folder / "fifo")
            for name, text in PROGRAMS.items():
                self.write(self.build / folder / name, text)

    def write(self, file, text):
        """A script that leaves a line of the file `runs` each time it runs."""
        file.write_text(f"#!/bin/sh\necho {file.name} >>{self.build}/runs\n{text}\n")
        file.chmod(0o755)

    def go(self, tests, *options, folder="rma"):
        """One go: the exit status, the results by name, and which programs ran."""
        lines = [f"{name} 2 timeLimit={LIMITS_S.get(name, 12000)}\n" for name in tests]
        (self.build / folder / "testlist").write_text("".join(lines))
        runs = self.build / "runs"
        runs.unlink(missing_ok=True)
        status = subprocess.run([sys.executable, str(SUITE), "--source", str(self.build), "--build", str(self.build), "--run",
                                 str(self.build / "under"), "--launcher", LAUNCHER, "--only", folder, "--json", str(self.json), *options],
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

    def test_a_later_go_runs_what_is_new_and_what_was_late_or_not_built(self):
        _, results, _ = self.go(["right", "unbuilt", "native", "late"], *HURRIED)
        self.assertEqual(results["rma/unbuilt 2"], "unbuilt")
        for name in ("late", "new", "unbuilt"):
            self.write(self.rma / name, PRAISES)
        status, results, ran = self.go(["right", "unbuilt", "native", "new", "late"], "--resume")
        self.assertEqual((status, ran), (0, ["unbuilt", "new", "late"]))
        self.assertEqual(list(results.items()), [("rma/right 2", "passed"), ("rma/unbuilt 2", "passed"), ("rma/native 2", "native"),
                                                 ("rma/new 2", "passed"), ("rma/late 2", "passed")])

    def test_a_go_through_another_folder_keeps_what_was_late_and_counts_what_failed(self):
        self.go(["late", "wrong"], *HURRIED)
        status, results, ran = self.go(["right"], "--resume", folder="topo")
        self.assertEqual((status, ran), (1, ["right"]))
        self.assertEqual(results, {"topo/right 2": "passed", "rma/late 2": "late", "rma/wrong 2": "failed"})


if __name__ == "__main__":
    unittest.main()
