# SPDX-License-Identifier: Apache-2.0
# Installs the build into a first folder, moves the tree to its final place, and looks for traces of where it was: an
# installed text file that names the build, the source or the first folder would break on the next machine. What is read and
# not linked must be there too.
"""usage: stage.py --cmake CMAKE --build-dir BUILD --to STAGE --mpi FOLDER --expect share/doc/commtask/LICENSE..."""
import argparse
import pathlib
import shutil
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("--to", required=True)
    parser.add_argument("--expect", nargs="+", required=True)
    parser.add_argument("--mpi", required=True, help="of the MPI's commands; scripts/get_mpi puts some into the source tree")
    options = parser.parse_args()
    stage = pathlib.Path(options.to)
    first = stage.with_name(stage.name + "-first")
    for folder in (stage, first):
        shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([options.cmake, "--install", options.build_dir, "--prefix", str(first)], check=True,
                   stdout=subprocess.DEVNULL)
    first.rename(stage)

    source = str(pathlib.Path(__file__).resolve().parents[2])
    mpi = str(pathlib.Path(options.mpi).parent)
    traces = 0
    for path in sorted(stage.rglob("*")):
        if path.suffix not in (".cmake", ".pc", ".h", ".hpp"):
            continue
        text = path.read_text(encoding="utf-8")
        if len(mpi) > 1:
            text = text.replace(mpi, "")
        for name in (str(first), options.build_dir, source):
            if name in text:
                print(f"{path.relative_to(stage)} names {name}")
                traces += 1
    print(f"staged {sum(1 for path in stage.rglob('*') if path.is_file())} files")
    missing = [name for name in options.expect if not (stage / name).exists()]
    if missing:
        print("not installed:", *missing)
    return 1 if traces or missing else 0


if __name__ == "__main__":
    sys.exit(main())
