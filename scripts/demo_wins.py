# SPDX-License-Identifier: Apache-2.0
# The demo's second table: where commtask is faster. The table has two settings that the
# oversubscribed setting cannot show: a network that moves large messages only while a thread polls
# (docs/adr/0022), and off-core compute, which leaves the core free while the program computes. The
# sides are measured alternately in a few rounds, as scripts/bench does in many.
"""Dslash over a network with rendezvous, and an unmodified exchange under commtask-run."""
import contextlib
import subprocess
import threading
import time

import dslash
import figures
import miniapp
import network
import offload

ROUNDS = 3
MODES = ("baseline", "offload", "omp")
RANKS = (2, 4)
PROGRESS_S = 8  # between two lines of output
STEPS = 51  # of the exchange, per round
SIZES = (64 << 10, 512 << 10, 4 << 20)  # smaller messages leave next to nothing to hide


def reason_of(output):
    """The line of a failed run's output that says why, for people."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for begin in ("lqcd_dslash: ", "bench_exposed: ", "commtask-run: ", "commtask: rank 0: commtask_init was refused", "emulated link: "):
        for line in lines:
            if line.startswith(begin):
                return line
    for line in lines:
        if "EXIT STRING:" in line:  # MPICH's launcher, of a rank that was killed
            return line.partition("EXIT STRING:")[2].strip().rstrip(")").replace(" (signal", ", signal")
    return lines[-1] if lines else "no output"


@contextlib.contextmanager
def progress(name):
    """Prints a line every PROGRESS_S seconds while the body runs."""
    begin = time.monotonic()
    has_ended = threading.Event()

    def print_lines():
        while not has_ended.wait(PROGRESS_S):
            print(f"{name:10}  running for {time.monotonic() - begin:.0f} s", flush=True)

    printer = threading.Thread(target=print_lines, daemon=True)
    printer.start()
    try:
        yield
    finally:
        has_ended.set()
        printer.join()


def attempt(name, action):
    """What `action` gives; None, with a row that says why, when it did not run."""
    try:
        with progress(name):
            return action()
    except subprocess.TimeoutExpired as error:
        reason = f"it was ended after {error.timeout:g} s"
    except (miniapp.Failed, miniapp.Skipped) as error:
        reason = reason_of(str(error))
    except (ArithmeticError, KeyError, TypeError, ValueError):
        reason = "its report cannot be read"
    print(f"{name:10}  did not run: {reason}", flush=True)
    return None


def over_rendezvous(build):
    """Rows by mode: seconds of each round; and what the network was."""
    case = next(case for case in dslash.CASES if case.setting == "rendezvous")
    rate_mbs = dslash.balanced_rate_mbs(build, case)
    over = network.Network(build, case.setting, dslash.N_RANKS, rate_mbs)
    runner = dslash.Runner(over, case)
    print(f"Dslash {case.lattice} on {dslash.N_RANKS} ranks over an emulated network with rendezvous: {rate_mbs:.3g} MB/s each "
          "way, so that a\nhop's messages take as long as its computing; they take no core, and move only once the receiver "
          "has looked for them.\n")
    seconds = {mode: [] for mode in MODES}
    for turn in range(ROUNDS):
        print(f"round {turn + 1} of {ROUNDS}: {', '.join(MODES)}", flush=True)
        for place in range(len(MODES)):
            mode = MODES[(place + turn) % len(MODES)]
            seconds[mode].append(runner.run(mode).seconds)
    print(f"\n{'mode':10}{'ms per hop':>12}{'baseline / mode':>18}")
    rows = []
    for mode in MODES:
        ratios = [base / own for base, own in zip(seconds["baseline"], seconds[mode])]
        rows.append({"mode": mode, "ms": 1e3 * figures.quantile(seconds[mode], 0.5), "ratio": figures.quantile(ratios, 0.5)})
        print(f"{mode:10}{rows[-1]['ms']:12.2f}{rows[-1]['ratio']:18.2f}", flush=True)
    print("\nAbove 1 is faster: the baseline's messages stand still while its threads compute, a worker's go on.\n")
    return {"lattice": case.lattice, "ranks": dslash.N_RANKS, "rate_mbs": rate_mbs, "rows": rows}


def size_text(n_bytes):
    return f"{n_bytes >> 20} MiB" if n_bytes >= 1 << 20 else f"{n_bytes >> 10} KiB"


def exposed(build, n_ranks):
    """Rows by size for so many ranks, medians of the rounds' medians."""
    medians = {}
    for turn in range(ROUNDS):
        for side in ("native", "commtask-run") if turn % 2 == 0 else ("commtask-run", "native"):
            for n_bytes, samples in offload.exposed_us(build, side, n_ranks, STEPS, SIZES).items():
                medians.setdefault(n_bytes, {}).setdefault(side, []).append(figures.quantile(samples, 0.5))
    rows = []
    for n_bytes, sides in medians.items():
        native, run = (figures.quantile(sides[side], 0.5) for side in ("native", "commtask-run"))
        rows.append({"ranks": n_ranks, "bytes": n_bytes, "size": size_text(n_bytes), "native_us": native, "commtask_run_us": run})
        print(f"{n_ranks:5}{size_text(n_bytes):>13}{native:12.0f}{run:14.0f}{native / run:12.1f}", flush=True)
    return rows


def show(build):
    """Prints the table; gives what it says, and `is_complete`."""
    print("\n== 4 of 4: where commtask wins: three comparisons, less than a minute on a machine that does nothing else\n", flush=True)
    print("comparison 1 of 3: a network with rendezvous", flush=True)
    network_rows = attempt("Dslash", lambda: over_rendezvous(build))
    print("comparisons 2 and 3 of 3, a few seconds for each number of ranks\n"
          "An unmodified program: MPI_Irecv, MPI_Isend, 5 ms of computing that leaves the core, MPI_Waitall; microseconds per\n"
          "step beyond the computing (exposed), on the slowest rank.\n")
    print(f"{'ranks':>5}{'message':>13}{'native':>12}{'commtask-run':>14}{'ratio':>12}", flush=True)
    exchanges = [attempt(f"{n_ranks} ranks", lambda n_ranks=n_ranks: exposed(build, n_ranks)) for n_ranks in RANKS]
    print("\nAbove 1 is better: what MPI moves only inside MPI_Waitall, commtask-run moves during the computing.")
    return {"rendezvous": network_rows, "exposed": [row for rows in exchanges if rows for row in rows],
            "is_complete": network_rows is not None and None not in exchanges}
