# SPDX-License-Identifier: Apache-2.0
# Shows that tools/lint.py finds what it says it finds, and lets good files pass: a rule that never fires is worse than
# no rule. Every test holds one smallest file; the words that the rules look for are put together here from pieces, so
# that this file obeys them too.
"""Unit tests of tools/lint.py."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import lint  # noqa: E402

HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Why: a file for a test, with two lines\n// that say why it exists.\n"
DOC = "/// Does it.\n/// @param first What it is.\n/// @param second The other.\n"


def rules_broken(path, text):
    return sorted({rule for _, _, rule, _ in lint.check(lint.SourceFile(path, text))})


class WholeFiles(unittest.TestCase):
    def test_a_good_file_passes(self):
        self.assertEqual(rules_broken("runtime/src/core/graph.cpp", HEAD + "int commtask_x;\n"), [])

    def test_a_missing_spdx_line_is_found(self):
        self.assertIn("spdx", rules_broken("runtime/src/core/graph.cpp", "// Why.\n// Because.\n"))

    def test_a_script_has_its_spdx_line_second(self):
        text = "#!/bin/bash\n# SPDX-License-Identifier: Apache-2.0\n# Why this script is here,\n# and why not.\n"
        self.assertEqual(rules_broken("scripts/thing", text), [])

    def test_a_missing_why_is_found(self):
        self.assertIn("why", rules_broken("runtime/src/core/graph.cpp", HEAD.split("\n")[0] + "\n#include <x>\n"))

    def test_a_header_says_why_for_its_source(self):
        spdx = HEAD.split("\n")[0]
        self.assertNotIn("why", rules_broken("runtime/src/core/graph.cpp", spdx + '\n#include "core/graph.hpp"\n'))
        self.assertIn("why", rules_broken("runtime/src/core/graph.cpp", spdx + '\n#include "core/task.hpp"\n'))

    def test_an_essay_is_found(self):
        self.assertIn("why", rules_broken("runtime/src/core/graph.cpp", HEAD + "// and on\n" * 5))

    def test_a_long_file_is_found(self):
        self.assertIn("length", rules_broken("runtime/src/core/graph.cpp", HEAD + "int x;\n" * 498))
        self.assertNotIn("length", rules_broken("runtime/src/core/graph.cpp", HEAD + "int x;\n" * 497))

    def test_an_unfinished_line_is_found(self):
        self.assertIn("unfinished", rules_broken("docs/a.md", "TO" + "DO: more\n"))

    def test_a_machine_path_is_found_and_a_system_path_is_not(self):
        self.assertIn("machine-path", rules_broken("docs/a.md", "see /ho" + "me/me/x\n"))
        self.assertIn("machine-path", rules_broken("docs/a.md", "see `/tm" + "p/x`\n"))
        self.assertEqual(rules_broken("docs/a.md", "see /usr/lib and build/tmp/x and $HOME/tmp/x\n"), [])

    def test_tabs_blanks_and_a_missing_newline_are_found(self):
        for body in ("int x; \n", "\tint x;\n", "int x;", "int x;\n\n"):
            self.assertIn("whitespace", rules_broken("runtime/src/core/graph.cpp", HEAD + body))

    def test_a_file_name_in_camel_case_is_found(self):
        self.assertIn("file-name", rules_broken("runtime/src/core/TaskGraph.cpp", HEAD))

    def test_a_command_that_may_mean_another_mpi_is_found(self):
        plain = "mpi" + "exec"
        for path, line in (("docs/a.md", f"`{plain} -n 2 ./app`"), ("README.md", f"X=1 {plain} -n 2 ./app"),
                           ("docs/man/a.1", f".B {plain} \\-n"), ("docs/man/a.1", f'.RB [ {plain} " " \\-n'),
                           ("docs/a.md", "mpi" + "cc -O2 a.c"), ("docs/a.md", "mpi" + "cxx a.cpp -o a")):
            self.assertEqual(rules_broken(path, line + "\n"), ["one-mpi"], line)
        for line in ("mpiexec.mpich -n 2 ./app", f"`$I_MPI_ROOT/bin/{plain} -n 2`", f"plain `{plain}` and `mpicc`"):
            self.assertEqual(rules_broken("docs/a.md", line + "\n"), [], line)

    def test_a_measured_figure_stands_in_what_a_benchmark_writes(self):
        for line in ("it took 0.84 [0.78..2.1] of that", "a post takes 2.3 us", "as many as 5.1 million a second", "and 0.2 microseconds"):
            for path in ("docs/a.md", "README.md", "apps/a/README.md"):
                self.assertEqual(rules_broken(path, line + "\n"), ["figure"], line)
            for path in ("docs/performance.md", "docs/adr/0001-a.md", "docs/a.py"):
                self.assertNotIn("figure", rules_broken(path, line + "\n"), path)
            for begin, end in (("<!-- results: written by bench/performance.py -->", "<!-- end of the results -->"), ("```text", "```"),
                               ("- As follows:\n\n  ```text", "  ```")):
                self.assertEqual(rules_broken("docs/a.md", f"{begin}\n{line}\n{end}\n"), [])
        for line in ("naps of 4 ms", "MPICH 4.0.2 does", "Open MPI 4.1 ms_t", "at most 1.05 times that"):
            self.assertEqual(rules_broken("docs/a.md", line + "\n"), [], line)

    def test_an_exception_with_a_reason_is_allowed_and_one_without_is_not(self):
        word = "TO" + "DO"
        self.assertEqual(rules_broken("docs/a.md", f"<!-- lint-allow(unfinished): a quotation --> {word}\n"), [])
        self.assertIn("unfinished", rules_broken("docs/a.md", f"<!-- lint-allow(unfinished): --> {word}\n"))


class Words(unittest.TestCase):
    CODE = "plugins/mpi/src/post.cpp"
    WORD = "bat" + "on"

    def broken(self, path, text):
        return [(line, message) for _, line, rule, message in lint.check(lint.SourceFile(path, text)) if rule == "words"]

    def test_a_retired_word_in_a_comment_is_found_with_its_term(self):
        for comment in (f"// The {self.WORD}.", f"int x; ///< Of the {self.WORD.capitalize()}s.", f"/* A\n * {self.WORD} */"):
            found = self.broken(self.CODE, HEAD + comment + "\n")
            self.assertEqual([message for _, message in found], [f"'{self.WORD}' is no term of the field: progress lock"], comment)
        self.assertEqual(self.broken(self.CODE, HEAD + f"int x;\n// The {self.WORD}.\n")[0][0], HEAD.count("\n") + 2)
        for path in ("plugins/mpi/generate.py", "plugins/mpi/CMakeLists.txt", "plugins/mpi/commtask-run.in"):
            self.assertEqual(len(self.broken(path, f"x = 1\ny = 2  # the {self.WORD}\n")), 1, path)

    def test_code_and_strings_are_not_prose(self):
        for code in (f"int {self.WORD} = 1;", f'const char* s = "the {self.WORD}"; // Plain.', f"// take_{self.WORD}() returns."):
            self.assertEqual(self.broken(self.CODE, HEAD + code + "\n"), [], code)
        for code in (f'{self.WORD} = "# {self.WORD}"', f"echo ${{#{self.WORD}[@]}}"):
            self.assertEqual(self.broken("plugins/mpi/generate.py", code + "\n"), [], code)

    def test_a_word_may_be_retired_in_some_folders_only(self):
        comment = HEAD + "// The bell.\n"
        found = self.broken("runtime/src/core/a.cpp", comment)
        self.assertEqual([message for _, message in found], ["'bell' is no term of the field: doorbell"])
        self.assertEqual(self.broken(self.CODE, comment), [])
        self.assertEqual(self.broken("runtime/src/core/a.cpp", HEAD + "// In place of a worker.\n"), [])

    def test_a_page_is_checked_outside_its_code(self):
        self.assertEqual(len(self.broken("docs/a.md", f"The {self.WORD}.\n")), 1)
        self.assertEqual(self.broken("docs/a.md", f"`{self.WORD}`\n\n```c\n{self.WORD}();\n```\n"), [])

    def test_a_term_of_two_words_is_found_across_lines(self):
        first, second = "standing", "receive"
        self.assertEqual([line for line, _ in self.broken(self.CODE, HEAD + f"// A {first}\n// {second}.\n")], [HEAD.count("\n") + 1])
        self.assertEqual(self.broken(self.CODE, HEAD + f"// A long-{first} {second}.\n// {first}.\nint x;\n"), [])

    def test_terms_of_the_field_and_folders_that_are_not_done_pass(self):
        self.assertEqual(self.broken("docs/a.md", "The compiler driver, a lane, a ticket, the other side; it lends and passes on.\n"), [])
        self.assertEqual(self.broken("apps/a.cpp", HEAD + f"// The {self.WORD}.\n"), [])


class Arrows(unittest.TestCase):
    def test_the_core_calls_no_mpi(self):
        call = HEAD + "void f() {\n    MPI_Barrier(MPI_COMM_WORLD);\n}\n"
        self.assertEqual(rules_broken("runtime/src/core/worker.cpp", call), ["mpi-call"])
        self.assertEqual(rules_broken("runtime/src/mpi/transport.cpp", call), [])
        self.assertEqual(rules_broken("tests/mpi/send.cpp", call), [])

    def test_arrows_between_rooms_go_one_way(self):
        def broken(path, header):
            return rules_broken(path, HEAD + f'#include "{header}"\n')

        self.assertEqual(broken("runtime/src/core/worker.cpp", "core/lane.hpp"), [])
        self.assertEqual(broken("runtime/src/api/post.cpp", "report/statistics.hpp"), [])
        for path, header in (("runtime/src/core/worker.cpp", "mpi/transport.hpp"),
                             ("runtime/src/base/system.cpp", "core/lane.hpp"),
                             ("runtime/src/mpi/transport.cpp", "api/context.hpp"),
                             ("runtime/src/core/worker.cpp", "lane.hpp")):
            self.assertEqual(broken(path, header), ["room"])
        self.assertEqual(rules_broken("runtime/src/worker.cpp", HEAD), ["room"])

    def test_mpi_types_and_comments_are_no_calls(self):
        text = HEAD + "// MPI_Send(x) is elsewhere\nconst auto n = MPI_Count(5);\nconst char* s = \"MPI_Send(\";\n"
        self.assertEqual(rules_broken("runtime/src/core/worker.cpp", text), [])

    def test_who_compares_kinds_of_operations_is_found(self):
        for line in ("if (op.kind >= COMMTASK_OP_REDUCE) return;", "switch (op.kind) { case COMMTASK_OP_SEND: return; }",
                     "if (COMMTASK_OP_SEND == op.kind) return;", "if (op.kind == other.kind) return;",
                     "if (op->kind != other->kind) return;"):
            text = HEAD + f"void f(commtask_op op) {{ {line} }}\n"
            self.assertEqual(rules_broken("plugins/omp/src/bridge.cpp", text), ["kind"])
            self.assertEqual(rules_broken("runtime/src/mpi/arguments.cpp", text), [])
            self.assertEqual(rules_broken("tests/mpi/order_test.cpp", text), [])
        self.assertEqual(rules_broken("apps/poisson2d/halo.cpp", HEAD + "bool x = kind == COMMTASK_OP_SEND;\n"), ["kind"])
        self.assertEqual(rules_broken("plugins/omp/src/bridge.cpp", HEAD + "bool x = kind < COMMTASK_OP_END;\n"), [])

    def test_plugins_do_not_include_each_other(self):
        text = HEAD + "#include <commtask/tbb.h>\n"
        self.assertEqual(rules_broken("plugins/omp/src/bridge.cpp", text), ["include"])
        self.assertEqual(rules_broken("plugins/tbb/src/bridge.cpp", text), [])

    def test_the_runtime_knows_no_tasking_runtime(self):
        for header in ("omp.h", "omp-tools.h", "tbb/flow_graph.h", "oneapi/tbb.h", "commtask/omp.h"):
            self.assertEqual(rules_broken("runtime/src/core/worker.cpp", HEAD + f"#include <{header}>\n"), ["include"])

    def test_a_sleep_in_a_test_is_found(self):
        text = HEAD + "void f() { std::this_thread::sleep_for(1s); }\n"
        self.assertEqual(rules_broken("tests/unit/graph.cpp", text), ["sleep"])
        self.assertEqual(rules_broken("bench/free.cpp", text), [])

    def test_an_acquire_without_a_word_on_its_partner_is_found(self):
        def broken(comment, order):
            body = f"int f() {{\n    return state_.load(std::memory_order_{order});\n}}\n"
            return rules_broken("runtime/src/core/lane.cpp", HEAD + "int x;\n" * 4 + comment + body)

        self.assertEqual(broken("", "acquire"), ["memory-order"])
        self.assertEqual(broken("// Pairs with g().\n", "acquire"), [])
        self.assertEqual(broken("", "relaxed"), [])

    def test_a_runtime_that_ends_the_program_is_found(self):
        for call in ("std::abort()", "exit(1)", "MPI_Abort(c, 1)"):
            self.assertIn("ending", rules_broken("runtime/src/mpi/x.cpp", HEAD + f"void f() {{ {call}; }}\n"))
        self.assertEqual(rules_broken("runtime/src/mpi/x.cpp", HEAD + "void f() { at_exit(1); }\n"), [])


class PublicHeaders(unittest.TestCase):
    PATH = "runtime/include/commtask/commtask.h"
    TOP = HEAD + "#pragma once\n"

    def broken(self, text, path=PATH):
        return [message for _, _, _, message in lint.check(lint.SourceFile(path, self.TOP + text))]

    def test_an_exported_function_that_takes_an_operation_by_value_is_found(self):
        for first in ("commtask_op first", "const commtask_op first", "commtask_op"):
            for others in ("", ",\n    int second"):
                for text in (f"COMMTASK_API int commtask_do({first}{others});\n",
                             f"COMMTASK_API int commtask_do(int before, {first}{others});\n"):
                    self.assertIn("operation-by-value", rules_broken(self.PATH, self.TOP + text), text)
        for text in ("COMMTASK_API int commtask_do(const commtask_op* first);\n", "COMMTASK_API commtask_op commtask_make(int first);\n",
                     "static inline int commtask_do(commtask_op first) { return 0; }\n"):
            self.assertNotIn("operation-by-value", rules_broken(self.PATH, self.TOP + text), text)

    def test_a_documented_function_passes(self):
        self.assertEqual(self.broken(DOC + "int commtask_do(int first, const char* second);\n"), [])

    def test_one_inside_extern_c_and_over_two_lines_passes(self):
        text = 'extern "C" {\n' + DOC + "COMMTASK_API int commtask_do(int first,\n    void (*second)(void*, int)) "
        self.assertEqual(self.broken(text + "COMMTASK_NOEXCEPT;\n}\n"), [])

    def test_a_declaration_that_it_cannot_read_is_reported(self):
        found = self.broken(DOC + "int (*commtask_do(int first))(int second);\n")
        self.assertEqual(found, ["lint cannot read this declaration: write it plainly, or teach tools/lint_cpp.py"])

    def test_a_guard_counts_as_pragma_once(self):
        text = HEAD + "#ifndef COMMTASK_X_H\n#define COMMTASK_X_H\nint commtask_x;\n#endif\n"
        self.assertEqual(rules_broken(self.PATH, text), [])

    def test_only_the_first_paragraph_says_why(self):
        self.assertEqual(rules_broken("runtime/src/core/graph.cpp", HEAD + "//\n" + "// More.\n" * 9 + "int x;\n"), [])

    def test_a_missing_param_is_found(self):
        found = self.broken("/// Does it.\n/// @param first X.\nint commtask_do(int first, int second[]);\n")
        self.assertEqual(found, ["commtask_do: @param second is missing"])

    def test_a_param_too_many_is_found(self):
        self.assertEqual(self.broken("/// Does it.\n/// @param ghost X.\nvoid commtask_do(void);\n"),
                         ["commtask_do: @param ghost documents no parameter"])

    def test_a_block_comment_with_directions_counts(self):
        text = "/** Does it.\n * @param[in] a X.\n * @param[out] b Y.\n */\nint commtask_do(const int* a, int* b);\n"
        self.assertEqual(self.broken(text), [])

    def test_an_undocumented_function_is_found_after_structs_and_enums(self):
        text = ("typedef struct commtask_task* commtask_task_t;\nenum { COMMTASK_A = 0 };\n"
                "struct commtask_config { int size; int (*hook)(int); };\nint commtask_do(void);\n")
        self.assertEqual(self.broken(text), ["commtask_do has no documentation comment right above it"])

    def test_an_inline_function_with_a_body_is_read_too(self):
        self.assertEqual(self.broken("static inline int commtask_do(int a) { return a; }\nint commtask_x;\n"),
                         ["commtask_do has no documentation comment right above it"])

    def test_names_without_the_prefix_are_found(self):
        found = self.broken("/// X.\nint start(void);\n#define LIMIT 3\n")
        self.assertEqual(sorted(found), ["LIMIT: a public macro's name begins with COMMTASK_ or COMM_",
                                         "start: a public function's name begins with commtask_"])

    def test_private_headers_are_free(self):
        self.assertEqual(self.broken("int start(void);\n", "runtime/src/core/worker.hpp"), [])

    def test_a_missing_pragma_once_is_found(self):
        self.assertEqual(rules_broken(self.PATH, HEAD + "int commtask_x;\n"), ["pragma-once"])


if __name__ == "__main__":
    unittest.main()
