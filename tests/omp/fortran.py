# SPDX-License-Identifier: Apache-2.0
# Compiles the Fortran module, once for all programs, and a program that uses it as a user would, -fopenmp for compiling and
# linking and libomp in front of the compiler's own runtime. At test time, so that building this project needs no Fortran compiler.
# The tests that run the program follow, with a launcher.
# Refused: by a compiler that was not asked for OpenMP, whose tasks would run at once, the module must be.
"""usage: fortran.py --wrapper mpif90 --compiler gfortran --work FOLDER module|refused MODULE.f90
fortran.py --wrapper mpif90 --compiler gfortran --work FOLDER [--flags "..."] --module FOLDER program PROGRAM.f90
fortran.py --work FOLDER -- mpiexec -n 1"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys


def main():
    words = sys.argv[1:]
    if "--" in words:
        program = pathlib.Path(words[words.index("--work") + 1]) / "program"
        if not program.exists():
            print("was not compiled: something is not installed")
            return 77
        return subprocess.run([*words[words.index("--") + 1:], program], timeout=50).returncode
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("wrapper", "compiler", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--flags", default="")
    parser.add_argument("--module", default="", type=pathlib.Path)
    parser.add_argument("what", choices=("module", "refused", "program"))
    parser.add_argument("source")
    options = parser.parse_args(words)
    for tool in (options.wrapper, options.compiler):
        if shutil.which(tool) is None:
            print(f"{tool} is not installed")
            return 77

    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    chosen = dict(os.environ, MPICH_FC=options.compiler, OMPI_FC=options.compiler)
    if options.what == "program" and "use mpi_f08" in pathlib.Path(options.source).read_text(encoding="utf-8").lower():
        (work / "asks.f90").write_text("program asks\n  use mpi_f08\nend program\n", encoding="utf-8")
        if subprocess.run([options.wrapper, "-c", "asks.f90"], capture_output=True, timeout=100, cwd=work, env=chosen,
                          check=False).returncode != 0:
            print("this MPI has no module mpi_f08 for this compiler")
            return 77
    if options.what == "refused":
        refused = subprocess.run([options.wrapper, "-c", options.source], text=True, capture_output=True, timeout=100,
                                 cwd=work, env=chosen)
        print(refused.stderr)
        said = [line for line in refused.stderr.splitlines() if "Error:" in line]
        return 0 if len(said) == 1 and "commtask_omp_is_compiled_with_fopenmp" in said[0] else 1
    # The program cannot be as strict as the module: mpif.h is not Fortran 2018.
    if options.what == "module":
        return subprocess.run([options.wrapper, "-std=f2018", "-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-c", options.source,
                               "-o", "module.o"], timeout=100, cwd=work, env=chosen, check=False).returncode
    subprocess.run([options.wrapper, "-O2", "-Wall", "-fopenmp", f"-I{options.module}", options.source, str(options.module / "module.o"),
                    "-o", "program", *options.flags.split()], check=True, timeout=100, cwd=work, env=chosen)
    listing = subprocess.run(["ldd", "program"], check=True, text=True, capture_output=True, cwd=work).stdout
    if "libgomp" in listing or "libomp" not in listing:
        print(f"libomp does not serve the program:\n{listing}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
