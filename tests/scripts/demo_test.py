# SPDX-License-Identifier: Apache-2.0
# scripts/demo in a copy of the checkout's scripts, with commands of our own in place of apt-get, cmake and the launcher:
# they write down that they were called. What the miniapp would do is done by a few lines of shell.
"""The demo's first minutes, when something is wrong, and how it reports progress."""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import unittest

import checkout

sys.path[:0] = [str(checkout.ROOT / folder) for folder in ("scripts", "bench", "tools/report")]
import demo_wins  # noqa: E402

# A launcher: `mpiexec … PROGRAM --mode MODE … --json FILE`. What it does is in a file per mode, or in `any`.
MPIEXEC = """#!/bin/sh
mode=any
while [ $# -gt 0 ]; do
    case $1 in
    --mode) mode=$2 ;;
    --json) json=$2 ;;
    EMULATED_LINK_REPORT=*) cat "$(dirname "$0")/links.json" > "${1#*=}" ;;
    *commtask-info) exit 0 ;;
    *bench_exposed) echo '{"exposed_us": [{"bytes": 65536, "samples": [100.0]}]}'; exit 0 ;;
    esac
    shift
done
here=$(dirname "$0")
[ -e "$here/$mode.sh" ] || mode=any
. "$here/$mode.sh"
"""
TIMES = {key: 100.0 for key in ("internal_us", "post_us", "misc_us", "total_us", "slowest_total_us", "gflops")}
REPORT = {"repeats": [{**TIMES, "wait_us": 50.0, "overlap": 0.5}], "passed": True, "checks": [{}], "fingerprint": "1", "face_bytes": [1000]}
LATE = {"frames": 1, "late_us": [[1, 1]]}
LINKS = {"directions": [LATE]}


class Demo(checkout.Checkout):
    def setUp(self):
        super().setUp()
        self.build = self.root / "build" / "release"

    def has_build(self, **shell):
        """A build folder whose miniapp does what `shell` says per mode, `any` for the others."""
        for file in ("apps/lqcd_dslash/lqcd_dslash", "tools/commtask-info", "plugins/mpi/commtask-run", "bench/bench_exposed",
                     "bench/libcommtask_emulated_link.so"):
            (self.build / file).parent.mkdir(parents=True, exist_ok=True)
            (self.build / file).touch()
        mpiexec = self.build / "mpiexec"
        mpiexec.write_text(MPIEXEC, encoding="utf-8")
        mpiexec.chmod(0o755)
        (self.build / "CMakeCache.txt").write_text(f"COMMTASK_MPI:STRING=mpich\nMPIEXEC_EXECUTABLE:FILEPATH={mpiexec}\n",
                                                   encoding="utf-8")
        (self.build / "links.json").write_text(json.dumps(LINKS), encoding="utf-8")
        for mode, text in {"any": self.reports(), **shell}.items():
            (self.build / f"{mode}.sh").write_text(text, encoding="utf-8")

    def reports(self, **changed):
        file = self.build / f"report{len(list(self.build.glob('report*')))}.json"
        file.write_text(json.dumps({**REPORT, **changed}), encoding="utf-8")
        return f'cat "{file}" > "$json"'

    def run_demo(self, *words):
        return self.run_script("demo", *words)

    def test_options_are_checked_before_anything_is_done(self):
        for words in (["--ranks", "0"], ["--lattice", "8.8.8"], ["--lattice=7.8.8.8"], ["--iterations"], ["--fast"],
                      ["--ranks", "3"], ["--threads", "99999999999"], ["--json", "/no/such/folder/file"]):
            done = self.run_demo(*words)
            self.assertEqual((done.returncode, self.was_called()), (2, ""), (words, done.stderr))
            self.assertRegex(done.stderr, r"^scripts/demo: --[^\n]*\n$")

    def test_help_needs_no_python(self):
        (self.bin / "python3").unlink()
        done = self.run_demo("--help")
        self.assertEqual((done.returncode, self.was_called()), (0, ""), done.stderr)
        self.assertIn("--lattice", done.stdout)

    def test_a_missing_command_is_one_sentence(self):
        (self.bin / "cmake").unlink()
        done = self.run_demo()
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "error: cmake is not there: install it, or add its folder to PATH\n")

    def test_a_checkout_that_cannot_be_written_is_one_sentence(self):
        (self.root / "build").write_text("a file where a folder is needed", encoding="utf-8")
        done = self.run_demo()
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^error: \S*/build cannot be written[^\n]*\n$")
        self.assertEqual(self.was_called(), "")

    def test_two_runs_wait_for_each_other(self):
        self.has_build()
        with open(self.root / "build" / ".release.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            second = self.start("demo", stderr=subprocess.STDOUT)
            said = ""
            while "waiting until it ends" not in said:
                line = second.stdout.readline()
                self.assertTrue(line, "it did not wait: " + said)
                said += line
            self.assertEqual(self.was_called(), "")
        rest, _ = second.communicate(timeout=50)
        self.assertEqual(second.returncode, 0, rest)

    def test_all_modes_that_agree_are_a_success(self):
        self.has_build()
        done = self.run_demo("--json", str(self.root / "demo.json"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("6 checks in 6 of 6 modes: all passed; results are the same to the last bit in the 6", done.stdout)
        document = json.loads((self.root / "demo.json").read_text(encoding="utf-8"))
        self.assertTrue(document["is_complete"])
        self.assertEqual(document["exposed"][0]["size"], "64 KiB")

    def test_a_mode_that_does_not_run_is_a_row_and_the_others_go_on(self):
        self.has_build(iprobe="echo 'lqcd_dslash: rank 1: out of memory'; exit 1", omp="kill -SEGV $$")
        done = self.run_demo()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^iprobe +did not run: lqcd_dslash: rank 1: out of memory$")
        self.assertRegex(done.stdout, r"(?m)^omp +did not run: ")
        self.assertRegex(done.stdout, r"(?m)^tbb +ok")
        self.assertIn("the same to the last bit in the 4 modes", done.stdout)
        self.assertNotIn("DIFFER", done.stdout)
        self.assertNotIn("Traceback", done.stdout + done.stderr)

    def test_without_a_baseline_nothing_has_a_cost(self):
        self.has_build(baseline="exit 3")
        done = self.run_demo()
        self.assertRegex(done.stdout, r"(?m)^tbb +ok.* -$")
        self.assertNotIn("Traceback", done.stderr)

    def test_results_differ_only_where_two_were_compared(self):
        self.has_build()
        self.has_build(any="exit 1", offload=self.reports())
        self.assertIn("results of two modes are needed", self.run_demo().stdout)
        self.has_build(offload=self.reports(fingerprint="2"))
        self.assertIn("results DIFFER between the 6 modes", self.run_demo().stdout)

    def test_the_parts_are_counted_and_the_last_states_its_duration(self):
        self.has_build()
        said = self.run_demo().stdout
        self.assertRegex(said, r"(?s)== 1 of 4: .*== 2 of 4: .*== 3 of 4: .*== 4 of 4: [^\n]* minute")

    def test_a_build_prints_few_of_its_steps_and_every_warning(self):
        self.has_build()
        self.command("cmake", """#!/bin/sh
[ "$1" = --build ] || exit 0
n=0
while [ $n -lt 400 ]; do n=$((n + 1)); echo "[$n/401] Building CXX object $n.o"; done
echo "a.cpp:1: warning: it is shown" >&2
echo "[401/401] Linking all"
""")
        done = self.run_demo()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("\na.cpp:1: warning: it is shown\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^building release: \d+ s; last step: \[401/401\] Linking all$")
        self.assertLess(done.stdout.count("/401]"), 20)

    def test_a_failed_build_ends_the_demo_with_the_whole_error(self):
        self.has_build()
        self.command("cmake", """#!/bin/sh
[ "$1" = --build ] || exit 0
echo "[1/2] Building CXX object a.o"
echo "FAILED: a.o"
printf "a.cpp:1: error: the end"
exit 3
""")
        done = self.run_demo()
        self.assertEqual(done.returncode, 3)
        self.assertIn("\nFAILED: a.o\na.cpp:1: error: the end\n", done.stdout)
        self.assertNotIn("2 of 4", done.stdout)

    def test_a_long_step_is_printed_again_with_the_elapsed_time(self):
        goes_on = self.root / "goes_on"
        os.mkfifo(goes_on)
        text = f'source {self.root}/scripts/common.sh; commtask_progress_s=1; ' \
               f'with_progress building sh -c "echo [7/9] Building b.o; read word < {goes_on}"'
        with subprocess.Popen([self.bin / "bash", "-c", text], env={"PATH": str(self.bin)}, text=True, stdout=subprocess.PIPE) as run:
            for _ in range(2):
                self.assertRegex(run.stdout.readline(), r"^building: \d+ s; last step: \[7/9\] Building b\.o\n$")
            goes_on.write_text("on\n", encoding="utf-8")
        self.assertEqual(run.returncode, 0)

    def test_a_long_run_prints_its_elapsed_time(self):
        class Output:
            """Sets an event at the first output."""
            said, event = "", threading.Event()

            def write(self, text):
                self.said += text
                self.event.set()

            def flush(self):
                pass

        demo_wins.PROGRESS_S = 0.01
        with contextlib.redirect_stdout(Output()) as out:
            demo_wins.attempt("omp", out.event.wait)
        self.assertRegex(out.said, r"^omp +running for 0 s")

    def test_an_interrupt_is_a_word_and_a_status(self):
        self.has_build(baseline=f'touch "{self.root}/started"\nsleep 100')
        demo = self.start("demo", start_new_session=True)
        for line in demo.stdout:
            if line.startswith("mode "):
                break
        os.killpg(demo.pid, signal.SIGINT)
        _, errors = demo.communicate(timeout=50)
        self.assertEqual((demo.returncode, errors), (130, "scripts/demo: interrupted\n"))

    def test_an_output_that_is_full_is_one_sentence(self):
        self.has_build()
        # Without the shell, which would say so before.
        words = ["--build-dir", self.build, "--lattice", "8.8.8.16", "--ranks", "2", "--threads", "1", "--iterations", "1"]
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([sys.executable, self.root / "scripts" / "demo_table.py", *words], text=True, stdout=full,
                                  stderr=subprocess.PIPE, timeout=50, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^scripts/demo: [^\n]*No space left on device\n$")


if __name__ == "__main__":
    unittest.main()
