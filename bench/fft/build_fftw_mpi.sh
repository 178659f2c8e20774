#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the MPI layer of FFTW against the MPI of the project, for the benchmark `fft` alone: Debian's libfftw3-mpi belongs
# to Open MPI and dies under MPICH at its first plan. Only the folder mpi/ of the source package is compiled; the rest is
# the distribution's libfftw3 of the same version. The source comes through apt with lists of its own, so that the
# system's are not touched. FFTW is GPL: what is built here stays in the build folder.
#   bench/fft/build_fftw_mpi.sh MPICC TARGET_FOLDER
set -eu
mpicc=$1
target=$2
[ ! -f "$target/libfftw3_mpi.a" ] || exit 0
command -v apt-get >/dev/null || { echo "build_fftw_mpi.sh: not a Debian system: put libfftw3_mpi.a and fftw3-mpi.h into $target" >&2; exit 77; }
mkdir -p "$target/apt/parts" "$target/apt/lists/partial"
cd "$target"
. /etc/os-release
# Where apt has the library from, the source lies too.
mirror=$(apt-get download --print-uris libfftw3-dev | sed -n "s/^'\(.*\)\/pool\/.*/\1/p")
[ -n "$mirror" ] || { echo "build_fftw_mpi.sh: apt does not know where libfftw3-dev is: run apt-get update" >&2; exit 77; }
cat >apt/parts/source.sources <<TEXT
Types: deb-src
URIs: $mirror
Suites: $VERSION_CODENAME
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
TEXT
apt="apt-get -q -oDir::Etc::SourceList=/dev/null -oDir::Etc::SourceParts=$PWD/apt/parts -oDir::State::Lists=$PWD/apt/lists"
$apt update
$apt --download-only source fftw3
rm -rf source
mkdir source
tar -xzf fftw3_*.orig.tar.gz -C source --strip-components=1
cd source
# For config.h; nothing but the MPI layer is compiled.
./configure --enable-mpi MPICC="$mpicc" CFLAGS=-O3 >../configure.log
for file in mpi/*.c; do
    case $file in
    mpi/mpi-bench.c | mpi/f03-wrap.c) ;;
    *) "$mpicc" -O3 -DHAVE_CONFIG_H -I. -Ikernel -Ireodft -Irdft -Idft -Iapi -Impi -c "$file" -o "${file%.c}.o" ;;
    esac
done
ar rcs ../libfftw3_mpi.a mpi/*.o
cp mpi/fftw3-mpi.h ..
