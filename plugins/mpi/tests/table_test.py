#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Checks that the table has every function of mpi.h, and that the library exports every function
# that the table intercepts, under both of its names, and no other. The library must not call MPI by
# a name that a profiling tool may define. A header with a function that has no class must be
# refused by the function's name.
"""usage: table_test.py --library libcommtask-mpi.so --run commtask-run -- COMPILER [ARGUMENT...]"""
import argparse
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import header  # noqa: E402

TABLE = HERE.parent / "functions.table"
options = None


def symbols(library, which, types):
    text = subprocess.run(["nm", "-D", which, library], capture_output=True, text=True, check=True).stdout
    return set(re.findall(rf" [{types}] (P?MPIX?_\w+)", text))


class Table(unittest.TestCase):
    def setUp(self):
        self.functions = header.read_header(options.compiler)
        self.table = header.read_table(TABLE)

    def test_reads_the_functions_of_this_header(self):
        # A parser that found half of the functions would make the other tests pass.
        found = subprocess.run([*options.compiler, "-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n",
                               capture_output=True, text=True, check=True).stdout
        names = set(re.findall(r"\bP(MPIX?_[A-Z]\w*)\s*\(", found))
        self.assertGreater(len(names), 300)
        self.assertEqual(names - set(self.functions), set())

    def test_gives_every_function_a_class(self):
        classes = header.classify(self.functions, self.table)
        self.assertEqual(set(classes), set(self.functions))

    def test_names_a_function_that_it_does_not_know(self):
        functions = header.parse("int MPI_Invented(int a); int MPI_Send(int a);")
        with self.assertRaisesRegex(ValueError, "MPI_Invented"):
            header.classify(functions, self.table)

    def test_reads_nested_attributes_and_arrays(self):
        parsed = header.parse("extern __attribute__((a((b)))) int MPI_X(const int n[], char *p[][2]) __attribute__((c));")
        self.assertEqual([p.suffix for p in parsed["MPI_X"].parameters], ["[]", "[][2]"])
        self.assertEqual(parsed["MPI_X"].returns, "int")

    def test_library_exports_what_is_intercepted_under_both_names(self):
        classes = header.classify(self.functions, self.table)
        intercepted = {name for name in self.functions if classes[name] != "local"}
        self.assertEqual(symbols(options.library, "--defined-only", "TWV"), intercepted | {"P" + name for name in intercepted})

    def test_library_calls_nothing_by_a_name_that_tools_define(self):
        called = symbols(options.library, "--undefined-only", "Uw")
        self.assertIn("PMPI_Comm_rank", called)
        self.assertEqual({name for name in called if re.match(r"MPIX?_[A-Z]", name)}, set())

    def test_commtask_run_lists_every_function_once(self):
        text = subprocess.run([options.run, "--list"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(sorted(re.findall(r"^    (\w+)$", text, re.M)), sorted(self.functions))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()
    unittest.main(argv=sys.argv[:1], verbosity=2)
