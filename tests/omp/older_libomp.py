# SPDX-License-Identifier: Apache-2.0
# Makes a libomp that looks older: a copy of the installed one in which the name of one function, of those that releases since LLVM
# 19 have, is spelt differently. All else works, so that a test can see how the library answers to it without an old runtime at hand.
"""usage: older_libomp.py LIBOMP COPY"""
import pathlib
import sys

NAME = b"\0__kmpc_dispatch_deinit\0"


def main(libomp, copy):
    content = pathlib.Path(libomp).read_bytes()
    if content.count(NAME) < 1:
        print(f"{libomp} has no {NAME.strip(bytes(1)).decode()}: it is old itself")
        return 77
    copy = pathlib.Path(copy)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(content.replace(NAME, NAME.replace(b"deinit", b"absent")))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
