# SPDX-License-Identifier: Apache-2.0
# Which presets scripts/test builds and which tests it leaves out, read from what it asks cmake and ctest for. ctest is
# ours and says that one test passed.
"""The choices of scripts/test."""
import re
import unittest

import checkout

CTEST = """#!/bin/sh
echo "ctest $*" >> "{called}"
echo "  Test #1: bench.link"
echo "100% tests passed, 0 tests failed out of 1"
"""


class Choices(checkout.Checkout):
    def setUp(self):
        super().setUp()
        self.command("ctest", CTEST.format(called=self.called))
        (self.root / "tools").mkdir(exist_ok=True)
        (self.root / "tools" / "lint.py").touch()
        self.command("nothing", f'#!/bin/sh\necho "$(basename "$0") $*" >> "{self.called}"\n')
        for name in ("onetbb", "get_mpi", "perfetto"):
            (self.root / "scripts" / name).unlink(missing_ok=True)
            (self.root / "scripts" / name).symlink_to(self.bin / "nothing")

    def presets_of(self, *words, **settings):
        """The presets that are tested, and the output."""
        self.called.unlink(missing_ok=True)
        done = self.run_script("test", *words, settings={"COMMTASK_JOBS": "1", **settings})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return re.findall(r"(?m)^cmake --build --preset (\S+) --parallel", self.was_called()), done.stdout

    def ctest_calls(self):
        return [line for line in self.was_called().splitlines() if line.startswith("ctest") and "--show-only" not in line]

    def test_without_options_all_behaviour_is_tested_once(self):
        presets, said = self.presets_of()
        self.assertEqual(presets, ["dev"])
        self.assertIn("-DCOMMTASK_CLAUSE_VERSIONS=19\n", self.was_called())
        self.assertEqual([re.search("--label-exclude (\\S+)", call)[1] for call in self.ctest_calls()], ["again|quiet"])
        self.assertIn("on a quiet machine: scripts/test --quiet-machine", said)

    def test_another_mpi_or_compiler_is_tested_once_too(self):
        self.assertEqual(self.presets_of(COMMTASK_MPI="openmpi")[0], ["dev-openmpi"])
        self.assertEqual(self.presets_of(COMMTASK_COMPILER="gcc")[0], ["dev-gcc"])
        self.assertEqual(self.presets_of(COMMTASK_MPI="openmpi", COMMTASK_COMPILER="gcc")[0], ["dev-openmpi-gcc"])

    def test_all_is_every_mpi_compiler_and_sanitizer(self):
        presets, _ = self.presets_of("--all")
        self.assertLessEqual({"dev", "dev-openmpi", "dev-mpich5", "dev-intel", "dev-gcc", "dev-tbb-current", "asan", "tsan",
                              "tsan-omp"}, set(presets))
        called = self.was_called()
        for name in ("mpich5", "intel"):
            self.assertLess(called.index(f"get_mpi {name}\n"), called.index(f"cmake --build --preset dev-{name} "), called)
        self.assertIn("-DCOMMTASK_CLAUSE_VERSIONS=14;15;16;19;22\n", self.was_called())

    def test_what_needs_a_quiet_machine_runs_alone_and_when_asked_for(self):
        for words in ([], ["--all"]):
            self.presets_of(*words)
            self.assertFalse([call for call in self.ctest_calls() if "--label-regex quiet" in call])
        _, said = self.presets_of("--quiet-machine")
        last = self.ctest_calls()[-1]
        self.assertIn("--label-regex quiet", last)
        self.assertNotIn("--parallel", last)
        self.assertNotIn("left out", said)

    def test_an_mpi_that_no_preset_has_is_refused(self):
        done = self.run_script("test", settings={"COMMTASK_MPI": "intel", "COMMTASK_COMPILER": "gcc"})
        self.assertEqual((done.returncode, self.was_called()), (2, ""), done.stderr)
        self.assertIn("no preset has COMMTASK_MPI=intel", done.stderr)

    def test_wrong_options_do_nothing(self):
        for words in (["--al"], ["--preset"], ["--preset", "fast"], ["--all", "--quick"], ["--all", "--preset", "dev"]):
            done = self.run_script("test", *words)
            self.assertEqual((done.returncode, self.was_called()), (2, ""), words)


if __name__ == "__main__":
    unittest.main()
