# SPDX-License-Identifier: Apache-2.0
# Compiles a program as a user of gcc would who does not know about libomp, so that libgomp serves it, and runs it
# twice: as it is, when the library must refuse it, and with libomp preloaded, when it must work. What --front names stands
# in front of libomp then, and alone changes nothing. Every other test of this project links libomp on purpose; this one needs
# the compiler's own choice.
"""usage: two_runtimes.py --compiler gcc --source FILE --work FOLDER --libomp FILE [--front FILE] --flags "..." -- mpiexec -n 1"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("compiler", "source", "work", "libomp", "flags"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--front", default="")
    parser.add_argument("launch", nargs="+")
    options = parser.parse_args()
    compiler = shutil.which(options.compiler)
    if compiler is None:
        print(f"{options.compiler} is not installed")
        return 77

    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    program = work / "two_runtimes"
    # libgomp in front, where the compiler's driver would put it for a program that names no OpenMP library itself.
    subprocess.run([compiler, "-std=c11", "-O2", "-fopenmp", options.source, "-o", program, "-lgomp",
                    *options.flags.split()], check=True, timeout=100)
    listing = subprocess.run(["ldd", program], check=True, text=True, capture_output=True).stdout
    if "libgomp" not in listing or "libomp" not in listing:
        print(f"the program does not load both runtimes:\n{listing}")
        return 1
    front = [options.front] if options.front else []
    for expected, preloaded in [("refused", []), *[("refused", front)] * bool(front), ("served", [*front, options.libomp])]:
        print(f"{expected}, with LD_PRELOAD={':'.join(preloaded)}", flush=True)
        subprocess.run([*options.launch, program, expected], check=True, timeout=50,
                       env=dict(os.environ, LD_PRELOAD=":".join(preloaded)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
