# SPDX-License-Identifier: Apache-2.0
# What the tests of commtask-report as a program share: it is run as a user runs it, on traces in a folder that goes away. The program is
# the first word of the test's command line, and is taken out of it when this is imported.
"""Runs commtask-report on files of a test's own."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "report"))


def report(*words, folder=None):
    return subprocess.run([sys.executable, PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=60, cwd=folder)


class Case(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def text_of(self, *traces):
        done = report("--text", *traces)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
        return done.stdout

    def refusal(self, *words, contains):
        """It says one sentence that contains this, and leaves with 2."""
        done = report(*words, folder=self.folder)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(contains, done.stderr)
