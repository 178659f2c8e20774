# SPDX-License-Identifier: Apache-2.0
# The driver without any MPI: files, runs, networks, what each comparison makes of its rounds, and its reading of a build folder.
# What is said about samples is figures_test.py's.
"""python3 -m unittest, from the folder above."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import dslash  # noqa: E402
import figures  # noqa: E402
import launch  # noqa: E402
import miniapp  # noqa: E402
import network  # noqa: E402
import offload  # noqa: E402
import whole_file  # noqa: E402


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "report.json"
        self.report = figures.Report("dslash", "crowded", {})

    def test_a_report_takes_the_place_of_the_old_one_when_it_is_written(self):
        self.file.write_text("old", encoding="utf-8")
        self.file.chmod(0o640)
        figures.write([self.report], self.file)
        self.assertEqual(json.loads(self.file.read_text(encoding="utf-8")), [self.report.to_json()])
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o640)
        self.assertEqual(os.listdir(self.folder), ["report.json"])

    def test_what_fails_on_the_way_leaves_the_old_file_or_none(self):
        self.report.machine = {"cores": object()}  # json can say nothing of it, after it has said much else
        with self.assertRaises(TypeError):
            figures.write([self.report], self.file)
        self.assertEqual(os.listdir(self.folder), [])
        self.file.write_text("old", encoding="utf-8")
        with self.assertRaises(TypeError):
            figures.write([self.report], self.file)
        self.assertEqual(self.file.read_text(encoding="utf-8"), "old")
        self.assertEqual(os.listdir(self.folder), ["report.json"])

    def test_a_run_that_is_aborted_while_it_writes_leaves_the_old_file(self):
        self.file.write_text("old", encoding="utf-8")
        with self.assertRaises(KeyboardInterrupt), whole_file.aside(self.file) as part:
            part.write_text("half", encoding="utf-8")
            raise KeyboardInterrupt
        self.assertEqual(self.file.read_text(encoding="utf-8"), "old")

    def test_links_are_followed_and_devices_written_as_they_are(self):
        link = self.folder / "link"
        link.symlink_to(self.file)
        whole_file.write_json(link, [1])
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.file.read_text(encoding="utf-8"), "[\n  1\n]\n")
        whole_file.write_json("/dev/null", [1])
        with self.assertRaises(OSError):
            whole_file.write_json("/dev/full", [1])


class Execution(unittest.TestCase):
    def run_python(self, program):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "run.json"
            miniapp.execute([sys.executable, "-c", program, str(report)], report)

    def test_a_run_that_reported_but_does_not_end_is_ended(self):
        self.addCleanup(setattr, miniapp, "END_S", miniapp.END_S)
        miniapp.END_S = 0
        self.run_python("import pathlib, signal, sys; pathlib.Path(sys.argv[1]).write_text('{}'); signal.pause()")

    def test_the_report_of_an_earlier_run_ends_nothing(self):
        self.addCleanup(setattr, miniapp, "END_S", miniapp.END_S)
        miniapp.END_S = 0
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "run.json"
            report.write_text("{}", encoding="utf-8")
            program = "import pathlib, sys, time; time.sleep(0.5); pathlib.Path(sys.argv[1]).write_text('[1]')"
            miniapp.execute([sys.executable, "-c", program, str(report)], report)
            self.assertEqual(report.read_text(encoding="utf-8"), "[1]")

    def test_a_run_that_ends_badly_is_a_failure_and_77_is_not(self):
        with self.assertRaises(miniapp.Failed):
            self.run_python("raise SystemExit(1)")
        with self.assertRaises(miniapp.Skipped):
            self.run_python("raise SystemExit(77)")


class Comparisons(unittest.TestCase):
    def test_dslash_reads_the_slowest_rank_and_what_is_not_waiting(self):
        median = {"slowest_total_us": 2600.0, "total_us": 2500.0, "wait_us": 300.0}
        measured = dslash.read({"median": median, "face_bytes": [0, 0, 196608, 196608]})
        self.assertAlmostEqual(measured.seconds, 2.6e-3)
        self.assertAlmostEqual(measured.busy_seconds, 2.2e-3)
        self.assertEqual(measured.bytes_sent, 393216)

    def test_the_side_that_begins_moves_on_and_the_first_round_is_thrown_away(self):
        order = []
        results = miniapp.alternated(("a", "b"), 2, lambda side: order.append(side) or len(order))
        self.assertEqual(order, ["a", "b", "b", "a", "a", "b"])
        self.assertEqual(results, {"a": [4, 5], "b": [3, 6]})

    def test_a_share_has_no_ratio_and_a_time_has_natives_over_its_own(self):
        results = {side: [{"Isend of 8 B": ("ns", ns), "overlap of 8 B": ("%", 90)}] for side, ns in (("native", 4), ("commtask-run", 1))}
        rows = {row.name: row.to_json() for row in offload.rows_beside_native(results)}
        self.assertEqual(rows["Isend of 8 B, commtask-run"]["ratio"], 4)
        self.assertNotIn("ratio", rows["overlap of 8 B, commtask-run"])

    def test_a_report_says_with_which_other_mpi(self):
        report = figures.Report("lanes", "one rank", {})
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(miniapp.publish([("a part", lambda: report)], "", "mpich5"), 0)
        self.assertEqual(report.setting, "one rank, mpich5")


class BuildFolder(unittest.TestCase):
    def folder(self, mpi):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        text = f"# comment\nCOMMTASK_MPI:STRING={mpi}\nMPIEXEC_EXECUTABLE:FILEPATH=/usr/bin/mpiexec.{mpi}\n"
        (Path(folder.name) / "CMakeCache.txt").write_text(text, encoding="utf-8")
        return folder.name


class Networks(BuildFolder):
    # A launcher that starts one rank, and a program that writes what it was given.
    MPIEXEC = "#!/bin/sh\nwhile [ $# -gt 0 ] && [ -z \"${1##-*}\" ]; do shift 2; done\nexec \"$@\"\n"
    PROGRAM = ("import json, os, sys\n"
               "json.dump([os.environ.get('EMULATED_LINK_RATE_MBS'), 'LD_PRELOAD' in os.environ], open(sys.argv[1], 'w'))\n")

    def build(self, mpi):
        folder = Path(self.folder(mpi))
        mpiexec = folder / "mpiexec"
        mpiexec.write_text(self.MPIEXEC, encoding="utf-8")
        mpiexec.chmod(0o755)
        cache = folder / "CMakeCache.txt"
        cache.write_text(cache.read_text(encoding="utf-8").replace(f"/usr/bin/mpiexec.{mpi}", str(mpiexec)), encoding="utf-8")
        (folder / "bench").mkdir()
        (folder / "bench" / "libcommtask_emulated_link.so").touch()
        return launch.Build(folder)

    def run_over(self, over):
        file = str(Path(over.build.folder) / "run.json")
        return over.execute([sys.executable, "-c", self.PROGRAM, file], file)

    def test_links_get_their_rate(self):
        self.assertEqual(self.run_over(network.Network(self.build("mpich"), "link", 2, 12.5)), ["12.5", True])

    def test_a_network_with_rendezvous_says_what_is_eager(self):
        build = self.build("mpich")
        for setting, is_said in (("link", False), ("rendezvous", True)):
            words = network.Network(build, setting, 2, 12.5)._command(["app"])
            self.assertEqual(any(word.startswith("EMULATED_LINK_EAGER_BYTES=") for word in words), is_said)

    def test_ranks_as_they_come_have_no_network(self):
        self.assertEqual(self.run_over(network.Network(self.build("mpich"), "", 2)), [None, False])

    def test_links_are_refused_without_mpich(self):
        with self.assertRaisesRegex(miniapp.Skipped, "MPICH"):
            network.Network(self.build("openmpi"), "link", 2, 12.5)


class Launch(BuildFolder):
    def test_takes_the_launcher_from_the_build_folder(self):
        self.assertEqual(launch.Build(self.folder("mpich")).mpiexec(2), ["/usr/bin/mpiexec.mpich", "-n", "2"])

    def test_lets_open_mpi_run_as_root_and_crowded(self):
        self.assertIn("--oversubscribe", launch.Build(self.folder("openmpi")).mpiexec(2))

    def test_names_the_program_that_is_not_built(self):
        with self.assertRaisesRegex(launch.NotBuilt, "bench_post"):
            launch.Build(self.folder("mpich")).program("bench_post")

    def test_refuses_a_folder_that_is_no_build_folder(self):
        with self.assertRaisesRegex(launch.NotBuilt, "--build-dir"):
            launch.Build("/nonexistent")


if __name__ == "__main__":
    unittest.main()
