#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes the interposer's wrappers from functions.table and the mpi.h of the MPI in use, so that no
# signature is copied by hand and the library fits the MPI that it is built for. The output is one
# file each for pointers to the real functions, macros that direct the runtime's own calls to them
# and past profiling tools, the wrappers, the version script, and the table that commtask-run --list
# prints.
"""usage: generate.py --out DIR --base-map libcommtask.map -- COMPILER [ARGUMENT...]"""
import argparse
import pathlib
import re
import sys

import header

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
import generate_operations  # noqa: E402

OPERATIONS = {row.name: row for row in generate_operations.read_table()}
NOTE = "// SPDX-License-Identifier: Apache-2.0\n//\n// Written by generate.py from this MPI's mpi.h; not to be edited.\n"

# Blocking calls between two processes: MPI matches them with blocking and with nonblocking calls.
BETWEEN_TWO = {"MPI_Mprobe", "MPI_Mrecv", "MPI_Probe", "MPI_Recv", "MPI_Rsend", "MPI_Send", "MPI_Sendrecv",
               "MPI_Sendrecv_replace", "MPI_Ssend"}
# Blocking functions whose nonblocking counterpart is called on the calling thread, since their
# arrays are not copied for the worker.
TWIN_ONLY = {"MPI_Alltoallw", "MPI_Neighbor_alltoallw"}
# Functions that make requests which advance only when a call tests that very request (polled.hpp):
# of files, if the operation is not a task; and generalized requests with a poll function.
POLLED_FILE = re.compile("MPI_File_i(read|write)\\w*_all")
POLLED = re.compile("MPIX_Grequest_(start|class_allocate)")
PERSISTENT_SEND = re.compile("MPI_([BRSP]s|S)end_init")
# Request-based operations on windows, and nonblocking operations on files. The group is the
# runtime's name.
ON_WINDOW = re.compile("MPI_R(put|get|accumulate|get_accumulate)")
ON_FILE = re.compile("MPI_File_i((?:read|write)\\w*)")
# Records of windows and files (windows.hpp, files.hpp): made around the call, and after a call that
# has succeeded.
AROUND = {"MPI_Win_create": "make_window", "MPI_Win_allocate": "make_window", "MPI_Win_allocate_shared": "make_window",
          "MPI_Win_create_dynamic": "make_window", "MPI_Win_free": "free_window", "MPI_File_open": "open_file",
          "MPI_File_close": "close_file"}
AFTER = {"MPI_Win_lock": "windows::record_lock(a3, a1)", "MPI_Win_unlock": "windows::record_unlock(a1, a0)",
         "MPI_Win_lock_all": "windows::record_lock_all(a1)",
         "MPI_Win_unlock_all": "windows::record_unlock_all(a0)",
         "MPI_Win_set_errhandler": "windows::record_handler(a0, a1)",
         "MPI_File_set_errhandler": "files::record_handler(a0, a1)", "MPI_File_set_view": "files::record_view(a0, a2)"}
# Collectives whose order COMMTASK_MPI_CHECK compares (order_check.hpp), blocking or not; and the
# calls in which it compares them.
COLLECTIVE = re.compile("MPI_(Neighbor_)?(Allgatherv?|Allreduce|Alltoall[vw]?|Barrier|Bcast|Exscan|Gatherv?|Reduce"
                        "|Reduce_scatter(_block)?|Scan|Scatterv?)")
WHERE_ALL_MEET = {"MPI_Comm_free", "MPI_Comm_disconnect"}
# Calls that only query: programs make them in loops (traced_call.hpp).
TEST = re.compile("MPI_(Test(all|any|some)?|Iprobe|Improbe|Request_get_status(_all|_any|_some)?|Parrived)")
# Blocking functions that have a body in src/: they poll repeatedly.
BY_HAND = {"MPI_Probe", "MPI_Mprobe"}


class Wrapper:
    """One function of mpi.h: its texts for C++."""

    def __init__(self, function, class_, known):
        self.name = function.name
        self.class_ = class_
        self.known = known
        self.returns = function.returns
        self.types = [p.type for p in function.parameters]
        self.names = [p.name for p in function.parameters]
        # The parameters get new names, which cannot collide with names of this project.
        self.declared = ", ".join(f"{p.type} a{i}{p.suffix}" for i, p in enumerate(function.parameters))
        self.arguments = [f"a{i}" for i in range(len(function.parameters))]
        self.real = "commtask_real_" + self.name
        self.to_mpi = "commtask_to_" + self.name

    def call(self, function, arguments=None):
        return f"{function}({', '.join(self.arguments if arguments is None else arguments)})"

    def large(self):
        return "_c" if self.name.endswith("_c") else ""

    def base(self):
        return self.name[: -len("_c")] if self.large() else self.name

    def position_of(self, type_):
        """Of the first parameter of this type, without const and spaces; None if there is none."""
        for i, text in enumerate(self.types):
            if text.replace("const ", "").replace(" ", "") == type_:
                return i
        return None

    def body(self):
        if self.class_ in ("request", "own") or self.base() in BY_HAND:
            return self.call("commtask::interposer::own_" + self.name)
        if self.class_ == "task":
            if ON_WINDOW.fullmatch(self.base()):
                return self.task_on_window()
            if ON_FILE.fullmatch(self.base()):
                return self.task_on_file()
            return self.task(self.arguments[:-1], self.arguments[-1], self.real)
        if self.class_ == "blocking":
            return self.blocking()
        section = "blocking_section" if self.class_ == "lane" else "progress_section"
        if self.name.endswith(("_init", "_init_c")) and self.position_of("MPI_Request*") is not None:
            request = self.arguments[self.position_of("MPI_Request*")]
            comm = self.arguments[self.position_of("MPI_Comm")]
            is_send = str(PERSISTENT_SEND.fullmatch(self.base()) is not None).lower()
            return (f"commtask::interposer::make_persistent<{section}>({comm}, {is_send}, {request}, "
                    f"[&] {{ return {self.call(self.real)}; }})")
        if POLLED.fullmatch(self.base()):
            request = self.arguments[self.position_of("MPI_Request*")]
            return f"commtask::interposer::make_polled<{section}>({request}, [&] {{ return {self.call(self.real)}; }})"
        if self.base() in AROUND:
            handle = self.arguments[-1] + ", a2" * (self.base() == "MPI_File_open")
            return (f"commtask::interposer::{AROUND[self.base()]}<{section}>({handle}, "
                    f"[&] {{ return {self.call(self.real)}; }})")
        if self.base() in AFTER:
            return (f"commtask::interposer::on_success(commtask::interposer::inside<{section}>([&] {{ return "
                    f"{self.call(self.real)}; }}), [&] {{ commtask::interposer::{AFTER[self.base()]}; }})")
        return f"commtask::interposer::inside<{section}>([&] {{ return {self.call(self.real)}; }})"

    def describe(self, arguments):
        """The call that makes the operation. Scalars widen by themselves; arrays of counts have a function for each form."""
        kind = re.sub(r"^MPI_I?", "", self.base()).lower()
        form = "_int" if OPERATIONS[kind].has_arrays() and not self.large() else ""
        # Only MPI knows the communicator of a matched message. Its order does not matter for the
        # message.
        comm = [] if self.position_of("MPI_Comm") is not None else ["MPI_COMM_WORLD"]
        return f"commtask_op_{kind}{form}({', '.join([*arguments, *comm])})"

    def task(self, arguments, request, real):
        return (f"commtask::interposer::post({self.describe(arguments)}, {request}, "
                f"[&](MPI_Request* request) {{ return {real}({', '.join([*arguments, 'request'])}); }})")

    def task_on_window(self):
        *arguments, request = self.arguments
        is_expressible = "true"
        # The runtime has one layout for both buffers; with MPI_NO_OP there is one buffer.
        if self.base() == "MPI_Rget_accumulate":
            is_expressible = "a10 == MPI_NO_OP || (a1 == a4 && a2 == a5)"
            arguments = ["a10 == MPI_NO_OP ? nullptr : a0", *arguments[3:]]
        made = f"commtask_op_{ON_WINDOW.fullmatch(self.base())[1]}({', '.join(arguments)})"
        native = [*self.arguments[:-1], "request"]
        return (f"commtask::interposer::post_on_window({made}, {is_expressible}, {request}, "
                f"[&](MPI_Request* request) {{ return {self.call(self.real, native)}; }})")

    def task_on_file(self):
        *arguments, request = self.arguments
        made = f"commtask_op_file_{ON_FILE.fullmatch(self.base())[1]}({', '.join(arguments[1:])}, a0, MPI_COMM_WORLD)"
        native = self.call(self.real, [*arguments, "request"])
        if POLLED_FILE.fullmatch(self.base()):
            native = f"commtask::interposer::record_polled(request, {native})"
        return f"commtask::interposer::post_on_file({made}, {request}, [&](MPI_Request* request) {{ return {native}; }})"

    def is_collective(self):
        """Whether all ranks of its communicator make this call in one order."""
        twin = re.sub("^MPI_I(.)", lambda m: "MPI_" + m[1].upper(), self.base())
        return self.position_of("MPI_Comm") is not None and (
            COLLECTIVE.fullmatch(self.base()) or COLLECTIVE.fullmatch(twin)) is not None

    def root(self):
        return next((f"a{i}" for i, name in enumerate(self.names) if name == "root"), "-1")

    def from_below(self):
        """A call that MPI, or a callback that it runs, makes."""
        if self.class_ != "blocking" or self.base() in BETWEEN_TWO:
            return self.call(self.real)
        return (f"commtask::interposer::run_from_below({self.comm()}, [&] {{ return {self.call(self.real)}; }}, "
                f"{self.twin(self.arguments)})")

    def comm(self):
        return self.arguments[self.position_of("MPI_Comm")]

    def twin(self, arguments):
        base = self.base()[len("MPI_"):]
        twin = "MPI_I" + base[0].lower() + base[1:] + self.large()
        if twin in self.known:
            real = "commtask_real_" + twin
            return f"[&](MPI_Request* request) {{ return {real}({', '.join([*arguments, 'request'])}); }}"
        # MPI_Sendrecv before MPI-4 is complete when it returns, so its request is null.
        return f"[&](MPI_Request* request) {{ *request = MPI_REQUEST_NULL; return {self.call(self.real)}; }}"

    def blocking(self):
        status = "MPI_STATUS_IGNORE"
        arguments = list(self.arguments)
        if self.types and self.types[-1].replace(" ", "") == "MPI_Status*" or self.position_of("MPI_Status*") is not None:
            status = arguments.pop()
        call = self.twin(arguments)
        if self.base() in TWIN_ONLY:
            return f"commtask::interposer::run_twin({self.comm()}, {status}, {call})"
        return f"commtask::interposer::run({self.describe(arguments)}, {status}, {call})"


def text_of_pointers(wrappers):
    lines = [NOTE, "#pragma once\n", "#include <mpi.h>\n", 'extern "C" {']
    lines += [f"extern {w.returns} (*{w.real})({w.declared});" for w in wrappers]
    return "\n".join([*lines, "}", ""])


def text_of_local(names):
    """Included before every file of the library: what it calls beside the wrappers' functions passes by the tools that count
    what the program calls. Where an MPI has a macro beside the function, nothing is called."""
    lines = [NOTE, "#pragma once\n", "#include <mpi.h>\n"]
    for name in names:
        lines.append(f"#ifndef {name}\n#define {name} P{name}\n#endif")
    return "\n".join([*lines, ""])


def text_of_symbols(wrappers, local):
    """For objcopy: calls of the runtime go to the MPI, not into the wrappers, and pass by the tools that count the program's calls."""
    names = [(w.name, w.to_mpi) for w in wrappers] + [(name, "P" + name) for name in local]
    return "".join(f"{ours} {theirs}\n" for ours, theirs in names)


def text_of_wrappers(wrappers):
    lines = [NOTE, '#include "files.hpp"', '#include "own.hpp"', '#include "order_check.hpp"', '#include "persistent.hpp"', '#include "polled.hpp"',
             '#include "post.hpp"', '#include "real_mpi.hpp"', '#include "resolve.hpp"', '#include "traced_call.hpp"',
             '#include "windows.hpp"', "",
             "using commtask::interposer::progress_section;", "using commtask::interposer::blocking_section;", ""]
    lines += [f"#undef {prefix}{w.name}" for w in wrappers for prefix in ("", "P")]
    lines += ["", 'extern "C" {']
    collectives = [w.name for w in wrappers if w.is_collective()]
    for index, w in enumerate(wrappers):
        lines.append(f"{w.returns} (*{w.real})({w.declared});")
        lines.append(f"static {w.returns} (*tool_{w.name})({w.declared});")
        lines.append(f"{w.returns} {w.to_mpi}({w.declared}) {{ return {w.call(w.real)}; }}")
        lines.append(f"COMMTASK_API __attribute__((noinline)) {w.returns} P{w.name}({w.declared}) {{")
        by_hand = w.class_ in ("request", "own") or w.base() in BY_HAND
        if w.is_collective():
            number = collectives.index(w.name)
            lines.append(f"    commtask::interposer::order_check::note({w.comm()}, {number}, {w.root()});")
        if w.name in WHERE_ALL_MEET:
            lines.append("    if (a0 != nullptr) commtask::interposer::order_check::compare(*a0);")
        if not by_hand:
            lines.append(f"    if (commtask::interposer::goes_to_mpi()) return {w.from_below()};")
        kind = "test" if TEST.fullmatch(w.base()) else "call"
        lines.append(f"    const commtask::interposer::traced_{kind} traced{{{index}}};")
        if w.name in WHERE_ALL_MEET:
            lines.append("    if (a0 != nullptr) commtask::interposer::outlive(*a0);")
        lines.append(f"    return {w.body()};\n}}")
        lines.append(f"COMMTASK_API {w.returns} {w.name}({w.declared}) {{")
        lines.append(f"    if (tool_{w.name} != nullptr) return {w.call('tool_' + w.name)};")
        lines.append(f"    return {w.call('P' + w.name)};\n}}")
    lines += ["}", "", "namespace commtask::interposer {", "static const resolved_function all_functions[] = {"]
    lines += [f'    {{"P{w.name}", reinterpret_cast<void**>(&{w.real}), reinterpret_cast<void**>(&tool_{w.name})}},' for w in wrappers]
    names = ", ".join(f'"{name}"' for name in collectives)
    lines += ["};", "void resolve_all() noexcept {", "    for (const resolved_function& one : all_functions) resolve(one);", "}",
              f"const char* const collective_names[] = {{{names}}};"]
    all_names = ", ".join(f'"{w.name}"' for w in wrappers)
    lines.append(f"const char* const wrapper_names[n_wrappers] = {{{all_names}}};")
    all_addresses = ", ".join(f"reinterpret_cast<void*>(&P{w.name})" for w in wrappers)
    lines.append(f"void* const wrapper_addresses[n_wrappers] = {{{all_addresses}}};")
    return "\n".join([*lines, "} // namespace commtask::interposer", ""])


def text_of_own(wrappers):
    lines = [NOTE, "#pragma once\n", "#include <mpi.h>\n", "namespace commtask::interposer {",
             f"inline constexpr unsigned n_wrappers = {len(wrappers)};", "extern const char* const wrapper_names[n_wrappers];",
             "/// In the order of their names.", "extern void* const wrapper_addresses[n_wrappers];"]
    for w in wrappers:
        if w.class_ in ("request", "own") or w.base() in BY_HAND:
            lines.append(f"{w.returns} own_{w.name}({w.declared});")
    return "\n".join([*lines, "} // namespace commtask::interposer", ""])


def text_of_map(base_map, wrappers):
    names = "".join(f"    {prefix}{w.name};\n" for w in wrappers for prefix in ("", "P"))
    return base_map + "\nCOMMTASK_MPI_0.1 {\nglobal:\n" + names + "};\n"


def text_of_list(functions, classes):
    lines = []
    for class_, meaning in header.CLASSES.items():
        names = sorted(name for name in functions if classes[name] == class_)
        lines.append(f"{class_}: {meaning} ({len(names)})")
        lines += ["    " + name for name in names]
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--base-map", type=pathlib.Path, required=True)
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()
    functions = header.read_header(options.compiler)
    classes = header.classify(functions, header.read_table(HERE / "functions.table"))
    wrappers = [Wrapper(f, classes[f.name], functions) for f in sorted(functions.values()) if classes[f.name] != "local"]
    local = sorted(name for name in functions if classes[name] == "local")
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in {
        "real_mpi.hpp": text_of_pointers(wrappers),
        "local_mpi.hpp": text_of_local(local),
        "runtime_symbols.txt": text_of_symbols(wrappers, local),
        "wrappers.cpp": text_of_wrappers(wrappers),
        "own.hpp": text_of_own(wrappers),
        "libcommtask-mpi.map": text_of_map(options.base_map.read_text(), wrappers),
        "functions.txt": text_of_list(functions, classes),
    }.items():
        (options.out / name).write_text(text)


if __name__ == "__main__":
    main()
