# SPDX-License-Identifier: Apache-2.0
# commtask-report: reads traces, and writes a page or a summary. This file is the command line
# alone. What is wrong with the input is said in one sentence, with exit status 2, before anything is written.
"""What a traced program waited for, and why: reads what COMMTASK_TRACE=FOLDER wrote."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

if sys.version_info < (3, 10):
    sys.exit("commtask-report: this is Python %d.%d, and 3.10 or newer is needed." % sys.version_info[:2])

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from printable import printable  # noqa: E402

CONVERTER = "commtask-trace-convert"
#: From the program in bin; without it these are the sources.
VERSION = globals().get("VERSION", "from the sources")
FOLDER = globals().get("FOLDER", str(pathlib.Path(__file__).resolve().parent.parent))
DEFAULT_PAGE = "commtask-report.html"
EPILOG = """\
Without --text, --perfetto and --otf2 the page is written. A cause of less than 5 % of the thread time
gets no advice. docs/report.md says what each figure means.

  COMMTASK_TRACE=trace mpiexec.mpich -n 2 ./app && commtask-report --text trace
  commtask-report --html run.html trace
"""


class Refusal(Exception):
    """A sentence for the user; exit status 2."""


def name(text):
    if not text:
        raise argparse.ArgumentTypeError("a name must not be empty")
    return text


def parse(arguments):
    parser = argparse.ArgumentParser(prog="commtask-report", description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="INPUT", type=name,
                        help="a folder that COMMTASK_TRACE named, or its files")
    parser.add_argument("--text", action="store_true", help="print a summary of at most 40 lines")
    parser.add_argument("--html", metavar="FILE", type=name, help=f"write the page there (default: {DEFAULT_PAGE})")
    parser.add_argument("--perfetto", metavar="FILE", type=name, help="write the trace for ui.perfetto.dev")
    parser.add_argument("--otf2", metavar="FOLDER", type=name, help="write the trace for Vampir and Scalasca")
    parser.add_argument("--version", action="version", version=f"commtask-report {VERSION}")
    return parser.parse_args(arguments)


def read_traces(paths):
    import load
    from summary import Summary
    from trace_reader import TraceError
    try:
        run = load.load(paths)
    except TraceError as error:
        raise Refusal(str(error)) from error
    return Summary(run)


def convert(given, traces):
    """The other formats are the converter's, which lies beside this program (where it was built: in a folder of its own) or in
    PATH."""
    program = shutil.which(CONVERTER, path=os.pathsep.join((FOLDER, os.path.join(FOLDER, "trace")))) or shutil.which(CONVERTER)
    if program is None:
        raise Refusal(f"{CONVERTER} was not found, neither beside this program nor in PATH; install commtask with its tools.")
    words = ["--perfetto", given.perfetto] if given.perfetto else []
    words += ["--otf2", given.otf2] if given.otf2 else []
    return subprocess.run([program, *traces, *words], check=False).returncode


def write_page(given, summary):
    import page
    import whole_file
    file = given.html or DEFAULT_PAGE
    text = page.render(summary, VERSION)
    try:
        with whole_file.aside(file) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{file} cannot be written: {error.strerror}.") from error
    print(f"commtask-report: wrote {file}", file=sys.stderr)


def run(given):
    summary = read_traces(given.inputs)
    if given.text:
        import text
        print("\n".join(map(printable, text.render(summary))))
    if given.html or not (given.text or given.perfetto or given.otf2):
        write_page(given, summary)
    return convert(given, given.inputs) if given.perfetto or given.otf2 else 0


def drop_output():
    """What is still buffered must not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main():
    if sys.stdout is None:
        print("commtask-report: standard output was lost: it is closed", file=sys.stderr)
        return 1
    try:
        try:
            return run(parse(sys.argv[1:]))
        finally:
            sys.stdout.flush()
    except Refusal as error:
        print(f"commtask-report: {printable(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever read the text has seen enough
        drop_output()
        return 0
    except OSError as error:  # files of others are refusals
        print(f"commtask-report: standard output was lost: {error.strerror}", file=sys.stderr)
        drop_output()
        return 1


if __name__ == "__main__":
    sys.exit(main())
