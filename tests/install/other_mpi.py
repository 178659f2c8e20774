# SPDX-License-Identifier: Apache-2.0
# The installed package where it meets an MPI that is not its own: find_package and the headers refuse it, commtask_init
# returns a code instead of crashing, and ranks that another MPI's launcher started each alone are told so, once. Another release
# of its own is named by find_package, and one of another major number is refused by pkg-config.
"""Judges one meeting of the package with another MPI; see --help."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

# Declares for itself what it calls, so that the headers do not refuse it first.
STRANGER = """
#include <mpi.h>
#include <stdio.h>
int commtask_init(const void* config);
const char* commtask_last_error(void);
int main(int argc, char** argv) {
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    printf("code %d: %s\\n", commtask_init(0), commtask_last_error());
    MPI_Finalize();
}
"""
LONE = """
#include <commtask/commtask.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int level, n_ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    int code = commtask_init(NULL);
    printf("%d of a world of %d\\n", code, n_ranks);
    commtask_finalize();
    MPI_Finalize();
}
"""
PLAIN = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int n_ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    printf("0 of a world of %d\\n", n_ranks);
    MPI_Finalize();
}
"""
ERR_MPI_LIBRARY = -23


def run(words, **named):
    print("+", *words, flush=True)
    done = subprocess.run([str(word) for word in words], check=False, timeout=60, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **named)
    print(done.stdout, flush=True)
    return done.returncode, done.stdout


def check(is_right, what):
    if not is_right:
        raise SystemExit(f"FAULT: {what}")


class Package:
    def __init__(self, options):
        self.options = options
        self.include = pathlib.Path(options.stage) / "include"
        self.libdir = pathlib.Path(options.stage) / options.libdir
        self.work = pathlib.Path(options.work)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def compile(self, wrapper, text):
        """@return the exit status, what was said, and the program"""
        source = self.work / "program.c"
        source.write_text(text, encoding="utf-8")
        program = self.work / "program"
        status, said = run([wrapper, source, "-o", program, f"-I{self.include}", "-DMPICH_SKIP_MPICXX",
                            "-DOMPI_SKIP_MPICXX", f"-L{self.libdir}", "-lcommtask", f"-Wl,-rpath,{self.libdir}"])
        return status, said, program


def configure(package, options, prefix, *words):
    """@return the exit status, and what was said, in one line"""
    status, said = run([options.cmake, "-G", "Ninja", "-S", HERE / "consumer", "-B", package.work / "build",
                        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCONSUMER_COMPONENT=core", "-DCONSUMER_TARGET=commtask",
                        "-DCONSUMER_PROGRAM=core", "-DCONSUMER_LANGUAGE=c", f"-DCMAKE_C_COMPILER={options.compiler}",
                        *words])
    return status, " ".join(said.split())


def cmake(package, options):
    status, said = configure(package, options, options.stage,
                             f"-DMPI_C_COMPILER={shutil.which('mpicc.' + options.other)}")
    check(status != 0, "find_package accepted another MPI")
    check("commtask was built for" in said and f"mpicc.{options.other} is of {options.other} " in said,
          "find_package does not name both MPIs")


def release(package, options):
    """A package that says of itself that it was built for another release, in a folder whose wrapper is plain mpicc: that
    one is asked, whatever else has a better name elsewhere."""
    prefix = package.work / "prefix"
    shutil.copytree(options.stage, prefix, symlinks=True, copy_function=os.link)
    config = prefix / options.libdir / "cmake" / "commtask" / "commtaskConfig.cmake"
    wrapper = package.work / "bin" / "mpicc"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec "{options.own_wrapper}" "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    text = config.read_text(encoding="utf-8")
    config.unlink() # the staged one is the same file
    for what, value in ((r"set\(commtask_MPI_VERSION", "9.9.9"), ("HINTS", wrapper.parent)):
        text, n_found = re.subn(f'({what}) "[^"]*"', rf'\1 "{value}"', text)
        check(n_found == 1, f"{config.name} was changed: this test looks for {what}")
    config.write_text(text, encoding="utf-8")
    status, said = configure(package, options, prefix)
    check(status == 0, "find_package refused another release with the same soname")
    check(re.search(r"commtask was built for \w+ 9\.9\.9 \(", said) and
          f"{wrapper} is of " in said and "another version, which commtask may not have been tested with." in said,
          "find_package does not name both releases")


def release_pkgconfig(package, options):
    folder = package.libdir / "pkgconfig"
    own = re.search(r"(?m)^Requires: (\S+) ", (folder / "commtask.pc").read_text(encoding="utf-8"))
    if own is None:
        print("this MPI has no file for pkg-config: the package gives its flags")
        return 77
    words = ["pkg-config", "--libs", "commtask"]
    status, _ = run(words, env=dict(os.environ, PKG_CONFIG_PATH=str(folder)))
    check(status == 0, "pkg-config refuses the MPI that the package was built for")
    (package.work / f"{own[1]}.pc").write_text(f"Name: {own[1]}\nDescription: another\nVersion: 99\n", encoding="utf-8")
    status, said = run(words, env=dict(os.environ, PKG_CONFIG_PATH=f"{package.work}:{folder}"))
    check(status != 0, "pkg-config accepts another release")
    check(f"{own[1]} <" in said and "99" in said, "pkg-config does not name the release")
    return 0


def headers(package, options):
    status, said, _ = package.compile(f"mpicc.{options.other}", LONE)
    check(status != 0, "the headers accepted another MPI's mpi.h")
    check(f"commtask was built for {options.own}" in said, "the headers do not name their MPI")


def init(package, options):
    status, _, program = package.compile(f"mpicc.{options.other}", STRANGER)
    check(status == 0, "the program does not link")
    status, said = run([program])
    check(status == 0 and f"code {ERR_MPI_LIBRARY}:" in said, "commtask_init does not refuse another MPI")
    check(f"built for {options.own}" in said and "runs with" in said, "the sentence does not name both MPIs")


def launcher(package, options, text=LONE, before_program=()):
    status, said, program = package.compile(options.own_wrapper, text)
    check(status == 0, "the program does not compile")
    words = ["--allow-run-as-root", "--oversubscribe"] if options.other == "openmpi" else []
    status, said = run([f"mpiexec.{options.other}", *words, "-n", "2", *before_program, program],
                       env=dict(os.environ, COMMTASK_CORE="none"))
    if "of a world of" not in said:
        print("this MPI does not start under the other's launcher at all, and says so itself")
        return 77 if status != 0 else 1
    check(said.count("0 of a world of 1") == 2, "two lone ranks were expected")
    check(said.count("each of them is rank 0 of 1") == 1, "it must be said once")
    check(options.own in said and "launcher" in said, "both MPIs must be named")
    return 0


def interposer(package, options):
    """Without a word from the worker otherwise."""
    return launcher(package, options, PLAIN, [pathlib.Path(options.stage) / "bin" / "commtask-run"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", required=True,
                        choices=("cmake", "headers", "init", "launcher", "interposer", "release", "release_pkgconfig"))
    for name in ("other", "own", "own-wrapper", "cmake", "compiler", "stage", "libdir", "work"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    for command in ("mpicc", "mpiexec") if not options.way.startswith("release") else ():
        if shutil.which(f"{command}.{options.other}") is None:
            print(f"{command}.{options.other} is not installed")
            return 77
    return globals()[options.way](Package(options), options) or 0


if __name__ == "__main__":
    sys.exit(main())
