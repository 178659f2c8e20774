# SPDX-License-Identifier: Apache-2.0
# All benchmarks in a row, with a runner of the test's own in their place: what is said of the time that is left, that one part's
# failure stops no other, that a run which was stopped can go on in slices but not with other sources' results, and that the page
# has what was measured, missed goals too, and what was not.
"""python3 -m unittest, from the folder above."""

import contextlib
import io
import json
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools" / "report"))  # whole_file

import campaign  # noqa: E402
import performance  # noqa: E402
import performance_plot  # noqa: E402
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
        with contextlib.redirect_stderr(said), mock.patch.object(campaign, "draw_readme", return_value=0), \
                mock.patch.object(campaign, "sources", return_value=commit):
            status = campaign.run(str(self.folder.parent), is_quick, str(self.folder), has_resumed, slice_s, parts, self.runner)
        return status, said.getvalue()

    def stored(self, name):
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))

    def test_every_part_is_stored_under_its_benchmark_and_setting(self):
        status, _ = self.run_all(campaign.Part("one"), campaign.Part("two", "far"))
        self.assertEqual(status, 0)
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

    def test_the_picture_of_the_readme_is_not_drawn_again_in_the_next_slice(self):
        (self.folder / "figures").mkdir(parents=True)
        (self.folder / "figures" / "overlap.png").touch()
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
        text, _ = performance.render(self.folder, "figures")
        self.assertIn("Of 1 goals 0 are met", text)
        self.assertIn("[post, here](#post-here), 1 of 1: a|b (0.5, goal: ratio >= 0.9)", text)
        self.assertIn(r"| a\|b | 2 ns | [1..3] | 0.5 | [0.4..0.6] | c | ratio >= 0.9 | **missed** |", text)
        self.assertIn("a cpu, 2 cores; measured 2026-01-02; `scripts/bench post`", text)
        self.assertIn("SC'15", text)

    def test_a_part_without_a_result_says_so_at_the_top_and_at_its_place(self):
        self.write("post", self.row("c"))
        text, _ = performance.render(self.folder, "figures")
        without = next(line for line in text.splitlines() if line.startswith("Without a result: "))
        self.assertIn("dslash-link", without)
        self.assertNotIn("post", without)
        self.assertIn("*dslash, link: no result is stored. Either it was not measured yet, or it could not run; `scripts/bench dslash "
                      "--setting link` says which.*", text)

    def test_a_result_says_of_which_sources_it_is_and_how_long_it_took(self):
        self.write("post", self.row("c"), measured="2026-01-02", commit="abc", seconds=125)
        self.assertIn("measured 2026-01-02 at abc, in 2 min; `scripts/bench post`", performance.render(self.folder, "figures")[0])

    def test_a_long_result_shows_its_goals_and_says_how_many_rows_it_has_more(self):
        self.write("rate", *(self.row(f"r{k}") for k in range(40)), self.row("goal", goal="median <= 3", met=True))
        text, _ = performance.render(self.folder, "figures")
        self.assertIn("40 more rows", text)
        self.assertIn("| goal | 2 ns |", text)

    def test_a_page_or_a_picture_of_other_results_is_found(self):
        self.write("post", self.row("a"), self.row("b"))
        page, figures = self.folder / "page.md", self.folder / "figures"
        given = performance.parse(["--results", str(self.folder), "--page", str(page), "--figures", str(figures)])
        text, pictures = performance.render(self.folder, "figures")
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
        self.write("post", self.row("a"), self.row("b", median=7))
        self.assertEqual(len(performance.check(given, *performance.render(self.folder, "figures"))), 2)


if __name__ == "__main__":
    unittest.main()
