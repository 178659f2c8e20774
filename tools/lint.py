#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The project rules that a script can check, so that reviewers need not. Each rule is one function
# from a file to the places that break the rule; the rules for C and C++ are in lint_cpp.py. A line
# that must break a rule says so, on the line itself or on the line before:
#     lint-allow(rule): the reason
# Rules that need judgement are left to the readers.
"""usage: tools/lint.py [--fix] [--no-format] [--list] [FILE...]   (default: every tracked or untracked file that git does not ignore)"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

import lint_cpp
import lint_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_LINES = 500
WHY_LINES = range(1, 7)

CPP = (".c", ".h", ".cpp", ".hpp", ".cc", ".h.in")
HASH = (".py", ".sh", ".cmake", ".cmake.in", ".pc.in", ".supp", ".yml", ".yaml", ".map")
HASH_NAMES = ("CMakeLists.txt", ".clang-format", ".clang-tidy", "Doxyfile")
#: Lists, which are as long as their contents.
WRITTEN_BY_PROGRAMS = ("docs/performance.md",)
#: Pages that describe the day on which they were written.
DATED = ("docs/adr/", "CHANGELOG.md")
ALLOW = re.compile(r"lint-allow\(([\w-]+)\): \w")


class SourceFile:
    """A file under the rules: its path from the root, its text, and what kind of file it is."""

    def __init__(self, path, text):
        self.path = str(path)
        self.text = text
        self.lines = text.split("\n")
        if self.lines and self.lines[-1] == "":
            self.lines.pop()
        self.name = pathlib.PurePosixPath(self.path).name
        self.is_cpp = self.name.endswith(CPP)
        self.is_script = bool(self.lines) and self.lines[0].startswith("#!")
        self.is_hash = self.name.endswith(HASH) or self.name in HASH_NAMES or self.is_script
        self.is_map = self.name.endswith(".map")
        self.is_code = self.is_cpp or self.is_hash
        self.is_markdown = self.name.endswith(".md")

    def allows(self, rule, line):
        """Whether line (from 1) or the one before it carries lint-allow for this rule."""
        for number in (line, line - 1):
            if 1 <= number <= len(self.lines) and rule in ALLOW.findall(self.lines[number - 1]):
                return True
        return False


def check_spdx(file):
    """Code begins with the SPDX line (after the interpreter line, if there is one)."""
    if not file.is_code:
        return
    first = 1 if file.is_script else 0
    if len(file.lines) <= first or "SPDX-License-Identifier: Apache-2.0" not in file.lines[first]:
        yield first + 1, "the SPDX line is missing: 'SPDX-License-Identifier: Apache-2.0'"


def check_why(file):
    """After the SPDX line a paragraph of up to six comment lines says why the file exists; a header does so for its source, too."""
    if not file.is_code:
        return
    stem = re.escape(pathlib.PurePath(file.path).stem)
    if file.path.endswith(".cpp") and len(file.lines) > 1 and re.match(rf'#include "([\w/]+/)?{stem}\.hpp"', file.lines[1]):
        return
    marks = ("//", "*", "/*") if file.is_cpp else ("#", "*", "/*")
    after = 2 if file.is_script else 1
    count = 0
    for line in file.lines[after:]:
        text = line.strip()
        if not text.startswith(marks) or text.startswith(("#include", "#pragma", "#ifndef", "#define")):
            break
        if text.strip("/*# !<"):
            count += 1
        elif count:
            break  # a blank comment line ends the first paragraph; the rest is free
    if count not in WHY_LINES:
        yield after + 1, (f"{count} comment lines say why this file exists and what it trades off; "
                          f"{WHY_LINES[0]} to {WHY_LINES[-1]} are asked for, right after the SPDX line")


def check_length(file):
    """One idea a file: at most 500 lines."""
    if (file.is_code or file.is_markdown) and len(file.lines) > MAX_LINES and file.path not in WRITTEN_BY_PROGRAMS:
        yield MAX_LINES + 1, f"{len(file.lines)} lines; at most {MAX_LINES}: split it by idea"


def check_unfinished(file):
    """Nothing admits that it is unfinished."""
    word = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK")) + r")\b")
    for number, line in enumerate(file.lines, 1):
        if word.search(line):
            yield number, f"'{word.search(line).group()}': finish it, or write down what it cannot do"


def check_machine_paths(file):
    """No path of one developer's machine."""
    path = re.compile(r"(?<![\w.}\])/-])/(work|home|root|tmp|mnt|Users|scratch)/[\w.]")
    for number, line in enumerate(file.lines, 1):
        if path.search(line):
            yield number, "a path of one machine; use a path relative to the project, or a temporary folder"


def check_whitespace(file):
    """No trailing blanks, no tabs, one newline at the end."""
    for number, line in enumerate(file.lines, 1):
        if line != line.rstrip() and not file.is_markdown:
            yield number, "blanks at the end of the line"
        if "\t" in line:
            yield number, "a tab"
    if file.text and (not file.text.endswith("\n") or file.text.endswith("\n\n")):
        yield len(file.lines), "the file must end with exactly one newline"


def check_names(file):
    """File names are snake_case (documents and decision records may use hyphens and capitals)."""
    if file.is_code and not file.is_script and file.name not in HASH_NAMES:
        if not re.fullmatch(r"[a-z0-9_]+(-[a-z]+)?(\.[a-z]+)+|commtask[\w-]*(\.\w+)+", file.name):
            yield 1, "a file name in snake_case is asked for"


def check_one_mpi(file):
    """Documents start and compile programs by commands that mean one MPI."""
    # Before an option or a source file, in a page or, as roff writes it, in a manual page.
    command = re.compile(r"""(?<![\w/.])mpi(exec|run|cc|cxx|f90|fort)[ "]+(\\?-|[\w/]+\.(c|cc|cpp|f90)\b)""")
    if file.is_markdown or file.path.startswith(("docs/", "examples/", "tools/report/")):
        for number, line in enumerate(file.lines, 1):
            found = command.search(line)
            if found:
                name = f"mpi{found[1]}"
                yield number, f"{name} is whichever MPI was installed last: {name}.mpich, {name}.openmpi or a path"


def check_figures(file):
    """Decimals with a unit of time or rate, and ranges in brackets, stand where bench/performance.py writes them. Whole numbers, ratios
    and shares are not seen: settings and limits look the same."""
    if not file.is_markdown or file.path in WRITTEN_BY_PROGRAMS or file.path.startswith(DATED):
        return
    # The text that performance.py writes and a test compares with the results, and code and
    # drawings.
    left_out = re.compile(r"<!-- results: written by .*?<!-- end of the results -->|^ *```.*?^ *```", re.S | re.M)
    text = left_out.sub(lambda found: "\n" * found[0].count("\n"), file.text)
    figure = re.compile(r"\[-?\d[\d.e+]*\.\.-?\d[\d.e+]*\]|(?<![\d.])\d+\.\d+ (?:[nuµm]?s|(?:micro|milli|nano)?seconds|[MG]B/s|GF/s|million|thousand)\b")
    for number, line in enumerate(text.split("\n"), 1):
        for found in figure.finditer(line):
            yield number, f"'{found[0]}' looks measured: give it a row in bench/performance_rows.py, or link to one"


RULES = {
    "spdx": check_spdx,
    "why": check_why,
    "length": check_length,
    "unfinished": check_unfinished,
    "machine-path": check_machine_paths,
    "whitespace": check_whitespace,
    "file-name": check_names,
    "one-mpi": check_one_mpi,
    "figure": check_figures,
    **lint_cpp.RULES,
    **lint_words.RULES,
}


def check(file):
    """All places where file breaks a rule, as (path, line, rule, message)."""
    found = []
    for rule, function in RULES.items():
        for line, message in function(file):
            if not file.allows(rule, line):
                found.append((file.path, line, rule, message))
    return found


def check_format(paths):
    """C and C++ are laid out as clang-format 19 would."""
    tool = shutil.which("clang-format-19")
    if tool is None:
        return [("tools/lint.py", 1, "format", "clang-format-19 is not installed (or pass --no-format)")]
    if not paths:
        return []
    done = subprocess.run([tool, "--dry-run", "--Werror", "--ferror-limit=1", *paths], cwd=ROOT, text=True,
                          capture_output=True, check=False)
    found = []
    for match in re.finditer(r"^(\S+?):(\d+):\d+: error: code should be clang-formatted", done.stderr, re.M):
        found.append((match[1], int(match[2]), "format", f"not as clang-format-19 would lay it out: run {tool} -i"))
    if done.returncode != 0 and not found:
        found.append(("tools/lint.py", 1, "format", f"clang-format-19 failed: {done.stderr.strip()}"))
    return found


def files_of_project():
    """What git tracks or would track; without a repository, all files but those of builds."""
    if not (ROOT / ".git").exists():
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        return sorted(str(path) for path in found if path.parts[0] != "build" and "__pycache__" not in path.parts)
    done = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                          capture_output=True, check=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-format", action="store_true", help="do not run clang-format-19")
    parser.add_argument("--fix", action="store_true", help="first format the files with clang-format-19")
    parser.add_argument("--list", action="store_true", help="print the rules and exit")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args(arguments)
    if options.list:
        for rule, function in RULES.items():
            print(f"{rule:14} {function.__doc__}")
        print(f"{'format':14} {check_format.__doc__}")
        return 0

    names = [str(pathlib.Path(name).resolve().relative_to(ROOT)) for name in options.files] or files_of_project()
    found = []
    cpp_names = []
    for name in names:
        if not (ROOT / name).is_file():
            continue
        try:
            file = SourceFile(name, (ROOT / name).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            continue  # pictures and other binary files have no rules
        found += check(file)
        if file.is_cpp and not name.endswith(".in"):
            cpp_names.append(name)
    if options.fix and cpp_names:
        subprocess.run(["clang-format-19", "-i", *cpp_names], cwd=ROOT, check=True)
    if not options.no_format:
        found += check_format(cpp_names)
    for path, line, rule, message in sorted(found):
        print(f"{path}:{line}: {rule}: {message}")
    print(f"{len(names)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
