# SPDX-License-Identifier: Apache-2.0
# Adds an operation to a copy of the sources as CONTRIBUTING.md says it: one row of the table, one line that starts it, one
# check of its arguments. Then a program uses it through every face that has no code of its own for it. What of the library
# does not ask for traits is linked as it was built, so that the test also shows how little an operation touches.
"""usage: add_operation.py --source ROOT --work FOLDER --compilers CC CXX FORTRAN --include D... [--tbb D...] --objects O...
--link W... -- MPIEXEC..."""
import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

ROW = """COMMTASK_OPERATION(NUMBER, neighbor_swap, neighborhood, collectives, no, no, arrays, "from into",
                   "Alltoall with the neighbors, for a test.")
"""
START = """    case COMMTASK_OP_NEIGHBOR_SWAP:
        return COMMTASK_MPI_CALL(is_int, Ineighbor_alltoallv, from, cs, ds, op.send.type, to, cr, dr, op.recv.type, op.comm,
                                 request);
"""
CHECK = '    case COMMTASK_OP_NEIGHBOR_SWAP: return check_pointer(op.recv.counts, "recv_counts");\n'


def insert(path, text, before):
    """Puts text in front of the line of a file that has these words, the only one."""
    content = path.read_text(encoding="utf-8")
    if content.count(before) != 1:
        sys.exit(f"{path}: '{before}' stands there {content.count(before)} times")
    path.write_text(content.replace(before, text + before), encoding="utf-8")


def add_by_hand(copy):
    """The three places."""
    sources = copy / "runtime/src"
    number = re.search(r"COMMTASK_OP_END = (\d+)", (copy / "runtime/include/commtask/kinds.h").read_text()).group(1)
    insert(sources / "core/operation_table.def", ROW.replace("NUMBER", number), "\n#undef COMMTASK_OPERATION")
    insert(sources / "mpi/collectives.cpp", START, "    case COMMTASK_OP_REDUCE_SCATTER:")
    insert(sources / "mpi/arguments.cpp", CHECK, "    case COMMTASK_OP_REDUCE_SCATTER:")


def main():
    words = sys.argv[1:]
    launch = words[words.index("--") + 1:]
    # What the linker is given may begin with a dash.
    link = words[words.index("--link") + 1:words.index("--")]
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "work"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    for name in ("objects", "include", "compilers"):
        parser.add_argument(f"--{name}", required=True, nargs="+")
    parser.add_argument("--tbb", nargs="+", default=[])  # the folders of the oneTBB face, where it was built
    options = parser.parse_args(words[:words.index("--link")])

    copy = options.work
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("runtime", "plugins/omp", "docs", "tools"):
        shutil.copytree(options.source / folder, copy / folder)
    generator = [sys.executable, copy / "tools/generate_operations.py"]
    subprocess.run([*generator, "--check"], check=True)
    add_by_hand(copy)
    if subprocess.run([*generator, "--check"], capture_output=True).returncode == 0:
        sys.exit("the table has a row more, and --check does not see it")
    subprocess.run(generator, check=True)
    fortran = copy / "plugins/omp/fortran"
    template = fortran / "commtask_omp.f90.in"
    parts = sorted(set(fortran.glob("*.f90.in")) - {template})
    subprocess.run([sys.executable, fortran / "generate.py", "--template", template, "--parts", *parts, "--out",
                    copy / "module.f90"], check=True)
    for text, name in (copy / "module.f90", "comm_task_neighbor_swap"), (copy / "docs/operations.md", "| `neighbor_swap`"):
        if name not in text.read_text(encoding="utf-8"):
            sys.exit(f"{text} has no {name}")
    c, cpp, fortran_compiler = options.compilers
    if shutil.which(fortran_compiler):
        subprocess.run([fortran_compiler, "-std=f2018", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-fsyntax-only", "module.f90"],
                       check=True, cwd=copy)
    else:
        print(f"{fortran_compiler} is not installed: nothing looks at the Fortran module")

    # What asks for traits, or has room for each kind.
    changed = {f"{path.relative_to(copy / folder)}.o": path for folder in ("runtime", "plugins/omp")
               for path in (copy / folder / "src").rglob("*.cpp")
               if re.search(r"operation_traits\.hpp|COMMTASK_OP_END", path.read_text(encoding="utf-8"))}
    kept = [each for each in options.objects if not each.endswith(tuple(f"/{name}" for name in changed))]
    objects = {path: copy / name.replace("/", "_") for name, path in changed.items()}
    print(f"{len(changed)} files compiled again, {len(kept)} kept: {', '.join(sorted(changed))}")
    include = [f"-I{folder}" for folder in (copy / "runtime/include", copy / "plugins/omp/include", copy / "runtime/src",
                                            copy / "plugins/omp/src", *options.include)]
    flags = ["-O0", "-fopenmp", "-fPIC", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-ftls-model=initial-exec", *include]
    compile_lines = [[cpp, "-std=c++20", *flags, "-c", path, "-o", to] for path, to in objects.items()]
    programs = [copy / "program.o"]
    use = [c, "-std=c11", *flags, "-c", options.source / "tests/project/added_operation.c", "-o", programs[0]]
    if options.tbb:
        use.append("-DHAVE_NODE")
        programs.append(copy / "node.o")
        compile_lines.append([cpp, "-std=c++20", *flags, *(f"-I{folder}" for folder in options.tbb), "-c",
                              options.source / "tests/project/added_operation_node.cpp", "-o", programs[1]])
    compile_lines.append(use)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda line: subprocess.run(line, check=True), compile_lines))
    subprocess.run([cpp, *programs, *objects.values(), *kept, *link, "-o", copy / "program"], check=True)
    return subprocess.run([*launch, copy / "program"], timeout=60).returncode


if __name__ == "__main__":
    sys.exit(main())
