#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# need_packages of scripts/common.sh leaves the plain names of the MPI as they were. The alternatives are Debian's own program
# over folders of this test; apt-get and dpkg-query are stand-ins that "install" an MPI with a higher priority.
set -eu
[ -x /usr/bin/update-alternatives ] || { echo "update-alternatives is not here"; exit 77; }
scripts=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/etc" "$folder/admin" "$folder/links"
touch "$folder/mpirun.mpich" "$folder/mpirun.openmpi" "$folder/mpiexec.mpich" "$folder/mpiexec.openmpi"

stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1" && chmod +x "$folder/bin/$1"; }
stand_in update-alternatives "exec /usr/bin/update-alternatives --quiet --altdir '$folder/etc' --admindir '$folder/admin' \
--log '$folder/log' \"\$@\""
stand_in dpkg-query "[ ! -e '$folder/is_installed' ] || printf installed"
stand_in sudo 'case $1 in -n) shift ;; esac; exec "$@"'
stand_in apt-get "case \$1 in install) ;; *) exit 0 ;; esac
touch '$folder/is_installed'
register openmpi 50"
stand_in register "exec update-alternatives --install '$folder/links/mpirun' mpirun '$folder/mpirun.'\$1 \$2 \
--slave '$folder/links/mpiexec' mpiexec '$folder/mpiexec.'\$1"
export PATH=$folder/bin:$PATH

# expect WHAT FAMILY: whose mpiexec the plain name is.
expect() {
    local found
    found=$(readlink -f "$folder/links/mpiexec")
    [ "$found" = "$folder/mpiexec.$2" ] || { echo "FAULT: $1: mpiexec is $found, not $2's"; exit 1; }
}

source "$scripts/common.sh"
register mpich 40
expect "before" mpich
output=$(need_packages openmpi-bin)
expect "an MPI that comes in beside another" mpich
grep -q 'mpirun stays as it was' <<<"$output" || { echo "FAULT: it is not said: $output"; exit 1; }

rm "$folder/is_installed"
update-alternatives --remove-all mpirun
output=$(need_packages openmpi-bin)
expect "the first MPI" openmpi
! grep -q 'stays as it was' <<<"$output" || { echo "FAULT: there was nothing to keep: $output"; exit 1; }

rm "$folder/is_installed"
register mpich 40
update-alternatives --set mpirun "$folder/mpirun.mpich"
need_packages openmpi-bin >/dev/null
expect "what the user chose" mpich
