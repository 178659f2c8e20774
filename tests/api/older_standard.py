# SPDX-License-Identifier: Apache-2.0
# A program in C++17 that includes the C++ face: one error, with the sentence that says what to do, and nothing after it.
# The C headers must compile as any C++.
"""usage: older_standard.py COMPILER WORDS..."""
import subprocess
import sys


def errors_of(words, standard, header):
    source = f"#include <commtask/{header}>\nint main() {{ return 0; }}\n"
    done = subprocess.run([*words, f"-std={standard}", "-xc++", "-"], input=source, text=True, capture_output=True,
                          timeout=100, check=False)
    return [line for line in done.stderr.splitlines() if "error:" in line]


def main(words):
    wrong = 0
    for header in ("commtask.hpp", "tbb.hpp"):
        errors = errors_of(words, "c++17", header)
        if len(errors) != 1 or "need C++20: compile with -std=c++20" not in errors[0]:
            print(f"{header}: one error with the sentence was expected, and there are {len(errors)}:", *errors, sep="\n")
            wrong += 1
    for standard in ("c++11", "c++17"):
        errors = errors_of(words, standard, "commtask.h")
        if errors:
            print(f"commtask.h as {standard}:", *errors, sep="\n")
            wrong += 1
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
