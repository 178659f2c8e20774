#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes what follows from the table of operations: the public headers with commtask_kind and the functions that make
# operations, and docs/operations.md. They are checked in, so that a reader finds them; --check says which one is not what
# the table says, white space apart, since clang-format lays the headers out. Other generators read the table by this one.
"""usage: tools/generate_operations.py [--check]"""
import argparse
import ast
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = "runtime/src/core/operation_table.def"
INCLUDE = "runtime/include/commtask"
WIDTH = 120

# The words of the table; another one is a mistake.
WORDS = {
    "family": "send receive exchange gather scatter reduction neighborhood collective one_sided file door",
    "order": "messages collectives",
    "receives": "no yes unknown length",
    "waits": "no yes",
    "counts": "none one send_arrays recv_arrays arrays typed_arrays shared single each_block block_arrays",
}
# Arguments beside buffers and tags, of one parameter each or two: declaration, documentation, where it is kept.
ARGUMENTS = {
    "dest": ("int dest", "the rank that receives", "peer"),
    "source": ("int source", "the rank that sends, or MPI_ANY_SOURCE", "source"),
    "root": ("int root", "the root's rank; MPI_ROOT or MPI_PROC_NULL on an intercommunicator", "peer"),
    "reduction": ("MPI_Op reduction", "how to combine", "reduction"),
    "message": ("MPI_Message* message", "from the mprobe, read when the task starts; set to MPI_MESSAGE_NULL", "result"),
    "probed": ("MPI_Message* message", "written when the task completes; give it to commtask_op_mrecv", "result"),
    "new_comm": ("MPI_Comm* new_comm", "written when the task completes", "result"),
    "request": ("MPI_Request* request", "of an active operation; commtask_post sets it to MPI_REQUEST_NULL, as the "
                "library completes it", "result"),
    "start_function": ("commtask_start_function function", "starts it, on the worker; the request is the library's "
                       "until it is complete", "start"),
    "call_function": ("commtask_call_function function", "runs on the worker and must not wait for another task", "call"),
    "argument": ("void* argument", "handed to it; must live until the task has ended", "result"),
    "plan": ("commtask_plan_t plan", "from commtask_record_end; it is not running", "result"),
    "target": ("int target", "the rank whose window it is, or MPI_PROC_NULL", "peer"),
    "compared": ("const void* compare_buffer", "what must be there", "recv.displs"),
    "notification": ("int notification", "which: 0 to MPI_TAG_UB; await_notify asks for it", "send_tag"),
    "assertion": ("int assertion", "0, or MPI_MODE_... of MPI's namesake", "send_tag"),
    "lock_type": ("int lock_type", "MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED", "recv_tag"),
    "group": ("MPI_Group group", "the ranks; must live until the task has ended",
              "memcpy((void*)&op.send.displs, &{0}, sizeof {0});"),
    "window": ("MPI_Win window", "",
               "commtask_op_keep_handle_(&op.result, &{0}, sizeof {0});"),
    "offset": ("MPI_Offset offset", "where in the file, in elements of its view",
               "commtask_op_keep_displacement_(&op.SIDE.displs, {0});"),
    "file": ("MPI_File file", "open; it must not be closed before the task has ended",
             "commtask_op_keep_handle_(&op.result, &{0}, sizeof {0});"),
}
LISTS = {
    "dests": [("const int dests[]", "the ranks that receive; MPI_PROC_NULL gets nothing", "dests"),
              ("int n_dests", "how many", "peer")],
    "sources": [("const int sources[]", "the ranks that send; MPI_PROC_NULL sends nothing", "sources"),
                ("int n_sources", "how many", "source")],
}
# Arguments that are several parameters.
AWAITED = (("int notification", "which: 0 to MPI_TAG_UB", "recv_tag"),
           ("int count", "how many, at least 1", "recv.count"),
           ("int source", "the rank that notifies, or MPI_ANY_SOURCE", "source"))
SIDES = {"from": "send", "into": "recv", "inout": "recv"}


@dataclasses.dataclass
class Parameter:
    """One parameter of a commtask_op_ function: declaration, documentation, and the field that keeps it."""

    declared: str
    meaning: str
    field: str

    @property
    def name(self):
        return re.search(r"(\w+)(\[\])?$", self.declared).group(1)

    @property
    def statement(self):
        """Which puts it into the operation."""
        return self.field.format(self.name) if "{" in self.field else f"op.{self.field} = {self.name};"


@dataclasses.dataclass
class Operation:
    """A row of the table."""

    number: int
    name: str
    family: str
    order: str
    receives: str
    waits: str
    counts: str
    arguments: list
    text: str

    @property
    def enumerator(self):
        return "COMMTASK_OP_" + self.name.upper()

    def has_arrays(self, side="any"):
        one_sided = {"send": ["send_arrays"], "recv": ["recv_arrays", "block_arrays"]}
        return self.counts in ["arrays", "typed_arrays", *one_sided.get(side, sum(one_sided.values(), []))]

    def is_in_fortran(self):
        """Whether the Fortran module has it: not what keeps handles behind a pointer. A plan is written by hand."""
        has_handle = not {"message", "probed", "new_comm"}.isdisjoint(self.arguments)
        is_left_out = self.family == "door" and self.name != "plan"
        return not is_left_out and self.counts != "typed_arrays" and not has_handle

    @property
    def is_of_many(self):
        return self.has_partitions or "dests" in self.arguments

    @property
    def has_partitions(self):
        return "partitions" in self.arguments

    def parameters(self, is_int=False):
        found = []
        for word in self.arguments:
            if word in SIDES:
                found += self._side(word, is_int)
            elif word in ("send_tag", "recv_tag"):
                found.append(self._tag(word))
            elif word in LISTS:
                found += [Parameter(*each) for each in LISTS[word]]
            elif word == "target_side":
                found += self._target_side()
            elif word == "awaited":
                found += [Parameter(*each) for each in AWAITED]
            elif word != "partitions":  # a parameter of its side
                declared, meaning, field = ARGUMENTS[word]
                meaning = meaning.replace(", or MPI_ANY_SOURCE", "") if self.has_partitions else meaning
                meaning = self._registration() if word == "window" else meaning
                found.append(Parameter(declared, meaning, field.replace("SIDE", self._far_side())))
        if not {"plan", "window"}.isdisjoint(self.arguments):  # which have their communicators
            return found
        meaning = "whose order the task belongs to" if self.family in ("door", "file") else "the communicator"
        if "request" in self.arguments:
            meaning = "its communicator"
        return [*found, Parameter("MPI_Comm comm", meaning, "comm")]

    def _registration(self):
        """Which registrations of a window the operation works with."""
        if self.name.startswith("win_") and self.name != "win_sync":
            return "registered with commtask_win_register_epochs"
        is_of_library = not {"notification", "awaited"}.isdisjoint(self.arguments)
        return "registered with commtask_win_register" + ("" if is_of_library else " or commtask_win_register_epochs")

    def _far_side(self):
        """The field of the other side: of a window or a file."""
        return "send" if "into" in self.arguments else "recv"

    def _target_side(self):
        side = self._far_side()
        found = [Parameter("MPI_Aint target_disp", "where in its window, in the target's displacement units",
                           f"commtask_op_keep_displacement_(&op.{side}.displs, {{0}});")]
        if self.counts == "single":
            return found
        return [*found, Parameter("MPI_Count target_count", "elements there", f"{side}.count"),
                Parameter("MPI_Datatype target_type", "of one element there", f"{side}.type")]

    def _local_side(self, word):
        """Of a one-sided operation."""
        meaning = {"from": "what to write" if self.counts == "one" else "the contribution",
                   "into": "where to read to" if self.counts == "one" else "what was there"}[word]
        const = "const " if word == "from" else ""
        side = SIDES[word]
        prefix = "" if self.counts == "one" else {"from": "origin_", "into": "result_"}[word]
        found = [Parameter(f"{const}void* {prefix}buffer", meaning, f"{side}.buffer")]
        if self.counts != "one" and word == "from":
            return found
        of_both = " of both buffers" * (self.counts != "one")
        if self.counts == "single":
            return [*found, Parameter("MPI_Datatype type", "of the element, here and there",
                                      "op.recv.type = op.send.type = {0}; op.recv.count = op.send.count = 1;")]
        return [*found, Parameter("MPI_Count count", "elements" + of_both, f"{side}.count"),
                Parameter("MPI_Datatype type", "of one element" + of_both, f"{side}.type")]

    def _tag(self, word):
        is_one_of_two = "send_tag" in self.arguments and "recv_tag" in self.arguments
        meaning = "of the message" + {"send_tag": " sent", "recv_tag": " received"}[word] * is_one_of_two
        if "dests" in self.arguments and "sources" in self.arguments:
            meaning = "of all messages, sent and received"
        may_be_any = word == "recv_tag" and not self.has_partitions
        return Parameter(f"int {word if is_one_of_two else 'tag'}", meaning + ", or MPI_ANY_TAG" * may_be_any, word)

    def _buffer_meaning(self, word):
        if word == "inout":
            return ("in the root what to send, elsewhere where to receive" if "root" in self.arguments
                    else "what to send, then what was received")
        if word == "into":
            return {"reduction": "the result", "file": "where to read to"}.get(self.family, "where to receive")
        if self.family == "file":
            return "what to write"
        meaning = "the contribution" if self.family == "reduction" else "what to send"
        may_be_in_place = self.order == "collectives" and self.family != "neighborhood"
        return meaning + "; MPI_IN_PLACE where MPI allows it" * may_be_in_place

    def _side(self, word, is_int):
        if self.family == "one_sided":
            return self._local_side(word)
        side = SIDES[word]
        has_two = {"from", "into"} <= set(self.arguments)
        prefix = side + "_" if has_two else ""
        const = "const " if word == "from" else ""
        found = [Parameter(f"{const}void* {prefix}buffer", self._buffer_meaning(word), f"{side}.buffer")]
        if self.family == "reduction":
            if word == "from":
                return found
            count = {"shared": ("MPI_Count count", "elements", "count"),
                     "each_block": ("MPI_Count recv_count", "elements of each rank's block", "count"),
                     "block_arrays": (f"const {'int' if is_int else 'MPI_Count'} recv_counts[]",
                                      "elements of each rank's block", "counts")}[self.counts]
            return [*found, Parameter(*count[:2], f"recv.{count[2]}"),
                    Parameter("MPI_Datatype type", "of one element", "recv.type")]
        if self.has_partitions:
            found.append(Parameter("int n_partitions", "into how many equal parts the buffer falls; the other side may have "
                                   "another number", f"{'recv' if side == 'send' else 'send'}.count"))
        peer = "neighbor" if self.family == "neighborhood" else "rank"
        which = {"send": f"for each {peer}", "recv": f"from each {peer}"}[side]
        if self.has_arrays(side):
            is_typed = self.counts == "typed_arrays"
            displs_are_int = is_int and not (is_typed and self.family == "neighborhood")
            place = {"send": "where each block begins", "recv": "where each block goes"}[side]
            found += [Parameter(f"const {'int' if is_int else 'MPI_Count'} {prefix}counts[]", f"elements {which}",
                                f"{side}.counts"),
                      Parameter(f"const {'int' if displs_are_int else 'MPI_Aint'} {prefix}displs[]",
                                f"{place}, in {'bytes' if is_typed else 'elements'}", f"{side}.displs")]
            if is_typed:
                return [*found, Parameter(f"const MPI_Datatype {prefix}types[]", which, f"{side}.types")]
        else:
            elements = "elements of each partition" if self.has_partitions else "elements"
            found.append(Parameter(f"MPI_Count {prefix}count", elements, f"{side}.count"))
        done = {"send": " sent", "recv": " received"}[side] * has_two
        return [*found, Parameter(f"MPI_Datatype {prefix}type", f"of one element{done}", f"{side}.type")]


# The headers of functions that make operations: why each is there, what belongs into it, and whether in the form for int.
LARGE, INT = False, True
HEADERS = {
    "messages": (
        "The messages among the operations: sends, receives, both at once, and receives in two steps, of which the first finds "
        "out how long the message is.", lambda row: row.order == "messages" and row.family not in ("door", "one_sided", "file") and not row.is_of_many,
        [LARGE]),
    "many": (
        "Many messages by one operation: one buffer to many ranks, blocks to and from the ranks of a list, a buffer that goes "
        "part by part. Who is at the other end need not know: multicast and many_to_many are plain messages, which match any "
        "send and receive. Lists and arrays of more than 16 entries must live until the task has ended.", lambda row: row.is_of_many, [LARGE, INT]),
    "collectives": (
        "The collective operations whose counts are one number. Tasks of collectives are ordered by default: every rank issues "
        "them in the order in which it posted them (or took their tickets), so ranks agree.",
        lambda row: row.order == "collectives" and row.family != "file" and not row.has_arrays(), [LARGE]),
    "collectives_v": (
        "The collective operations with an array of counts: MPI_Count counts and MPI_Aint displacements, as in MPI-4's _c "
        "functions. collectives_int.h has the int forms. Arrays of more than 16 entries must live until the task has ended.",
        lambda row: row.order == "collectives" and row.has_arrays(), [LARGE]),
    "collectives_int": (
        "The collective operations with an array of counts, in the int form of MPI-3.1: the names of collectives_v.h with _int, "
        "so that a program keeps the arrays it has. Arrays of more than 16 entries must live until the task has ended.",
        lambda row: row.order == "collectives" and row.has_arrays(), [INT]),
    "one_sided": (
        "The one-sided operations, on a window that commtask_win_register has made known. A task of put or accumulate ends when "
        "its buffer is free again; a flush that comes after it says that the data are at the target.",
        lambda row: row.family == "one_sided", [LARGE]),
    "files": (
        "Reading and writing files of MPI. The task ends when the buffer is the caller's again; its status says how many bytes "
        "there were. Those that all ranks do together are ordered by default, as collectives of their communicator are.",
        lambda row: row.family == "file", [LARGE]),
    "doors": (
        "The general doors: any function that starts a request, any function that must run between MPI calls, and requests that "
        "exist already.", lambda row: row.family == "door", [LARGE]),
}


def read_table():
    """All rows; ends the program with a sentence where one is wrong."""
    text = re.sub(r"^\s*//.*$", "", (ROOT / TABLE).read_text(encoding="utf-8"), flags=re.M)
    rows = []
    for inside in re.findall(r"^COMMTASK_OPERATION\((.*?)\)$", text, flags=re.M | re.S):
        joined = re.sub(r'"\n\s*"', "", inside)  # a long text is in several literals
        *words, arguments, sentence = re.findall(r'"[^"]*"|\w+', joined)
        if len(words) != 7:
            sys.exit(f"{TABLE}: a row has {len(words) + 2} columns instead of 9: {inside}")
        row = Operation(int(words[0]), *words[1:], ast.literal_eval(arguments).split(), ast.literal_eval(sentence))
        for column, known in WORDS.items():
            if getattr(row, column) not in known.split():
                sys.exit(f"{TABLE}: {row.name}: {column} is '{getattr(row, column)}', and is one of: {known}")
        for word in row.arguments:
            if word not in {*ARGUMENTS, *LISTS, *SIDES, "send_tag", "recv_tag", "partitions", "target_side", "awaited"}:
                sys.exit(f"{TABLE}: {row.name}: '{word}' is no argument that this program knows")
        rows.append(row)
    if [row.number for row in rows] != list(range(1, len(rows) + 1)) or len({row.name for row in rows}) != len(rows):
        sys.exit(f"{TABLE}: numbers must be 1, 2, 3, ... and names different")
    return rows


def comment(words, indent, width=WIDTH):
    return ("\n" + indent).join(textwrap.wrap(words, width - len(indent), break_long_words=False))


def header(name, why, includes, body):
    """A public C header."""
    guard = f"COMMTASK_{name.upper()}_H"
    lines = ["/* SPDX-License-Identifier: Apache-2.0. Written by tools/generate_operations.py; not to be edited.",
             " *", " * " + comment(why, " * ", WIDTH - 3) + " */", f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [f"#include <commtask/{each}.h>" for each in includes] + [""] * bool(includes)
    return "\n".join([*lines, "#ifdef __cplusplus", 'extern "C" {', "#endif", "", body, "#ifdef __cplusplus", "}",
                      "#endif", "#endif", ""])


def text_of_kinds(rows):
    body = "/** What kind of operation; one for each family of MPI functions. */\ntypedef enum commtask_kind {\n"
    for row in rows:
        body += f"    {row.enumerator} = {row.number}, /**< commtask_op_{row.name} */\n"
    body += f"    COMMTASK_OP_END = {len(rows) + 1} /**< one past the last */\n}} commtask_kind;\n"
    return header("kinds", "The kinds of operations. A program makes operations by the functions of "
                  "<commtask/operations.h>, and learns about a kind that it is told of by commtask_kind_describe.", [], body)


def text_of_function(row, is_int):
    text = row.text
    if row.has_arrays():
        text += (" Counts and displacements are int, as in MPI-3.1." if is_int else
                 " Counts are MPI_Count and displacements MPI_Aint, as in MPI-4's _c functions.")
    parameters = row.parameters(is_int)
    comm = "comm" if parameters[-1].field == "comm" else "MPI_COMM_SELF" if "plan" in row.arguments else "MPI_COMM_NULL"
    lines = ["/** " + comment(text, " *  ")]
    lines += [" *  " + comment(f"@param {p.name}  {p.meaning}", " *  ") for p in parameters]
    lines += [" *  @return the operation, for commtask_post. */"]
    declared = ", ".join(p.declared for p in parameters)
    name = f"commtask_op_{row.name}" + "_int" * is_int
    lines += [f"static inline COMMTASK_NODISCARD commtask_op {name}({declared}) COMMTASK_NOEXCEPT {{",
              f"    commtask_op op = commtask_op_make_({row.enumerator}, {comm});"]
    if is_int:
        lines += ["    op.array_form = COMMTASK_COUNTS_INT;"]
    lines += [f"    {p.statement}" for p in parameters if p.field != "comm"]
    return "\n".join([*lines, "    return op;", "}", ""])


def texts_of_functions(rows):
    """By header: the functions that make operations."""
    return {f"{INCLUDE}/{name}.h": header(name, why, ["operation"], "\n".join(
        text_of_function(row, is_int) for row in rows if belongs(row) for is_int in forms if row.has_arrays() or not is_int))
        for name, (why, belongs, forms) in HEADERS.items()}


def node_for(row):
    if "partitions" in row.arguments:
        return "none"  # within a plan
    if "plan" in row.arguments:
        return "plan_node"
    if row.order == "collectives":
        return "collective_node"
    return "send_node" if row.family == "send" else "recv_node" if row.receives == "yes" else "request_node"


def named(rows, is_meant):
    return ", ".join(f"`{row.name}`" for row in rows if is_meant(row))


def text_of_page(rows):
    nodes = {node: named(rows, lambda row, node=node: node_for(row) == node) for node in ("send_node", "recv_node")}
    notes = [
        "`commtask_op_NAME` makes an operation in C; `COMM_TASK(NAME(...))`, `comm(NAME: ...)` and the C++ function `commtask::NAME` have the "
        "same name. In C++ operations on windows are members of `commtask::window`, without `win_`; a plan's is `commtask::plan::run`; files "
        "use `commtask::operation{commtask_op_NAME(...)}`. Operations with arrays of counts have a second C function for arrays of `int`.",
        f"**Fortran** has `comm_task_NAME` of all but {named(rows, lambda row: not row.is_in_fortran())}.",
        f"**oneTBB**: `send_node` takes {nodes['send_node']}; `recv_node` {nodes['recv_node']}; `collective_node` collectives and collective "
        f"file accesses; `plan_node` plans, with `psend` and `precv`; `request_node` the rest.",
        "**Order**: messages that could match the same partner start in the order of creation, and so do collectives. With `COMMTASK_ORDERED` "
        "`start`, `call` and `attach` do, too.",
        f"**Status**: {named(rows, lambda row: row.receives == 'yes')} have source, tag and length of the message; "
        f"{named(rows, lambda row: row.receives == 'unknown')} if they receive; file accesses the length.",
        f"**Cancel**: after MPI has begun the operation, `commtask_cancel` works for {named(rows, lambda row: row.waits == 'yes')}."]
    lines = ["# Operations", "", f"<!-- Written from {TABLE} by tools/generate_operations.py; a test compares the two. -->", ""]
    for note in notes:
        lines += [comment(note, ""), ""]
    lines += ["| name | meaning |", "| --- | --- |"]
    lines += [f"| `{row.name}`{f', `{row.name}_int`' * row.has_arrays()} | {row.text} |" for row in rows]
    return "\n".join([*lines, ""])


def all_texts():
    rows = read_table()
    return {f"{INCLUDE}/kinds.h": text_of_kinds(rows), **texts_of_functions(rows), "docs/operations.md": text_of_page(rows)}


def formatted(path, text):
    tool = shutil.which("clang-format-19") if path.suffix == ".h" else None
    if tool is None:
        return text
    return subprocess.run([tool, f"--assume-filename={path}"], input=text, text=True, capture_output=True, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    n_wrong = 0
    for name, text in all_texts().items():
        path = ROOT / name
        if not options.check:
            path.write_text(formatted(path, text), encoding="utf-8")
        elif not path.exists() or "".join(path.read_text(encoding="utf-8").split()) != "".join(text.split()):
            print(f"{name} is not what {TABLE} says: run tools/generate_operations.py")
            n_wrong += 1
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
