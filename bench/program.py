# SPDX-License-Identifier: Apache-2.0
# Runs one benchmark that is a program in C++ and sums up the samples that it writes. The program knows the question, the rows and
# their goals; what is said about the samples is figures.py's.
"""A benchmark's program to its report."""

import json
import subprocess
import tempfile
from pathlib import Path

import figures
import miniapp


def report_of(command, is_quick, limit_s=600):
    """Raises miniapp.Skipped where it cannot run, miniapp.Failed where it does not end well."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "samples.json"
        words = [*command, "--json", str(file), *(["--quick"] if is_quick else [])]
        status = subprocess.run(words, timeout=limit_s, check=False).returncode
        if status == miniapp.SKIPPED:
            raise miniapp.Skipped("as it says above")
        if status != 0:
            raise miniapp.Failed(f"{' '.join(command)}: status {status}")
        return figures.of_samples(json.loads(file.read_text(encoding="utf-8")))
