# SPDX-License-Identifier: Apache-2.0
# One case of wrong.cases, or all, under one clang: the compiler must fail with exactly one error, of the expected words,
# at the expected line and column of the user's file, and must not name anything that the plugin generates.
"""usage: wrong_case.py --cases FILE --case NAME|all --language c|cpp --work FOLDER -- compiler words"""
import argparse
import pathlib
import re
import subprocess
import sys

MARK = re.compile(r"^( *)\^ error: (.*)$")
MESSAGE = re.compile(r"^(?P<file>[^:\s]+):(?P<line>\d+):(?P<column>\d+): (?P<level>fatal error|error|warning|note): (?P<text>.*)$")
BEFORE = """#include <commtask/omp.h>
void test(MPI_Comm world, double *a, int n, omp_event_handle_t event);
void test(MPI_Comm world, double *a, int n, omp_event_handle_t event) {
  const double fixed[4] = {0};
  commtask_status st = COMMTASK_STATUS_INIT;
  (void)fixed; (void)st; (void)n; (void)a; (void)world; (void)event;
"""
GENERATED = ("commtask_event_", "commtask_prepared_", "commtask_omp_prepare", "commtask_omp_start_prepared")


def read_case(file, name, language):
    lines = None
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            if lines is not None:
                break
            words = line[3:].split()
            if words[0] == name and language in words[1:]:
                lines, options = [], words[1:]
        elif lines is not None:
            lines.append(line)
    if lines is None:
        raise SystemExit(f"{file}: no case {name} for {language}")
    return lines, options


def wrong_things(options, name, shows):
    """What is not as it should be with one case."""
    lines, words = read_case(pathlib.Path(options.cases), name, options.language)
    flags = [flag for word in words if word.startswith("flags=") for flag in word[6:].split(";")]
    notes = [word[6:].replace("_", " ") for word in words if word.startswith("notes=")]

    text = "" if "whole" in words else BEFORE
    expected = None
    for line in lines:
        mark = MARK.match(line)
        if mark:
            expected = (text.count("\n"), len(mark.group(1)) + 1, mark.group(2))
        else:
            text += line + "\n"
    if expected is None:
        return ["the case expects nothing"]
    if "whole" not in words:
        text += "}\n"

    work = pathlib.Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    source = work / f"{name}.{options.language}"
    source.write_text(text, encoding="utf-8")
    command = [*options.compiler, "-Wall", "-Wextra", "-fsyntax-only", *flags, source.name]
    if "noomp" not in words:
        command.insert(len(options.compiler), "-fopenmp")
    done = subprocess.run(command, cwd=work, text=True, capture_output=True, check=False, timeout=60)
    if shows:
        print(done.stdout + done.stderr)

    messages = [match.groupdict() for match in map(MESSAGE.match, done.stderr.splitlines()) if match]
    errors = [message for message in messages if "error" in message["level"]]
    wrong = []
    if done.returncode == 0:
        wrong.append("it compiles")
    if len(errors) != 1:
        wrong.append(f"{len(errors)} errors instead of one")
    for message in messages:
        if message["level"] == "warning":
            wrong.append(f"a warning beside the error: {message['text']}")
        if any(name in message["text"] for name in GENERATED):
            wrong.append(f"a message about generated code: {message['text']}")
    for error in errors[:1]:
        line, column, pattern = expected
        where = (error["file"], int(error["line"]), int(error["column"]))
        if where != (source.name, line, column):
            wrong.append(f"the error is at {where}, expected at line {line}, column {column}")
        if not re.match(pattern, error["text"]):
            wrong.append(f"the error says '{error['text']}', expected '{pattern}'")
    plain = [re.sub(r"_", " ", message["text"]) for message in messages if message["level"] == "note"]
    for note in notes:
        if not any(note in text for text in plain):
            wrong.append(f"no note '{note}'")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("cases", "case", "language", "work"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()
    names = [options.case]
    if options.case == "all":
        heads = [line.split()[1:] for line in pathlib.Path(options.cases).read_text(encoding="utf-8").splitlines()
                 if line.startswith("== ")]
        names = [words[0] for words in heads if options.language in words[1:]]
    n_wrong = 0
    for name in names:
        wrong = wrong_things(options, name, len(names) == 1)
        n_wrong += len(wrong)
        for line in wrong:
            print(f"{name}: wrong: {line}")
    print(f"{len(names)} cases, {n_wrong} wrong")
    return 1 if n_wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
