#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# docs/api.md names every C function that a program may call, and no other.
"""Usage: api_page_test.py ROOT"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
FOR_MACROS = re.compile(r"_$|^commtask_(op|tbb)_|^commtask_omp_spawn_clauses$")


def declared():
    """Functions of the installed C headers."""
    names = set()
    for header in [*ROOT.glob("runtime/include/commtask/*.h"), *ROOT.glob("plugins/*/include/commtask/*.h")]:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
        names |= set(re.findall(r"(?:COMMTASK_\w*API|static inline)\s[^;{(]*?\b(commtask_\w+)\s*\(", text))
    return {name for name in names if not FOR_MACROS.search(name)}


def main():
    named = set(re.findall(r"`(commtask_\w+[^_`])`", (ROOT / "docs/api.md").read_text(encoding="utf-8")))
    functions = declared()
    for name in sorted(functions - named):
        print(f"docs/api.md: {name} has no row")
    for name in sorted(named - functions - {"commtask_omp", "commtask_tbb"}):
        print(f"docs/api.md: {name} is no function")
    if len(functions) < 50:
        print(f"only {len(functions)} functions were found in the headers")
    return 0 if functions == named - {"commtask_omp", "commtask_tbb"} and len(functions) >= 50 else 1


if __name__ == "__main__":
    sys.exit(main())
