# SPDX-License-Identifier: Apache-2.0
# Generates the Fortran module from its template and the table of operations. Fortran has no macros,
# and each operation needs a subroutine for the handles of mpif.h and one for the handles of
# mpi_f08, which differ in types only. Written by hand, these subroutines would be nine tenths of
# the file, and an argument in a wrong field would be hard to see.
"""usage: generate.py --template F --parts F... --out MODULE.f90"""
import argparse
import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
import generate_operations  # noqa: E402

# Field of an operation: its Fortran type here, the type's counterpart in mpi_f08, and the
# assignments that store it.
FIELDS = {
    "comm": ("integer", "MPI_Comm", ["op%comm = {}"]),
    "reduction": ("integer", "MPI_Op", ["op%reduction = {}", "op%has_reduction = 1"]),
    "peer": ("integer", None, ["op%peer = {}"]),
    "source": ("integer", None, ["op%source = {}"]),
    "dests": ("type(c_ptr)", None, ["op%dests = {}"]),
    "sources": ("type(c_ptr)", None, ["op%sources = {}"]),
}
for side in ("send", "recv"):
    FIELDS |= {
        f"{side}_tag": ("integer", None, [f"op%{side}_tag = {{}}"]),
        f"{side}_buffer": ("type(c_ptr)", None, [f"op%{side}%buffer = {{}}"]),
        f"{side}_count": ("integer", None, [f"op%{side}%count = {{}}"]),
        f"{side}_counts": ("type(c_ptr)", None, [f"op%{side}%counts = {{}}"]),
        f"{side}_displs": ("type(c_ptr)", None, [f"op%{side}%displs = {{}}"]),
        f"{side}_type": ("integer", "MPI_Datatype", [f"op%{side}%datatype = {{}}", f"op%{side}%has_type = 1"]),
    }
# Parameters that are stored in more than one field, or need a conversion, by name.
BY_NAME = {
    "window": ("integer", "MPI_Win", ["op%window = {}", "op%has_window = 1"]),
    "file": ("integer", "MPI_File", ["op%file = {}", "op%has_file = 1"]),
    "group": ("integer", "MPI_Group", ["op%group = {}", "op%has_group = 1"]),
}
FAR = {f"{side}_displacement": ("integer(c_int64_t)", None, [f"op%{side}%displacement = {{}}"]) for side in ("send", "recv")}
ONE_ELEMENT = ("integer", "MPI_Datatype", [f"op%{side}%{line}" for side in ("send", "recv")
                                           for line in ("datatype = {}", "has_type = 1", "count = 1")])
CLAUSES = ["in", "out", "inout", "flags", "priority", "status", "ierror", "bind"]
CLAUSE_DECLARATIONS = """\
    type(c_ptr), intent(in), optional, target, contiguous :: in(:), out(:), inout(:)
    integer, intent(in), optional :: flags, priority
    type(commtask_status), intent(inout), optional, target :: status
    integer, intent(out), optional :: ierror
    logical, intent(in), optional :: bind
"""


def field_of(parameter):
    """The key of FIELDS."""
    if parameter.name in BY_NAME:
        return parameter.name
    if "keep_displacement" in parameter.field:
        return "send_displacement" if "op.send" in parameter.field else "recv_displacement"
    return "one_element" if "{" in parameter.field else parameter.field.replace(".", "_")


def statement(text):
    """A statement of any length, continued where Fortran wants it to be."""
    return " &\n".join(textwrap.wrap(text, 116, initial_indent="    ", subsequent_indent="        ")) + "\n"


def declarations(arguments, type_of):
    """The dummies of each type together."""
    by_type = {}
    for dummy, field in arguments:
        by_type.setdefault(type_of(FIELDS[field]), []).append(dummy)
    return "".join(statement(f"{type_}, intent(in) :: {', '.join(dummies)}") for type_, dummies in by_type.items())


def subroutine(name, dummies, body):
    return f"{statement(f'subroutine {name}({dummies})')[2:]}{body}  end subroutine {name}\n"


def procedures(name, kind, arguments):
    dummies = ", ".join([dummy for dummy, _ in arguments] + CLAUSES)
    fill = "".join(f"    {line.format(dummy)}\n" for dummy, field in arguments for line in FIELDS[field][2])
    integers = subroutine(
        f"{name}_integers", dummies,
        declarations(arguments, lambda field: field[0]) + CLAUSE_DECLARATIONS + "    type(operation) :: op\n"
        f"    op%kind = {kind}\n" + fill + f"    call spawn(op, {', '.join(CLAUSES)})\n")
    passed = [dummy + ("%MPI_VAL" if FIELDS[field][1] else "") for dummy, field in arguments]
    handles = subroutine(
        f"{name}_handles", dummies,
        declarations(arguments, lambda field: f"type({field[1]})" if field[1] else field[0]) + CLAUSE_DECLARATIONS +
        statement(f"call {name}_integers({', '.join(passed + CLAUSES)})"))
    return integers + "\n" + handles


def parts_of(file, kind_of_plan):
    """Name -> text of the parts of a template, each of which begins with its name after '!-- '."""
    _, *pieces = file.read_text(encoding="utf-8").replace("@PLAN@", str(kind_of_plan)).split("!-- ")
    return dict(piece.split("\n", 1) for piece in pieces)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("template", "out"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    parser.add_argument("--parts", required=True, type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    public, generics, written = [], [], []
    FIELDS.update(BY_NAME, **FAR, one_element=ONE_ELEMENT)
    rows = generate_operations.read_table()
    for row in rows:
        if not row.is_in_fortran() or row.name == "plan":
            continue
        # Arrays of counts are the arrays of the int form; Fortran's argument is called datatype,
        # C's type.
        arguments = [("datatype" if each.name == "type" else each.name, field_of(each))
                     for each in row.parameters(is_int=True)]
        public.append(f"  public :: comm_task_{row.name}\n")
        generics.append(f"  interface comm_task_{row.name}\n    module procedure {row.name}_integers, {row.name}_handles\n"
                        f"  end interface comm_task_{row.name}\n")
        written.append(procedures(row.name, row.number, arguments))
    text = options.template.read_text(encoding="utf-8")
    parts = {"PUBLIC": "".join(public), "GENERICS": "".join(generics), "PROCEDURES": "\n".join(written)}
    for file in options.parts:
        parts |= parts_of(file, next(row.number for row in rows if row.name == "plan"))
    for part, lines in parts.items():
        mark = f"@{part}@\n"
        before, found, after = text.partition(mark)
        if not found:
            raise SystemExit(f"{options.template} has no {mark.strip()}")
        text = before + lines + after
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
