# SPDX-License-Identifier: Apache-2.0
# All benchmarks in a row, with a runner of the test's own in their place: what is said of the time that is left, that one part's
# failure stops no other, that a run which was stopped can go on in slices but not with other sources' results, and that the page
# and the tables of other pages have what was measured, missed goals too, and what was not.
"""python3 -m unittest, from the folder above."""

import contextlib
import io
import json
import re
import struct
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import bench_results  # noqa: E402
import campaign  # noqa: E402
import figures  # noqa: E402
import limits  # noqa: E402
import miniapp  # noqa: E402
import performance  # noqa: E402
import performance_page  # noqa: E402
import performance_plot  # noqa: E402
import published  # noqa: E402
import published_lines  # noqa: E402
import run  # noqa: E402

#: A runner that writes a result, unless the benchmark is to fail; and that remembers how it was called.
RUNNER = """import json, sys
name, words = sys.argv[1], sys.argv[1:]
file = words[words.index("--json") + 1]
if name == "broken": sys.exit(3)
if name == "absent": sys.exit(77)
row = {"name": "a|b", "unit": "ns", "median": 2, "p10": 1, "p90": 3, "p99": 3, "ratio_to": "c", "ratio": 0.5, "goal": "ratio >= 0.9",
       "met": False, "ratio_p10": 0.4, "ratio_p90": 0.6}
json.dump({"benchmark": name, "setting": "here", "machine": {"cores": 2}, "seconds": 100, "commit": "now", "words": words, "results": [row]},
          open(file, "w"))
"""


class Campaign(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name) / "results"
        self.runner = Path(holder.name) / "runner.py"
        self.runner.write_text(RUNNER, encoding="utf-8")
        drawing = mock.patch.object(campaign, "write_page", return_value=0)
        drawing.start()
        self.addCleanup(drawing.stop)

    def run_all(self, *parts, is_quick=True, has_resumed=False, slice_s=None, commit="now"):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), mock.patch.object(campaign, "run_demo", return_value=0), \
                mock.patch.object(campaign, "sources", return_value=commit):
            status = campaign.run(str(self.folder.parent), is_quick, str(self.folder), has_resumed, slice_s, parts, self.runner)
        return status, said.getvalue()

    def stored(self, name):
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))

    def test_every_part_is_stored_under_its_benchmark_setting_ranks_and_mpi(self):
        status, _ = self.run_all(campaign.Part("one"), campaign.Part("two", "far"), campaign.Part("two", ranks=8),
                                 campaign.Part("two", mpi="other"))
        self.assertEqual(status, 0)
        self.assertEqual(self.stored("two-n8")["words"][:3], ["two", "--ranks", "8"])
        self.assertEqual(self.stored("two-other")["words"][:3], ["two", "--mpi", "other"])
        self.assertEqual(self.stored("one")["words"][0], "one")
        self.assertEqual(self.stored("two-far")["words"][:3], ["two", "--setting", "far"])
        self.assertIn("--quick", self.stored("one")["words"])

    def test_a_part_that_fails_stops_no_other_and_is_named(self):
        status, said = self.run_all(campaign.Part("broken"), campaign.Part("absent"), campaign.Part("one"))
        self.assertEqual(status, 1)
        self.assertRegex(said, r"broken +FAILED with status 3")
        self.assertRegex(said, r"absent +cannot run here")
        self.assertRegex(said, r"one +measured")

    def test_what_cannot_run_here_is_no_failure(self):
        self.assertEqual(self.run_all(campaign.Part("absent"), campaign.Part("one"))[0], 0)

    def test_a_run_that_was_stopped_goes_on(self):
        self.run_all(campaign.Part("one"))
        _, said = self.run_all(campaign.Part("one"), campaign.Part("two"), has_resumed=True)
        self.assertRegex(said, r"one +there already")
        self.assertRegex(said, r"two +measured")

    def test_a_result_of_other_sources_is_measured_again(self):
        self.run_all(campaign.Part("one"))
        _, said = self.run_all(campaign.Part("one"), has_resumed=True, commit="later")
        self.assertRegex(said, r"one +measured")

    def test_a_slice_begins_only_what_it_can_end_and_says_that_something_is_left(self):
        parts = (campaign.Part("long", about_s=500), campaign.Part("one", about_s=5))
        status, said = self.run_all(*parts, slice_s=100)
        self.assertEqual(status, campaign.LEFT)
        self.assertRegex(said, r"one +measured")
        self.assertRegex(said, r"long +left for the next slice")
        self.assertEqual(self.run_all(*parts, slice_s=1000, has_resumed=True)[0], 0)

    def test_what_failed_in_the_last_slice_comes_last_in_the_next(self):
        parts = (campaign.Part("broken", about_s=1), campaign.Part("one", about_s=5), campaign.Part("two", about_s=9))
        self.run_all(*parts[:1])
        _, said = self.run_all(*parts, has_resumed=True)
        self.assertIn("[1/3] one: about 5 s", said)
        self.assertIn("[3/3] broken", said)

    def test_a_part_that_takes_too_long_is_ended(self):
        begin = time.monotonic()
        status = campaign.run_part([sys.executable, "-c", "import signal; signal.pause()"], 0, lambda seconds: None)
        self.assertEqual(status, campaign.TOO_LONG)
        self.assertEqual(campaign.summary([("slow", status)])[1], 1)
        self.assertLess(time.monotonic() - begin, 30)

    def test_the_short_ones_come_first_and_the_time_that_is_left_is_what_the_parts_took_when_they_were_stored(self):
        self.run_all(campaign.Part("one"))
        _, said = self.run_all(campaign.Part("one"), campaign.Part("new", about_s=40), is_quick=False)
        self.assertIn("[1/3] new: about 40 s; all that is left: 5 min", said)
        self.assertIn("[2/3] one: about 2 min; all that is left: 5 min", said)
        self.assertIn("[3/3] demo", said)

    def test_a_demo_that_is_stored_is_not_run_again_in_the_next_slice(self):
        self.folder.mkdir(parents=True)
        (self.folder / "demo.json").touch()
        for has_resumed, words in ((False, "measured"), (True, "there already"), (False, "measured")):
            self.assertRegex(self.run_all(is_quick=False, has_resumed=has_resumed)[1], f"demo +{words}")

    def test_every_benchmark_that_the_driver_knows_is_in_all(self):
        self.assertEqual({part.benchmark for part in campaign.PARTS}, {*run.PROGRAMS, *run.COMPARISONS})


class Options(unittest.TestCase):
    def complaint(self, *words):
        return run.complaint(run.parse(words))

    def test_options_of_one_benchmark_are_refused_for_all_and_the_other_way_round(self):
        self.assertIn("--results", self.complaint("all", "--json", "x.json"))
        self.assertIn("all only", self.complaint("post", "--resume"))
        self.assertIn("all only", self.complaint("post", "--slice", "30"))
        self.assertEqual(self.complaint("all", "--resume"), "")

    def test_what_a_benchmark_does_not_know_is_refused(self):
        for words in (("trace", "--setting", "delayed"), ("post", "--setting", "crowded"), ("multigrid", "--setting", "delayed"),
                      ("offload", "--setting", "link"), ("fft", "--setting", "rendezvous")):
            self.assertIn(f"--setting {words[-1]}: {words[0]} has", self.complaint(*words))
        for option in ("case", "plots"):
            self.assertIn(f"--{option}: ", self.complaint("post", f"--{option}", "x"))
        self.assertEqual(self.complaint("post", "--simulate"), "--simulate: lanes only")
        self.assertEqual(self.complaint("post", "--mpi", "intel"), "--mpi: lanes and dslash and multigrid and fft only")
        self.assertEqual(self.complaint("multigrid", "--mpi", "mpich5"), "")
        self.assertIn("no MPI", self.complaint("lanes", "--simulate", "--mpi", "intel"))

    def test_every_part_of_all_is_one_that_can_be_asked_for(self):
        for part in campaign.PARTS:
            self.assertEqual(self.complaint(*part.words), "", part)
        self.assertEqual({part.name for part in campaign.PARTS if part.setting and not part.mpi} - {f"{name}-{one}" for name in run.SETTINGS for one in run.SETTINGS[name]},
                         set())

    def test_a_file_for_one_benchmark_may_be_named(self):
        self.assertEqual(self.complaint("post", "--json", "x.json"), "")


class Page(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name, *rows, **facts):
        document = {"benchmark": name, "setting": "here", "machine": {"cpu": "a cpu", "cores": 2}, "results": list(rows), **facts}
        (self.folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")

    def row(self, name, **rest):
        return {"name": name, "unit": "ns", "median": 2, "p10": 1, "p90": 3, "p99": 4, **rest}

    def test_a_goal_that_is_missed_stands_at_the_top_and_in_the_table(self):
        self.write("post", self.row("a|b", goal="ratio >= 0.9", met=False, ratio=0.5, ratio_to="c", ratio_p10=0.4, ratio_p90=0.6),
                   self.row("c"), measured="2026-01-02")
        text, _ = performance_page.render(self.folder, "figures")
        self.assertIn("Of 1 goals 0 are met", text)
        self.assertIn("[post, here](#post-here), 1 of 1: a|b (0.5, goal: ratio >= 0.9)", text)
        self.assertIn(r"| a\|b | 2 ns | [1..3] | 0.5 | [0.4..0.6] | c | ratio >= 0.9 | **missed**, limit not known yet |", text)
        self.assertIn("a cpu, 2 cores; measured 2026-01-02; `scripts/bench post`", text)
        self.assertIn("SC'15", text)

    def test_every_part_of_a_goal_says_what_was_reached(self):
        self.write("post", self.row("a", goal="ratio >= 1 and median <= 60", met=False, median=79.4, ratio=6.9))
        self.assertIn("a (ratio 6.9, median 79.4, goal: ratio >= 1 and median <= 60)", performance_page.render(self.folder, "figures")[0])

    def test_of_many_missed_goals_five_are_named_at_the_top(self):
        self.write("post", *(self.row(f"r{k}", goal="median <= 1", met=False) for k in range(70)))
        text, _ = performance_page.render(self.folder, "figures")
        self.assertIn("70 of 70: r0 (2, goal: median <= 1); r1", text)
        self.assertIn("r4 (2, goal: median <= 1); and 65 more\n", text)

    def test_a_missed_goal_has_its_limit_behind_it_or_is_listed_as_not_known(self):
        known = [limits.Limit("post", "slow .*", "It is uphill.", "hills.md#up")]
        self.write("post", self.row("slow a", goal="median <= 1", met=False), self.row("b", goal="median <= 1", met=False),
                   self.row("slow c", goal="median <= 3", met=True))
        with mock.patch.object(limits, "stored", return_value=known):
            text, _ = performance_page.render(self.folder, "figures")
        self.assertRegex(text, r"\| slow a \|.*\| \*\*missed\*\* \(1\) \|")
        self.assertIn("- (1) It is uphill. [hills](hills.md#up)", text)
        self.assertRegex(text, r"\| b \|.*\| \*\*missed\*\*, limit not known yet \|")
        self.assertIn("limit not known yet:\n\n- [post, here](#post-here): b\n", text)

    def test_a_limit_of_a_goal_that_is_gone_is_found(self):
        known = [limits.Limit("post", "a", "", ""), limits.Limit("post", "b", "", ""), limits.Limit("rate", "b", "", "")]
        self.write("post", self.row("a", goal="median <= 3", met=True), self.row("b"))
        documents = {"post": bench_results.read([self.folder / "post.json"]).documents}
        self.assertEqual(limits.without_a_goal(known, documents), [known[1]])

    def test_every_page_that_a_limit_names_has_that_heading(self):
        docs = performance.ROOT / "docs"
        for one in limits.stored():
            file, _, heading = one.page.partition("#")
            headings = [line.lstrip("#").strip().lower() for line in (docs / file).read_text(encoding="utf-8").splitlines() if line.startswith("#")]
            self.assertIn(heading, [re.sub(r"[^a-z0-9 _-]", "", text).replace(" ", "-") for text in headings], one)

    def test_results_of_other_sources_than_most_are_named_at_the_top(self):
        for name, commit in (("post", "abc"), ("rate", "abc"), ("tbb", "old"), ("hold", "")):
            self.write(name, self.row("c"), measured="2026-01-02", commit=commit)
        self.assertIn("Of other sources than most (abc), so not to be compared with the rest: hold (2026-01-02), tbb (2026-01-02 old).",
                      performance_page.render(self.folder, "figures")[0])

    def test_no_line_and_no_bar_is_left_out_of_the_pictures(self):
        rows = [self.row(f"{what}{k} of {n} B, {side}") for what in ("put", "get") for k in range(10) for n in (8, 64) for side in ("a", "b")]
        rows += [self.row(f"bar {k}") for k in range(50)]
        self.write("rma", *rows)
        _, pictures = performance_page.render(self.folder, "figures")
        self.assertEqual(sorted(pictures), ["performance-rma-here-2.png", "performance-rma-here-3.png", "performance-rma-here.png"])
        plots = [plot for one in pictures.values() for plot in one]
        self.assertEqual(sum(plot["kind"] == "lines" for plot in plots), 20)
        self.assertEqual(sum(len(plot["names"]) for plot in plots if plot["kind"] == "bars"), 50)

    def test_a_part_without_a_result_says_so_at_the_top_and_at_its_place(self):
        self.write("post", self.row("c"))
        text, _ = performance_page.render(self.folder, "figures")
        without = next(line for line in text.splitlines() if line.startswith("Without a result: "))
        self.assertIn("dslash-link", without)
        self.assertNotIn("post", without)
        self.assertIn("*dslash, link: no result is stored. Either it was not measured yet, or it could not run; `scripts/bench dslash "
                      "--setting link` says which.*", text)

    def test_a_folder_of_another_machine_has_its_own_words_and_limits_and_none_on_what_it_lacks(self):
        self.write("post", self.row("post 8 B", goal="ratio <= 0.25", met=False, ratio=0.8))
        (self.folder / performance_page.ABOUT).write_text("# Of a machine\n\nIts own words.\n", encoding="utf-8")
        limit = {"part": "post", "rows": "post 8 B", "page": "benchmarks.md", "limit": "This machine's reason."}
        (self.folder / limits.FILE).write_text(json.dumps([limit]), encoding="utf-8")
        text, _ = performance_page.render(self.folder, "figures")
        self.assertTrue(text.startswith("# Of a machine\n\nIts own words.\n"))
        self.assertIn("- (1) This machine's reason.", text)
        self.assertNotIn("Without a result", text)
        self.assertNotIn("dslash", text)

    def test_results_of_the_same_question_are_told_apart_by_their_mpi(self):
        for part in campaign.PARTS:
            if part.benchmark == "lanes":
                report = miniapp.with_mpi(figures.Report("lanes", "one rank", {}), part.mpi)
                document = {**report.to_json(), "results": [self.row("a"), self.row("b")]}
                (self.folder / f"{part.name}.json").write_text(json.dumps([document]), encoding="utf-8")
        text, pictures = performance_page.render(self.folder, "figures")
        for setting, words in (("one rank", "lanes"), ("one rank, mpich5", "lanes --mpi mpich5"), ("one rank, intel", "lanes --mpi intel")):
            self.assertIn(f"\n### lanes, {setting}\n", text)
            self.assertIn(f"`scripts/bench {words}`.*", text)
        self.assertEqual(len(pictures), 3)

    def test_a_result_says_of_which_sources_it_is_and_how_long_it_took(self):
        self.write("post", self.row("c"), measured="2026-01-02", commit="abc", seconds=125)
        self.assertIn("measured 2026-01-02 at abc, in 2 min; `scripts/bench post`", performance_page.render(self.folder, "figures")[0])

    def test_a_long_result_shows_its_goals_and_says_how_many_rows_it_has_more(self):
        self.write("rate", *(self.row(f"r{k}") for k in range(40)), self.row("goal", goal="median <= 3", met=True))
        text, _ = performance_page.render(self.folder, "figures")
        self.assertIn("40 more rows", text)
        self.assertIn("| goal | 2 ns |", text)

    def test_a_page_or_a_picture_of_other_results_is_found(self):
        self.write("yardstick", self.row("a"), self.row("b"))
        page, figures = self.folder / "page.md", self.folder / "figures"
        given = performance.parse(["--results", str(self.folder), "--page", str(page), "--figures", str(figures)])
        text, pictures = performance_page.render(self.folder, "figures")
        page.write_text(text, encoding="utf-8")
        self.assertEqual(len(performance.check(given, text, pictures)), len(pictures))
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib (Debian: python3-matplotlib); no picture was drawn")
        figures.mkdir()
        for name, plots in pictures.items():
            performance_plot.draw(plots, figures / name)
        self.assertEqual(performance.check(given, text, pictures), [])
        self.write("yardstick", self.row("a"), self.row("b", median=7))
        self.assertEqual(len(performance.check(given, *performance_page.render(self.folder, "figures"))), 2)


class Demo(unittest.TestCase):
    def test_readmes_picture_is_of_the_stored_run_where_there_is_one(self):
        with tempfile.TemporaryDirectory() as name:
            given = performance.parse(["--results", name, "--figures", name, "--page", f"{name}/p.md"])
            self.assertEqual(performance.check_demo(given), [])
            run_of_it = {"exposed": [1, 2]}
            (Path(name) / "demo.json").write_text(json.dumps(run_of_it), encoding="utf-8")
            self.assertEqual(performance.check_demo(given), ["overlap.png is missing, or not drawn from demo.json"])
            said = b"Description\0" + performance_plot.digest(run_of_it).encode()
            (Path(name) / "overlap.png").write_bytes(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4s", len(said), b"tEXt") + said + bytes(4))
            self.assertEqual(performance.check_demo(given), [])


class Tables(unittest.TestCase):
    @staticmethod
    def write_speeds(results, page):
        """Those of 16 cores, and a place for them in the page."""
        rows = [{"name": f"{mode} 8.8.8.16 double", "unit": "ms", "median": 1, "ratio": 2, "ratio_to": "baseline 8.8.8.16 double"}
                for mode in ("offload", "omp", "tbb")]
        (results / "16-cores").mkdir()
        document = {"benchmark": "dslash", "setting": "crowded", "results": rows}
        (results / "16-cores" / "dslash-crowded.json").write_text(json.dumps(document), encoding="utf-8")
        place = "<!-- speeds: written by bench/performance.py -->?<!-- end of the speeds -->"
        page.write_text(f"{page.read_text(encoding='utf-8')}so {place}.\n", encoding="utf-8")

    ROW = {"name": "a", "unit": "us", "median": 79.4, "p99": 99.0, "ratio": 0.4, "ratio_to": "b", "goal": "ratio >= 0.5 and median <= 60", "met": False}

    def figure(self, of, *others, **changes):
        row = {**self.ROW, **changes}
        return published.figure(bench_results.Document({"results": [row, *others]}), row, of)

    def test_a_figure_has_the_units_goal_and_verdict_that_its_result_has(self):
        self.assertEqual(self.figure("median"), (79.4, "µs", "<=", 60, False))
        self.assertEqual(self.figure("median", median=50)[-1], True)  # of two goals that of the figure
        self.assertEqual(self.figure("inverse"), (2.5, "×", "<=", 2, False))
        self.assertEqual(self.figure("ratio", goal="ratio >= 0.5", met=False), (0.4, "×", ">=", 0.5, False))
        self.assertEqual(self.figure("difference", goal="difference <= 20", difference=18.1, met=True), (18.1, "µs", "<=", 20, True))

    def test_a_goal_that_is_a_multiple_of_another_row_becomes_a_time(self):
        other = {"name": "b", "unit": "us", "median": 200}
        self.assertEqual(self.figure("median", other, goal="ratio <= 0.25", met=False), (79.4, "µs", "<=", 50, False))

    def test_a_figure_without_a_goal_or_in_another_unit_is_refused(self):
        for of, changes in (("median", {"goal": None}), ("p99", {}), ("median", {"unit": "%"}), ("ratio", {"ratio": None})):
            with self.assertRaises(published.Wrong):
                self.figure(of, **changes)

    def test_a_table_says_what_is_not_measured_and_what_is_of_other_sources(self):
        lines = (published_lines.Line("An a", "post", "a"), published_lines.Line("A z", "rate", "z"))
        documents = {"post": [bench_results.Document({"results": [{**self.ROW, "goal": "ratio >= 0.3", "met": True}]})]}
        text = published.table(lines, documents, {"post": "2026-01-02"}, "That is all.")
        self.assertIn("| An a | 0.4 × | ≥ 0.3 × | met, of 2026-01-02 |", text)
        self.assertIn("| A z | not measured | | |", text)
        documents["post"].append(bench_results.Document({"setting": "anew", "results": documents["post"][0].rows}))
        dates = {"post": "2026-01-02", ("post", "anew"): "2026-01-03"}
        text = published.table(tuple(published_lines.Line("An a", "post", "a", setting=setting) for setting in ("", "anew")), documents, dates, "")
        self.assertEqual([line.rpartition(", of ")[2] for line in text.splitlines()[2:4]], ["2026-01-02 |", "2026-01-03 |"])
        for dates in ({}, {"post": "2026-01-02"}):
            with self.assertRaisesRegex(published.Wrong, "no row 'q'"):
                published.table((published_lines.Line("Q", "post", "q"),), documents, dates, "")

    def test_a_goal_that_is_missed_by_little_does_not_look_met(self):
        for ratio, said in ((1.1004, "1.1004 × | ≤ 1.1 ×"), (1.104, "1.104 × | ≤ 1.1 ×"), (1.11, "1.11 × | ≤ 1.1 ×"), (1.1, "1.1 × | ≤ 1.1 ×")):
            documents = {"post": [bench_results.Document({"results": [{**self.ROW, "ratio": ratio, "goal": "ratio <= 1.1"}]})]}
            self.assertIn(f"| {said} |", published.table((published_lines.Line("A", "post", "a"),), documents, {}, ""))

    def test_a_sentence_has_the_slowest_and_the_fastest_of_each_mode_beside_the_baseline(self):
        rows = [{"name": name, "ratio": ratio, "ratio_to": to} for name, ratio, to in (
            ("baseline 1.1 double", None, None), ("offload 1.1 double", 0.826, "baseline 1.1 double"), ("omp 1.1 double", 1.5, "baseline 1.1 double"),
            ("omp 2.2 single", 1.25, "baseline 2.2 single"), ("omp, held 1.1 double", 9, "omp 1.1 double"), ("tbb 1.1 double", 8, "omp 1.1 double"),
            ("tbb 1.1 double, beside baseline", 2, "baseline 1.1 double"))]
        begin, end = "<!-- speeds: written by bench/performance.py -->", "<!-- end of the speeds -->"
        text = published.with_speeds(f"so {begin}old\nwords{end}.", bench_results.Document({"results": [{"unit": "ms", "median": 1, **row} for row in rows]}))
        self.assertEqual(text, f"so {begin}`omp` has 1.25 to 1.50 times the speed of `baseline`, `tbb` 2.00 to 2.00 times, and `offload` 0.83 to 0.83 "
                               f"times{end}.")

    def test_readmes_table_is_found_to_be_old_when_a_result_changes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "docs").mkdir()
            results = folder / "results"
            results.mkdir()
            for page in published_lines.PAGES:
                (folder / page).write_text(f"above\n{published.BEGIN}\n{published.END}\nbelow\n", encoding="utf-8")
            row = {"name": "post 8 B", "unit": "ns", "median": 28.0, "ratio_to": "p", "ratio": 0.3, "goal": "ratio <= 0.25", "met": False}

            def store(median):
                rows = [{**row, "median": median}, {"name": "p", "unit": "ns", "median": 80}]
                (results / "post.json").write_text(json.dumps({"benchmark": "post", "setting": "here", "results": rows}), encoding="utf-8")

            store(28.0)
            texts, wrong = performance.tables(results, folder)
            self.assertEqual(wrong, [])
            for page, text in texts.items():
                page.write_text(text, encoding="utf-8")
            self.assertIn("| 28 ns | ≤ 20 ns | **missed** |", (folder / "README.md").read_text(encoding="utf-8"))
            given = performance.parse(["--results", str(results), "--page", str(folder / "p.md"), "--figures", name, "--tables", name])
            table_is_old = "the table of README.md is not what the results say"
            self.assertNotIn(table_is_old, performance.check(given, "", {}))
            self.write_speeds(results, folder / "README.md")
            self.assertIn(table_is_old, performance.check(given, "", {}))
            (folder / "README.md").write_text(performance.tables(results, folder)[0][folder / "README.md"], encoding="utf-8")
            self.assertNotIn(table_is_old, performance.check(given, "", {}))
            page = folder / "docs" / "lanes.md"
            self.assertIn("two ranks, MPICH 5, 16 cores: messages of 8 B a second by eight threads, one lane over MPI alone. | not measured".lower(),
                          page.read_text(encoding="utf-8").lower())
            rows = [{"name": f"1 lane, 8 threads, {n} B, SERIALIZED", "unit": "M/s", "median": 2, "ratio_to": "p", "ratio": 0.14, "goal": "ratio >= 1",
                     "met": False} for n in (8, 4096)]
            (results / "16-cores" / "lanes-mpich5.json").write_text(json.dumps([
                {"benchmark": "lanes", "setting": f"{ranks}, many threads, mpich5", "measured": "2026-01-02", "results": rows}
                for ranks in ("one rank", "two ranks")]), encoding="utf-8")
            self.assertIn("the table of lanes.md is not what the results say", performance.check(given, "", {}))
            self.assertIn("| 0.14 × | ≥ 1 × | **missed**, of 2026-01-02 |", performance.tables(results, folder)[0][page])
            store(75.0)
            self.assertIn(table_is_old, performance.check(given, "", {}))
            (folder / "README.md").write_text("nothing\n", encoding="utf-8")
            self.assertRegex("\n".join(performance.check(given, "", {})), "README.md has no lines")


if __name__ == "__main__":
    unittest.main()
