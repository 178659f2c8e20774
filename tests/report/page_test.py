#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# The page as a person meets it, in a real browser without a network: it draws, says nothing to the console, asks for nothing
# from outside; wheel, drag, hover, click, search and folding do what they promise, and a million spans do not make it
# stutter. Without a Chromium the other tests run, and the exit status is 77: this was not tested here.
"""Usage: page_test.py COMMTASK_REPORT   (REPORT_PICTURES=FOLDER keeps pictures)"""
import html.parser
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
#: A folder for pictures of what the tests saw, for people.
PICTURES = os.environ.get("REPORT_PICTURES")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import browser  # noqa: E402
from trace_writer import ENDED, IN_FLIGHT, READY, WAITING, TraceWriter, halo_run  # noqa: E402


def make_page(folder, *inputs):
    page = pathlib.Path(folder) / "page.html"
    done = subprocess.run([sys.executable, PROGRAM, "--html", str(page), *map(str, inputs)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return page


class Links(html.parser.HTMLParser):
    """All that a page would load from somewhere."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("src", "href") and value]


class OneFile(unittest.TestCase):
    def test_the_page_names_nothing_to_load(self):
        with tempfile.TemporaryDirectory() as folder:
            links = Links()
            links.feed(make_page(folder, halo_run(f"{folder}/trace")).read_text(encoding="utf-8"))
        self.assertEqual(links.found, [])

    def test_names_from_the_trace_cannot_end_a_script_or_become_markup(self):
        with tempfile.TemporaryDirectory() as folder:
            out = TraceWriter(0, 1, program="</script><b>@TITLE@")
            out.thread(1, "</script><img src=x>")
            out.communicator(1, "<i>comm", "0")
            out.compute(1, 0, 1000, "</script><img src=y>")
            out.wait(1, 2000, 3000, out.post(1, 1500, "recv", 0, 0))
            text = make_page(folder, out.write(f"{folder}/trace")).read_text(encoding="utf-8")
        for bad in ("<img", "<i>comm", "<b>@"):
            self.assertNotIn(bad, text)


@unittest.skipUnless(browser.find(), "no Chromium in PATH (Debian: chromium-headless-shell); the page was not opened")
class InTheBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.page = make_page(cls.holder.name, halo_run(f"{cls.holder.name}/trace", late="send"))
        cls.window = browser.Browser().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.window.__exit__(None, None, None)
        cls.holder.cleanup()

    def setUp(self):
        self.window.be_patient()
        self.window.complaints.clear()
        self.window.requests.clear()
        self.open(self.page)

    def tearDown(self):
        self.assertEqual(self.window.complaints, [])
        self.assertEqual([url for url in self.window.requests if not url.startswith(("file:", "data:", "blob:"))], [])

    def open(self, page):
        self.window.load(page)
        self.window.until("document.body.dataset.ready === 'yes'")
        self.window.run("document.getElementById('timeline').scrollIntoView()")
        self.window.frame()
        self.box = self.window.run("(({x, y, width, height}) => ({x, y, width, height}))"
                                   "(document.querySelector('.timeline canvas').getBoundingClientRect())")

    def picture(self, name):
        if PICTURES:
            self.window.picture(pathlib.Path(PICTURES) / f"{name}.png")

    def in_view(self):
        self.window.frame()
        begin, end = self.window.run("commtask.timeline.range()")
        return begin, end

    def middle(self):
        return self.box["x"] + 140 + (self.box["width"] - 140) / 2, self.box["y"] + 60

    def where(self, kind, label):
        """A point on the middle of the first span of a kind in the rows that begin with this label."""
        return self.window.run(f"""(() => {{
            const t = commtask.timeline, rect = t.canvas.getBoundingClientRect();
            const row = t.layout.rows.find(r => r.label.startsWith({json.dumps(label)}) && r.kinds.some(k => k.name === {json.dumps(kind)}));
            const spans = row.kinds.find(k => k.name === {json.dumps(kind)}), [from, to] = t.range();
            const x = GUTTER + ((spans.begin[0] + spans.end[0]) / 2 - from) / (to - from) * (t.width - GUTTER);
            return [rect.left + x, rect.top + AXIS + row.top + row.height / 2 - t.box.scrollTop];
        }})()""")

    def tip(self):
        return self.window.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText")

    def test_it_draws_the_colours_of_computing_and_of_messages(self):
        drawn = self.window.run("""(() => {
            const c = commtask.timeline.canvas, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = {};
            for (let k = 0; k < d.length; k += 4) {
                const colour = '#' + [d[k], d[k + 1], d[k + 2]].map(v => v.toString(16).padStart(2, '0')).join('');
                seen[colour] = (seen[colour] || 0) + 1;
            }
            return [seen[COLOURS.compute] || 0, seen[COLOURS['in flight']] || 0];
        })()""")
        self.picture("whole")
        self.assertGreater(min(drawn), 200)

    def test_the_wheel_zooms_to_what_is_under_the_pointer_and_a_drag_moves(self):
        x, y = self.middle()
        begin, end = self.in_view()
        share = (x - self.box["x"] - 132) / (self.box["width"] - 132)
        under = begin + share * (end - begin)
        for _ in range(5):
            self.window.wheel(x, y, 300)
        nearer = self.in_view()
        self.picture("zoomed")
        self.assertLess(nearer[1] - nearer[0], (end - begin) / 3)
        self.assertAlmostEqual((nearer[0] + share * (nearer[1] - nearer[0])) / under, 1, delta=0.01)
        self.window.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.window.mouse("mouseMoved", x - 200, y, button="left", buttons=1)
        self.window.mouse("mouseReleased", x - 200, y, button="left", clickCount=1)
        moved = self.in_view()
        self.assertGreater(moved[0], nearer[0])
        self.assertAlmostEqual((moved[1] - moved[0]) / (nearer[1] - nearer[0]), 1, delta=0.001)
        self.window.run("document.getElementById('all').click()")
        self.assertEqual(self.in_view(), (begin, end))

    def test_hovering_over_a_message_tells_its_life_and_over_computing_its_name(self):
        self.window.mouse("mouseMoved", *self.where("in flight", "tasks"))
        self.window.frame()
        text = self.tip()
        self.picture("hover")
        for words in ("recv <- 1 tag 0", "in flight", "number 1.", "other side: rank 1", "late sender"):
            self.assertIn(words, text)
        self.window.mouse("mouseMoved", *self.where("compute", "main"))
        self.window.frame()
        self.assertIn("compute: pack", self.tip())

    def test_the_picture_of_the_documentation_has_the_life_of_the_message_that_cost_most(self):
        browser.show_the_dearest(self.window, self.page)
        self.picture("dearest")
        named = self.window.run("document.querySelector('#delays [data-task]').cells[4].textContent").split(",")[0]
        for words in (named, "in flight", "a thread idled"):
            self.assertIn(words, self.tip())
        self.assertAlmostEqual(self.window.run("document.getElementById('findings').getBoundingClientRect().top"), 0, delta=1)

    def test_search_marks_what_it_finds_and_steps_through_it(self):
        self.window.run("document.getElementById('search').focus()")
        self.window.type("recv rank 0 tag 3")
        self.assertEqual(self.window.run("document.getElementById('found').textContent"), "3 found")
        begin, end = self.in_view()
        self.window.press("Enter")
        self.assertEqual(self.window.run("document.getElementById('found').textContent"), "1 of 3")
        near = self.in_view()
        self.picture("found")
        self.assertLess(near[1] - near[0], (end - begin) / 4)
        chosen = "(t => [t.data.tasks.tag[t.selected], t.data.tasks.rank[t.selected], t.data.words[t.data.tasks.number[t.selected]]])"
        tag, rank, number = self.window.run(f"{chosen}(commtask.timeline)")
        self.assertEqual((tag, rank), (3, 0))
        self.window.run(f"Object.assign(document.getElementById('search'), {{value: {json.dumps(number)}}})"
                        ".dispatchEvent(new Event('input'))")
        self.assertEqual(self.window.run("document.getElementById('found').textContent"), "2 found")  # one on each rank
        self.window.run("Object.assign(document.getElementById('search'), {value: 'nonsense'}).dispatchEvent(new Event('input'))")
        self.assertEqual(self.window.run("document.getElementById('found').textContent"), "0 found")

    def found_by(self, words):
        self.window.run(f"Object.assign(document.getElementById('search'), {{value: {json.dumps(words)}}}).dispatchEvent(new Event('input'))")
        return self.window.run("document.getElementById('found').textContent")

    def test_a_task_is_found_by_the_words_that_the_tables_name_it_by(self):
        named = self.window.run("document.querySelector('#delays [data-task]').cells[4].textContent")
        self.assertRegex(named, r"^recv <- 1 tag \d, 65536 B$")
        self.assertIn(self.found_by(named), ("2 found", "3 found"))  # tags come round every seven hops of twenty
        self.assertEqual(self.found_by(named.replace("65536", "65537")), "0 found")

    def test_a_window_that_changes_its_width_shows_the_same_time(self):
        self.window.wheel(*self.middle(), 300)
        before = self.in_view()
        self.window.run("document.querySelector('.timeline').style.width = '700px'")
        self.window.until("commtask.timeline.width < 720")
        for one, other in zip(before, self.in_view()):
            self.assertAlmostEqual(one / other, 1, delta=1e-6)

    def test_a_held_task_shows_its_message_from_who_sends_to_who_receives(self):
        folder = pathlib.Path(self.holder.name) / "notified"
        for rank, operation in ((0, "put_notify"), (1, "await_notify")):
            out = TraceWriter(rank, 2)
            out.thread(1, "main")
            out.communicator(1, "window", "0-1")
            task = out.post(1, 100, operation, 1 - rank, 7)
            out.moved(1, task, (READY, 110), (IN_FLIGHT, 120), (ENDED, 900))
            out.write(folder)
        (pathlib.Path(self.holder.name) / "held").mkdir()
        self.open(make_page(pathlib.Path(self.holder.name) / "held", folder))
        arrows = self.window.run("""(async () => {
            const t = commtask.timeline, ranks = commtask.data.tasks.rank, seen = [];
            t.painter.flows = () => {};
            t.painter.flow = (send, receive) => seen.push([ranks[send], ranks[receive]]);
            for (const k of [0, 1]) {
                t.showTask(k);
                t.paintNow();
            }
            return seen;
        })()""")
        self.assertEqual(arrows, [[0, 1], [0, 1]])
        self.assertEqual(self.window.run("[0, 1].map(k => taskTitle(commtask.data, k)).sort()"),
                         ["await_notify <- 0 tag 7", "put_notify -> 1 tag 7"])

    def test_a_held_task_shows_and_names_what_it_depends_on_and_what_depends_on_it(self):
        out = TraceWriter(0, 1)
        for thread, name, lane in ((1, "main", -1), (2, "worker 0", 0)):
            out.thread(thread, name, lane)
        out.communicator(1, "MPI_COMM_WORLD", "0")
        tasks = []
        pack = out.compute(1, 0, 90, "pack")
        for k in range(3):
            tasks.append(out.post(1, 100 + k, "send", 0, k))
            out.put(1, 3, 100 + k, tasks[-1], tasks[-2] if k else pack)
            out.moved(2, tasks[-1], (READY, 200 + k * 1000), (IN_FLIGHT, 300 + k * 1000), (ENDED, 1100 + k * 1000))
        out.compute(1, 2200, 4000, "use", after=(tasks[1],))
        folder = pathlib.Path(self.holder.name) / "dependent"
        out.write(folder)
        (pathlib.Path(self.holder.name) / "links").mkdir()
        self.open(make_page(pathlib.Path(self.holder.name) / "links", folder))
        lines = self.window.run("""(() => {
            const t = commtask.timeline, seen = [];
            t.painter.curve = (x0, y0, x1, y1) => seen.push([x0 <= x1, y0 === y1]);
            t.painter.flows = () => {};
            t.select(1);
            t.paintNow();
            return [t.links.map(one => [one.isAfter, one.task, one.time]), seen];
        })()""")
        self.assertEqual(lines[0], [[False, 0, 1100], [True, 2, 2200], [True, -1, 2200]])
        self.assertEqual([forward for forward, _ in lines[1]], [True, True, True])
        said = self.window.run("(links => taskTip(commtask.data, 1, links).map(one => one.textContent).join('|'))(commtask.timeline.links)")
        for words in ("lane 0 · posted by main · issued by worker 0 · ended by worker 0", "predecessors: send -> 0 tag 0, number 1.2|",
                      "successors: send -> 0 tag 2, number 1.4; use"):
            self.assertIn(words, said)
        self.assertIn("predecessors: pack", self.window.run("taskTip(commtask.data, 0, dependencesOf(commtask.data, 0, 9)).map(one => one.textContent).join('|')"))

    def test_a_task_that_never_ended_is_in_flight_until_the_end_of_the_run(self):
        out = TraceWriter(0, 1, state=0)
        out.thread(1, "main")
        out.communicator(1, "MPI_COMM_WORLD", "0")
        hangs, waits = out.post(1, 0, "recv", 0, 7), out.post(1, 5_000, "send", 0, 9)
        out.put(1, 3, 5_000, waits, hangs)
        out.moved(1, hangs, (READY, 10_000), (IN_FLIGHT, 20_000))
        out.moved(1, waits, (WAITING, 12_000))
        out.compute(1, 30_000, 3_020_000, "work")
        folder = pathlib.Path(self.holder.name) / "open"
        self.open(make_page(out.write(folder).parent, folder))
        self.assertEqual(self.window.run("taskLife(commtask.data, 0)"),
                         [["queued", 0, 10_000], ["ready", 10_000, 20_000], ["in flight", 20_000, 3_020_000]])
        said = self.window.run("taskTip(commtask.data, 0, []).map(one => one.textContent).join('|')")
        self.assertIn("whole life3.02 ms", said)
        self.assertIn(" · size unknown · ", said)
        self.assertEqual(self.window.run("(k => [k.begin[0], k.end[0]])(commtask.data.rows.find(row => row.type === 'tasks')"
                                         ".kinds.find(kind => kind.name === 'in flight'))"), [20_000, 3_020_000])
        arrows = self.window.run("""(() => {
            const t = commtask.timeline, seen = [], x = t.painter.x(3_020_000);
            t.painter.curve = (x0, y0, x1, y1) => seen.push([x0 - x, x1 - x]);
            t.painter.flows = () => {};
            for (const k of [0, 1]) {
                t.select(k);
                t.paintNow();
            }
            return seen;
        })()""")
        self.assertEqual(arrows, [[0, 0], [0, 0]])  # to this day the one waits for the other

    def test_a_rank_folds_and_a_row_of_a_table_brings_its_task_up(self):
        height = self.window.run("commtask.timeline.layout.height")
        self.window.click(self.box["x"] + 40, self.box["y"] + 34)
        self.assertLess(self.window.run("commtask.timeline.layout.height"), height)
        begin, end = self.in_view()
        self.window.run("document.querySelector('#delays [data-task]').click()")
        near = self.in_view()
        self.assertLess(near[1] - near[0], (end - begin) / 4)
        self.assertEqual(self.window.run("commtask.timeline.layout.height"), height)

    def test_findings_name_the_dearest_cause_first_and_plots_are_drawn(self):
        self.assertEqual(self.window.run("document.querySelector('.findings li').dataset.cause"), "late sender")
        self.window.run("document.getElementById('depth').scrollIntoView()")
        self.window.frame()
        self.picture("tables")
        self.assertGreaterEqual(self.window.run("document.querySelectorAll('.plot path').length"), 4)

    def test_a_million_spans_cost_what_the_pixels_in_view_cost_at_every_zoom(self):
        # The arrays are made in the page: what is tested is the painting, and Python would take a minute to make them. Calls of the
        # canvas are counted, since other work on the machine makes any time of a picture wrong.
        self.window.be_patient(150)
        self.window.run(f"window.makeLarge = {(HERE / 'large_run.js').read_text(encoding='utf-8')}")
        self.assertEqual(self.window.run("makeLarge(commtask, 1e6, 40)"), 1_000_000)
        for word in ("", "recv"):
            self.window.run(f"Object.assign(document.getElementById('search'), {{value: '{word}'}}).dispatchEvent(new Event('input'))")
            seen = self.window.run("""(async () => {
                const t = commtask.timeline, context = t.painter.context, paints = [], frames = [];
                let n_calls = 0, most = 0;
                for (const name of ["fillRect", "fillText", "measureText", "stroke", "fill", "drawImage"]) {
                    const own = CanvasRenderingContext2D.prototype[name];
                    context[name] = function (...words) { n_calls++; return own.apply(this, words); };
                }
                const frame = () => new Promise(done => requestAnimationFrame(done));
                t.showAll();
                for (let k = 0; k < 36; k++) {
                    const begun = performance.now();
                    if (k % 3 === 2) t.moveBy((t.view[1] - t.view[0]) / 5);
                    else t.zoomBy(k < 27 ? 1 / 1.6 : 1.6);
                    n_calls = 0;
                    await frame();  // paints
                    most = Math.max(most, n_calls);
                    await frame();
                    paints.push(t.lastPaintMs);
                    frames.push(performance.now() - begun);
                }
                for (const name of Object.keys(context)) delete context[name];
                const high = times => Math.round(times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)] * 10) / 10;
                return [most, high(paints), high(frames), t.layout.rows.length];
            })()""")
            self.picture(f"million{word}")
            most, paint_ms, frames_ms, n_rows = seen
            print(f"search '{word}': {n_rows} rows, at most {most} calls a picture; 90 % of the pictures within {paint_ms} ms, two frames {frames_ms} ms")
            self.assertLess(most, 50_000)

    def test_a_picture_of_a_million_spans_reads_what_its_pixels_need_and_never_all_of_them(self):
        # Few rows, so that a loop over the spans would cost thrice what the pixels do.
        self.window.be_patient(150)
        self.window.run(f"window.makeLarge = {(HERE / 'large_run.js').read_text(encoding='utf-8')}")
        self.assertEqual(self.window.run("makeLarge(commtask, 1e6, 0)"), 1_000_000)
        most = self.window.run("""(() => {
            const t = commtask.timeline;
            let n_reads = 0, most = 0;
            const counted = array => new Proxy(array, { get: (of, name) => { n_reads++; return of[name]; } });
            for (const row of t.layout.rows) for (const kind of row.kinds) for (const name of ["begin", "end", "sums", "ref"]) {
                if (!Object.hasOwn(kind, "counted" + name)) kind["counted" + name] = kind[name] = counted(kind[name]);
            }
            for (let k = 0; k < 15; k++) {
                n_reads = 0;
                t.paintNow();
                most = Math.max(most, n_reads);
                t.zoomBy(0.5);
            }
            return most;
        })()""")
        print(f"at most {most} numbers are read for a picture")
        self.assertGreater(most, 10_000)
        self.assertLess(most, 800_000)


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    sys.exit(1 if not outcome.wasSuccessful() else 0 if browser.find() else 77)
