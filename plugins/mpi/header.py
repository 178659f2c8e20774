# SPDX-License-Identifier: Apache-2.0
# Reads the functions that mpi.h declares, and the class that functions.table gives to each. The
# header is read after preprocessing, so that the headers of MPICH and Open MPI look alike. A
# function without a class is an error: its calls would run concurrently with the worker,
# unexamined.
"""Reads mpi.h and functions.table; used by generate.py and by the test of the table."""
import collections
import pathlib
import re
import subprocess

Function = collections.namedtuple("Function", "name returns parameters")
Parameter = collections.namedtuple("Parameter", "type name suffix")

CLASSES = {
    "task": "posted to the worker; completes later (collective accesses of files: the MPI's own requests)",
    "blocking": "made nonblocking: posted, and waited for",
    "request": "waits, tests, starts, cancels and frees, for tasks and for the MPI's own requests",
    "worker": "called where the worker calls MPI, between its calls, after all that was posted is issued",
    "lane": "has no nonblocking twin: like `worker`, but does not stop other threads where the MPI lets threads in",
    "own": "done by the interposer itself: start and end, error handlers, reductions, attributes, new processes",
    "local": "safe where it is called: not touched at all",
}

DECLARATION = re.compile(r"([\w\s*]+?)\b(MPIX?_[A-Z]\w*)\s*\(([^;{}]*)\)\s*$", re.S)


def strip_attributes(text):
    """Without __attribute__((...)), whose parentheses may be nested."""
    result = []
    position = 0
    for match in re.finditer(r"__attribute__\s*\(", text):
        if match.start() < position:
            continue
        result.append(text[position : match.start()])
        depth = 1
        position = match.end()
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
    return "".join(result) + text[position:]


def parse_parameter(text):
    """`const int counts[]` in parts; the name may be missing."""
    text = " ".join(text.split())
    match = re.fullmatch(r"(.*?[\s*])(\w+)\s*((?:\[[^]]*\]\s*)*)", text)
    if match is None or match.group(2) in ("int", "void", "char"):
        return Parameter(text, "", "")
    return Parameter(match.group(1).strip(), match.group(2), match.group(3).replace(" ", ""))


def parse(preprocessed):
    """The functions that a preprocessed header declares, by name."""
    functions = {}
    for statement in strip_attributes(preprocessed).split(";"):
        statement = statement.rsplit("}", 1)[-1].strip()
        match = DECLARATION.match(statement)
        if match is None or "typedef" in statement:
            continue
        returns = " ".join(match.group(1).replace("extern", "").split())
        parameters = match.group(3).strip()
        parts = [] if parameters in ("", "void") else [parse_parameter(part) for part in parameters.split(",")]
        functions[match.group(2)] = Function(match.group(2), returns, parts)
    return functions


def read_header(preprocessor):
    """The functions of the mpi.h that the command `preprocessor` (a list of words) finds."""
    done = subprocess.run(
        [*preprocessor, "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-E", "-P", "-x", "c", "-"],
        input="#include <mpi.h>\n", capture_output=True, text=True, check=True)
    return parse(done.stdout)


def read_table(path):
    """Class by name of function: lines `class: name name ...`, indented lines continue."""
    table = {}
    current = None
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        line = line.split("#")[0]
        if ":" in line:
            current, line = line.split(":", 1)
            if current not in CLASSES:
                raise ValueError(f"{path}:{number}: no class is called '{current}'")
        for name in line.split():
            if name in table:
                raise ValueError(f"{path}:{number}: {name} is in two classes")
            table[name] = current
    return table


def class_of(name, table):
    """The class of a function; the form for large counts has that of the function, unless it is listed itself."""
    if name in table:
        return table[name]
    return table.get(name[:-2]) if name.endswith("_c") else None


def classify(functions, table):
    """Class by name for all functions of the header. Raises ValueError that names those in no class."""
    classes = {name: class_of(name, table) for name in functions}
    missing = sorted(name for name, found in classes.items() if found is None)
    if missing:
        raise ValueError("mpi.h declares functions that functions.table gives no class: " + " ".join(missing))
    return classes
