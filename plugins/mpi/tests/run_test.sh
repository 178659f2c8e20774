#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that commtask-run refuses bad input before anything starts, with exit status 2 and a message
# that names the fault, and that it forwards a program's arguments, environment and exit status.
# Needs no MPI program and no launcher.
set -u

run=$1
other_family=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect_refusal SENTENCE ARGUMENT...
expect_refusal() {
    sentence=$1
    shift
    output=$("$run" "$@" 2>&1)
    status=$?
    case $status:$output in
    2:*"$sentence"*) ;;
    *)
        echo "FAULT: commtask-run $*: status $status, said: $output"
        failures=$((failures + 1)) ;;
    esac
}

expect_refusal "usage:"
expect_refusal "unknown option --wrong" --wrong
expect_refusal "there is no program './missing'" ./missing
expect_refusal "is not a file" "$folder"
printf 'data' >"$folder/data"
expect_refusal "data' " "$folder/data"
printf 'int main(void) { return 0; }\n' >"$folder/static.c"
if cc -static -o "$folder/static" "$folder/static.c" 2>/dev/null; then
    expect_refusal "linked statically" "$folder/static"
else
    echo "no static C library here: that refusal is not tested"
    failures=$((failures + 1))
fi
# A library with the soname of the other family takes the place of that MPI.
cc -shared -Wl,-soname,"$other_family" -o "$folder/$other_family" -x c /dev/null
cc -o "$folder/other" "$folder/static.c" -Wl,--no-as-needed "$folder/$other_family" -Wl,-rpath,"$folder"
expect_refusal "uses $other_family" "$folder/other"

# Programs with more rights than their user: the loader ignores preloaded libraries.
cp /bin/true "$folder/rights"
chmod 755 "$folder" "$folder/rights"
if [ "$(id -u)" -eq 0 ]; then
    chown 65534:65534 "$folder/rights"
    chmod 4755 "$folder/rights"
    expect_refusal "is setuid, so the loader ignores" "$folder/rights"
    chmod 2755 "$folder/rights"
    expect_refusal "is setgid, so the loader ignores" "$folder/rights"
    chown 0:0 "$folder/rights"
    chmod 6755 "$folder/rights"
    "$run" "$folder/rights" || { echo "FAULT: a setuid program of the user's own is refused"; failures=$((failures + 1)); }
    chmod 755 "$folder/rights"
    caller="setpriv --reuid 65534 --regid 65534 --clear-groups"
    # The build may be in a folder that the caller cannot read.
    if ! command -v setcap >/dev/null; then
        echo "setcap (libcap2-bin) is not installed: that programs with file capabilities are refused is not tested"
        failures=$((failures + 1))
    elif ! setcap cap_net_raw=ep "$folder/rights"; then
        echo "the file system of $folder keeps no capabilities: that programs with them are refused is not tested"
    else
        mkdir "$folder/public"
        cp "$run" "$(dirname "$run")"/libcommtask-mpi.so.* "$folder/public"
        chmod -R a+rX "$folder/public"
        public=$folder/public/$(basename "$run")
        # With getcap, and as on a system without it.
        mkdir "$folder/bare"
        printf '#!/bin/sh\nexit 127\n' >"$folder/bare/getcap"
        chmod 755 "$folder/bare" "$folder/bare/getcap"
        cp /bin/true "$folder/plain"
        for first in /usr/bin "$folder/bare"; do
            output=$(PATH=$first:$PATH $caller "$public" "$folder/rights" 2>&1)
            case $?:$output in
            2:*"has file capabilities, so the loader ignores"*) ;;
            *) echo "FAULT: a program with file capabilities: said $output"; failures=$((failures + 1)) ;;
            esac
            PATH=$first:$PATH $caller "$public" "$folder/plain" || {
                echo "FAULT: a program without file capabilities is refused"
                failures=$((failures + 1))
            }
        done
    fi
elif [ -u /bin/su ]; then
    expect_refusal "is setuid, so the loader ignores" /bin/su
fi

printf '#!/bin/sh\necho "$1|$2|$KEPT"\nexit 7\n' >"$folder/script"
chmod +x "$folder/script"
output=$(KEPT=yes "$run" "$folder/script" "two words" '*')
status=$?
if [ "$status:$output" != "7:two words|*|yes" ]; then
    echo "FAULT: a script's arguments: status $status, said: $output"
    failures=$((failures + 1))
fi
cp "$folder/script" "$folder/a_script"
if ! "$run" true || ! (cd "$folder" && PATH=$PATH:. "$run" a_script >/dev/null; [ $? -eq 7 ]); then
    echo "FAULT: a program of PATH does not run"
    failures=$((failures + 1))
fi
expect_refusal "there is no program 'export'" export
case $(LD_PRELOAD= "$run" --verbose /bin/sh -c 'echo $LD_PRELOAD' 2>&1) in
*"not linked to an MPI"*"preloading"*"libcommtask-mpi.so"*) ;;
*)
    echo "FAULT: --verbose does not say what is done"
    failures=$((failures + 1)) ;;
esac
printf '#!/no/such/interpreter -x\n' >"$folder/strange"
chmod +x "$folder/strange"
expect_refusal "interpreter '/no/such/interpreter', which is not there" "$folder/strange"
for option in --help --version --list; do
    expect_refusal "$option is not followed by anything" "$option" more
    for lost in '>/dev/full' '>&-'; do
        output=$(eval '"$run" $option 2>&1' "$lost")
        case $?:$output in
        "1:commtask-run: standard output was lost") ;;
        *) echo "FAULT: $option $lost: said $output"; failures=$((failures + 1)) ;;
        esac
    done
done
if ! "$run" --list | grep -q '^    MPI_Isend$'; then
    echo "FAULT: --list does not list"
    failures=$((failures + 1))
fi
exit $((failures > 0))
