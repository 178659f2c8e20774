#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes a profiling tool that counts the calls of every function of this MPI's mpi.h, as tools that wrap them all do, and says
# at MPI_Finalize what it has seen. A program that commtask-run runs must make the same calls as natively: what commtask itself
# calls is none of the tool's business. Functions that programs call until something happens are left alone.
"""usage: count_calls.py --plugin FOLDER-OF-header.py --out FILE.c -- COMPILER [ARGUMENT...]"""
import argparse
import pathlib
import re
import sys

UNTIL_IT_HAPPENS = re.compile(r"MPIX?_(Test(all|any|some)?|I(m)?probe|Request_get_status\w*|Win_test|Parrived|Wtime|Wtick|T_\w+)")
# Declared in mpi.h, and defined with the Fortran bindings only.
NOT_THERE = re.compile(r"MPI_Status_\w*f0?8\w*")
STARTS = {"MPI_Init", "MPI_Init_thread"}

HEAD = """// SPDX-License-Identifier: Apache-2.0
//
// Written by count_calls.py from this MPI's mpi.h; not to be edited.
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int n_before_init, n_on_other_threads;
static bool is_started, is_ended;
static pthread_t starter;

static void seen(atomic_int* count) {
    if (is_ended) return;
    ++*count;
    if (!is_started) ++n_before_init;
    if (is_started && !pthread_equal(pthread_self(), starter)) ++n_on_other_threads;
}

static void say(int rank, const char* what, int n) {
    char line[128];
    const int length = snprintf(line, sizeof line, "[%d] tool: %s %d\\n", rank, what, n);
    if (write(STDOUT_FILENO, line, (size_t)length) != length) _exit(1);
}
"""


def text_of(function):
    declared = ", ".join(f"{p.type} a{i}{p.suffix}" for i, p in enumerate(function.parameters)) or "void"
    call = f"P{function.name}({', '.join(f'a{i}' for i in range(len(function.parameters)))})"
    name = function.name
    body = f"seen(&n_{name}); return {call};"
    if name in STARTS:
        body = (f"seen(&n_{name}); --n_before_init; const int code = {call}; starter = pthread_self(); is_started = true; "
                "return code;")
    elif name == "MPI_Finalize":
        body = f"say_all(); is_ended = true; return {call};"
    return f'__attribute__((visibility("default"))) {function.returns} {name}({declared}) {{ {body} }}'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plugin", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()
    sys.path.insert(0, str(options.plugin))
    import header
    functions = [f for f in sorted(header.read_header(options.compiler).values())
                 if not UNTIL_IT_HAPPENS.fullmatch(f.name) and not NOT_THERE.fullmatch(f.name)
                 and not any("..." in p.type for p in f.parameters)]
    lines = [HEAD, *(f"#undef {f.name}\nstatic atomic_int n_{f.name};" for f in functions)]
    lines += ["static void say_all(void) {", "    int rank = -1;", "    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);",
              '    say(rank, "before MPI_Init had returned", n_before_init);',
              '    say(rank, "on other threads", n_on_other_threads);']
    lines += [f'    if (n_{f.name} != 0) say(rank, "{f.name}", n_{f.name});' for f in functions]
    lines += ["}", *(text_of(f) for f in functions), ""]
    options.out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
