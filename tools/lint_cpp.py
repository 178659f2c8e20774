# SPDX-License-Identifier: Apache-2.0
# The project rules for C and C++: the files that may call MPI, the folders that may include each
# other, and how public functions are named and documented. The parser below knows comments,
# strings, preprocessor lines and braces, and no more of the language. That suffices for headers in
# this project's style; a declaration that it cannot read is reported and not skipped.
"""Rules of tools/lint.py for C and C++ files."""
import re

# Names after MPI_ that are types, so that MPI_Count(5) is not taken for a call.
MPI_TYPES = ("Aint|Comm|Count|Datatype|Errhandler|File|Fint|Group|Info|Message|Offset|Op|Request|Session|Status|Win"
             "|T_enum|T_pvar_handle|T_cvar_handle")
MPI_CALL = re.compile(rf"\bP?MPIX?_(?!(?:{MPI_TYPES})\b)[A-Z][a-z]\w*\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
TASKING_HEADER = re.compile(r"^(omp(-tools)?\.h|tbb/.*|oneapi/.*)$")
PLUGINS = ("omp", "tbb", "mpi")
# Files that start operations or check their arguments.
KNOW_KINDS = tuple(f"runtime/src/{name}" for name in ("api/plan_start.hpp", "mpi/arguments.hpp", "mpi/arguments.cpp", "mpi/collectives.cpp",
                                                      "mpi/epochs.cpp", "mpi/files.cpp", "mpi/messages.cpp", "mpi/one_sided.cpp",
                                                      "mpi/persistent.cpp"))
# The folders of runtime/src, from the lowest level up, and the folders that each may include
# besides itself.
ROOMS = {"base": (), "config": ("base",), "node": ("base", "config"), "core": ("base",), "mpi": ("base", "core"),
         "doorbell": ("base", "core", "mpi", "node"), "report": ("base", "config", "core"),
         "api": ("base", "config", "node", "core", "mpi", "doorbell", "report")}
SILENT_ROOMS = ("base", "config", "core")
# An enumerator on either side of a comparison, or the kinds of two operations.
COMPARED_KIND = re.compile(r"(?:(?<= )(?:==|!=|<=?|>=?)|\bcase) COMMTASK_OP_(?!END)\w+|\bCOMMTASK_OP_(?!END)\w+ (?:[=!]=|[<>]=?)(?= )"
                           r"|(?:\.|->)kind [=!]= \w+(?:\.|->)kind\b")
OPERATION_BY_VALUE = re.compile(r"[(,]\s*(?:const\s+)?commtask_op(?:\s+const)?(?:\s+\w+)?\s*[,)]")
# The allowed beginnings of a public header's macros.
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)")
PUBLIC_MACRO = re.compile(r"^(COMMTASK_|COMM_)")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|clock_nanosleep)\s*\(|(?<![\w.>:])sleep\s*\(")
ENDING = re.compile(r"(?<![\w.>])(?:std::)?(exit|_exit|quick_exit|abort|terminate|MPI_Abort)\s*\(")
# Orders that synchronize with another place; relaxed does not.
PAIRED_ORDER = re.compile(r"\bmemory_order(?:_|::)(?:acquire|release|acq_rel|consume)\b")
# Words before a declaration that have parentheses of their own.
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]|\bCOMMTASK_(?:NONNULL|DEPRECATED|PRINTF)\s*\([^()]*\)|"
                       r"\bnoexcept\b|\b_Alignas\s*\([^()]*\)|\bCOMMTASK_[A-Z_]+\b(?!\s*\()", re.S)


def blank_comments(text, strings=True):
    """text with comments (and strings) replaced by blanks of the same shape, so that lines keep their numbers."""
    def blank(match):
        word = match.group()
        if word[0] in "\"'":
            return word[0] + " " * (len(word) - 2) + word[-1] if strings else word
        return re.sub(r"[^\n]", " ", word)
    # The digit separator of C++ (1'000) is no character literal.
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', blank, text,
                  flags=re.S)


# The result of declarations() for a statement that it cannot read.
UNREADABLE = "?"


def is_public_header(path):
    return bool(re.match(r"(runtime|plugins/\w+)/include/commtask/", path))


def room_of(path):
    """The room of runtime/src that a file is in, or None."""
    inside = re.match(r"runtime/src/(?:(\w+)/)?", path)
    return inside and (inside.group(1) or "")


def check_rooms(file):
    """Arrows between the rooms of runtime/src go one way; headers are named with their room."""
    room = room_of(file.path)
    if room is None or not file.is_cpp:
        return
    if room not in ROOMS:
        yield 1, f"belongs into one of the rooms {', '.join(ROOMS)} of runtime/src"
        return
    for number, line in enumerate(file.lines, 1):
        include = re.match(r'^\s*#\s*include\s*"(?:(\w+)/)?', line)
        if include and include.group(1) not in (room, *ROOMS[room]):
            allowed = ", ".join((room, *ROOMS[room]))
            yield number, f"runtime/src/{room} includes from {allowed} only, with the room's name in front"


def check_mpi_calls(file):
    """The rooms from which the core is built do not call MPI."""
    if room_of(file.path) not in SILENT_ROOMS:
        return
    for number, line in enumerate(blank_comments(file.text).split("\n"), 1):
        call = MPI_CALL.search(line)
        if call:
            yield number, f"{call.group().rstrip('( ')} is called here; in runtime/src the rooms {', '.join(SILENT_ROOMS)} call no MPI"


def check_includes(file):
    """Arrows go down only: plugins never include each other, the runtime includes no tasking runtime and no plugin."""
    if not file.is_cpp:
        return
    plugin = re.match(r"plugins/(\w+)/", file.path)
    in_runtime = file.path.startswith("runtime/")
    for number, line in enumerate(file.lines, 1):
        include = INCLUDE.match(line)
        if not include:
            continue
        header = include.group(1)
        named = next((p for p in PLUGINS if re.search(rf"(^|/)commtask/{p}(\.|_|/)|(^|/)plugins/{p}/|\.\./{p}/", header)),
                     None)
        if in_runtime and TASKING_HEADER.match(header):
            yield number, f"the runtime must not include {header}: it never learns who called it"
        if in_runtime and named:
            yield number, f"the runtime must not include the plugin header {header}"
        if plugin and named and named != plugin.group(1):
            yield number, f"plugins/{plugin.group(1)} must not include another plugin's {header}"
        if (in_runtime or plugin) and re.search(r"(^|/)(apps|bench|tests)/", header):
            yield number, f"{header}: arrows go down only"


def check_kinds(file):
    """Only what starts an operation, checks its arguments or keeps epochs tells kinds apart by name; others ask operation_traits."""
    if not file.is_cpp or not re.match(r"(runtime|plugins|apps)/", file.path) or file.path in KNOW_KINDS:
        return
    for number, line in enumerate(blank_comments(file.text).split("\n"), 1):
        compared = COMPARED_KIND.search(line)
        if compared:
            yield number, f"'{compared.group()}': ask for a trait of the kind (runtime/src/core/operation_traits.hpp)"


def check_header_guard(file):
    """Headers begin with #pragma once, or have a guard named after the project."""
    if file.name.endswith((".h", ".hpp")) and "#pragma once" not in file.lines:
        if not re.search(r"^#ifndef (COMMTASK_\w+)\n#define \1$", file.text, re.M):
            yield 1, "neither #pragma once nor a guard COMMTASK_..."


def check_sleeps(file):
    """Tests do not sleep: they wait for what they mean."""
    if not file.is_cpp or not file.path.startswith("tests/"):
        return
    for number, line in enumerate(blank_comments(file.text).split("\n"), 1):
        if SLEEP.search(line):
            yield number, "a test that sleeps is slow on one machine and wrong on another: wait for the event itself"


def check_endings(file):
    """Nothing in the runtime or a plugin ends the process, but for COMMTASK_ASSERT in a build with assertions."""
    if file.name.startswith("assert.") or not file.is_cpp or not re.match(r"(runtime|plugins/\w+)/(src|include)/", file.path):
        return
    for number, line in enumerate(blank_comments(file.text).split("\n"), 1):
        ending = ENDING.search(line)
        if ending:
            yield number, f"{ending.group(1)}() ends the caller's program; return a code"


def check_memory_orders(file):
    """An acquire or release in the runtime or a plugin has a comment within four lines that names its partner."""
    if not file.is_cpp or not re.match(r"(runtime|plugins/\w+)/", file.path):
        return
    code = blank_comments(file.text).split("\n")
    for number, line in enumerate(code, 1):
        if PAIRED_ORDER.search(line) and not any("//" in near for near in file.lines[max(number - 5, 0):number]):
            yield number, f"{PAIRED_ORDER.search(line).group()}: name the partner in a comment"


def declarations(text):
    """Function declarations at namespace level of a C header, as (line, name, [parameter names], comment)."""
    code = blank_comments(text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), code, flags=re.M)
    code = re.sub(r'extern\s+" *"\s*\{', lambda m: re.sub(r"[^\n]", " ", m.group()[:-1]) + ";", code)
    start = 0
    depth = 0
    for position, letter in enumerate(code):
        if letter == "{":
            depth += 1
        elif letter == "}":
            depth = max(depth - 1, 0)
            if depth == 0 and not re.match(r"\s*\w*\s*;", code[position + 1:]):
                start = position + 1  # the body of an inline function or of a namespace
        if letter == ";" and depth == 0 or letter == "{" and depth == 1:
            statement = code[start:position]
            lead = len(statement) - len(statement.lstrip())
            line = code.count("\n", 0, start + lead) + 1
            parsed = function_of(statement)
            if parsed is UNREADABLE:
                yield line, UNREADABLE, [], ""
            elif parsed:
                yield line, parsed[0], parsed[1], comment_before(text, line)
            if letter == ";":
                start = position + 1


def function_of(statement):
    """(name, [parameter names]) of a declaration, None where it is no function's, UNREADABLE where that is unclear."""
    statement = ATTRIBUTE.sub(" ", statement).strip()
    statement = statement.split("{")[0].strip()
    if "(" not in statement or "=" in statement.split("(")[0]:
        return None
    if re.match(r"(typedef|using|template|namespace|enum|union|_Static_assert|static_assert)\b", statement):
        return None
    match = re.match(r"[\w\s*&:<>,]*?[\s*&](\w+)\s*\((.*)\)\s*(const)?\s*$", statement, re.S)
    if not match:
        return UNREADABLE
    return match.group(1), [n for n in map(parameter_name, split_parameters(match.group(2))) if n]


def split_parameters(text):
    parts = [""]
    depth = 0
    for letter in text:
        depth += (letter in "([<") - (letter in ")]>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "void", "...")]


def parameter_name(parameter):
    pointer = re.search(r"\(\s*\*\s*(?:const\s+)?(\w+)\s*\)\s*\(", parameter)
    if pointer:
        return pointer.group(1)
    words = re.findall(r"\w+", re.sub(r"\[.*?\]", " ", parameter.split("=")[0]))
    return words[-1] if len(words) > 1 else None


def comment_before(text, line):
    """The documentation comment that ends on the line before line."""
    lines = text.split("\n")
    number = line - 2
    taken = []
    if number >= 0 and lines[number].strip().endswith("*/"):
        while number >= 0:
            taken.append(lines[number])
            if lines[number].strip().startswith("/*"):
                break
            number -= 1
    else:
        while number >= 0 and lines[number].strip().startswith("///"):
            taken.append(lines[number])
            number -= 1
    return "\n".join(reversed(taken))


def check_public_names(file):
    """Public C functions are commtask_<object>_<verb>, public macros COMMTASK_... or COMM_..."""
    if not is_public_header(file.path) or not file.name.endswith(".h"):
        return
    for line, name, _, _ in declarations(file.text):
        if name is UNREADABLE:
            yield line, "lint cannot read this declaration: write it plainly, or teach tools/lint_cpp.py"
        elif not name.startswith("commtask_"):
            yield line, f"{name}: a public function's name begins with commtask_"
    for number, line in enumerate(file.lines, 1):
        macro = MACRO.match(line)
        if macro and not PUBLIC_MACRO.match(macro.group(1)):
            yield number, f"{macro.group(1)}: a public macro's name begins with COMMTASK_ or COMM_"


def check_operations_by_value(file):
    """No exported function takes an operation by value: it could never have more fields (ADR 0008)."""
    if not is_public_header(file.path):
        return
    code = blank_comments(file.text)
    for declared in re.finditer(r"\bCOMMTASK_API\b[^;{]*", code):
        if OPERATION_BY_VALUE.search(declared.group()):
            yield code.count("\n", 0, declared.start()) + 1, "an exported function takes a pointer to an operation (docs/adr/0008)"


def check_public_docs(file):
    """Every public C function is documented, with an @param for each parameter and no other."""
    if not is_public_header(file.path) or not file.name.endswith(".h"):
        return
    for line, name, parameters, comment in declarations(file.text):
        if name is UNREADABLE:
            continue  # check_public_names reports it
        if not comment:
            yield line, f"{name} has no documentation comment right above it"
            continue
        documented = re.findall(r"[@\\]param(?:\[[\w,]+\])?\s+([\w,]+)", comment)
        documented = [word for group in documented for word in group.split(",") if word]
        for parameter in parameters:
            if parameter not in documented:
                yield line, f"{name}: @param {parameter} is missing"
        for word in documented:
            if word not in parameters:
                yield line, f"{name}: @param {word} documents no parameter"


RULES = {
    "room": check_rooms,
    "mpi-call": check_mpi_calls,
    "include": check_includes,
    "kind": check_kinds,
    "pragma-once": check_header_guard,
    "sleep": check_sleeps,
    "ending": check_endings,
    "memory-order": check_memory_orders,
    "public-name": check_public_names,
    "operation-by-value": check_operations_by_value,
    "public-doc": check_public_docs,
}
