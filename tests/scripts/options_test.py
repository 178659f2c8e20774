# SPDX-License-Identifier: Apache-2.0
# Wrong words for scripts that install, build or download: refused before any of that, by the word. What each script then does
# is not tested here: it takes minutes, or a network.
"""The options of scripts/bench, scripts/get_mpi and scripts/onetbb, --help, and COMMTASK_JOBS."""
import os
import shutil
import signal
import subprocess
import sys
import unittest

import checkout


class Options(checkout.Checkout):
    def refused(self, script, *words, settings=None):
        done = self.run_script(script, *words, settings=settings)
        self.assertNotEqual(done.returncode, 0, (script, words))
        self.assertEqual(self.was_called(), "", (script, words))
        self.assertFalse((self.root / "build").exists(), (script, words))
        return done

    def test_a_benchmark_that_cannot_run_is_refused_before_anything_is_built(self):
        for words, named in ((["pots"], "pots"), (["post", "--fast"], "--fast"), (["post", "--setting", "link"], "--setting link"),
                             (["dslash", "--setting", "slow"], "slow"), (["all", "--json", "x"], "--json"), (["--quick"], "NAME"),
                             (["post", "--ranks", "4"], "--ranks"), (["post", "--mpi", "intel"], "--mpi"), (["check", "--json", "x"], "--json"),
                             (["lanes", "--mpi", "other"], "other"),
                             (["post", "--json", "/no/such/folder/x"], "/no/such/folder/x"), (["post", "--json", "/"], "--json /")):
            done = self.refused("bench", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(named, done.stderr.splitlines()[-1])

    def test_help_is_all_that_happens_wherever_it_is_asked_for(self):
        for script, *words in (("bench", "all", "--help"), ("bench", "post", "--json", "x", "-h"), ("conformance", "--only", "pt2pt", "--help"),
                               ("demo", "--ranks", "2", "-h"), ("docs", "--open", "-h"), ("get_mpi", "intel", "--help"), ("onetbb", "current", "--help"), ("perfetto", "--help"),
                               ("test", "--quick", "--help")):
            done = self.run_script(script, *words)
            self.assertEqual((done.returncode, done.stderr, self.was_called()), (0, "", ""), (script, words))
            self.assertTrue(done.stdout.startswith(f"usage: scripts/{script} "), done.stdout)
            self.assertFalse((self.root / "build").exists(), (script, words))

    def test_who_has_read_enough_of_the_benchmarks_hears_of_no_broken_pipe(self):
        to_read, to_write = os.pipe()
        os.close(to_read)
        done = subprocess.run([sys.executable, self.root / "bench" / "run.py", "--help"], env={"PATH": str(self.bin)}, stdout=to_write,
                              stderr=subprocess.PIPE, text=True, check=False)
        os.close(to_write)
        self.assertEqual((done.returncode, done.stderr), (128 + signal.SIGPIPE, ""))

    def test_an_mpi_and_a_onetbb_that_are_not_known_are_refused(self):
        for script in ("get_mpi", "onetbb"):
            for words in ([], [""], ["other"], ["--fast"]):
                self.assertEqual(self.refused(script, *words).returncode, 2, (script, words))
        self.assertIn("'other'", self.refused("get_mpi", "mpich5", "other").stderr)

    def test_the_site_is_built_and_opened_when_asked_for(self):
        self.assertIn("--fast", self.refused("docs", "--fast").stderr)
        (self.root / "docs").mkdir()
        site = self.root / "docs" / "site.py"
        made = "import os, sys; os.makedirs(sys.argv[1] + '/html'); open(sys.argv[1] + '/html/index.html', 'w'); print('a fault'); sys.exit(1)"
        site.write_text(made, encoding="utf-8")
        for name in ("doxygen", "xdg-open"):
            self.command(name, f'#!/bin/sh\necho "$(basename "$0") $*" >> "{self.called}"\n')
        index = f"{self.root}/build/docs/html/index.html"
        done = self.run_script("docs", "--open")
        self.assertEqual((done.returncode, done.stderr, self.was_called()), (1, "", f"xdg-open {index}\n"))
        self.assertRegex(done.stdout, f"(?s)a fault\n.*the site: {index}\n$")

    def test_perfettos_schema_is_of_one_version_and_one_of_another_is_replaced(self):
        pip = f'#!/bin/sh\necho "$*" >> "{self.called}"\ncat >> "{self.called}"\n'
        self.command("pip", pip)
        self.command("python3", '#!/bin/sh\nmkdir -p "$3/bin"\ncat "$(dirname "$0")/pip" > "$3/bin/pip"\nchmod +x "$3/bin/pip"\n')
        (self.bin / "chmod").symlink_to(shutil.which("chmod"))
        own = self.root / "build" / "perfetto" / "bin" / "python"
        for is_right in (True, False):
            own.parent.mkdir(parents=True, exist_ok=True)
            own.write_text(f"#!/bin/sh\nexit {0 if is_right else 1}\n", encoding="utf-8")
            own.chmod(0o755)
            done = self.run_script("perfetto")
            self.assertEqual((done.returncode, own.exists(), self.was_called() == ""), (0, is_right, is_right), done.stderr)
        words, *packages = self.was_called().splitlines()
        self.assertIn("--require-hashes", words)
        self.assertEqual(len(packages), 2)
        for package in packages:
            self.assertRegex(package, r"^(perfetto|protobuf)==[\d.]+( --hash=sha256:[0-9a-f]{64})+$")

    def test_a_number_of_jobs_that_is_none_is_named(self):
        for jobs in ("many", "0", "-3", "2.5", "99999"):
            done = self.refused("demo", settings={"COMMTASK_JOBS": jobs})
            self.assertEqual(done.stderr, f"error: COMMTASK_JOBS={jobs} is not a whole number from 1 to 9999\n")


if __name__ == "__main__":
    unittest.main()
