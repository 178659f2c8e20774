#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs one probe twice, natively and under commtask-run, and compares what each rank said and how the job ended. The
# native run comes first and must itself be right, else it is no yardstick. Lines that count begin with "[rank] "; those
# of one rank must agree in their order, those of different ranks may mix as they like.
"""usage: compare.py --run COMMTASK_RUN --ranks N [options] PROGRAM [ARGUMENTS] -- LAUNCHER WORDS"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
LINE = re.compile(r"\[(\d+)\] (.*)")
#: MPICH's mpiexec loses the last line of a rank that ends soon after MPI_Finalize, now and then (docs/mpis.md).
TRIES = 8


class Skip(Exception):
    """This cannot be run here."""


def end_group(process):
    """The launcher and what it started; nothing else is in its process group or session."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=5)
    except ProcessLookupError:
        return
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Outcome:
    def __init__(self, command, environment, limit_s):
        self.command = command
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile(mode="w+", errors="replace") as text:
            begin = time.monotonic()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=text, stderr=subprocess.STDOUT,
                                       env=environment, cwd=folder, start_new_session=True)
            try:
                self.status = process.wait(timeout=limit_s)
            except subprocess.TimeoutExpired:
                self.status = None
            end_group(process)
            self.seconds = time.monotonic() - begin
            text.seek(0)
            self.text = text.read()
        self.lines = {}
        for line in self.text.splitlines():
            match = LINE.match(line)
            if match:
                self.lines.setdefault(int(match[1]), []).append(match[2])

    def faults(self, n_ranks, exits):
        """What is wrong with it by itself."""
        found = []
        if self.status is None:
            found.append(f"did not end within its {self.seconds:.0f} s")
        elif exits == "zero" and self.status != 0:
            found.append(f"exit status {self.status}")
        elif exits == "nonzero" and self.status == 0:
            found.append("exit status 0, and another was meant")
        elif exits.isdigit() and self.status != int(exits):
            found.append(f"exit status {self.status}, and {exits} was meant")
        if "FAULT" in self.text:
            found.append("a check of the probe failed")
        if exits == "zero" and len(self.lines) < n_ranks:
            found.append(f"{len(self.lines)} ranks said something, of {n_ranks}")
        return found


def differ_by_lost_ends(native, interposed):
    """Whether each rank said the same but for one last line that only the other run shows, or has lost."""
    if native.status != interposed.status or native.status != 0:
        return False
    pairs = [(one.lines.get(rank, []), other.lines.get(rank, [])) for rank in set(native.lines) | set(interposed.lines)
             for one, other in ((native, interposed), (interposed, native))]
    return any(one[:-1] == other for one, other in pairs) and all(one == other or one[:-1] == other or one == other[:-1] for one, other in pairs)


def differences(native, interposed):
    found = []
    if native.status != interposed.status:
        found.append(f"exit status {interposed.status}, natively {native.status}")
    for rank in sorted(set(native.lines) | set(interposed.lines)):
        there, here = native.lines.get(rank, []), interposed.lines.get(rank, [])
        for number in range(max(len(there), len(here))):
            was = there[number] if number < len(there) else "(no more lines)"
            is_now = here[number] if number < len(here) else "(no more lines)"
            if was != is_now:
                found.append(f"rank {rank}, line {number + 1}:\n    natively {was}\n    here     {is_now}")
                break
    return found


def compile_fortran(source, wrapper, library_folder, folder):
    """At test time, so that building the project needs no Fortran compiler."""
    compiler = "gfortran-12"
    for tool in (wrapper, compiler):
        if shutil.which(tool) is None:
            raise Skip(f"{tool} is not installed")
    program = pathlib.Path(folder) / "program"
    # Without the exception mpif.h and `use mpi` accept each buffer type once only.
    done = subprocess.run([wrapper, "-O1", "-fallow-argument-mismatch", f"-L{library_folder}", source, "-o", str(program)], check=False,
                          timeout=100, cwd=folder, env=dict(os.environ, MPICH_FC=compiler, OMPI_FC=compiler),
                          capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr)
        # Intel MPI has the module mpi_f08 of Intel's compiler only.
        if "Fatal Error: Reading module" in done.stderr:
            raise Skip(f"this MPI's module is not one of {compiler}")
        raise SystemExit(f"{source} does not compile")
    return str(program)


def parse(words):
    if "--" not in words:
        sys.exit(__doc__)
    at = words.index("--")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", default="", help="commtask-run; empty: the native run only")
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--exits", default="zero", help="zero, nonzero, anyhow or a number: of the native run")
    parser.add_argument("--loosely", action="store_true",
                        help="the job kills its ranks: their last lines may be lost, and only zero or not is its status")
    parser.add_argument("--limit", type=float, default=50, help="seconds for each of the two runs")
    parser.add_argument("--preload", default="", help="a tool that both runs preload")
    parser.add_argument("--preload-after", default="", help="the same, behind what commtask-run preloads")
    parser.add_argument("--fortran", default="", help="PROGRAM is a source for this compiler wrapper")
    parser.add_argument("--library-folder", help="where that compiler finds the MPI's library")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="for both runs")
    parser.add_argument("--address-space", type=int, default=0, metavar="BYTES", help="the limit of each rank")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs="*")
    return parser.parse_args(words[:at]), words[at + 1:]


def judge(options, launcher, program, tries=TRIES):
    environment = dict(os.environ)
    environment.update(entry.split("=", 1) for entry in options.set)
    words = [program, *options.arguments]
    prefix = ["env", f"LD_PRELOAD={options.preload}"] if options.preload else []
    if options.address_space:
        prefix = ["prlimit", f"--as={options.address_space}", *prefix]
    if options.preload_after:
        words = ["sh", "-c", f'LD_PRELOAD=$LD_PRELOAD:{options.preload_after} exec "$0" "$@"', *words]
    native = Outcome([*launcher, *prefix, *words], environment, options.limit)
    if native.status == SKIPPED:
        raise Skip(native.text)
    faults = native.faults(options.ranks, options.exits)
    if faults and options.address_space and "unable to allocate shared memory" in native.text:
        raise Skip(f"this MPI does not start with {options.address_space} bytes of address space")
    if faults:
        print(native.text, "\nFAULT of the native run: ", "; ".join(faults), sep="")
        return 1
    run = os.environ.get("COMMTASK_RUN", options.run)
    if not run:
        print(native.text, f"\nnatively {native.seconds:.1f} s", sep="")
        return 0
    if not os.access(run, os.X_OK):
        print(f"{run} is no program")
        return 1
    interposed = Outcome([*launcher, *prefix, run, *words], environment, options.limit)
    if tries > 1 and not options.loosely and differ_by_lost_ends(native, interposed):
        print("once more: a last line was lost")
        return judge(options, launcher, program, tries - 1)
    faults = interposed.faults(options.ranks, "anyhow")
    if options.loosely:
        if interposed.status == 0:
            faults.append(f"exit status 0, natively {native.status}")
    else:
        faults += differences(native, interposed)
    print(interposed.text, f"\nnatively {native.seconds:.1f} s, interposed {interposed.seconds:.1f} s", sep="")
    for fault in faults:
        print("FAULT:", fault)
    return 1 if faults else 0


def main():
    options, launcher = parse(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = options.program
            if options.fortran:
                program = compile_fortran(os.path.abspath(program), options.fortran, options.library_folder, folder)
            return judge(options, launcher, program)
        except Skip as reason:
            print(f"cannot run here: {reason}")
            return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
