#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A manual page and the program's --help know the same options, and the page is one that man can set. Options in --help are
# words that begin with two hyphens at the start of a line or after a bracket. A script that hands all other words on, and --help
# with them, is asked by its text: for the options and variables that have commtask in their name.
"""Usage: man_test.py PAGE COMMAND... | --of-script PAGE SCRIPT"""
import pathlib
import re
import shutil
import subprocess
import sys

IS_SCRIPT = sys.argv[1] == "--of-script"
PAGE, COMMAND = pathlib.Path(sys.argv[1 + IS_SCRIPT]), sys.argv[2 + IS_SCRIPT:]


def options(text):
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)) - {"--help"}


def own_words(text):
    return set(re.findall(r"--commtask-[a-z-]+|\b[A-Z]+_OF_COMMTASK\b", text))


def main():
    page = PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    if IS_SCRIPT:
        in_help, in_page = own_words(pathlib.Path(COMMAND[0]).read_text(encoding="utf-8")), own_words(page)
    else:
        done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, timeout=30, check=True)
        in_help, in_page = options(done.stdout), options(page)
    if in_help != in_page:
        print(f"{PAGE.name}: only in --help: {sorted(in_help - in_page)}; only in the page: {sorted(in_page - in_help)}")
        return 1
    groff = shutil.which("groff")
    if groff:
        checked = subprocess.run([groff, "-man", "-Tutf8", "-ww", str(PAGE)], capture_output=True, text=True, timeout=30)
        if checked.returncode != 0 or checked.stderr:
            print(checked.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
