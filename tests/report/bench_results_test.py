#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Which rows of a result become lines, bars and breakdowns: by names as the benchmarks write them, and by the stored results of
# bench/results, none of whose rows may be lost on the way to the page.
"""Usage: bench_results_test.py SOURCE_FOLDER"""
import json
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "tools" / "report"))

import bench_results  # noqa: E402
import page_bench  # noqa: E402


def row(name, unit="us", median=1.0, **rest):
    return {"name": name, "unit": unit, "median": median, "p10": median, "p90": median, **rest}


def document(*rows):
    return bench_results.Document({"benchmark": "made up", "setting": "here", "machine": {"cores": 2}, "results": list(rows)})


class Sorting(unittest.TestCase):
    def test_sizes_are_an_axis_and_sides_are_lines(self):
        lines, = document(row("wait of 8 B, native"), row("wait of 64 B, native"), row("wait of 8 B, commtask-run", median=3)).lines
        self.assertEqual((lines.title, lines.axis_unit, lines.is_log), ("wait", "B", True))
        self.assertEqual({side: sorted(one) for side, one in lines.series.items()}, {"native": [8, 64], "commtask-run": [8]})

    def test_units_that_differ_are_plots_that_differ(self):
        self.assertEqual(len(document(row("x of 8 B, a"), row("x of 9 B, a"), row("x of 8 B, a", "%"), row("x of 9 B, a", "%")).lines), 2)

    def test_an_axis_with_one_value_is_bars(self):
        made = document(row("SOI serial 2^20"), row("SOI omp 2^20"))
        self.assertEqual((len(made.lines), len(made.bars)), (0, 2))

    def test_modes_on_a_lattice_stand_side_by_side(self):
        made = document(row("baseline 8.8.8.16 double"), row("omp, held 8.8.8.16 double"), row("omp 16.16.16.32 single"))
        self.assertEqual({what: [side for side, _ in sides] for what, sides in made.groups.items()}, {"8.8.8.16 double": ["baseline", "omp, held"]})
        self.assertEqual(len(made.bars), 1)

    def test_sides_of_a_case_stand_side_by_side_whichever_the_name_says_first(self):
        made = document(row("omp, 2 lanes: 1 box"), row("tbb: 1 box"), row("unblock: COMM_TASK"), row("unblock: held task"))
        self.assertEqual({what: [side for side, _ in sides] for what, sides in made.groups.items()},
                         {"1 box": ["omp, 2 lanes", "tbb"], "unblock": ["COMM_TASK", "held task"]})

    def test_sizes_in_larger_units_are_on_the_same_axis(self):
        lines, = document(row("exposed receiver early, 16 KiB, 4 ranks, bell"), row("exposed receiver early, 4 MiB, 4 ranks, bell")).lines
        self.assertEqual((lines.title, sorted(lines.series["bell"])), ("exposed receiver early", [16 << 10, 4 << 20]))

    def test_threads_are_an_axis_for_calls_by_them_and_for_what_they_post_to_lanes(self):
        by_calls, = document(*(row(f"round trip by {n} threads, {side}") for n in (1, 2, 8) for side in ("native", "commtask-run"))).lines
        self.assertEqual((by_calls.title, by_calls.axis, by_calls.is_log), ("round trip", "threads", False))
        self.assertEqual({side: sorted(one) for side, one in by_calls.series.items()}, {"native": [1, 2, 8], "commtask-run": [1, 2, 8]})
        names = ["1 lane, 1 thread, 8 B, SERIALIZED", "1 lane, 8 threads, 8 B, SERIALIZED", "MPI alone, 1 thread, 8 B, MULTIPLE",
                 "MPI alone, 8 threads, 8 B, MULTIPLE", "2 lanes, 2 threads, 8 B, MULTIPLE", "4 lanes, 4 threads, 8 B, MULTIPLE",
                 "2 lanes, 4 threads, 8 B, MULTIPLE", "MPI alone, 1 thread, 2 ranks in the place of each, 8 B, SERIALIZED"]
        of_lanes, = document(*(row(name, "M/s") for name in names)).lines
        self.assertEqual((of_lanes.title, of_lanes.axis, of_lanes.is_log), ("8 B", "threads", False))
        self.assertEqual({side: sorted(one) for side, one in of_lanes.series.items()},
                         {"1 lane, SERIALIZED": [1, 8], "MPI alone, MULTIPLE": [1, 8], "lanes, MULTIPLE": [2, 4], "2 lanes, MULTIPLE": [4],
                          "MPI alone, 2 ranks in the place of each, SERIALIZED": [1]})

    def test_windows_and_questions_are_plots_of_their_own(self):
        made = document(*(row(f"put of {size} B, {window}: {question}, tasks") for size in (8, 64) for window in ("Win_create", "Win_allocate")
                          for question in ("alone", "target computes")))
        self.assertEqual([lines.title for lines in made.lines], ["put Win_create: alone", "put Win_create: target computes",
                                                                 "put Win_allocate: alone", "put Win_allocate: target computes"])
        self.assertEqual({tuple(lines.series) for lines in made.lines}, {("tasks",)})

    def test_an_axis_is_logarithmic_where_all_its_values_are_above_zero_and_no_shares(self):
        self.assertEqual([bench_results.is_log(*one) for one in (("us", [1, 2]), ("us", [0, 2]), ("%", [1, 2]), ("us", []))],
                         [True, False, False, False])

    def test_the_parts_of_a_miniapps_time_add_up(self):
        times = {"produce_us": 3, "consume_us": 4, "post_us": 1, "wait_us": 2, "misc_us": 5, "overlap": 0.5}
        runs = [{**times, "wait_us": wait_us} for wait_us in (0, 2, 9)]  # the fastest first
        one = bench_results.Breakdown({"repeats": runs, "mode": "omp", "n": 64, "ranks": 2}, "a.json")
        self.assertEqual((one.app, one.parts), ("fft_soi", {"compute": 7, "post": 1, "wait": 2, "misc": 5}))

    def test_a_miniapp_that_says_its_name_is_called_by_it(self):
        median = {"internal_us": 3, "post_us": 1, "wait_us": 2, "misc_us": 5}
        one = bench_results.Breakdown({"program": "poisson2d", "points": [40, 30], "median": median, "mode": "omp", "ranks": 2}, "a.json")
        self.assertEqual((one.app, one.label), ("poisson2d", "omp, 40.30, 2 ranks"))

    def test_every_row_of_every_stored_result_is_drawn(self):
        for folder in (SOURCE / "bench" / "results" / "2-cores", SOURCE / "bench" / "results" / "16-cores"):
            files = sorted(folder.glob("*.json"))
            self.assertGreater(len(bench_results.read(files).documents), 10)
            for path in files:
                with self.subTest(path.name):
                    results = bench_results.read([path])
                    for one in results.documents:
                        drawn = len(one.bars) + sum(map(len, one.groups.values()))
                        drawn += sum(len(series) for lines in one.lines for series in lines.series.values())
                        self.assertEqual(drawn, len(one.rows))
                    text = page_bench.render(results, with_header=True)
                    self.assertIn(results.documents[0].rows[0]["name"], text)

    def test_a_paper_is_named_for_its_figures_alone(self):
        for paper in bench_results.papers():
            self.assertTrue(paper.get("rows") or paper.get("figure"), paper["source"])

    def test_what_a_paper_says_stands_beside_ours_with_its_source(self):
        times = {"produce_us": 3, "consume_us": 4, "post_us": 1, "wait_us": 2, "misc_us": 5}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "fft.json"
            path.write_text(json.dumps({"repeats": [times], "mode": "omp", "n": 64, "ranks": 2}))
            text = page_bench.render(bench_results.read([path]), with_header=True)
        self.assertIn("paper, offload", text)
        self.assertIn("SC&#x27;15", text)


if __name__ == "__main__":
    unittest.main()
