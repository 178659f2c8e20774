# SPDX-License-Identifier: Apache-2.0
# Puts the page together: one file with everything in it, which can be sent by mail and opened years later. Nothing is loaded
# from anywhere.
"""One HTML file of a run."""

import pathlib

import page_data
import page_tables
from page_tables import escape

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ("data", "layout", "dense", "draw", "timeline", "search", "main")

TIMELINE = """<section id="timeline">
<h2>Timeline</h2>
<div class="tools">
<input type="search" id="search" placeholder="recv peer 1 tag 7, or a number: 1.22" aria-label="Search tasks" title="Enter: the next one" autocomplete="off">
<span id="found"></span>
<button id="all">Whole run</button>
<label><input type="checkbox" id="path"> critical path</label>
</div>
<div class="legends"></div>
<div class="timeline"><div class="spacer"></div><canvas></canvas></div>
<p class="soft">Wheel: zoom. Drag: move. Click on a rank: fold it. Click on a task: hold it, its message, and what it depends on or lets go on. Messages are drawn once fewer than 600 begin in view.</p>
</section>"""


def _read(name):
    return (HERE / name).read_text(encoding="utf-8")


def render(summary, version):
    """The page's text, of a trace."""
    head, columns = page_data.collect(summary)
    index = {id(task): k for k, task in enumerate(sorted(summary.run.tasks(), key=lambda task: task.posted))}
    body = [page_tables.header(summary), "<main>", page_tables.findings(summary), TIMELINE,
            page_tables.analyses(summary, index), "</main>"]
    blocks = [f'<script type="application/json" id="head">{page_data.to_json(head)}</script>',
              f'<script type="text/plain" id="columns">{columns}</script>']
    scripts = blocks + [f"<script>const COLOURS = {page_data.to_json(page_tables.COLOURS)};</script>"] + [f"<script>{_read(f'page/{name}.js')}</script>" for name in SCRIPTS]
    values = {"TITLE": escape(page_tables.title(summary)), "STYLE": _read("page/page.css"), "BODY": "\n".join(body), "VERSION": escape(version),
              "SCRIPTS": "\n".join(scripts)}
    parts = _read("page/page.html").split("@")
    # Names stand at the odd places; what they stand for may contain the mark itself.
    return "".join(values[part] if k % 2 else part for k, part in enumerate(parts))
