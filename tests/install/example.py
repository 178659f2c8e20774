# SPDX-License-Identifier: Apache-2.0
# Builds one example of the installed package as its own first lines say, by CMake, Make or Meson, in a copy outside of the
# source tree, and runs it. Whatever the example needs must come with the package.
"""Builds and runs one installed example; see --help."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys


def run(words, **named):
    print("+", *words, flush=True)
    subprocess.run([str(word) for word in words], check=True, timeout=150, **named)


def compiler_of(options, stage):
    """The language's variable, which CMake and Meson read in the environment and Make on its line, and the compiler."""
    if options.example == "clause" and options.way != "cmake":
        return "CC", str(stage / "bin" / "commtask-clang")
    if options.example == "fortran":
        return "FC", options.fortran if options.way == "cmake" else options.wrapper
    return ("CXX", options.cpp) if options.example in ("cpp", "tbb") else ("CC", options.c)


def environment_of(options):
    """The wrappers of MPI call the Fortran compiler by the name that their package was built with."""
    return dict(os.environ, MPICH_FC=options.fortran, OMPI_FC=options.fortran)


def why_not_fortran(options, work):
    """What this MPI lacks of what the example in Fortran needs."""
    for tool in (options.fortran, options.wrapper):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    source = work / "asks.f90"
    source.write_text("use mpi_f08\nend\n", encoding="utf-8")
    done = subprocess.run([options.wrapper, "-fsyntax-only", source], check=False, timeout=60, text=True,
                          capture_output=True, env=environment_of(options))
    return f"no module mpi_f08 for {options.fortran}: {done.stderr}" if done.returncode != 0 else ""


def build(options, stage, work):
    pkgconfig = stage / options.libdir / "pkgconfig"
    variable, compiler = compiler_of(options, stage)
    environment = environment_of(options)
    if options.way == "make":
        run(["make", f"{variable}={compiler}", f"PKG_CONFIG_PATH={pkgconfig}"], cwd=work, env=environment)
        return work / "halo"
    environment[variable] = compiler
    if options.way == "cmake":
        # CMake speaks C for MPI, whatever the example is written in.
        environment.setdefault("CC", options.c)
        run([options.cmake, "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={stage}"], cwd=work, env=environment)
        run([options.cmake, "--build", "build"], cwd=work, env=environment)
    else:
        run(["meson", "setup", "build", f"--pkg-config-path={pkgconfig}"], cwd=work, env=environment)
        run(["meson", "compile", "-C", "build"], cwd=work, env=environment)
    return work / "build" / "halo"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=("cmake", "make", "meson"), required=True)
    parser.add_argument("--example", choices=("c", "clause", "cpp", "fortran", "tbb"), required=True)
    for name in ("c", "cpp", "fortran", "wrapper", "cmake", "stage", "libdir", "examples", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("launch", nargs="+")
    options = parser.parse_args()
    if options.way != "cmake" and shutil.which(options.way) is None:
        print(f"{options.way} is not installed")
        return 77

    stage, work = pathlib.Path(options.stage), pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(stage / options.examples / options.example, work)
    missing = why_not_fortran(options, work) if options.example == "fortran" else ""
    if missing:
        print(missing)
        return 77
    program = build(options, stage, work)
    run([*options.launch, program], env=dict(os.environ, OMP_NUM_THREADS="2"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
