#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs MPICH's own test suite under commtask-run. A test that does not pass is run natively too: only one that passes
# there and not here is a failure. Natively some fail or hang where cores are few or a transport lacks a feature. Beside
# load many take too long: --timeout-factor gives them more time, and --resume repeats only tests that did not end.
import argparse
import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "report"))
import whole_file  # noqa: E402

FOLDERS = ["attr", "coll", "comm", "datatype", "errhan", "errors", "f08", "f77", "f90", "group", "impls", "info", "init", "io",
           "mpi_t", "part", "pt2pt", "rma", "spawn", "threads", "topo"]
PRAISE = ("No Errors", "Test passed", "Test passed.")
JUDGES = ("TestAllowWarnings", "TestErrFatal", "TestStatus", "TestStatusNoErrors")
MOST_GIGABYTES = 6
RESULTS = {"passed": "passed", "failed": "failed", "late": "did not end in time", "native": "do not pass natively either",
           "slow": "do not end in time natively either", "unbuilt": "were not built", "skipped": f"need more than {MOST_GIGABYTES} GB"}
BAD = ("failed", "late")
AGAIN = ("late", "slow", "unbuilt")  # what --resume runs once more


@dataclasses.dataclass
class Test:
    """One line of a list: a program, its number of ranks, and how to judge it."""

    folder: str
    program: str
    ranks: int = 2
    arguments: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    limit_s: int = 90
    judged_by: str = ""
    gigabytes: float = 0

    def __str__(self):
        settings = [f"{name}={value}" for name, value in self.environment.items()]
        return " ".join([f"{self.folder}/{self.program}", str(self.ranks), *self.arguments, *settings])


def parse_line(folder, line):
    """A Test from a line `program ranks key=value …`."""
    words = line.split()
    test = Test(folder, words[0])
    for word in words[1:]:
        key, _, value = word.partition("=")
        if word.isdigit():
            test.ranks = int(word)
        elif key == "arg":
            test.arguments.append(value)
        elif key == "env":
            name, _, setting = value.partition("=")
            test.environment[name] = setting
        elif key == "timeLimit":
            test.limit_s = int(value)
        elif key == "resultTest":
            if value not in JUDGES:
                raise SystemExit(f"{folder}/testlist: resultTest={value}: not one of {', '.join(JUDGES)}")
            test.judged_by = value
        elif key == "mem":
            test.gigabytes = float(value)
    return test


def tests_of(source, build, folder):
    """The tests in the file testlist of a folder, and of the folders that it names. One that configure wrote comes first."""
    for root in (build, source):
        path = root / folder / "testlist"
        if path.exists():
            break
    else:
        return
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        if (source / folder / line.split()[0]).is_dir():
            yield from tests_of(source, build, f"{folder}/{line.split()[0]}")
        else:
            yield parse_line(folder, line)


def run(test, options, wrapper):
    """@return the exit status, or "timeout", and what the ranks printed."""
    command = [*options.launcher, "-n", str(test.ranks), *wrapper, f"./{test.program}", *test.arguments]
    process = subprocess.Popen(command, cwd=options.build / test.folder, env={**os.environ, **test.environment},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=options.timeout_factor * test.limit_s)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.terminate()  # the launcher ends its ranks, which are in sessions of their own
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        return "timeout", output.decode(errors="replace")


def is_good(test, status, output):
    """Judges as the suite's own runner does."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    is_praised = any(line in PRAISE for line in lines)
    if test.judged_by in ("TestStatus", "TestErrFatal"):
        return status not in (0, "timeout")
    if test.judged_by == "TestStatusNoErrors":
        return status not in (0, "timeout") and is_praised
    if test.judged_by == "TestAllowWarnings":
        return status == 0 and is_praised
    return status == 0 and is_praised and all(line in PRAISE for line in lines)


def is_built(test, build):
    """Makes the program if need be."""
    if (build / test.folder / test.program).exists():
        return True
    made = subprocess.run(["make", "-s", test.program], cwd=build / test.folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    return made.returncode == 0


def judge(test, options):
    """@return one of RESULTS, and what was printed."""
    if test.gigabytes > MOST_GIGABYTES:
        return "skipped", ""
    if not is_built(test, options.build):
        return "unbuilt", ""
    status, output = run(test, options, [str(options.run)])
    if is_good(test, status, output):
        return "passed", ""
    native_status, native_output = run(test, options, [])
    if not is_good(test, native_status, native_output):
        how = "slow" if native_status == "timeout" else "native"
        return how, f"natively {native_status}: {native_output.strip()[:200]}"
    return "late" if status == "timeout" else "failed", f"{status}: {output.strip()[:2000]}"


def earlier_results(file):
    """What an earlier go has left, by test."""
    return {one["test"]: one for one in json.loads(file.read_text())} if file.exists() else {}


def main():
    parser = argparse.ArgumentParser(description="Runs MPICH's own test suite under commtask-run.")
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the suite's folder test/mpi")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the folder in which the suite was configured")
    parser.add_argument("--run", type=pathlib.Path, required=True, help="the commtask-run to test")
    parser.add_argument("--launcher", type=shlex.split, default=["mpiexec.mpich"], help="default: %(default)s")
    parser.add_argument("--only", default=",".join(FOLDERS), help="folders, separated by commas (default: all)")
    parser.add_argument("--json", type=pathlib.Path, help="also write each test's result, and the output of failed tests, to this file")
    parser.add_argument("--resume", action="store_true", help="keep the results in the file of --json, except those of tests that timed out or were not built")
    parser.add_argument("--timeout-factor", type=float, default=1, metavar="F", help="multiplies the suite's time limits")
    options = parser.parse_args()
    folders = options.only.split(",")
    unknown = [folder for folder in folders if folder.split("/")[0] not in FOLDERS]
    if unknown:
        parser.error(f"--only {','.join(unknown)}: no such folder; there are {','.join(FOLDERS)}")
    options.build = options.build.resolve()
    options.run = options.run.resolve()
    if options.resume and not options.json:
        parser.error("--resume needs --json, the file with the earlier results")
    known = earlier_results(options.json) if options.resume else {}
    results = []
    for test in [test for folder in folders for test in tests_of(options.source.resolve(), options.build, folder)]:
        before = known.pop(str(test), None)
        if before and before["result"] not in AGAIN:
            results.append(before)
            continue
        how, words = judge(test, options)
        results.append({"test": str(test), "result": how, **({"output": words} if how in BAD else {})})
        print(f"{how:8} {test}", *(["\n    " + words.replace("\n", "\n    ")] if words else []), flush=True)
        if options.json:  # what is still to come of an earlier go stays for the next
            whole_file.write_json(options.json, results + list(known.values()))
    results += known.values()
    count = {how: sum(result["result"] == how for result in results) for how in RESULTS}
    print("\n" + ", ".join(f"{n} {RESULTS[how]}" for how, n in count.items()))
    return 1 if any(count[how] for how in BAD) or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
