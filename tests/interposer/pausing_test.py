#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Pauses an unmodified program under commtask-run from outside, by a file and by a signal to each rank, and lets it exchange messages
# before, meanwhile and after. Each step waits for what the ranks say, so no time is guessed.
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading

LIMIT_S = 45


class Program:
    """The ranks under the launcher, and what they have said so far."""

    def __init__(self, command, n_ranks, pause_file):
        environment = dict(os.environ, COMMTASK_VERBOSE="2", COMMTASK_PAUSE_SIGNAL="SIGUSR2", COMMTASK_PAUSE_FILE=str(pause_file))
        self.n_ranks = n_ranks
        self.said = ""
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        env=environment)
        self.timer = threading.Timer(LIMIT_S, self.process.kill)
        self.timer.start()

    def waits_for(self, pattern, times):
        """Reads on until that has been said so often altogether."""
        while len(re.findall(pattern, self.said)) < times:
            line = self.process.stderr.readline()
            if not line:
                print(self.said)
                sys.exit(f"FAULT: it ended, or its time was over, without '{pattern}' {times} times")
            self.said += line

    def exchanges(self, times):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.waits_for(r"exchange: right", times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pause_file = pathlib.Path(folder) / "pause"
        program = Program(given.command, given.ranks, pause_file)
        program.waits_for(r"process \d+", given.ranks)
        program.exchanges(1)
        pause_file.touch()
        program.waits_for(r"the workers are paused by the file", given.ranks)
        program.exchanges(2)
        pause_file.unlink()
        program.waits_for(r"the workers are resumed by the file", given.ranks)
        program.exchanges(3)
        processes = [int(found) for found in re.findall(r"process (\d+)", program.said)]
        for word in ("paused", "resumed"):
            for process in processes:
                os.kill(process, signal.SIGUSR2)
            program.waits_for(rf"the workers are {word} by a signal", given.ranks)
            program.exchanges(4 if word == "paused" else 5)
        program.process.stdin.close()
        program.said += program.process.stderr.read()
        status = program.process.wait()
        program.timer.cancel()
    print(program.said)
    return 0 if status == 0 and "WRONG" not in program.said else 1


sys.exit(main())
