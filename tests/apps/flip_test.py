# SPDX-License-Identifier: Apache-2.0
# A miniapp must see one wrong bit in any message of any of its timed runs, and say in which run. A preloaded library (flip.c) turns the
# bit. Messages are numbered as they are sent; two counts, with one timed run and with three, tell which numbers are a run's.
"""usage: flip_test.py Cnn|Dslash|Cg|BiCGStab|Fft|Fft3d|Mesh|Multigrid|Poisson|Spikes PROGRAM LIBRARY LAUNCHER_WORD..."""
import os
import random
import re
import subprocess
import sys
import unittest

CASE, PROGRAM, LIBRARY, *LAUNCH = sys.argv[1:]
#: Its words, and how many runs like a timed one come behind these: the one by plain messages.
WORDS, N_BEHIND = {"Cnn": (["--channels", "8.16.32", "--batch", "32"], 1),
                   "Dslash": (["--lattice", "8.4.4.16", "--iterations", "3"], 0),
                   "Cg": (["--lattice", "4.4.4.8", "--solve", "cg"], 0),
                   "BiCGStab": (["--lattice", "4.4.4.8", "--solve", "bicgstab"], 0),
                   "Fft": (["--n", "2^14", "--rigor", "estimate"], 0),
                   "Fft3d": (["--schedule", "pipeline"], 0),
                   "Mesh": (["--cells", "3", "--steps", "2"], 0),
                   "Multigrid": (["--cells", "16.16.32", "--box", "8", "--cycles", "6"], 1),
                   "Poisson": (["--points", "40.30", "--sweeps", "10"], 1),
                   "Spikes": (["--cells", "60", "--targets", "10", "--intervals", "40"], 0)}[CASE]
MODES = ("p2p", "persistent", "offload", "omp") if CASE == "Fft" else ("baseline", "offload", "omp")
#: A launcher may preload a library of its own, which comes behind.
LAUNCH = [f"{LIBRARY}:{word}" if before == "LD_PRELOAD" else word.replace("LD_PRELOAD=", f"LD_PRELOAD={LIBRARY}:")
          for before, word in zip(["", *LAUNCH], LAUNCH)]
#: Behind the last solve two hops complete the odd sites. A solve begins with two hops of zeros, which tasks may send late, and may have rounds behind its solution,
#: in its second half: a bit there changes nothing.
IS_SOLVER = CASE in ("Cg", "BiCGStab")
N_LAST, N_FIRST, SHARE = (4, 8, 2) if IS_SOLVER else (0, 0, 1)
N_RUNS = 3
N_FLIPS = 3 if IS_SOLVER else 6  # of each mode


class Flips(unittest.TestCase):
    def run_it(self, mode, n_runs, **flip):
        env = {**os.environ, "LD_PRELOAD": LIBRARY, "OMP_WAIT_POLICY": "passive", **flip}
        done = subprocess.run([*LAUNCH, PROGRAM, *WORDS, "--mode", mode, "--threads", "2", "--repeat", str(n_runs)], env=env,
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def count(self, mode, n_runs):
        code, said = self.run_it(mode, n_runs)
        self.assertEqual(code, 0, said)
        return [int(re.search(rf"rank {rank} sent (\d+) messages", said)[1]) for rank in range(2)]

    def test_a_run_with_one_wrong_bit_fails_and_is_named(self):
        orders = random.Random(CASE)
        for mode in MODES:
            of_ranks = list(zip(self.count(mode, N_RUNS), self.count(mode, 1)))
            for k in range(N_FLIPS):
                n_sent, n_with_one_run = of_ranks[k % 2]
                n_of_run = (n_sent - n_with_one_run) // (N_RUNS - 1)
                first = n_sent - (N_RUNS + N_BEHIND) * n_of_run - N_LAST
                run = k % N_RUNS  # each run, at its begin as well as later
                message = first + run * n_of_run + (N_FIRST if k < N_RUNS else orders.randrange(N_FIRST, n_of_run // SHARE))
                where = {"FLIP_RANK": str(k % 2), "FLIP_MESSAGE": str(message), "FLIP_BIT": str(orders.randrange(1 << 20))}
                with self.subTest(mode=mode, **where):
                    code, said = self.run_it(mode, N_RUNS, **where)
                    self.assertNotEqual(code, 0, said)
                    named = re.findall(r"^check (?:bits|messages): timed run (.*?) of 3 not as .* FAILED ", said, re.MULTILINE)
                    self.assertEqual(set(named), {str(run + 1)}, said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
