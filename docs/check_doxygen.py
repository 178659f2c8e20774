# SPDX-License-Identifier: Apache-2.0
# Builds the site, the API and the pages of docs/, and fails on any warning and any dead link, so that a missing @param fails the
# build here and not at the reader. All warnings are shown, not only the first, and "nothing was read" is a failure too: doxygen
# itself takes it for success. The site is left in the output folder, html/index.html.
"""usage: check_doxygen.py --output FOLDER INPUT..."""
import argparse
import os
import pathlib
import re
import subprocess
import sys

import check_site
import page_filter

UNDOCUMENTED_DETAIL = re.compile(r"Member .* \((variable|macro definition|enumvalue|enumeration)\) of .* is not documented")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, help="a folder of the build, for the HTML")
    parser.add_argument("input", nargs="+", help="folders with public headers")
    options = parser.parse_args()
    headers = [path for folder in options.input for path in sorted(pathlib.Path(folder).rglob("*.h*"))]
    if not headers:
        print(f"no header in {options.input}")
        return 1
    pathlib.Path(options.output).mkdir(parents=True, exist_ok=True)
    decisions = pathlib.Path(options.output) / "decisions.md"
    decisions.write_text(page_filter.decisions(), encoding="utf-8")
    environment = dict(os.environ, COMMTASK_DOXYGEN_OUTPUT=options.output,
                       COMMTASK_DOXYGEN_INPUT=" ".join(f'"{one}"' for one in (*options.input, *page_filter.pages(), decisions)),
                       COMMTASK_DOXYGEN_PYTHON=sys.executable, COMMTASK_DOXYGEN_PAGES=page_filter.__file__,
                       COMMTASK_DOXYGEN_PICTURES=str(pathlib.Path(__file__).with_name("figures")))
    done = subprocess.run(["doxygen", str(pathlib.Path(__file__).with_name("Doxyfile"))], env=environment, text=True,
                          capture_output=True, check=False)
    # One comment may cover a group of fields or macros; functions, structs and parameters have one each.
    shown = [line for line in done.stderr.splitlines() if not UNDOCUMENTED_DETAIL.search(line)]
    print(done.stdout, *shown, sep="\n")
    n_warnings = sum("warning:" in line or "error:" in line for line in shown)
    print(f"{len(headers)} headers read, {n_warnings} warnings, doxygen ended with {done.returncode}")
    return 1 if n_warnings or done.returncode else check_site.main([f"{options.output}/html"])


if __name__ == "__main__":
    sys.exit(main())
