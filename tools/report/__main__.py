# SPDX-License-Identifier: Apache-2.0
# commtask-report: reads traces, and writes a page or a summary. This file is the command line
# alone. What is wrong with the input is said in one sentence, with exit status 2, before anything is written.
"""Shows what a traced program waited for, and why. Reads the trace that COMMTASK_TRACE=FOLDER wrote."""

import argparse
import os
import pathlib
import sys

if sys.version_info < (3, 10):
    sys.exit("commtask-report: this is Python %d.%d, and 3.10 or newer is needed." % sys.version_info[:2])

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from printable import printable  # noqa: E402

#: From the program in bin; without it these are the sources.
VERSION = globals().get("VERSION", "from the sources")
DEFAULT_PAGE = "commtask-report.html"
EPILOG = """\
Without --text, --perfetto and --otf2 the page is written. A cause of less than 5 % of the thread time
gets no advice. docs/report.md explains the figures.

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
                        help="the folder of COMMTASK_TRACE, or files in it")
    parser.add_argument("--text", action="store_true", help="print a summary of at most 40 lines")
    parser.add_argument("--html", metavar="FILE", type=name, help=f"write the page to this file (default: {DEFAULT_PAGE})")
    parser.add_argument("--perfetto", metavar="FILE", type=name, help="write the trace for ui.perfetto.dev")
    parser.add_argument("--otf2", metavar="FOLDER", type=name, help="write the trace for Vampir and Scalasca")
    parser.add_argument("--version", action="version", version=f"commtask-report {VERSION}")
    given = parser.parse_args(arguments)
    if not (given.text or given.html or given.perfetto or given.otf2):
        given.html = DEFAULT_PAGE
    return given


def write(file, how, *what):
    try:
        how(*what, file)
    except OSError as error:
        raise Refusal(f"{file} cannot be written: {error.strerror}.") from error
    print(f"commtask-report: wrote {file}", file=sys.stderr)


def write_page(summary, file):
    import page
    import whole_file
    text = page.render(summary, VERSION)
    with whole_file.aside(file) as part:
        part.write_text(text, encoding="utf-8")


def run(given):
    import load
    import trace_run
    from summary import Summary
    from trace_reader import TraceError
    try:
        read = trace_run.read_run(given.inputs)
        loaded = load.loaded(read)
        summary = Summary(loaded) if given.text or given.html else None
        if given.text:
            import text
            print("\n".join(map(printable, text.render(summary))))
        if given.html:
            write(given.html, write_page, summary)
        if given.perfetto:
            import perfetto
            write(given.perfetto, perfetto.write, read, loaded)
        if given.otf2:
            import otf2_archive
            write(given.otf2, otf2_archive.write, read)
    except TraceError as error:
        raise Refusal(str(error)) from error


def drop_output():
    """What is still buffered must not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main():
    if sys.stdout is None:
        print("commtask-report: standard output was lost: it is closed", file=sys.stderr)
        return 1
    try:
        try:
            run(parse(sys.argv[1:]))
        finally:
            sys.stdout.flush()
        return 0
    except Refusal as error:
        print(f"commtask-report: {printable(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of the text has closed its end
        drop_output()
        return 0
    except OSError as error:  # files of others are refusals
        print(f"commtask-report: standard output was lost: {error.strerror}", file=sys.stderr)
        drop_output()
        return 1


if __name__ == "__main__":
    sys.exit(main())
