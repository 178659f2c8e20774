# SPDX-License-Identifier: Apache-2.0
# The installed comm clause as a stranger uses it, from a package that was moved: by the wrapper in one line, by CMake,
# and by CMake with a compiler that there is no plugin for.
"""Builds and runs one program with the installed comm clause; see --help."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HALO = HERE.parents[1] / "docs" / "snippets" / "clause_first.c"


def run(words, expected=0, **named):
    print("+", *words, flush=True)
    done = subprocess.run([str(word) for word in words], check=False, timeout=100, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **named)
    print(done.stdout, flush=True)
    if (done.returncode == 0) != (expected == 0):
        raise SystemExit(f"exit status {done.returncode}, expected {'0' if expected == 0 else 'a failure'}")
    return done.stdout


def by_wrapper(options, work):
    wrapper = pathlib.Path(options.stage) / "bin" / "commtask-clang"
    for name in (wrapper, pathlib.Path(f"{wrapper}++")):
        text = name.read_text(encoding="utf-8")
        for folder in (options.build_dir, str(HERE.parents[1])):
            if folder in text:
                raise SystemExit(f"{name} names {folder}")
    # Through a link in another folder, as a user may put it into the PATH.
    link = work / "bin" / "commtask-clang"
    link.parent.mkdir()
    link.symlink_to(wrapper)
    shutil.copy(HALO, work / "halo.c")
    run([link, "-fopenmp", "halo.c", "-o", "halo"], cwd=work)
    return work / "halo"


def by_cmake(options, work, *words, expected=0):
    said = run([options.cmake, "-G", "Ninja", "-S", HERE / "clause", "-B", work / "build", f"-DCMAKE_C_COMPILER="
                f"{options.compiler}", f"-DCMAKE_PREFIX_PATH={options.stage}", *words], expected)
    if expected != 0:
        return said
    run([options.cmake, "--build", work / "build"])
    return work / "build" / "either"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=("wrapper", "cmake", "cmake-without"), required=True)
    for name in ("cmake", "compiler", "stage", "build-dir", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("launch", nargs="+")
    options = parser.parse_args()
    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if options.way == "wrapper":
        program = by_wrapper(options, work)
    elif options.way == "cmake":
        program = by_cmake(options, work)
    else:
        if "there is no plugin for the C compiler" not in by_cmake(options, work, "-DDEMAND_CLAUSE=ON", expected=1):
            raise SystemExit("the reason was expected")
        program = by_cmake(options, work, "-DDEMAND_CLAUSE=OFF", "-DEXPECT_NONE=ON")
    run([*options.launch, program], env=dict(os.environ, OMP_NUM_THREADS="2"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
