#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the MPI layer of FFTW against the MPI of the project, for the benchmark `fft` alone: Debian's libfftw3-mpi belongs
# to Open MPI and dies under MPICH at its first plan. Only the folder mpi/ of the source package is compiled; the rest is
# the distribution's libfftw3 of the same version. FFTW is GPL: what is built here stays in the build folder.
#   bench/fft/build_fftw_mpi.sh MPICC TARGET_FOLDER
set -eu
mpicc=$1
target=$2
[ ! -f "$target/libfftw3_mpi.a" ] || exit 0
mkdir -p "$target"
"$(dirname "$0")/../../scripts/debian_source" fftw3 libfftw3-dev "$target"
cd "$target/source"
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
