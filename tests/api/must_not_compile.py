# SPDX-License-Identifier: Apache-2.0
# Compiles one program twice: as it is, where it must pass, and with -DWRONG, where the compiler must refuse it for the
# reason that the program names. Without the first half a misspelt header would make every such test pass.
"""usage: must_not_compile.py PROGRAM -- COMPILER WORDS..."""
import re
import shutil
import subprocess
import sys


def main(arguments):
    program, separator, *compile_words = arguments
    assert separator == "--", __doc__
    if shutil.which(compile_words[0]) is None:
        print(f"{compile_words[0]} is not installed")
        return 77
    with open(program, encoding="utf-8") as file:
        expected = re.search(r"^(?://|!) expect: (.+)$", file.read(), re.M)
    if expected is None:
        print(f"{program}: the line '// expect: <regular expression>' is missing")
        return 1

    right = subprocess.run([*compile_words, program], text=True, capture_output=True, check=False)
    if right.returncode != 0:
        print(f"the right half does not compile:\n{right.stderr}")
        return 1
    wrong = subprocess.run([*compile_words, "-DWRONG", program], text=True, capture_output=True, check=False)
    print(wrong.stderr, end="")
    if wrong.returncode == 0:
        print("the wrong half compiles")
        return 1
    if not re.search(expected[1], wrong.stderr):
        print(f"refused, but not with '{expected[1]}'")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
