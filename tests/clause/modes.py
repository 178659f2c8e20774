# SPDX-License-Identifier: Apache-2.0
# The ways to run a compiler that must go on working with the plugin: preprocessing apart, precompiled headers, ccache,
# editors, thousands of directives, odd files; and that without the plugin a program fails to compile. One function for
# each; its docstring is what it shows.
"""usage: modes.py --mode MODE --wrapper FILE --clang NAME --plugin FILE --other-clang NAME --work FOLDER -- launcher words"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RIGHT = HERE / "right"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
COVERAGE = ["-fprofile-instr-generate", "-fcoverage-mapping"]
CANNOT_RUN = 77


class modes:
    def __init__(self, options):
        self.wrapper, self.clang, self.plugin = options.wrapper, options.clang, options.plugin
        self.other_clang = options.other_clang
        self.launch = options.launch
        self.work = pathlib.Path(options.work)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.environment = dict(os.environ, CLANG_OF_COMMTASK=self.clang)

    def run(self, words, expected=0, timeout=100, **named):
        print("+", *words, flush=True)
        named.setdefault("env", self.environment)
        done = subprocess.run([str(word) for word in words], cwd=self.work, text=True, capture_output=True, check=False,
                              timeout=timeout, **named)
        text = done.stdout + done.stderr
        print(text[-3000:])
        if expected is not None and (done.returncode == 0) != (expected == 0):
            raise SystemExit(f"exit status {done.returncode}, expected {'0' if expected == 0 else 'a failure'}")
        return text

    def command(self, source, *words):
        """The wrapper, as a user calls it for this source."""
        is_cpp = pathlib.Path(source).suffix in (".cpp", ".ii")
        standard = "-std=c++20" if is_cpp else "-std=c11"
        return [self.wrapper + ("++" if is_cpp else ""), standard, *WARNINGS, "-fopenmp", *words, source]

    def bare(self, compiler, *words):
        """A compiler with the wrapper's include folders and nothing else of it."""
        shown = self.run([self.wrapper, "--commtask-show", "-c", "x.c"]).split()
        kept = [compiler]
        for i, word in enumerate(shown):
            if word in ("-isystem", "-idirafter"):
                kept += shown[i:i + 2]
            elif re.match(r"-DM|-DO", word):
                kept.append(word)
        return [*kept, *words]

    def write(self, name, text):
        path = self.work / name
        path.write_bytes(text.encode())
        return path

    def starts_in(self, source, *words):
        """How many communications the compiled program starts."""
        self.run(self.command(source, "-S", "-emit-llvm", "-o", "starts.ll", *words))
        return len(re.findall(r"call [^@]*@commtask_omp_start_prepared", (self.work / "starts.ll").read_text()))

    def works(self, program, **settings):
        self.run([*self.launch, self.work / program], env=dict(os.environ, OMP_NUM_THREADS="2", **settings))

    @staticmethod
    def in_function(lines):
        return ("#include <commtask/omp.h>\nvoid f(MPI_Comm world, int *a);\nvoid f(MPI_Comm world, int *a) {\n"
                "  (void)world; (void)a;\n" + lines + "}\n")

    # The modes.

    def syntax_only(self):
        """-fsyntax-only, also pedantic, says nothing."""
        for source in ("places.c", "clauses.c", "places.cpp"):
            self.run(self.command(RIGHT / source, "-fsyntax-only", "-Wpedantic", "-Wshadow"))

    def odd_places(self):
        """Every directive of a file full of odd places becomes one communication."""
        n = self.starts_in(HERE / "odd_places.cpp", "-Wno-implicit-fallthrough")
        # Thirteen directives, one of them in a template with two instances.
        if n != 14:
            raise SystemExit(f"{n} communications, expected 14")

    def standards(self):
        """Every language level that OpenMP tasks are used with."""
        source = self.write("levels.c", self.in_function("#pragma omp task comm(send: a, 1, MPI_INT, 0, 0, world)\n"))
        for level in ("c99", "gnu99", "gnu11", "c17"):
            self.run([self.wrapper, f"-std={level}", *WARNINGS, "-fopenmp", "-c", source])
        for level in ("c++11", "c++14", "c++17", "gnu++20", "c++20"):
            self.run([self.wrapper + "++", "-x", "c++", f"-std={level}", *WARNINGS, "-fopenmp", "-c", source])

    def coverage(self):
        """Source-based coverage takes right programs, and leaves out what it leaves out without a clause."""
        for source in ("places.c", "clauses.c", "places.cpp"):
            self.run(self.command(RIGHT / source, *COVERAGE, "-c", "-o", "covered.o"))
        # Comments, and lines for the preprocessor, are told from code by the tokens around them.
        left_out = []
        for first in ("#pragma omp task comm(send: a, 1, MPI_INT, 0, 0, world)\n", "#pragma omp taskyield\n"):
            text = first + "  *a = 1; // behind\n#if 0\n  *a = 2;\n#endif\n#define TWO 2\n  /* in front */ *a = TWO;\n"
            source = self.write("covered.c", self.in_function(text.replace("\n", "\n  ;\n", 1)))
            said = self.run(self.command(source, *COVERAGE, "-Xclang", "-dump-coverage-mapping", "-c", "-o", "covered.o"))
            left_out.append(re.findall(r"Skipped,.*", said))
        if not left_out[1] or left_out[0] != left_out[1]:
            raise SystemExit(f"other lines are left out: {left_out[0]}, expected {left_out[1]}")

    def covered_run(self):
        """A program with source-based coverage links and runs, and each rank leaves its counts."""
        main = self.write("main.c", "int main(void) { return 0; }\n")
        self.run([self.clang, *COVERAGE, main, "-o", "main"], expected=None)
        if not (self.work / "main").exists():
            print("this clang has no runtime for profiles (libclang-rt)")
            return CANNOT_RUN
        self.run(self.command(RIGHT / "clauses.c", *COVERAGE, "-o", "covered"))
        self.works("covered", LLVM_PROFILE_FILE=str(self.work / "covered.%p.profraw"))
        counts = [file for file in self.work.glob("covered.*.profraw") if file.stat().st_size > 0]
        if len(counts) != int(self.launch[-1]):
            raise SystemExit(f"{len(counts)} files of counts, expected one for each rank")
        return 0

    def debug(self):
        """-O0 -g compiles, the program runs, and the task's line is the directive's."""
        self.run(self.command(RIGHT / "places.c", "-O0", "-g", "-o", "places"))
        self.works("places")

    def save_temps(self):
        """-save-temps compiles what it preprocessed."""
        self.run(self.command(RIGHT / "clauses.c", "-save-temps=obj", "-O2", "-c", "-o", "clauses.o"))
        self.run(self.command(RIGHT / "places.cpp", "-save-temps=obj", "-c", "-o", "places.o"))

    def preprocessed(self):
        """-E, then compiling its output, with line markers and without, gives a program that works."""
        for source, suffix in (("clauses.c", "i"), ("places.cpp", "ii")):
            for flag, name in (("-C", f"full.{suffix}"), ("-P", f"bare.{suffix}")):
                self.run(self.command(RIGHT / source, "-E", flag, "-o", name))
                # Without markers everything in the headers is the file's own, and is warned of.
                self.run([*self.command(name), *(["-w"] if flag == "-P" else []), "-o", f"{name}.out"])
                self.works(f"{name}.out")

    def preprocessed_under_an_if(self):
        """The ';' behind a directive is found behind a line marker."""
        source = self.write("if.c", self.in_function("""#define SEND _Pragma("omp task comm(send: a, 1, MPI_INT, 0, 0, world)")
  if (*a) SEND; else SEND;
  if (*a)
#pragma omp task comm(send: a, 1, MPI_INT, 0, 0, world)







    ;
  else
    *a = 1;
"""))
        self.run(self.command(source, "-E", "-o", "if.i"))
        if self.starts_in("if.i") != 3:
            raise SystemExit("three communications were expected")

    def macro_called_comm_preprocessed(self):
        """A macro called comm is no harm, but preprocessed apart it has replaced the clause: an error, no silence."""
        text = "#define comm MPI_COMM_WORLD\n#pragma omp task comm(send: a, 1, MPI_INT, 0, 0, comm)\n  ;\n"
        source = self.write("named.c", self.in_function(text))
        self.run(self.command(source, "-c", "-o", "named.o"))
        self.run(self.command(source, "-E", "-o", "named.i"))
        said = self.run(self.command("named.i", "-c", "-o", "named.o"), expected=1)
        if "a macro has replaced the word 'comm'" not in said:
            raise SystemExit("the reason was expected")

    def precompiled_header(self):
        """Clauses in a precompiled header, and in a program that gets <commtask/omp.h> from it."""
        for source, language in (("clauses.c", "c"), ("places.cpp", "c++")):
            wrapper = self.wrapper + ("++" if language == "c++" else "")
            standard = "-std=c++20" if language == "c++" else "-std=c11"
            flags = [standard, "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-fopenmp"]
            # What the header has for others: main(), and a function that it calls.
            header = self.write("all.h", f'#include "{RIGHT}/in_header.h"\n')
            self.run([wrapper, *flags, "-Wno-undefined-internal", "-x", f"{language}-header", header, "-o", "all.pch"])
            self.run([wrapper, *flags, "-include-pch", "all.pch", RIGHT / source, "-o", "with_pch"])
            self.works("with_pch")

    def windows_lines(self):
        """Lines that end in CR LF."""
        text = (RIGHT / "clauses.c").read_text().replace("\n", "\r\n")
        for name in ("ring.h",):
            shutil.copy(RIGHT / name, self.work)
        self.run([*self.command(self.write("windows.c", text)), "-o", "windows"])
        self.works("windows")

    def no_final_newline(self):
        """A fragment that ends with a directive and without a newline."""
        line = "#pragma omp task comm(send: a, 1, MPI_INT, 0, 0, world)"
        self.write("end.inc", line)
        source = self.write("end.c", self.in_function(f'{line}\n#include "end.inc"\n;\n#include "end.inc"\n'))
        if self.starts_in(source) != 3:
            raise SystemExit("three communications were expected")

    def thousands(self):
        """Thousands of directives in one file, one behind the other, as lines and as macros."""
        n = 3000
        line = "#pragma omp task comm(send: a, 1, MPI_INT, 0, 0, world)\n"
        macro = '#define SEND _Pragma("omp task comm(send: a, 1, MPI_INT, 0, 0, world)")\n'
        self.run(self.command(self.write("lines.c", self.in_function(line * n)), "-fsyntax-only"))
        self.run(self.command(self.write("macros.c", macro + self.in_function("SEND " * n + "\n")), "-fsyntax-only"))
        source = self.write("code.c", self.in_function(line * (n // 10)))
        if self.starts_in(source) != n // 10:
            raise SystemExit(f"{n // 10} communications were expected")

    def identical(self):
        """Programs without comm clauses become the same objects, with the same warnings, with the plugin and without."""
        # Something to warn of, so that the comparison of the warnings compares something.
        noisy = self.write("noisy.c", "int f(void);\nint f(void) {\n int unused;\n#pragma omp parallel nonsense(1)\n"
                                      "  ;\n#pragma omp task\n  ;\n  return 0;\n}\n")
        for source in (HERE / "plain.cpp", noisy, HERE.parents[1] / "docs/snippets/readme.c"):
            # Without -g: with it, clang 19 itself gives one of two objects, by the addresses of its own memory.
            for flags in (["-O0"], ["-O2"], ["-O2", "-fopenmp-simd"], ["-O1", "-no-openmp"]):
                openmp = [] if flags[-1] in ("-fopenmp-simd", "-no-openmp") else ["-fopenmp"]
                if not openmp and source.name == "readme.c":
                    continue
                words = [word for word in flags if word != "-no-openmp"] + openmp
                standard = "-std=c++20" if source.suffix == ".cpp" else "-std=c11"
                command = self.bare(self.clang, standard, "-Wall", "-Wextra", *words, "-c", source, "-o", "object.o")
                texts = []
                for plugin in ([], [f"-fplugin={self.plugin}"]):
                    said = self.run([*command, *plugin])
                    texts.append((said, (self.work / "object.o").read_bytes()))
                if texts[0] != texts[1]:
                    raise SystemExit(f"{source.name} {flags}: not the same")

    def same_code(self):
        """The clause becomes the object, byte for byte, that the detach form written by hand becomes."""
        clause = "#pragma omp task depend(in : a[0]) comm(ordered, send : a, 1, MPI_INT, 0, 0, world)\n"
        by_hand = ("omp_event_handle_t event = (omp_event_handle_t)0;\n"
                   "commtask_omp_task prepared = commtask_omp_prepare_at(commtask_op_send(a, 1, MPI_INT, 0, 0, world), "
                   "COMMTASK_ORDERED, NULL, __FILE__, 5);\n"
                   "#pragma omp task untied detach(event) firstprivate(event, prepared) depend(in : a[0])\n"
                   "commtask_omp_start_prepared(&prepared, event);\n")
        for suffix in ("c", "cpp"):
            for level in ("-O2", "-O3"):
                objects = []
                for lines in (clause, by_hand):
                    source = self.write(f"same.{suffix}", self.in_function(lines))
                    self.run(self.command(source, level, "-c", "-o", "same.o"))
                    objects.append((self.work / "same.o").read_bytes())
                if objects[0] != objects[1]:
                    raise SystemExit(f"{suffix} {level}: not the same code")

    def ccache(self):
        """ccache gives the same object back, and compiles anew for another plugin."""
        if shutil.which("ccache") is None:
            return CANNOT_RUN
        environment = dict(self.environment, CCACHE_DIR=str(self.work / "cache"))
        for name in ("CCACHE_BASEDIR", "CCACHE_NOHASHDIR", "CCACHE_DISABLE"):
            environment.pop(name, None)
        plugin = self.work / "libcommtask_clause.so"
        shutil.copy(self.plugin, plugin)
        command = self.bare("ccache", "-std=c11", "-fopenmp", f"-fplugin={plugin}", "-c", RIGHT / "clauses.c", "-o",
                            "clauses.o")
        command.insert(1, shutil.which(self.clang))

        def count():
            said = self.run(["ccache", "--print-stats"], env=environment)
            number = dict(line.split("\t") for line in said.splitlines())
            return int(number["direct_cache_hit"]) + int(number["preprocessed_cache_hit"]), int(number["cache_miss"])

        self.run(command, env=environment)
        first = (self.work / "clauses.o").read_bytes()
        self.run(command, env=environment)
        if count() != (1, 1) or (self.work / "clauses.o").read_bytes() != first:
            raise SystemExit("the second compilation was expected to be a hit")
        with open(plugin, "ab") as file:
            file.write(b"changed")
        self.run(command, env=environment)
        if count() != (1, 2):
            raise SystemExit("another plugin was expected to be a miss")

    def plain_option(self):
        """clang -fplugin=... -fopenmp, without the wrapper."""
        self.run(self.bare(self.clang, "-std=c11", *WARNINGS, f"-fplugin={self.plugin}", "-fopenmp", "-c",
                           RIGHT / "clauses.c", "-o", "plain.o"))

    def refused_at_run_time(self):
        """A communication that is refused when it runs says why and where; a status needs no initialiser."""
        source = self.write("refused.c", """#include <commtask/omp.h>
int main(int argc, char** argv) {
    int level, wrong = -1, n = 0;
    static commtask_status first, second;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    commtask_init(NULL);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task comm(recv: &n, wrong, MPI_INT, 0, 0, MPI_COMM_SELF) comm(status: &first)
#pragma omp task comm(barrier: MPI_COMM_SELF) comm(status: &second)
    }
    commtask_finalize();
    MPI_Finalize();
    return first.state != COMMTASK_STATE_FAILED || second.state != COMMTASK_STATE_COMPLETED;
}
""")
        self.run([*self.command(source), "-o", "refused"])
        said = self.run([*self.launch[:-1], "1", self.work / "refused"], env=dict(os.environ, OMP_NUM_THREADS="2"))
        if len(re.findall(r"commtask: rank 0: recv of .* was refused: .*refused\.c:10\)", said)) != 1:
            raise SystemExit("one sentence with the directive's line was expected")

    def without_the_plugin(self):
        """No compiler drops the communication: each fails, clang and gcc, with -fopenmp and without."""
        source = self.write("dropped.c", self.in_function("#pragma omp task comm(barrier: world)\n  *a = 1;\n"))
        for compiler, openmp in ((self.clang, True), (self.clang, False), ("gcc-12", True), ("gcc-12", False)):
            if shutil.which(compiler) is None:
                return CANNOT_RUN
            words = ["-std=c11", "-fsyntax-only", *(["-fopenmp"] if openmp else []), source]
            command = self.bare(compiler, *words)
            if compiler != self.clang:
                # gcc brings its own <omp.h>.
                after = command.index("-idirafter")
                del command[after:after + 2]
            said = self.run(command, expected=1)
            if len(re.findall(r"error:", said)) != 1:
                raise SystemExit("one error was expected")

    def other_compiler(self):
        """A plugin of another release is refused by name, or by clang itself; nothing is compiled."""
        if not self.other_clang or shutil.which(self.other_clang) is None:
            return CANNOT_RUN
        source = self.write("empty.c", "int empty;\n")
        said = self.run([self.other_clang, f"-fplugin={self.plugin}", "-c", source, "-o", "empty.o"], expected=1)
        if "was built for clang" not in said and "unable to load plugin" not in said:
            raise SystemExit("the reason was expected")

    def clangd(self):
        """clangd and clang-tidy, which load no plugins, read the program without an error as the page says."""
        clangd, clang_tidy = (str(pathlib.Path(self.clang).parent / name) for name in ("clangd", "clang-tidy"))
        if shutil.which(clangd) is None or shutil.which(clang_tidy) is None:
            return CANNOT_RUN
        shutil.copy(RIGHT / "ring.h", self.work)
        shutil.copy(RIGHT / "clauses.c", self.work)
        flags = self.bare("clang", "-std=c11", "-fopenmp", f"-fplugin={self.plugin}")[1:]
        self.write("compile_flags.txt", "\n".join(str(flag) for flag in flags))
        page = (HERE.parents[1] / "docs/clause.md").read_text(encoding="utf-8")
        advice = re.search(r"```yaml\n(.*?)```", page, re.S).group(1)
        self.write(".clangd", re.sub(r"^  ", "", advice, flags=re.M))
        said = self.run([clangd, "--check=clauses.c", "--enable-config", "--log=error"],
                        env=dict(self.environment, XDG_CONFIG_HOME=str(self.work), HOME=str(self.work)))
        if re.search(r"^E\[.*(error|-Wextra)", said, re.M):
            raise SystemExit("clangd found an error")
        tidy = [clang_tidy, "--quiet", "--checks=-*,bugprone-sizeof-expression", "clauses.c"]
        self.run(tidy, expected=1)
        self.run([*tidy, *re.findall(r"--extra-arg=[\w-]+", page)])

    def wrapper_messages(self):
        """The wrapper says what is wrong with its own surroundings."""
        said = self.run([self.wrapper, "-c", "x.c"], expected=1,
                        env=dict(self.environment, CLANG_OF_COMMTASK="no-such-clang"))
        if "CLANG_OF_COMMTASK=no-such-clang is not there" not in said:
            raise SystemExit("the name was expected")
        self.run([self.wrapper, "--version"])
        source = self.write("object.c", self.in_function("#pragma omp task comm(barrier: world)\n"))
        self.run([self.wrapper, *WARNINGS, "-fopenmp", "-c", source])
        main = self.write("main.c", "int main(void) { return 0; }\n")
        self.run([self.wrapper, *WARNINGS, "-fopenmp", main, "object.o", "-o", "linked"])
        self.run([self.wrapper, *WARNINGS, "-fopenmp", "-include", "stdio.h", main, "object.o", "-o", "linked.h"])


def main():
    names = [name for name in vars(modes) if not name.startswith("_") and getattr(modes, name).__doc__ and
             name not in ("command", "bare", "starts_in")]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=names, required=True)
    for option in ("wrapper", "clang", "plugin", "other-clang", "work"):
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("launch", nargs="+")
    options = parser.parse_args()
    one = modes(options)
    print(getattr(modes, options.mode).__doc__)
    return getattr(one, options.mode)() or 0


if __name__ == "__main__":
    sys.exit(main())
