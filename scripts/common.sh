# SPDX-License-Identifier: Apache-2.0
# Functions of scripts/demo, scripts/test and scripts/bench (sourced, never run): they install
# missing packages, report progress, configure and build one preset, and keep two runs from doing so
# at once. Only missing Debian packages are installed, as root or with sudo. Without root or sudo,
# the user gets the one line that the administrator needs.

commtask_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
commtask_jobs=${COMMTASK_JOBS:-$(nproc)}

packages_build=(cmake ninja-build pkg-config gcc-12 g++-12 clang-19 libclang-rt-19-dev libomp-19-dev
    libclang-19-dev llvm-19-dev libhwloc-dev libtbb-dev libfftw3-dev libmpich-dev mpich libgtest-dev libgmock-dev
    libcli11-dev nlohmann-json3-dev python3)
# The plugin for the comm clause is tested with each of these releases of clang.
clause_versions="14;15;16;19;22"
packages_clause=(clangd-19)
for version in ${clause_versions//;/ }; do
    packages_clause+=("clang-$version" "libclang-$version-dev" "llvm-$version-dev")
done
packages_bench=(dpkg-dev) # for FFTW's sources
packages_test=(libopenmpi-dev openmpi-bin otf2-tools clang-format-19 clang-tidy-19 doxygen llvm-19 ccache
    gfortran-12 git chromium-headless-shell make meson python3-venv xz-utils file libcap2-bin)

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# with_progress WHAT COMMAND…: runs COMMAND and prints its output at once, except for lines that
# only report progress (ninja's [k/N], apt-get's). Of these lines, the newest is printed every
# commtask_progress_s seconds, and again with the elapsed time while the command is silent. Ten
# minutes of building give a hundred lines, in a terminal and in a log.
commtask_progress_s=8
with_progress() (
    set -o pipefail
    what=$1
    shift
    "$@" 2>&1 | {
        step='^(\[[0-9]+/[0-9]+\]|Get:|Selecting |Preparing |Unpacking |Setting up |\(Reading )'
        begin=$SECONDS shown=$SECONDS line= newest= is_new=no
        show() {
            printf '%s: %d s%s\n' "$what" $((SECONDS - begin)) "${newest:+; last step: $newest}"
            shown=$SECONDS is_new=no
        }
        while :; do
            status=0
            IFS= read -r -t 1 part || status=$?
            line+=$part # after a timeout, this is the first part of a line
            if [ $status = 0 ] || { [ $status -le 128 ] && [ -n "$line" ]; }; then
                if [[ $line =~ $step ]]; then
                    newest=$line is_new=yes
                else
                    printf '%s\n' "$line"
                    shown=$SECONDS
                fi
                line=
            fi
            [ $status = 0 ] || [ $status -gt 128 ] || break
            [ $((SECONDS - shown)) -lt $commtask_progress_s ] || show
        done
        [ $is_new = no ] || show
    }
)

# help_if_asked WORD…: if -h or --help is among a script's words, prints the usage and ends the
# script.
help_if_asked() {
    local word
    for word in "$@"; do
        case $word in -h | --help) usage; exit 0 ;; esac
    done
}

[[ $commtask_jobs =~ ^[1-9][0-9]{0,3}$ ]] || die "COMMTASK_JOBS=$commtask_jobs is not a whole number from 1 to 9999"

# mpi_alternatives: the MPI that plain mpiexec, mpicc and similar names mean, a line for each of
# Debian's groups.
mpi_alternatives() {
    command -v update-alternatives >/dev/null || return 0
    update-alternatives --get-selections | awk '$1 ~ /^mpi/ { print $1, $3 }'
}

# keep_mpi_alternatives BEFORE [AS_ROOT…]: restores the state that mpi_alternatives printed. An MPI
# that is installed beside another one may have the higher priority and take the plain names; the
# scripts themselves use none of these names.
keep_mpi_alternatives() {
    local before=$1 name path now
    shift
    now=$(mpi_alternatives)
    while read -r name path; do
        [ -n "$name" ] && [ -e "$path" ] || continue
        grep -qxF "$name $path" <<<"$now" && continue
        printf '%s stays as it was: %s\n' "$name" "$path"
        "$@" update-alternatives --set "$name" "$path" >/dev/null ||
            printf 'could not: update-alternatives --set %s %s\n' "$name" "$path" >&2
    done <<<"$before"
}

# need_packages NAME…: installs the packages that are missing.
need_packages() {
    command -v dpkg-query >/dev/null || {
        say "not a Debian system: these must be there already: $*"
        return 0
    }
    local name alternatives missing=()
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        # On a terminal, sudo may ask for a password.
        command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; } && as_root=(sudo) ||
            die "these packages are missing, and this user may not install them. Ask for: apt-get install ${missing[*]}"
    fi
    say "installing ${missing[*]}"
    alternatives=$(mpi_alternatives)
    with_progress "apt-get update" "${as_root[@]}" apt-get update -q ||
        printf 'apt-get update failed; trying with the lists at hand\n' >&2
    with_progress "installing" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
        --no-install-recommends "${missing[@]}" ||
        die "could not install ${missing[*]}"
    keep_mpi_alternatives "$alternatives" "${as_root[@]}"
}

# need_commands NAME…: fails if a command is missing, as may happen on systems other than Debian.
need_commands() {
    local name
    for name in "$@"; do
        command -v "$name" >/dev/null || die "$name is not there: install it, or add its folder to PATH"
    done
}

# hold_build PRESET: reserves build/PRESET until the script ends; another run in this checkout
# waits.
commtask_locks=()
hold_build() {
    local lock
    mkdir -p "$commtask_root/build" 2>/dev/null && [ -w "$commtask_root/build" ] ||
        die "$commtask_root/build cannot be written, and all is built there: use a checkout of your own"
    exec {lock}>>"$commtask_root/build/.$1.lock" || die "$commtask_root/build/.$1.lock cannot be written"
    commtask_locks+=("$lock")
    command -v flock >/dev/null || return 0
    flock --nonblock "$lock" || {
        say "another run uses build/$1; waiting until it ends"
        with_progress "waiting for build/$1" flock "$lock"
    }
}

# without_locks COMMAND…: runs a command without the locks, since a test that outlives this run must
# not block the next one.
without_locks() (
    for lock in "${commtask_locks[@]}"; do exec {lock}>&-; done
    exec "$@"
)

# build_preset PRESET [-DNAME=VALUE…] [--target NAME…]: configures and builds build/PRESET, or the
# given targets.
build_preset() {
    local preset=$1 definitions=()
    shift
    while [ $# -gt 0 ] && [ "$1" != --target ]; do
        definitions+=("$1")
        shift
    done
    local launcher=()
    if command -v ccache >/dev/null; then
        # Files that two presets compile alike are compiled once, although the build folders differ.
        # The last is what ccache's manual asks for with precompiled headers.
        export CCACHE_BASEDIR=$commtask_root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
        launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    (cd "$commtask_root" && unset NINJA_STATUS &&
        with_progress "configuring $preset" cmake --preset "$preset" "${launcher[@]}" "${definitions[@]}" &&
        with_progress "building $preset" cmake --build --preset "$preset" --parallel "$commtask_jobs" "$@")
}
