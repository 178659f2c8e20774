# SPDX-License-Identifier: Apache-2.0
# Builds one consumer program against the staged package and runs it on two ranks. It uses only what a user would:
# find_package with CMAKE_PREFIX_PATH, or pkg-config with PKG_CONFIG_PATH and one compiler line. The library is found
# at run time by the run path that the package's flags bring, also in a program that was installed.
"""Builds and runs one consumer of the installed package; see --help."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Package of pkg-config without "commtask-": component and target of CMake, where they are called otherwise.
NAMES_IN_CMAKE = {"core": ("core", "commtask"), "omp-bind": ("omp", "omp_bind"), "tampi": ("omp", "tampi")}


def run(words, **named):
    print("+", *words, flush=True)
    subprocess.run([str(word) for word in words], check=True, timeout=100, **named)


def build_with_cmake(options, work):
    # The project speaks both languages (FindMPI asks in C), so one compiler family is named for both.
    c_name = options.compiler.replace("clang++", "clang").replace("g++", "gcc")
    cxx_name = c_name.replace("gcc", "g++") if "gcc" in c_name else c_name.replace("clang", "clang++")
    component, target = NAMES_IN_CMAKE.get(options.component, (options.component, options.component))
    run([options.cmake, "-G", "Ninja", "-S", HERE / "consumer", "-B", work / "build", "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_PREFIX_PATH={options.stage}", f"-DCONSUMER_COMPONENT={component}", f"-DCONSUMER_TARGET={target}",
         f"-DCONSUMER_PROGRAM={options.component}", f"-DCONSUMER_LANGUAGE={options.language}", f"-DCMAKE_C_COMPILER={c_name}", f"-DCMAKE_CXX_COMPILER={cxx_name}"])
    run([options.cmake, "--build", work / "build"])
    if f"-isystem {options.stage}" not in (work / "build" / "build.ninja").read_text(encoding="utf-8"):
        raise SystemExit("the package does not give its headers as system headers")
    # CMake removes its own run path here; the package's must stay.
    run([options.cmake, "--install", work / "build", "--prefix", work / "installed"])
    return work / "installed" / "bin" / "consumer"


def build_with_pkgconfig(options, work):
    package = "commtask" if options.component == "core" else f"commtask-{options.component}"
    libdir = pathlib.Path(options.stage) / options.libdir
    environment = dict(os.environ, PKG_CONFIG_PATH=str(libdir / "pkgconfig"))

    def ask(*words):
        done = subprocess.run(["pkg-config", *words, package], env=environment, text=True, capture_output=True,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"pkg-config {' '.join(words)} {package}: {done.stderr}")
        return done.stdout.split()

    if ask("--variable=mpi") != [options.mpi]:
        raise SystemExit(f"{package}.pc does not say that its MPI is {options.mpi}")
    # The package's headers are system headers: a program may be as strict as it likes with itself.
    strict = {"c": ["-std=c99", "-Wpedantic", "-Wc++-compat"], "cpp": ["-std=c++20", "-Wpedantic"]}[options.language]
    if "-isystem" not in ask("--cflags"):
        raise SystemExit(f"{package}.pc does not give its headers as system headers")
    program = work / "consumer"
    source = HERE / "consumer" / f"{options.component}.{options.language}"
    # One line for compiling and linking: the shortest thing that a user would try.
    run([options.compiler, *strict, "-Wall", "-Wextra", "-Werror", source, "-o", program, *ask("--cflags", "--libs")])
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=("cmake", "pkgconfig"), required=True)
    for name in ("component", "language", "compiler", "cmake", "mpi", "stage", "libdir", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("launch", nargs="+")
    options = parser.parse_args()
    if shutil.which(options.compiler) is None:
        print(f"{options.compiler} is not installed")
        return 77

    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    build = build_with_cmake if options.way == "cmake" else build_with_pkgconfig
    program = build(options, work)
    needed = subprocess.run(["ldd", str(program)], text=True, capture_output=True, check=True).stdout
    if "not found" in needed:
        print(f"the program finds its libraries only with help:\n{needed}")
        return 1
    if "libgomp" in needed:
        print(f"the program loads libgomp:\n{needed}")
        return 1
    run([*options.launch, program], env=dict(os.environ, OMP_NUM_THREADS="2"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
