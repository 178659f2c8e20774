# SPDX-License-Identifier: Apache-2.0
# The C, C++ and Fortran blocks of a page are parts of programs that the tests run: a block under "<!-- from FILE [part] -->" in the
# page must be, but for indentation, what stands between the two "// [part]" lines of that file (in C "/* [part] */", in Fortran "! [part]"). A C++ block without such
# a line fails, so that nobody writes code into the page that no compiler has seen. With --write the page is brought up
# to date instead.
"""usage: check_snippets.py [--write] PAGE.md"""
import pathlib
import re
import sys
import textwrap

BLOCK = re.compile(r"(<!-- from (\S+) \[(\w+)\] -->\n)?```(cpp|c|fortran)\n(.*?)```\n", re.S)


def part_of(file, part):
    pieces = re.split(rf"^[ ]*(?:// \[{part}\]|/\* \[{part}\] \*/|! \[{part}\])\n", file.read_text(encoding="utf-8"), flags=re.M)
    if len(pieces) != 3:
        return None
    # Pragmas stand at the margin whatever is around them.
    lines = pieces[1].split("\n")
    code = iter(textwrap.dedent("\n".join(line for line in lines if not line.startswith("#"))).split("\n"))
    return "\n".join(line if line.startswith("#") else next(code) for line in lines).strip("\n") + "\n"


def main(arguments):
    writes = "--write" in arguments
    page = pathlib.Path([word for word in arguments if word != "--write"][0])
    text = page.read_text(encoding="utf-8")
    found = []
    n_blocks = 0

    def check(match):
        nonlocal n_blocks
        n_blocks += 1
        line = text.count("\n", 0, match.start()) + 1
        marker, name, part, language, shown = match.groups()
        if marker is None:
            found.append(f"{page.name}:{line}: a block without '<!-- from FILE [part] -->' above it")
            return match.group()
        right = part_of(page.parent / name, part)
        if right is None:
            found.append(f"{page.name}:{line}: {name} has no part between two lines '// [{part}]'")
            return match.group()
        if shown != right and not writes:
            found.append(f"{page.name}:{line}: the block is not what {name} has as [{part}]; run with --write")
        return f"{marker}```{language}\n{right}```\n"

    new_text = BLOCK.sub(check, text)
    if writes and new_text != text:
        page.write_text(new_text, encoding="utf-8")
    print(*found, f"{n_blocks} blocks, {len(found)} findings", sep="\n")
    return 1 if found or n_blocks == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
