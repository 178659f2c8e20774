#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes the files that follow from the table of operations: the public headers with commtask_kind
# and with the functions that make operations, and docs/operations.md. The written files are checked
# in, so that readers find them. --check names the files that differ from the table; it ignores
# white space, since clang-format lays out the headers. Other generators read the table through this
# module.
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
WIDTH = 100

# The words of the table; any other word is an error.
WORDS = {
    "family": "send receive exchange gather scatter reduction neighborhood collective one_sided file custom",
    "order": "messages collectives",
    "receives": "no yes unknown length",
    "waits": "no yes",
    "counts": "none one send_arrays recv_arrays arrays typed_arrays shared single each_block block_arrays",
}
# Arguments other than buffers and tags that are one parameter: declaration, documentation, the
# field that keeps it.
ARGUMENTS = {
    "dest": ("int dest", "rank of the destination", "peer"),
    "source": ("int source", "rank of the source, or MPI_ANY_SOURCE", "source"),
    "root": ("int root", "rank of the root; MPI_ROOT or MPI_PROC_NULL on an intercommunicator", "peer"),
    "reduction": ("MPI_Op reduction", "the reduction operation", "reduction"),
    "message": ("MPI_Message* message", "from the mprobe, read when the task starts; set to MPI_MESSAGE_NULL", "result"),
    "probed": ("MPI_Message* message", "written when the task completes; give it to commtask_op_mrecv", "result"),
    "new_comm": ("MPI_Comm* new_comm", "written when the task completes", "result"),
    "request": ("MPI_Request* request", "of an active operation; commtask_post sets it to MPI_REQUEST_NULL, since the "
                "library completes it", "result"),
    "start_function": ("commtask_start_function function", "starts the operation, on the worker; its request belongs to "
                       "the library until it is complete", "start"),
    "call_function": ("commtask_call_function function", "runs on the worker; must not wait for another task", "call"),
    "argument": ("void* argument", "argument of the function; must live until the task has ended", "result"),
    "plan": ("commtask_plan_t plan", "a plan that is not running", "result"),
    "target": ("int target", "rank of the target, or MPI_PROC_NULL", "peer"),
    "compared": ("const void* compare_buffer", "the value to compare with", "recv.displs"),
    "notification": ("int notification", "notification number, 0 to MPI_TAG_UB, for await_notify", "send_tag"),
    "assertion": ("int assertion", "0, or MPI_MODE_... as for MPI's function", "send_tag"),
    "lock_type": ("int lock_type", "MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED", "recv_tag"),
    "group": ("MPI_Group group", "the group; must live until the task has ended",
              "memcpy((void*)&op.send.displs, &{0}, sizeof {0});"),
    "window": ("MPI_Win window", "",
               "commtask_op_keep_handle_(&op.result, &{0}, sizeof {0});"),
    "offset": ("MPI_Offset offset", "offset in the file, in etypes of its view",
               "commtask_op_keep_displacement_(&op.SIDE.displs, {0});"),
    "file": ("MPI_File file", "an open file; must not be closed before the task has ended",
             "commtask_op_keep_handle_(&op.result, &{0}, sizeof {0});"),
}
LISTS = {
    "dests": [("const int dests[]", "ranks of the destinations; MPI_PROC_NULL: no message", "dests"),
              ("int n_dests", "number of destinations", "peer")],
    "sources": [("const int sources[]", "ranks of the sources; MPI_PROC_NULL: no message", "sources"),
                ("int n_sources", "number of sources", "source")],
}
# Arguments that are several parameters.
AWAITED = (("int notification", "notification number, 0 to MPI_TAG_UB", "recv_tag"),
           ("int count", "number of notifications, at least 1", "recv.count"),
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
        """The statement that puts it into the operation."""
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
        """Whether the Fortran module has it: not if it has handles behind a pointer. A plan is written by hand."""
        has_handle = not {"message", "probed", "new_comm"}.isdisjoint(self.arguments)
        is_left_out = self.family == "custom" and self.name != "plan"
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
        # Plans and windows have their own communicators.
        if not {"plan", "window"}.isdisjoint(self.arguments):
            return found
        meaning = "the communicator in whose order the task starts" if self.family in ("custom", "file") else "the communicator"
        if "request" in self.arguments:
            meaning = "the communicator of the request"
        return [*found, Parameter("MPI_Comm comm", meaning, "comm")]

    def _registration(self):
        """The registrations of a window that the operation works with."""
        if self.name.startswith("win_") and self.name != "win_sync":
            return "registered with commtask_win_register_epochs"
        is_of_library = not {"notification", "awaited"}.isdisjoint(self.arguments)
        return "registered with commtask_win_register" + ("" if is_of_library else " or commtask_win_register_epochs")

    def _far_side(self):
        """The field for the side of a window or a file."""
        return "send" if "into" in self.arguments else "recv"

    def _target_side(self):
        side = self._far_side()
        found = [Parameter("MPI_Aint target_disp", "displacement in the target's window, in its displacement units",
                           f"commtask_op_keep_displacement_(&op.{side}.displs, {{0}});")]
        if self.counts == "single":
            return found
        return [*found, Parameter("MPI_Count target_count", "number of elements at the target", f"{side}.count"),
                Parameter("MPI_Datatype target_type", "datatype of one element at the target", f"{side}.type")]

    def _local_side(self, word):
        """Of a one-sided operation."""
        meaning = {"from": "the data to write" if self.counts == "one" else "the contribution",
                   "into": "receives the data" if self.counts == "one" else "receives the old contents of the window"}[word]
        const = "const " if word == "from" else ""
        side = SIDES[word]
        prefix = "" if self.counts == "one" else {"from": "origin_", "into": "result_"}[word]
        found = [Parameter(f"{const}void* {prefix}buffer", meaning, f"{side}.buffer")]
        if self.counts != "one" and word == "from":
            return found
        of_both = " of both buffers" * (self.counts != "one")
        if self.counts == "single":
            return [*found, Parameter("MPI_Datatype type", "datatype of the element, here and at the target",
                                      "op.recv.type = op.send.type = {0}; op.recv.count = op.send.count = 1;")]
        return [*found, Parameter("MPI_Count count", "number of elements" + of_both, f"{side}.count"),
                Parameter("MPI_Datatype type", "datatype of one element" + of_both, f"{side}.type")]

    def _tag(self, word):
        is_one_of_two = "send_tag" in self.arguments and "recv_tag" in self.arguments
        meaning = "tag of the message" + {"send_tag": " sent", "recv_tag": " received"}[word] * is_one_of_two
        if "dests" in self.arguments and "sources" in self.arguments:
            meaning = "tag of all messages, sent and received"
        may_be_any = word == "recv_tag" and not self.has_partitions
        return Parameter(f"int {word if is_one_of_two else 'tag'}", meaning + ", or MPI_ANY_TAG" * may_be_any, word)

    def _buffer_meaning(self, word):
        if word == "inout":
            return ("at the root the data to send, elsewhere the receive buffer" if "root" in self.arguments
                    else "the data to send, then the received data")
        if word == "into":
            return {"reduction": "the result", "file": "receives the data"}.get(self.family, "the receive buffer")
        if self.family == "file":
            return "the data to write"
        meaning = "the contribution" if self.family == "reduction" else "the send buffer"
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
            count = {"shared": ("MPI_Count count", "number of elements", "count"),
                     "each_block": ("MPI_Count recv_count", "number of elements of each rank's block", "count"),
                     "block_arrays": (f"const {'int' if is_int else 'MPI_Count'} recv_counts[]",
                                      "number of elements of each rank's block", "counts")}[self.counts]
            return [*found, Parameter(*count[:2], f"recv.{count[2]}"),
                    Parameter("MPI_Datatype type", "datatype of one element", "recv.type")]
        if self.has_partitions:
            found.append(Parameter("int n_partitions", "number of equal partitions of the buffer; the other side may "
                                   "have another number", f"{'recv' if side == 'send' else 'send'}.count"))
        peer = "neighbor" if self.family == "neighborhood" else "rank"
        which = {"send": f"for each {peer}", "recv": f"from each {peer}"}[side]
        if self.has_arrays(side):
            is_typed = self.counts == "typed_arrays"
            displs_are_int = is_int and not (is_typed and self.family == "neighborhood")
            place = f"displacement of the block {which}"
            found += [Parameter(f"const {'int' if is_int else 'MPI_Count'} {prefix}counts[]", f"number of elements {which}",
                                f"{side}.counts"),
                      Parameter(f"const {'int' if displs_are_int else 'MPI_Aint'} {prefix}displs[]",
                                f"{place}, in {'bytes' if is_typed else 'elements'}", f"{side}.displs")]
            if is_typed:
                return [*found, Parameter(f"const MPI_Datatype {prefix}types[]", f"datatype of the elements {which}", f"{side}.types")]
        else:
            elements = "number of elements of each partition" if self.has_partitions else "number of elements"
            found.append(Parameter(f"MPI_Count {prefix}count", elements, f"{side}.count"))
        done = {"send": " sent", "recv": " received"}[side] * has_two
        return [*found, Parameter(f"MPI_Datatype {prefix}type", f"datatype of one element{done}", f"{side}.type")]


# The headers of functions that make operations: the purpose of each, its rows, and its forms for
# counts.
LARGE, INT = False, True
HEADERS = {
    "messages": (
        "Point-to-point operations: sends, receives, send-receives, and matched probes with their receives.", lambda row: row.order == "messages" and row.family not in ("custom", "one_sided", "file") and not row.is_of_many,
        [LARGE]),
    "many": (
        "Operations of many messages: one buffer to many ranks, blocks to and from the ranks of lists, and partitioned sends and "
        "receives. The messages of multicast and many_to_many match any send and receive. Lists of ranks, counts and displacements "
        "may be reused when the post has returned.", lambda row: row.is_of_many, [LARGE, INT]),
    "collectives": (
        "Collective operations with a single count. They are ordered by default: every rank starts them in the order in which "
        "the rank posted them or took their tickets. The order must be the same on all ranks.",
        lambda row: row.order == "collectives" and row.family != "file" and not row.has_arrays(), [LARGE]),
    "collectives_v": (
        "Collective operations with arrays of counts: MPI_Count counts and MPI_Aint displacements, as in MPI-4's _c "
        "functions. collectives_int.h has the int forms. Arrays of more than 16 entries must live until the task has ended.",
        lambda row: row.order == "collectives" and row.has_arrays(), [LARGE]),
    "collectives_int": (
        "Collective operations with arrays of counts, in the int form of MPI-3.1. Their names are those of collectives_v.h with "
        "_int. Arrays of more than 16 entries must live until the task has ended.",
        lambda row: row.order == "collectives" and row.has_arrays(), [INT]),
    "one_sided": (
        "One-sided operations on a registered window (window.h). A put or accumulate ends when its buffer may be reused. When a "
        "later flush has ended, the data are at the target.",
        lambda row: row.family == "one_sided", [LARGE]),
    "files": (
        "Reads and writes of MPI files. The task ends when the buffer belongs to the caller again; its status has the number of "
        "bytes. Collective reads and writes are ordered by default, like the collectives of their communicator.",
        lambda row: row.family == "file", [LARGE]),
    "custom": (
        "User-defined operations: a function that starts a request, a function that runs between MPI calls, and a request that "
        "the program has started itself. Also the start of a plan.", lambda row: row.family == "custom", [LARGE]),
}


def read_table():
    """All rows; ends the program with a sentence where one is wrong."""
    text = re.sub(r"^\s*//.*$", "", (ROOT / TABLE).read_text(encoding="utf-8"), flags=re.M)
    rows = []
    for inside in re.findall(r"^COMMTASK_OPERATION\((.*?)\)$", text, flags=re.M | re.S):
        joined = re.sub(r'"\n\s*"', "", inside)  # a long text is in several string literals
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
    body = "/** Kind of an operation. */\ntypedef enum commtask_kind {\n"
    for row in rows:
        body += f"    {row.enumerator} = {row.number}, /**< commtask_op_{row.name} */\n"
    body += f"    COMMTASK_OP_END = {len(rows) + 1} /**< one past the last */\n}} commtask_kind;\n"
    return header("kinds", "The kinds of operations. A program makes operations by the functions of "
                  "<commtask/operations.h>; commtask_kind_describe describes a kind.", [], body)


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
        return "none"  # only within a plan
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
        "`commtask_op_NAME` creates an operation in C; `COMM_TASK(NAME(...))` and `comm(NAME: ...)` create OpenMP tasks. In C++ the function is "
        "`commtask::NAME`. Exceptions in C++: operations on windows are members of `commtask::window` without `win_`; a plan is "
        "`commtask::plan::run`; files use `commtask::operation{commtask_op_NAME(...)}`. Operations with arrays of counts have a second C function for arrays of `int`.",
        f"**Fortran** has `comm_task_NAME` for all operations except {named(rows, lambda row: not row.is_in_fortran())}.",
        f"**oneTBB**: `send_node` is for {nodes['send_node']}; `recv_node` for {nodes['recv_node']}; `collective_node` for collectives and "
        f"collective file accesses; `plan_node` for plans, with `psend` and `precv`; `request_node` for all others.",
        "**Order**: messages that could match the same send or receive, and collectives, start in the order of creation. `start`, `call` and "
        "`attach` do so with `COMMTASK_ORDERED`.",
        f"**Status**: {named(rows, lambda row: row.receives == 'yes')} have the source, tag and length of the message in the status; "
        f"{named(rows, lambda row: row.receives == 'unknown')} have them if they receive. File accesses have the length.",
        f"**Cancel**: after the start of an operation, `commtask_cancel` works only for {named(rows, lambda row: row.waits == 'yes')}."]
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
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is stale")
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
