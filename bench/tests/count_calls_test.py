# SPDX-License-Identifier: Apache-2.0
# What is counted by the kernel is not tested here, but what is made of it: runs that a stand-in for perf counts, since a wrong
# divisor would state a limit that is none.
"""python3 -m unittest, from the folder above."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import count_calls  # noqa: E402
import miniapp  # noqa: E402

# A start of 7 changes of threads, and 3 in each step that the command names; futex is not counted.
PERF = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
file=$2
while [ "$1" != -- ]; do shift; done
shift
printf '# started\\n\\n%d,,context-switches,9,100.00,,\\n<not supported>,,syscalls:sys_enter_futex,0,0.00,,\\n' $((7 + 3 * $2)) > "$file"
exec "$@"
"""


class Counts(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        perf = Path(folder) / "perf"
        perf.write_text(PERF, encoding="utf-8")
        perf.chmod(0o755)
        self.enterContext(mock.patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}"}))

    def said(self, *words):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = count_calls.main(words)
        return status, out.getvalue()

    def test_are_of_one_step_of_one_rank_without_the_start(self):
        self.assertEqual(count_calls.measure(["echo", "{steps}"], (10, 30), 2, 2), {"context-switches": [1.5, 1.5]})
        status, text = self.said("--per", "2", "--", "echo", "{steps}")
        self.assertEqual((status, text.split()), (0, ["changes", "of", "threads", "1.500", "[1.500..1.500]"]))

    def test_of_a_command_that_fails_are_not_shown(self):
        self.assertEqual(self.said("--", "false", "{steps}"), (1, ""))

    def test_without_perf_are_skipped(self):
        with mock.patch.dict(os.environ, {"PATH": "/nowhere"}):
            self.assertEqual(self.said("--", "echo", "{steps}"), (miniapp.SKIPPED, ""))

    def test_need_a_place_for_the_steps_and_two_numbers(self):
        for words in (["--", "echo"], ["--steps", "5,5", "--", "echo", "{steps}"], ["--steps", "x", "--", "echo", "{steps}"]):
            with self.assertRaises(SystemExit) as refused:
                self.said(*words)
            self.assertEqual(refused.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
