# SPDX-License-Identifier: Apache-2.0
# The Debian package: made by cpack, unpacked into a folder instead of being installed, which only root may do, and used by the
# consumer programs from there. Its control file must name what the libraries load and what programs are built with.
"""Makes the Debian package and builds consumers with it; see --help."""
import argparse
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("cpack", "cmake", "build-dir", "mpi", "c", "libdir", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("launch", nargs="+")
    options = parser.parse_args()
    for tool in ("dpkg-deb", "dpkg-shlibdeps"):
        if shutil.which(tool) is None:
            print(f"{tool} is not installed")
            return 77
    work = pathlib.Path(options.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    subprocess.run([options.cpack, "-G", "DEB", "-B", work / "packed"], cwd=options.build_dir, check=True, timeout=400)
    package, = (work / "packed").glob(f"commtask-{options.mpi}_*.deb")
    control = subprocess.run(["dpkg-deb", "--field", package], check=True, text=True, capture_output=True).stdout
    print(control)
    libraries = {"mpich": ("libmpich12", "libmpich-dev"), "openmpi": ("libopenmpi3", "libopenmpi-dev")}[options.mpi]
    missing = [name for name in (*libraries, "libhwloc15", "Conflicts: commtask") if name not in control]
    if missing:
        raise SystemExit(f"the control file does not name {missing}")
    root = work / "root"
    subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
    for way in ("pkgconfig", "cmake"):
        subprocess.run([sys.executable, HERE / "consume.py", "--way", way, "--component", "omp", "--language", "c",
                        "--compiler", options.c, "--cmake", options.cmake, "--mpi", options.mpi, "--stage", root / "usr",
                        "--libdir", options.libdir, "--work", work / way, "--", *options.launch], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
