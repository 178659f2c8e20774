# SPDX-License-Identifier: Apache-2.0
# Runs a command that must fail for a reason that it prints. ctest's WILL_FAIL would take a crash at start-up for the
# failure that was meant, and a matching text alone would not look at the exit status.
"""usage: must_fail.py TEXT COMMAND..."""
import subprocess
import sys


def main(text, *command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    print(done.stdout, end="")
    if done.returncode == 0:
        print(f"{command[0]} ended with 0; a failure is expected")
        return 1
    if text not in done.stdout:
        print(f"{command[0]} failed, but did not print '{text}'")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
