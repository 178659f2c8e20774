# SPDX-License-Identifier: Apache-2.0
# Compares what a shared library exports with what its C headers declare: a function that is declared and not exported
# fails at somebody else's link, one that is exported and not declared becomes a promise that nobody meant to give. A value
# that crosses the border can never grow: operations and prepared tasks go by pointer.
"""usage: symbols.py LIBRARY INCLUDE_FOLDER..."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import lint_cpp  # noqa: E402


# libomp calls it, and its own header declares it.
DECLARED_ELSEWHERE = {"ompt_start_tool"}


def main(library, *folders):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], text=True, capture_output=True, check=True).stdout
    lines = [line.split()[-2:] for line in listing.splitlines()]
    exported = {name.split("@")[0] for kind, name in lines if kind in "TtWwVvBbDdRri"}
    unversioned = [name for kind, name in lines if kind in "TWi" and "@" not in name]
    declared = set()
    by_value = set()
    for header in sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*.h")):
        text = header.read_text(encoding="utf-8")
        code = lint_cpp.blank_comments(text)
        for line, name, _, _ in lint_cpp.declarations(text):
            statement = " ".join(code.split("\n")[line - 1:line + 2])
            if name is not lint_cpp.UNREADABLE and not re.search(rf"\binline\b[^;{{}}]*\b{name}\b", statement):
                declared.add(name)
                whole = code.split("\n", line - 1)[-1].split(";")[0]
                if re.search(r"[(,]\s*commtask_(op|omp_task)\s+\w+\s*[,)]|\bcommtask_(op|omp_task)\s+commtask_", whole):
                    by_value.add(name)
    wrong = 0
    for what, names in (("declared but not exported", declared - exported),
                        ("exported but not declared", exported - declared - DECLARED_ELSEWHERE),
                        ("exported without a version", set(unversioned)), ("takes or gives a value", by_value)):
        for name in sorted(names):
            print(f"{what}: {name}")
            wrong += 1
    print(f"{len(declared)} declared, {len(exported)} exported")
    return 1 if wrong or not declared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
