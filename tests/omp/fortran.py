# SPDX-License-Identifier: Apache-2.0
# Compiles the Fortran module and a program that uses it as a user would, -fopenmp for compiling and linking and libomp in
# front of the compiler's own runtime, and runs it. At test time, so that building this project needs no Fortran compiler.
"""usage: fortran.py --wrapper mpif90 --compiler gfortran --work FOLDER --flags "..." --kinds operation.h MODULE.f90 PROGRAM.f90
-- mpiexec -n 1"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys


def check_kinds(module, header):
    """The module's literals against the C enumeration: which of two sends it was shows in no result."""
    numbers = {name.lower(): int(number) for name, number in
               re.findall(r"COMMTASK_OP_(\w+) = (\d+)", pathlib.Path(header).read_text())}
    kinds = re.findall(r"\bkind_(\w+) = (\d+)", pathlib.Path(module).read_text())
    wrong = [name for name, number in kinds if numbers[name] != int(number)]
    if wrong or len(kinds) < 20:
        sys.exit(f"{module}: kinds that differ from {header}: {wrong}, of {len(kinds)}")


def main():
    words = sys.argv[1:]
    launch = words[words.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("wrapper", "compiler", "work", "flags", "kinds"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("module")
    parser.add_argument("program")
    options = parser.parse_args(words[:words.index("--")])
    for tool in (options.wrapper, options.compiler):
        if shutil.which(tool) is None:
            print(f"{tool} is not installed")
            return 77

    check_kinds(options.module, options.kinds)
    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    chosen = dict(os.environ, MPICH_FC=options.compiler, OMPI_FC=options.compiler)
    # The program cannot be as strict as the module: mpif.h is not Fortran 2018.
    subprocess.run([options.wrapper, "-std=f2018", "-O2", "-Wall", "-Wextra", "-Werror", "-c", options.module, "-o",
                    "module.o"], check=True, timeout=100, cwd=work, env=chosen)
    subprocess.run([options.wrapper, "-O2", "-Wall", "-fopenmp", options.program, "module.o", "-o", "program",
                    *options.flags.split()], check=True, timeout=100, cwd=work, env=chosen)
    listing = subprocess.run(["ldd", "program"], check=True, text=True, capture_output=True, cwd=work).stdout
    if "libgomp" in listing or "libomp" not in listing:
        print(f"libomp does not serve the program:\n{listing}")
        return 1
    return subprocess.run([*launch, work / "program"], timeout=50).returncode


if __name__ == "__main__":
    sys.exit(main())
