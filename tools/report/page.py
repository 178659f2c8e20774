# SPDX-License-Identifier: Apache-2.0
# Puts the page together: one file with everything in it, which can be sent by mail and opened years later. The libraries are
# those of vendor/, whose versions and licences versions.json pins; nothing is loaded from anywhere.
"""One HTML file of a run."""

import html
import json
import pathlib

import page_data
import page_tables
from page_tables import escape

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ("data", "layout", "dense", "draw", "timeline", "search", "plots", "main")

TIMELINE = """<section id="timeline">
<h2>Timeline</h2>
<div class="tools">
<input type="search" id="search" placeholder="recv peer 1 tag 7, or a number: 1.22" aria-label="Search tasks" autocomplete="off">
<button id="previous" title="Shift+Enter">Previous</button><button id="next" title="Enter">Next</button><span id="found"></span>
<button id="all" title="0, or a double click">Whole run</button>
<label><input type="checkbox" id="flows" checked> messages</label>
<label><input type="checkbox" id="path"> critical path</label>
</div>
<div class="legends"></div>
<div class="timeline"><div class="spacer"></div><canvas tabindex="0"></canvas></div>
<p class="soft">Wheel: zoom. Drag: move. Click on a rank: fold it. Click on a task: hold it, its message, and what it depends on or lets go on. With the timeline in focus also
w, s, a, d or the arrows. Messages are drawn once fewer than 600 begin in view.</p>
</section>"""


def _read(name):
    return (HERE / name).read_text(encoding="utf-8")


def _libraries():
    return json.loads(_read("vendor/versions.json"))


def _scripts(blocks):
    vendored = [_read(f"vendor/{file}") for one in _libraries() for file in one["files"] if file.endswith(".js")]
    own = [_read(f"page/{name}.js") for name in SCRIPTS]
    return "\n".join(blocks + [f"<script>{code.replace('</script', '<' + chr(92) + '/script')}</script>" for code in vendored + own])


def render(summary, version):
    """The page's text, of a trace."""
    head, columns = page_data.collect(summary)
    index = {id(task): k for k, task in enumerate(sorted(summary.run.tasks(), key=lambda task: task.posted))}
    body = [page_tables.header(summary), "<main>", page_tables.findings(summary), TIMELINE,
            page_tables.analyses(summary, index), "</main>"]
    blocks = [f'<script type="application/json" id="head">{page_data.to_json(head)}</script>',
              f'<script type="text/plain" id="columns">{columns}</script>']
    libraries = _libraries()
    styles = [_read(f"vendor/{file}") for one in libraries for file in one["files"] if file.endswith(".css")]
    licences = "\n\n".join(f"{', '.join(one['package'] for one in libraries if one['license_file'] == file)}:\n\n" + _read(f"vendor/{file}")
                           for file in sorted({one["license_file"] for one in libraries}))
    values = {
        "TITLE": escape(page_tables.title(summary)), "STYLE": "\n".join([*styles, _read("page/page.css")]), "BODY": "\n".join(body),
        "VERSION": escape(version), "LICENCES": html.escape(licences), "SCRIPTS": _scripts(blocks),
        "LIBRARIES": escape(", ".join(f"{one['package']} {one['version']} ({one['license']})" for one in libraries)),
    }
    parts = _read("page/page.html").split("@")
    # Names stand at the odd places; what they stand for may contain the mark itself.
    return "".join(values[part] if k % 2 else part for k, part in enumerate(parts))
