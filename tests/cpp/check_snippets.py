# SPDX-License-Identifier: Apache-2.0
# The C, C++, Fortran and CMake blocks of all pages are parts of what the tests build and run: a block under "<!-- from FILE [part] -->" in
# the page must be, but for indentation, what stands between the two "// [part]" lines of that file (in C "/* [part] */", in Fortran
# "! [part]", in CMake "# [part]"). A block without such a line fails, so that nobody writes code into a page that no compiler has
# seen; nor does one without a language: what is no code is text. A part may lie inside another one. With --write pages are brought up to date instead.
"""usage: check_snippets.py [--write] PAGE.md|FOLDER..."""
import pathlib
import re
import sys
import textwrap

BLOCK = re.compile(r"(<!-- from (\S+) \[(\w+)\] -->\n)?```(cpp|c|fortran|cmake)\n(.*?)```\n", re.S)

ANY_MARK = re.compile(r"[ ]*(?:// \[\w+\]|/\* \[\w+\] \*/|! \[\w+\]|# \[\w+\])")
OTHER_NAMES = re.compile(r"^[ ]*```[ ]*(c\+\+|cxx|cc|C|h|hpp|f90|f08|F90|Fortran|CMake)$", re.M)


def part_of(file, part):
    pieces = re.split(rf"^[ ]*(?:// \[{part}\]|/\* \[{part}\] \*/|! \[{part}\]|# \[{part}\])\n", file.read_text(encoding="utf-8"), flags=re.M)
    if len(pieces) != 3:
        return None
    # Pragmas stand at the margin whatever is around them.
    lines = [line for line in pieces[1].split("\n") if not ANY_MARK.fullmatch(line)]
    code = iter(textwrap.dedent("\n".join(line for line in lines if not line.startswith("#"))).split("\n"))
    return "\n".join(line if line.startswith("#") else next(code) for line in lines).strip("\n") + "\n"


def pages_of(words):
    """Of a folder all pages but those of builds."""
    for path in map(pathlib.Path, words):
        if path.is_dir():
            yield from (page for page in sorted(path.rglob("*.md")) if not page.relative_to(path).parts[0].startswith(("build", ".")))
        else:
            yield path


def check_page(page, writes):
    """(what is wrong, number of blocks)"""
    text = page.read_text(encoding="utf-8")
    found = [f"{page}:{text.count(chr(10), 0, match.start()) + 1}: the block's language is called {match[1]}; write cpp, c, fortran or cmake"
             for match in OTHER_NAMES.finditer(text)]
    fences = [match for match in re.finditer(r"^[ ]*```(.*)$", text, re.M)]
    found += [f"{page}:{text.count(chr(10), 0, match.start()) + 1}: the block has no language; what is no code is text"
              for match in fences[::2] if not match[1].strip()]
    n_blocks = 0

    def check(match):
        nonlocal n_blocks
        n_blocks += 1
        line = text.count("\n", 0, match.start()) + 1
        marker, name, part, language, shown = match.groups()
        if marker is None:
            found.append(f"{page}:{line}: a block without '<!-- from FILE [part] -->' above it")
            return match.group()
        right = part_of(page.parent / name, part)
        if right is None:
            found.append(f"{page}:{line}: {name} has no part between two lines '// [{part}]'")
            return match.group()
        if shown != right and not writes:
            found.append(f"{page}:{line}: the block is not what {name} has as [{part}]; run with --write")
        return f"{marker}```{language}\n{right}```\n"

    new_text = BLOCK.sub(check, text)
    if writes and new_text != text:
        page.write_text(new_text, encoding="utf-8")
    return found, n_blocks


def main(arguments):
    writes = "--write" in arguments
    found, n_blocks = [], 0
    for page in pages_of(word for word in arguments if word != "--write"):
        wrong, n = check_page(page, writes)
        found += wrong
        n_blocks += n
    print(*found, f"{n_blocks} blocks, {len(found)} findings", sep="\n")
    return 1 if found or n_blocks == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
