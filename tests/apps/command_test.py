# SPDX-License-Identifier: Apache-2.0
# A miniapp started by hand, with what goes wrong at its edges: numbers too large to compute with, files that cannot be or
# must not be written, an output that nobody takes. One rank and a tiny problem; each start takes a second at most.
"""usage: command_test.py Cnn|Dslash|Fft|Fft3d|Mesh|Multigrid|Poisson|Spikes PROGRAM"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CASE, PROGRAM = sys.argv[1:3]
SMALL = {"Cnn": ["--channels", "8.16.32", "--batch", "32", "--repeat", "1"],
         "Dslash": ["--lattice", "8.4.4.8", "--iterations", "2", "--repeat", "1"],
         "Fft": ["--n", "2^14", "--repeat", "1", "--rigor", "estimate"],
         "Fft3d": ["--points", "16.8.12", "--repeat", "1"],
         "Mesh": ["--crystal", "cscl", "--cells", "3", "--steps", "1", "--repeat", "1"],
         "Multigrid": ["--cells", "16.16.16", "--box", "8", "--cycles", "6", "--repeat", "1"],
         "Poisson": ["--points", "20.20", "--sweeps", "2", "--repeat", "1"],
         "Spikes": ["--cells", "50", "--targets", "5", "--intervals", "40", "--repeat", "1"]}[CASE]
REFUSED = 2


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_app(self, *words, **how):
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        return subprocess.run([PROGRAM, *words], cwd=self.folder, text=True, timeout=50, check=False, **how)

    def refusal(self, *words):
        """What it says in one line when it refuses."""
        done = self.run_app(*words)
        self.assertEqual(done.returncode, REFUSED, (words, done.stdout, done.stderr))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertLess(len(done.stderr), 300, "no number has hundreds of digits")
        return done.stderr

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


class Any(Command):
    def test_an_output_that_is_full_is_a_failure(self):
        for words in ([], ["--help"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = self.run_app(*SMALL, *words, stdout=full)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("standard output was lost: No space left on device", done.stderr)

    def test_an_output_that_is_closed_is_a_failure(self):
        done = self.run_app(*SMALL, stdout=None, preexec_fn=lambda: os.close(1))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("standard output was lost: it is closed", done.stderr)

    def test_a_report_is_written_as_a_whole_or_not_at_all(self):
        report = self.folder / "report.json"
        report.write_text("old", encoding="utf-8")
        self.assertIn("--json", self.refusal(*SMALL, "--json", "none/report.json"))
        self.refusal(*SMALL, "--json", "report.json", "--repeat", "0")
        self.assertEqual(report.read_text(encoding="utf-8"), "old")
        thrice = ["3" if before == "--repeat" else word for before, word in zip(["", *SMALL], SMALL)]
        self.assertEqual(self.run_app(*thrice, "--json", "report.json").returncode, 0)
        written = json.loads(report.read_text(encoding="utf-8"))
        self.assertTrue(written["passed"])
        times = [one["slowest_total_us"] for one in written["repeats"]]
        self.assertEqual((len(times), times), (3, sorted(times)))
        self.assertNotIn("median", written)  # who reads it sums up
        self.assertEqual(self.files(), ["report.json"])

    def test_a_report_that_does_not_fit_is_named(self):
        done = self.run_app(*SMALL, "--json", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("writing --json /dev/full failed: No space left on device", done.stderr)


class Cnn(Any):
    def test_numbers_too_large_to_compute_with_are_refused(self):
        for option in ("--batch", "--hidden", "--chunks", "--steps", "--repeat"):
            self.assertIn(f"{option} 2147483647 is not between", self.refusal(option, "2147483647"))
        self.assertIn("--channels", self.refusal("--channels", "16.32.4096"))

    def test_more_memory_than_there_is_is_refused(self):
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if physical > 1e12:
            self.skipTest("this machine holds the largest batch that a run may have")
        self.assertIn("are available there; use more nodes", self.refusal("--channels", "1024.1024.1024", "--batch", str(1 << 20)))


class Dslash(Any):
    def test_numbers_too_large_to_compute_with_are_refused(self):
        for option in ("--iterations", "--repeat", "--probe-every"):
            self.assertIn(f"{option} 2147483647 is not between 1 and", self.refusal(option, "2147483647"))
        huge = ".".join(["2147483646"] * 4)
        wraps = ".".join(["65536"] * 4)  # 2^64 sites
        for lattice in (huge, wraps):
            self.assertIn("use more ranks", self.refusal("--lattice", lattice))
        for grid in (huge, wraps, "2147483647.2147483647.2.2"):
            self.assertIn("more than 2147483647 ranks", self.refusal("--grid", grid))
        self.assertIn("nearest that works: --lattice 2147483646.8.8.8", self.refusal("--lattice", "2147483647.8.8.8"))

    def test_more_memory_than_there_is_is_refused(self):
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if physical > 100e9:
            self.skipTest("this machine holds the largest lattice that a rank may have")
        self.assertIn("are available there; use more nodes", self.refusal("--lattice", "64.64.64.192"))


class Multigrid(Any):
    def test_numbers_too_large_to_compute_with_are_refused(self):
        for option in ("--threads", "--lanes", "--box", "--cycles", "--repeat"):
            self.assertIn(f"{option} 2147483647 is not between", self.refusal(option, "2147483647"))
        for cells in ("2147483647.8.8", "8.8.99999999999", "8.8", "8.8.8.8", "8.8.-8"):
            self.assertIn("is not 3 numbers", self.refusal("--cells", cells))

    def test_more_memory_than_there_is_is_refused(self):
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if physical > 1e12:
            self.skipTest("this machine holds the largest grid that a rank may have")
        self.assertIn("are available there; use more nodes", self.refusal("--cells", "4096.4096.4096", "--box", "1024"))


class Poisson(Any):
    def test_numbers_too_large_to_compute_with_are_refused(self):
        for option in ("--sweeps", "--repeat", "--threads", "--bands"):
            self.assertIn(option, self.refusal(option, "2147483647"))
            self.assertIn(option, self.refusal(option, "0"))
        for points in ("2147483647.8", "8.8.8", "0.8", "many"):
            self.assertIn("--points", self.refusal("--points", points))

    def test_more_memory_than_there_is_is_refused(self):
        self.assertIn("are available there; use more nodes", self.refusal("--points", "100000000.100000000"))


class Fft3d(Any):
    def test_numbers_too_large_to_compute_with_are_refused(self):
        for option in ("--steps", "--repeat", "--threads", "--batches"):
            self.assertIn(option, self.refusal(option, "2147483647"))
            self.assertIn(option, self.refusal(option, "0"))
        for points in ("2147483647.8.8", "8.8", "0.8.8", "many"):
            self.assertIn("--points", self.refusal("--points", points))

    def test_more_memory_than_there_is_is_refused(self):
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if physical > 100e9:
            self.skipTest("this machine holds the most points that a rank may have")
        self.assertIn("are available there; use more nodes", self.refusal("--points", "1024.1024.1024"))


class Mesh(Any):
    def test_numbers_too_large_to_compute_with_are_refused(self):
        for option in ("--cells", "--density", "--steps", "--repeat", "--threads"):
            self.assertIn(option, self.refusal(option, "2147483647"))
            self.assertIn(option, self.refusal(option, "0"))

    def test_more_memory_than_there_is_is_refused(self):
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if physical > 1e12:
            self.skipTest("this machine holds the largest mesh that a rank may have")
        self.assertIn("are available there; use more nodes", self.refusal("--cells", "64", "--density", "32"))


class Spikes(Any):
    def test_numbers_too_large_to_compute_with_are_refused(self):
        for option in ("--cells", "--targets", "--reach", "--intervals", "--blocks"):
            self.assertIn(f"{option} 2147483647 is not between", self.refusal(option, "2147483647"))
            self.assertIn(option, self.refusal(option, "0"))

    def test_more_memory_than_there_is_is_refused(self):
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        if physical > 1e12:
            self.skipTest("this machine holds the spikes of the longest run")
        self.assertIn("are available there; use more nodes", self.refusal("--cells", "10000000", "--targets", "10", "--intervals", "1000000"))


class Fft(Any):
    def test_numbers_too_large_to_compute_with_are_refused(self):
        for option in ("--chunks", "--segments", "--repeat", "--pieces", "--at-once"):
            self.assertIn(option, self.refusal(option, "2147483647"))
        for n in ("288230376151711743", "2^58", "4611686018427387904"):
            self.assertIn("--n", self.refusal("--n", n))
        self.assertIn("FFTW's int", self.refusal("--n", "4294967308", "--method", "sixstep"))

    def test_too_small_numbers_are_refused_in_a_short_sentence(self):
        for option in ("--chunks", "--pieces", "--probe-every", "--repeat"):
            self.assertIn(option, self.refusal(option, "0"))

    def test_a_trace_that_does_not_fit_is_named(self):
        done = self.run_app(*SMALL, "--trace", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("writing --trace /dev/full failed: No space left on device", done.stderr)

    def test_wisdom_is_kept_in_a_file_for_each_precision(self):
        for _ in range(2):
            done = self.run_app(*SMALL, "--wisdom", "plans")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.files(), ["plans", "plans.single"])

    def test_what_is_no_wisdom_is_never_overwritten(self):
        (self.folder / "plans").write_text("my results", encoding="utf-8")
        (self.folder / "other.single").write_text("my results", encoding="utf-8")
        for name in ("plans", "other"):
            self.assertIn("will not be overwritten", self.refusal(*SMALL, "--wisdom", name))
        self.assertEqual(self.files(), ["other.single", "plans"])
        self.assertEqual((self.folder / "plans").read_text(encoding="utf-8"), "my results")

    def test_wisdom_is_only_kept_in_regular_files(self):
        os.mkfifo(self.folder / "pipe")
        for name in ("pipe", "/dev/null", "."):
            self.assertIn("is no regular file", self.refusal(*SMALL, "--wisdom", name))

    def test_wisdom_that_cannot_be_saved_is_said_before_computing(self):
        self.assertIn("--wisdom none/plans cannot be written", self.refusal(*SMALL, "--wisdom", "none/plans"))


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(globals()[CASE])
    sys.exit(0 if unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful() else 1)
