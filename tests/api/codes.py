# SPDX-License-Identifier: Apache-2.0
# Every code and every state that types.h promises is one that some function can give: a caller who handles a code that never
# comes has been lied to; who only compares with it, gives it to nobody. And each code has a sentence of its own and a row in docs/errors.md.
"""usage: codes.py SOURCE_FOLDER"""
import pathlib
import re
import sys


def main(folder):
    root = pathlib.Path(folder)
    types = (root / "runtime/include/commtask/types.h").read_text(encoding="utf-8")
    codes = re.findall(r"^    (COMMTASK_\w+) = -?\d+", types.partition("typedef enum commtask_code")[2].partition("}")[0], re.M)
    states = re.findall(r"^    (COMMTASK_STATE_\w+) = \d+", types, re.M)
    sources = {path: path.read_text(encoding="utf-8") for place in ("runtime/src", "plugins")
               for path in (root / place).rglob("*.[ch]pp")}
    sentences = next(text for path, text in sources.items() if path.name == "last_error.cpp")
    given = "\n".join(text for path, text in sources.items() if path.name != "last_error.cpp")
    page = (root / "docs/errors.md").read_text(encoding="utf-8")
    wrong = [f"no function gives {name}" for name in codes + states
             if name not in ("COMMTASK_OK", "COMMTASK_STATE_OPEN") and not re.search(rf"(?<!== )(?<!!= )(?<!case )\b{name}\b", given)]
    wrong += [f"commtask_error_string does not know {name}" for name in codes if f"case {name}:" not in sentences]
    wrong += [f"docs/errors.md has no row for {name}" for name in codes if name != "COMMTASK_OK" and f"| `{name}` |" not in page]
    print(*wrong, f"{len(codes)} codes, {len(states)} states", sep="\n")
    return 1 if wrong or len(codes) < 15 or len(states) < 4 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
