# SPDX-License-Identifier: Apache-2.0
# The three ways to write a communication task, made from one another: COMM_TASK, the comm clause, and the detach clause
# by hand. It rewrites a program from macros into one of the others, and writes the list of docs/clause.md from the
# library's headers, so that neither a second copy of the program nor a list by hand can go wrong.
"""usage: forms.py rewrite clause|detach SOURCE > PROGRAM
       forms.py table [--write] PAGE.md HEADER...     checks, or writes, the list of the page
       forms.py program HEADER... > PROGRAM.c         every operation in the three ways, as code"""
import pathlib
import re
import sys

CALL = re.compile(r"COMM_TASK\(")
OPERATION = re.compile(r"commtask_op\s+commtask_op_(\w*[a-z])\(([^)]*)\)", re.S)
PARAMETER = re.compile(r"(?P<kind>.*?)(?P<name>\w+)(?P<array>(\[\])?)$")
BEGIN, END = "<!-- begin: every operation, by tests/clause/forms.py -->\n", "<!-- end: every operation -->\n"
DEPENDS = ("in", "out", "inout", "mutexinoutset", "inoutset")


def split_list(text):
    """The parts of a list between its outermost commas."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [" ".join(part.split()) for part in [*parts, text[start:]] if part.strip()]


def closing(text, opened):
    depth = 0
    for i in range(opened, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise SystemExit("a bracket is never closed")


def take_apart(word):
    """name and text between brackets of "name(text)"."""
    name, _, rest = word.partition("(")
    return name, rest[:-1] if rest else ""


def as_clauses(words, address):
    """What stands beside the operation: flag of the order, status, and clauses of OpenMP."""
    flag, status, beside = "NONE", None, []
    for word in words:
        name, inside = take_apart(word)
        if name in ("ordered", "unordered"):
            flag = name.upper()
        elif name == "status":
            status = inside
        elif name in DEPENDS:
            beside.append(f"depend({name} : {', '.join(address(each) for each in split_list(inside))})")
        else:
            beside.append(word)
    return flag, status, beside


def clause_form(operation, arguments, words, address):
    flag, status, beside = as_clauses(words, address)
    modifier = "" if flag == "NONE" else flag.lower() + ", "
    given = [] if status is None else [f"comm(status : {status})"]
    return " ".join(["#pragma omp task", *beside, f"comm({modifier}{operation} : {arguments})", *given])


def detach_form(operation, arguments, words, address):
    flag, status, beside = as_clauses(words, address)
    return [f"commtask_omp_task prepared = commtask_omp_prepare(commtask_op_{operation}({arguments}), "
            f"COMMTASK_{flag}, {status or 'NULL'});",
            "#pragma omp task untied detach(event) firstprivate(event, prepared) " + " ".join(beside),
            "commtask_omp_start_prepared(&prepared, event);"]


def rewrite(form, text):
    result, at = [], 0
    for match in CALL.finditer(text):
        end = closing(text, match.end() - 1)
        operation, *words = split_list(text[match.end():end])
        name, arguments = take_apart(operation)
        address = "({})[0]".format
        if form == "clause":
            lines = [clause_form(name, arguments, words, address)]
        else:
            lines = ["{", "omp_event_handle_t event = (omp_event_handle_t)0;",
                     *detach_form(name, arguments, words, address), "}"]
        result += [text[at:match.start()], "\n" + "\n".join(lines) + "\n"]
        # The clause leaves the ';' behind the macro: a directive may have one.
        at = end + 1 if form == "clause" else end + 2
    if not result:
        raise SystemExit("there is no COMM_TASK to rewrite")
    return "".join([*result, text[at:]])


def read_operations(headers):
    found = {}
    for header in headers:
        for name, inside in OPERATION.findall(pathlib.Path(header).read_text(encoding="utf-8")):
            found[name] = [PARAMETER.match(part).group("kind", "name", "array") for part in split_list(inside)]
    if not found:
        raise SystemExit("the headers have no operations")
    return dict(sorted(found.items()))


def depends_of(name, parameters):
    """What an operation reads and writes, as words of COMM_TASK."""
    words = []
    for kind, parameter, _ in parameters:
        kind = kind.replace(" ", "")
        if name in ("bcast", "sendrecv_replace") and parameter == "buffer" or (name, parameter) == ("mrecv", "message"):
            words.append(f"inout({parameter})")
        elif kind == "constvoid*":
            words.append(f"in({parameter})")
        elif kind == "void*" and parameter != "argument" or kind in ("MPI_Message*", "MPI_Comm*"):
            words.append(f"out({parameter})")
    return words


def row(name, parameters):
    arguments = ", ".join(parameter for _, parameter, _ in parameters)
    words = depends_of(name, parameters)
    address = "{}[0]".format
    clause = clause_form(name, arguments, words, address).replace(" : ", ": ")
    macro = "COMM_TASK({});".format(", ".join([f"{name}({arguments})", *words]))
    return clause, macro, detach_form(name, arguments, words, address)


def table(operations):
    """One clause a line, without the twins for arrays of int, which take the same arguments."""
    lines = [row(name, parameters)[0].removeprefix("#pragma omp task ")
             for name, parameters in operations.items() if not name.endswith("_int")]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def program(operations):
    text = "#include <commtask/omp.h>\n"
    for name, parameters in operations.items():
        clause, macro, detach = row(name, parameters)
        # An address of what is not void, so that it has a first element.
        typed = ", ".join((kind if parameter == "argument" else re.sub(r"\bvoid\s*\*\s*$", "double* ", kind)) +
                          parameter + array for kind, parameter, array in parameters)
        lines = [clause, ";", macro, "{", "omp_event_handle_t event = (omp_event_handle_t)0;", *detach, "}"]
        text += f"void test_{name}({typed});\nvoid test_{name}({typed}) {{\n" + "\n".join(lines) + "\n}\n"
    return text


def main(words):
    if words[:1] == ["rewrite"] and words[1:2] in (["clause"], ["detach"]) and len(words) == 3:
        print(rewrite(words[1], pathlib.Path(words[2]).read_text(encoding="utf-8")))
        return 0
    if words[:1] == ["program"] and len(words) > 1:
        print(program(read_operations(words[1:])))
        return 0
    if words[:1] == ["table"] and len(words) > 2:
        writes = "--write" in words
        page, *headers = [pathlib.Path(word) for word in words[1:] if word != "--write"]
        text = page.read_text(encoding="utf-8")
        before, found_begin, rest = text.partition(BEGIN)
        _, found_end, after = rest.partition(END)
        if not found_begin or not found_end:
            raise SystemExit(f"{page} has no place for the list")
        right = before + BEGIN + table(read_operations(headers)) + END + after
        if writes:
            page.write_text(right, encoding="utf-8")
        elif right != text:
            print(f"{page}: the list is not what the headers say; run with --write")
            return 1
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
