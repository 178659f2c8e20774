# SPDX-License-Identifier: Apache-2.0
# How this project is configured by someone who gives too little or the wrong thing: no build type, a misspelt one, the
# source folder as the build folder, an MPI that the tests do not run with. The source is a copy of what is read until the decision falls, so that a test that goes
# wrong leaves no cache in the tree.
"""Configures a copy of the top of the source tree and looks at what is said; see --help."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Case: words for CMake in the work folder, and what it must say.
CASES = {
    "no-build-type": (["-S", "source", "-B", "build"], "build type Release, since none was asked for"),
    "empty-build-type": (["-S", "source", "-B", "build", "-DCMAKE_BUILD_TYPE="], "build type Release"),
    "unknown-build-type": (["-S", "source", "-B", "build", "-DCMAKE_BUILD_TYPE=Relase"],
                           "CMAKE_BUILD_TYPE is 'Relase'; it must be one of Release, RelWithDebInfo"),
    "in-source": (["-S", "source", "-B", "source"], "commtask is not built in its source folder: .*cmake -B build"),
    "untested-mpi": (["-DVERSION=3.4.1", "-P", "mpi.cmake"],
                     "commtask is not tested with MPICH 3.4.1, but with: mpich 4.0.2, .*Run its tests before you rely on it"),
    "tested-mpi": (["-DVERSION=4.0.9", "-P", "mpi.cmake"], "^$"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=CASES, required=True)
    for name in ("cmake", "work"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(SOURCE / "cmake", work / "source" / "cmake")
    # All of these are decided before project(); what follows it needs the whole tree.
    before, project, _ = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8").partition("project(")
    if not project:
        raise SystemExit("CMakeLists.txt has no project()")
    (work / "source" / "CMakeLists.txt").write_text(before + "project(commtask NONE)\n", encoding="utf-8")
    (work / "mpi.cmake").write_text("include(source/cmake/commtask_tested_mpis.cmake)\n"
                                    "commtask_warn_of_untested_mpi(mpich MPICH ${VERSION})\n", encoding="utf-8")

    words, expected = CASES[options.case]
    done = subprocess.run([options.cmake, *words], cwd=work, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False)
    print(done.stdout)
    # CMake breaks lines of errors as it likes.
    if not re.search(expected, re.sub(r"\s+", " ", done.stdout)):
        raise SystemExit(f"'{expected}' was not said")
    is_refused = "must be one of" in expected or "not built" in expected
    if (done.returncode != 0) != is_refused:
        raise SystemExit(f"exit status {done.returncode}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
