# SPDX-License-Identifier: Apache-2.0
# Compiles one program that holds tasks by one clang, links it with the libomp of this build, whatever release that clang is of, and runs it
# with teams of 1 and 2.
"""usage: bind_compilers.py --clang FILE --source FILE --work FOLDER --include FOLDER --flags "..." --libraries "..." -- mpiexec -n 2"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("clang", "source", "work", "include", "flags", "libraries"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("launch", nargs="+")
    options = parser.parse_args()
    if shutil.which(options.clang) is None:
        print(f"{options.clang} is not installed")
        return 77
    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    # Linked without -fopenmp: for that a clang of another release looks for a libomp of its own.
    subprocess.run([options.clang, "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fopenmp", "-idirafter", options.include,
                    *options.flags.split(), "-c", options.source, "-o", work / "program.o"], check=True, timeout=40)
    subprocess.run([options.clang, work / "program.o", "-o", work / "program", *options.libraries.split()], check=True,
                   timeout=40)
    for n_threads in ("1", "2"):
        done = subprocess.run([*options.launch, work / "program"], check=False, timeout=40,
                              env=dict(os.environ, OMP_NUM_THREADS=n_threads, OMP_MAX_TASK_PRIORITY="9"))
        if done.returncode != 0:
            print(f"in teams of {n_threads}: exit status {done.returncode}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
