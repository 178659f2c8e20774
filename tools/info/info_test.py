#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs commtask-info as a user would, and checks the report against the documentation of placement
# and configuration. The map is checked for consistency, not for certain CPUs, since the test runs
# on any machine.
"""Usage: info_test.py --ranks N --page FILE -- LAUNCHER... commtask-info"""
import argparse
import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("--ranks", type=int, required=True)
parser.add_argument("--page", required=True, help="docs/configuration.md")
parser.add_argument("command", nargs="+", help="the launcher with its words, then commtask-info")
arguments = parser.parse_args()
PROGRAM = arguments.command[-1]


def run(*words, only_cpu=None, **settings):
    """The tool on all ranks with these COMMTASK_* settings and no others, and on one CPU if asked."""

    def bind():
        os.sched_setaffinity(0, {only_cpu})

    environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMTASK_")}
    environment.update(settings)
    return subprocess.run([*arguments.command, *words], env=environment, text=True, capture_output=True, timeout=50,
                          preexec_fn=bind if only_cpu is not None else None)


def cpus(text):
    """The set that "0-3,8" stands for."""
    result = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        result.update(range(int(first), int(last or first) + 1))
    return result


class Info(unittest.TestCase):
    def report(self, **settings):
        done = run("--json", **settings)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def ranks_of(self, report):
        return [rank for node in report["nodes"] for rank in node["ranks"]]

    def test_describes_every_rank_once_and_gives_no_cpu_to_two_workers(self):
        ranks = self.ranks_of(self.report())
        self.assertEqual(sorted(rank["rank"] for rank in ranks), list(range(arguments.ranks)))
        workers = [cpu for rank in ranks for cpu in rank["worker_cpus"] if cpu is not None]
        self.assertEqual(len(workers), len(set(workers)))
        for rank in ranks:
            self.assertTrue(cpus(rank["compute_cpus"]))
            self.assertFalse(cpus(rank["compute_cpus"]) & set(workers))
            self.assertTrue(rank["reason"])
            self.assertEqual(rank["problems"], [])

    def test_says_what_the_runtime_then_does(self):
        for rank in self.ranks_of(self.report()):
            self.assertEqual(rank["runtime"]["code"], 0)
            self.assertEqual(rank["runtime"]["worker_cpu"], rank["worker_cpus"][0])
            self.assertEqual(rank["runtime"]["is_reserved"], rank["idle"] == "reserved")

    def test_honours_the_cpus_that_the_launcher_has(self):
        cpu = max(os.sched_getaffinity(0))
        done = run("--json", only_cpu=cpu)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for rank in self.ranks_of(json.loads(done.stdout)):
            self.assertEqual(cpus(rank["cpus"]), {cpu})
            self.assertEqual(cpus(rank["compute_cpus"]), {cpu})
            self.assertEqual(rank["worker_cpus"], [None])
            self.assertEqual(rank["idle"], "shared")
            self.assertTrue(rank["is_warning"])
            self.assertIn(f"may use only CPU {cpu}", rank["reason"])

    def test_shows_settings_with_their_source(self):
        report = self.report(COMMTASK_SPIN_US="77", COMMTASK_IDLE="shared")
        settings = {setting["variable"]: setting for setting in report["configuration"]}
        self.assertEqual(settings["COMMTASK_SPIN_US"]["value"], "77")
        self.assertEqual(settings["COMMTASK_SPIN_US"]["source"], "environment")
        self.assertEqual(settings["COMMTASK_LANES"]["source"], "default")
        for rank in self.ranks_of(report):
            self.assertEqual(rank["idle"], "shared")

    def test_names_the_mpi_and_its_features(self):
        mpi = self.report()["mpi"]
        self.assertTrue(mpi["library"])
        # The tests run with the MPI that the library was built for.
        self.assertEqual(mpi["name"], mpi["built_for"]["name"])
        self.assertIn(mpi["name"].split()[-1], mpi["library"])
        self.assertTrue(os.path.exists(mpi["file"]), mpi["file"])
        # A wheel has copies instead of links.
        self.assertTrue(filecmp.cmp(mpi["file"], mpi["built_for"]["file"], shallow=False))
        text = run().stdout
        self.assertEqual("not tested: commtask's tests are run with " in text, not mpi["is_tested"], text)
        self.assertIn("MPI_Send_c", [feature["function"] for feature in mpi["features"]])
        self.assertIn(mpi["thread_level"], ["single", "funneled", "serialized", "multiple"])

    def test_warns_of_an_unknown_name_and_goes_on(self):
        ranks = self.ranks_of(self.report(COMMTASK_SPIN="1"))
        self.assertEqual(len(ranks[0]["problems"]), 1)
        self.assertIn("nearest name is COMMTASK_SPIN_US", ranks[0]["problems"][0]["sentence"])

    def test_fails_on_a_bad_value_and_says_what_would_be_right(self):
        done = run(COMMTASK_LANES="0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("COMMTASK_LANES=0 is not valid: it must be a whole number from 1 to 16", done.stdout)
        self.assertIn("the runtime does not start", done.stdout)

    def test_fails_on_a_core_that_is_not_there(self):
        done = run(COMMTASK_CORE="8191")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("COMMTASK_CORE=8191 names CPU 8191, which no rank on this node may use", done.stdout)

    def test_prints_a_readable_map(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for phrase in ("thread level", "COMMTASK_QUEUE_CAPACITY", "Node ", "rank 0: may use CPUs"):
            self.assertIn(phrase, done.stdout)

    def test_prints_the_page_of_the_settings_without_mpi(self):
        done = subprocess.run([PROGRAM, "--config-markdown"], text=True, capture_output=True, timeout=20)
        with open(arguments.page, encoding="utf-8") as page:
            self.assertEqual(done.stdout, page.read())

    def test_refuses_an_unknown_option_once_and_with_2(self):
        for command in ([PROGRAM], arguments.command):
            done = subprocess.run([*command, "--jsno"], text=True, capture_output=True, timeout=20)
            self.assertEqual(done.returncode, 2)
            refusals = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("commtask-info: ")]
            self.assertEqual(len(refusals), 1, done.stdout + done.stderr)
            self.assertIn("--jsno", refusals[0])

    def test_refuses_options_that_exclude_each_other(self):
        for words in (["--json", "--config-markdown"], ["--calibrate", "lanes.json", "--json"], ["--calibrate", ""]):
            done = subprocess.run([PROGRAM, *words], text=True, capture_output=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_tells_its_version_once(self):
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^commtask-info \d+\.\d+\.\d+\n$")

    def test_says_what_holds_for_all_ranks_of_a_node_once(self):
        done = run(only_cpu=max(os.sched_getaffinity(0)))
        self.assertEqual(done.stdout.count("may use only CPU") + done.stdout.count("may use CPU "), 1, done.stdout)
        self.assertEqual(done.stdout.count("warning: as rank 0"), arguments.ranks - 1, done.stdout)

    def test_says_what_becomes_of_several_lanes_in_this_mpi(self):
        mpi = self.report(COMMTASK_LANES="3")["mpi"]
        self.assertIn("3 lanes", mpi["lanes"]["sentence"])
        mpich = re.match(r"MPICH (\d+)\.(\d+)", mpi["name"])
        # The library asks for contexts before MPI_Init, unless the user has.
        self.assertEqual(mpi["lanes"]["are_independent"], mpich is not None and tuple(map(int, mpich.groups())) >= (4, 1))
        self.assertIn("2 lanes", run().stdout)
        if mpi["lanes"]["are_independent"]:
            lanes = self.report(COMMTASK_LANES="3", MPIR_CVAR_CH4_NUM_VCIS="2")["mpi"]["lanes"]
            self.assertFalse(lanes["are_independent"])
            self.assertIn("MPIR_CVAR_CH4_NUM_VCIS=3", lanes["sentence"])

    def test_calibrates_a_table_that_the_library_then_takes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "lanes.json")
            done = run("--calibrate", file, COMMTASK_LANES="2", COMMTASK_LANE_TABLE=file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn(f"COMMTASK_LANE_TABLE={file}", done.stdout)
            with open(file, encoding="utf-8") as text:
                table = json.load(text)
            self.assertEqual(table["machine"], os.uname().nodename)
            for row in table["rows"] + table["puts"]["rows"] + table["collectives"]["rows"]:
                self.assertEqual([cost["n_lanes"] for cost in row["lanes"]], [1, 2])
            self.assertEqual(self.report(COMMTASK_LANES="2", COMMTASK_LANE_TABLE=file)["nodes"][0]["ranks"][0]["runtime"]["code"], 0)
            done = run("--calibrate", os.path.join(folder, "no", "folder"), COMMTASK_LANES="1")
            self.assertEqual(done.returncode, 1)
            self.assertIn("folder: No such file or directory", done.stderr)

    def test_an_output_that_is_full_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for words in ([], ["--help"], ["--version"], ["--config-markdown"]):
                done = subprocess.run([PROGRAM, *words], text=True, stdout=full, stderr=subprocess.PIPE, timeout=50)
                self.assertEqual(done.returncode, 1, words)
                self.assertIn("standard output was lost", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
