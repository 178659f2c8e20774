# SPDX-License-Identifier: Apache-2.0
# The driver without any MPI: files, runs, networks, what each comparison makes of its rounds, and its reading of a build folder.
# What is said about samples is figures_test.py's.
"""python3 -m unittest, from the folder above."""

import contextlib
import io
import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import breakdown  # noqa: E402
import dslash  # noqa: E402
import figures  # noqa: E402
import fft  # noqa: E402
import launch  # noqa: E402
import miniapp  # noqa: E402
import multigrid  # noqa: E402
import network  # noqa: E402
import offload  # noqa: E402
import poisson  # noqa: E402
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
        self.assertEqual(json.loads(self.file.read_text(encoding="utf-8")), self.report.to_json())
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


class Wire(unittest.TestCase):
    def test_lateness_is_summed_over_runs_and_directions(self):
        one = {"frames": 10, "late_us": [[15, 7], [40, 2], [210, 1]]}
        text = miniapp.describe_wire([{"directions": [one, one]}, {"directions": [one, one]}])
        self.assertEqual(text, "40 frames, late by 15 us (median; worst p99 of a run 210 us), 4 by > 200 us")


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


class Dslash(unittest.TestCase):
    def test_reads_the_slowest_rank_and_what_is_not_waiting(self):
        median = {"post_us": 3.0, "slowest_total_us": 2600.0, "total_us": 2500.0, "wait_us": 300.0}
        measured = dslash.read({"median": median, "face_bytes": [0, 0, 196608, 196608]})
        self.assertAlmostEqual(measured.post_seconds, 3e-6)
        self.assertAlmostEqual(measured.seconds, 2.6e-3)
        self.assertAlmostEqual(measured.busy_seconds, 2.2e-3)
        self.assertEqual(measured.bytes_sent, 393216)

    def test_tbb_is_compared_with_the_baseline_too_by_the_goal_of_omp(self):
        crowded = next(case for case in dslash.CASES if case.name == "8.8.8.16 double" and case.setting == "crowded")
        row = dslash.beside_baseline(crowded, {"baseline": [1e-3, 3e-3], "tbb": [2e-3, 3e-3]})
        self.assertEqual((row.name, row.ratio_to), ("tbb 8.8.8.16 double, beside baseline", "baseline 8.8.8.16 double"))
        self.assertEqual(row.ratios, [0.5, 1.0])
        self.assertEqual(row.goals, figures.at_least(0.97))


def modes_of(app):
    """As the sources of the miniapp name them."""
    table = {"lqcd_dslash": "modes.cpp", "fft_soi": "exchange/schedule.cpp"}[app]
    text = (Path(__file__).resolve().parents[2] / "apps" / app / table).read_text(encoding="utf-8")
    return set(re.findall(r'"(\w+)", MPI_THREAD_', text))


class Breakdown(unittest.TestCase):
    def test_the_programs_are_asked_for_modes_that_they_have(self):
        """A mode with options of its own is a row of bench dslash, and no word for --mode."""
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        folder = Path(holder.name)
        (folder / "CMakeCache.txt").write_text("COMMTASK_MPI:STRING=mpich\n", encoding="utf-8")
        asked = {"lqcd_dslash": set(), "fft_soi": set()}

        def execute(over, command, report_file):
            asked[Path(command[0]).name].add(command[command.index("--mode") + 1])
            return {"median": {"slowest_total_us": 1.0}, "mode": command[command.index("--mode") + 1]}

        for app in asked:
            (folder / "apps" / app).mkdir(parents=True)
            (folder / "apps" / app / app).touch()
        with mock.patch.object(network.Network, "execute", execute), mock.patch.object(miniapp, "machine_of", return_value={}), \
                mock.patch.object(dslash, "balanced_rate_mbs", return_value=1.0), contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(breakdown.run(launch.Build(folder), True, ""), 0)
        for app, modes in asked.items():
            self.assertTrue(modes)
            self.assertLessEqual(modes, modes_of(app))


class Model(unittest.TestCase):
    def test_is_the_table_of_the_documentation(self):
        table = {0.5: (1.50, 1.11, 1.01), 1.0: (2.00, 1.61, 1.12), 2.0: (3.00, 2.61, 2.12)}
        for net, right in table.items():
            for mode, total in zip(("baseline", "seg", "tasks"), right):
                self.assertAlmostEqual(fft.model(mode, net, 0.55, 0.45, 8, 8), total, delta=0.006)


class ThreadLevel(unittest.TestCase):
    """What MPI_THREAD_MULTIPLE costs stands beside what a second lane costs, by whole runs of one lane that differ in nothing else."""

    def command(self, runner, mode):
        """Without the file that the run writes, which is another for each."""
        seen = []

        def execute(over, command, file):
            seen.extend(word for word in command if word != file)
            return {"median": {"post_us": 1, "slowest_total_us": 1, "total_us": 1, "wait_us": 0}, "face_bytes": [0]}

        with mock.patch.object(network.Network, "execute", execute):
            runner.run(mode)
        return seen

    def test_it_is_the_same_program_with_a_library_before_it(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        folder = Path(holder.name)
        (folder / "CMakeCache.txt").write_text("COMMTASK_MPI:STRING=mpich\n", encoding="utf-8")
        for room, name in (("apps/lqcd_dslash", "lqcd_dslash"), ("apps/fft_soi", "fft_soi"), ("bench", "libcommtask_thread_multiple.so")):
            (folder / room).mkdir(parents=True)
            (folder / room / name).touch()
        over = network.Network(launch.Build(folder), "", 2)
        for bench, runner in ((dslash, dslash.Runner(over, dslash.CASES[0])), (fft, fft.Runner(over, "link"))):
            one_lane, with_level, two_lanes = (self.command(runner, mode) for mode in ("omp", network.LEVEL, bench.LANES))
            self.assertEqual(with_level[0], "env")
            self.assertIn("libcommtask_thread_multiple.so", with_level[1])
            self.assertEqual(with_level[2:], one_lane)
            place = two_lanes.index("--lanes")
            self.assertEqual(two_lanes[:place] + two_lanes[place + 2:], one_lane)


class Timeline(unittest.TestCase):
    def test_only_links_are_traced_whichever_part_runs_last(self):
        traced = {}

        def over_network(build, setting, is_quick, traces):
            traced[setting] = traces
            return figures.Report("fft", setting, {})

        nothing = figures.Report("fft", "crowded", {})
        with mock.patch.object(fft, "over_network", over_network), mock.patch.object(fft, "crowded", return_value=nothing), \
                mock.patch.object(fft, "lanes_as_it_comes", return_value=nothing):
            for _, report_of in fft.parts_of(mock.Mock(mpi=""), "all", True, "folder"):
                report_of()
        self.assertEqual(traced, {"delayed": "", "link": "folder"})


class OtherMpi(unittest.TestCase):
    def test_each_report_says_which(self):
        reports = [figures.Report("dslash", setting, {}) for setting in ("crowded", "link")]
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(miniapp.publish([("a part", lambda one=one: one) for one in reports], "", "mpich5"), 0)
        self.assertEqual([one.setting for one in reports], ["crowded, mpich5", "link, mpich5"])

    def test_fft_has_no_peer_that_was_built_with_the_usual_one(self):
        names = {mpi: [name for name, _ in fft.parts_of(mock.Mock(mpi=mpi), "crowded", True, "")] for mpi in ("", "mpich5")}
        self.assertEqual(names["mpich5"], ["fft, crowded, lanes"])
        self.assertEqual(names[""][-1:], names["mpich5"])

    def test_the_miniapps_are_asked_about_lanes_only(self):
        """All else is as with the usual one; and no row has a goal beside a side that did not run."""
        median = {name: 1 for name in ("slowest_total_us", "total_us", "post_us", "wait_us", "produce_us", "consume_us", "internal_us", "external_us")}
        median["total_us"] = 2
        over = mock.Mock(execute=lambda command, file: {"median": median, "face_bytes": [8], "bytes": 8, "traffic": {"bytes": 8}})
        over.describe.return_value = "links"
        build = mock.Mock(mpi="mpich5", folder=Path("."))
        over.build, over.setting, over.rate_mbs = build, "link", 1.0
        report = figures.Report("any", "link", {})
        with mock.patch.object(network, "Network", return_value=over), mock.patch.object(miniapp, "machine_of", return_value={}), \
                mock.patch.object(network, "with_thread_multiple", return_value=[]):
            dslash.measure(build, dslash.CASES[0], 1, report)
            multigrid.measure(build, "link", multigrid.CASES[0], 1, report)
            report.rows += fft.over_network(build, "link", True, "").rows
        self.assertEqual({row.name.rsplit(" 8.8", 1)[0].partition(" soi")[0].partition(":")[0] for row in report.rows},
                         {"omp", network.LEVEL, network.LANES, multigrid.COMMUNICATORS, multigrid.ALL_LANES})
        self.assertEqual({row.name.partition(" 8.8")[0].partition(" soi")[0].partition(":")[0] for row in report.rows if row.goals}, {network.LANES})


class Offload(unittest.TestCase):
    def one(self, microseconds):
        return {"Isend of 8192 B": ("ns", 1000 * microseconds)}

    def test_the_side_that_begins_moves_on_and_the_first_round_is_thrown_away(self):
        order = []
        results = offload.alternated(("a", "b"), 2, lambda side: order.append(side) or len(order))
        self.assertEqual(order, ["a", "b", "b", "a", "a", "b"])
        self.assertEqual(results, {"a": [4, 5], "b": [3, 6]})

    def test_only_the_interposed_start_of_a_send_has_a_goal(self):
        results = {"native": [self.one(4)], "commtask-run": [self.one(1)], "commself": [self.one(8)]}
        rows = {row.name: row for row in offload.ratio_rows(results, offload.post_goals)}
        self.assertEqual(rows["Isend of 8192 B, commtask-run"].ratio, 4)
        self.assertTrue(rows["Isend of 8192 B, commtask-run"].is_met)
        self.assertEqual(rows["Isend of 8192 B, commself"].goals, ())
        self.assertEqual(offload.post_goals("Iallreduce of 8192 B", 100), ())

    def test_a_large_start_may_cost_two_microseconds_more_than_mpis(self):
        def is_met(own_ns):
            results = {side: [{"Isend of 4194304 B": ("ns", ns)}] for side, ns in (("native", 700), ("commtask-run", own_ns))}
            return offload.ratio_rows(results, offload.post_goals)[1].is_met
        self.assertTrue(is_met(2699))
        self.assertFalse(is_met(2701))

    def test_constancy_is_the_smallest_over_the_largest(self):
        rounds = [{"Isend of 4194304 B": ("ns", 400), "Isend of 8 B": ("ns", 100)}]
        row = offload.constancy_rows(rounds)[0]
        self.assertEqual(row.ratio, 0.25)
        self.assertFalse(row.is_met)

    def test_large_exchanges_must_hide_more_than_small_ones(self):
        overlaps = {"overlap of 1024 B": ("%", 90), "overlap of 65536 B": ("%", 90)}
        rows = offload.overlap_rows({"native": [overlaps], "commtask-run": [overlaps]}, has_goals=True)
        verdicts = {row.name: row.is_met for row in rows if row.name.endswith("commtask-run")}
        self.assertEqual(verdicts, {"overlap of 1024 B, commtask-run": True, "overlap of 65536 B, commtask-run": False})


class Poisson(unittest.TestCase):
    def test_a_mode_is_compared_with_the_baseline_that_has_its_halos(self):
        times = {("baseline", "p2p"): [8.0], ("omp", "p2p"): [4.0], ("baseline", "put"): [16.0], ("omp", "put"): [2.0]}
        ratios = {row.name: (row.ratio_to, row.ratio) for row in poisson.rows(times)}
        self.assertEqual(ratios, {"baseline p2p": (None, None), "omp p2p": ("baseline p2p", 2), "baseline put": ("baseline p2p", 0.5),
                                  "omp put": ("baseline put", 8)})


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
               "report = os.environ.get('EMULATED_LINK_REPORT')\n"
               "late = {'directions': [{'frames': 3, 'late_us': [[1, 2], [2, 1]]}]}\n"
               "if report: json.dump(late, open(report, 'w'))\n"
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

    def test_links_get_their_rate_and_tell_what_they_carried(self):
        over = network.Network(self.build("mpich"), "link", 2, 12.5)
        self.assertEqual(self.run_over(over), ["12.5", True])
        self.assertIn("links of 12.5 MB/s; 3 frames", over.describe())

    def test_a_network_with_rendezvous_says_what_is_eager(self):
        build = self.build("mpich")
        for setting, is_said in (("link", False), ("rendezvous", True)):
            words = network.Network(build, setting, 2, 12.5)._command(["app"], "report")
            self.assertEqual(any(word.startswith("EMULATED_LINK_EAGER_BYTES=") for word in words), is_said)

    def test_a_run_without_the_links_report_is_no_run_over_links(self):
        over = network.Network(self.build("mpich"), "link", 2, 12.5)
        file = str(Path(over.build.folder) / "run.json")
        with self.assertRaisesRegex(miniapp.Failed, "no report"):
            over.execute([sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write('{}')", file], file)

    def test_ranks_as_they_come_have_no_network(self):
        over = network.Network(self.build("mpich"), "", 2)
        self.assertEqual(self.run_over(over), [None, False])
        self.assertEqual(over.describe(), "")

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
