# SPDX-License-Identifier: Apache-2.0
# One right program under one clang: it compiles without a warning, optimised, in one line as a user would type it, and
# then runs with teams of the sizes given. Each program checks by itself what its messages brought.
"""usage: right_case.py --wrapper FILE --source FILE --work FOLDER --teams 1,2,4 -- launcher words"""
import argparse
import os
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("wrapper", "source", "work", "teams"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("launch", nargs="+")
    options = parser.parse_args()
    source = pathlib.Path(options.source)
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    program = work / source.name.replace(".", "_")
    wrapper = [options.wrapper, "-std=c11"] if source.suffix == ".c" else [options.wrapper + "++", "-std=c++20"]
    subprocess.run([*wrapper, "-Wall", "-Wextra", "-Werror", "-O2", "-fopenmp", str(source), "-o", str(program)],
                   check=True, timeout=60)
    for n_threads in options.teams.split(","):
        # Where ranks share cores, a thread that waits had better sleep.
        done = subprocess.run([*options.launch, str(program)], check=False, timeout=60,
                              env=dict(os.environ, OMP_NUM_THREADS=n_threads, OMP_WAIT_POLICY="passive"))
        print(f"{n_threads} threads: exit status {done.returncode}", flush=True)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
