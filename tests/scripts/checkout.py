# SPDX-License-Identifier: Apache-2.0
# A copy of the checkout's scripts in a folder of its own, with commands of our own in place of apt-get, cmake and their
# like, which write down that they were called. Nothing is installed, built or measured.
"""For the tests of scripts/."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("basename", "bash", "cat", "dirname", "env", "flock", "grep", "id", "mkdir", "nproc", "printf", "rm", "sed", "sh",
         "sleep", "sort", "tail", "tee", "touch", "tr")
STAND_INS = ("apt-get", "clang++-19", "cmake", "ctest", "ninja", "pkg-config")


class Checkout(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "checkout"
        self.bin = Path(folder.name) / "bin"
        self.called = Path(folder.name) / "called"
        self.bin.mkdir()
        self.root.mkdir()
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        shutil.copytree(ROOT / "bench", self.root / "bench", ignore=lambda _, names: [n for n in names if "." not in n])
        shutil.copytree(ROOT / "tools" / "report", self.root / "tools" / "report", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "CMakePresets.json", self.root)
        for name in TOOLS:
            (self.bin / name).symlink_to(shutil.which(name))
        for name in STAND_INS:
            self.command(name, f'#!/bin/sh\necho "$(basename "$0") $*" >> "{self.called}"\n')
        self.command("dpkg-query", "#!/bin/sh\necho installed\n")
        self.command("python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')

    def command(self, name, text):
        (self.bin / name).write_text(text, encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def start(self, script, *words, settings=None, **how):
        environment = {"PATH": str(self.bin), "HOME": str(self.root), **(settings or {})}
        return subprocess.Popen([self.bin / "bash", self.root / "scripts" / script, *words], env=environment, text=True,
                                **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how})

    def run_script(self, script, *words, **how):
        started = self.start(script, *words, **how)
        out, errors = started.communicate(timeout=50)
        return subprocess.CompletedProcess(words, started.returncode, out, errors)

    def was_called(self):
        return self.called.read_text(encoding="utf-8") if self.called.exists() else ""
