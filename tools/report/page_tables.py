# SPDX-License-Identifier: Apache-2.0
# The analyses as tables, bars and plots of the page, made here rather than in the browser: they can be read without scripts,
# and copied out. Rows that name a task carry its number, so that a click brings it up in the timeline.
"""Everything of the page that is not the timeline."""

import html

import tables
import units
from printable import printable

#: Of the timeline, too; the legend has this order.
COLOURS = {
    # What threads do.
    "compute": "#4e79a7", "program": "#a9c3de", "wait": "#f0b64d", "sync": "#e3d5b0", "call": "#c79fcb", "region": "#e8ecf1", "drive": "#9cc5c9",
    # Phases of a task.
    "queued": "#b8b8b8", "predecessor": "#9c755f", "order": "#d37295", "ready": "#edc948", "in flight": "#59a14f", "unblock": "#bcd9b3",
    # States of a worker.
    "issue": "#2f7f79", "poll": "#7fbfb5", "idle": "#dfe9e7", "timed wait": "#c9bfe0", "blocked": "#8d7cb8", "beside others": "#b7c9a8", "callback": "#e0843c",
    "paused": "#5d5470",
}
PATH_COLOURS = {"computing": "#4e79a7", "other": "#b8c4cf", "transfer": "#59a14f", "other side unknown": "#8cbf88"}
DEPTH_BINS = 1000
DEPTH_COLOURS = {"posted, not finished": "#4e79a7", "not yet taken over": "#e15759"}
MOST_DEPTH_PLOTS = 8
MOST_ROWS = 10
LEAST_SHARE = 0.02  #: of the idle time; smaller findings are named in a line


def escape(text):
    return html.escape(printable(str(text)))


def title(summary):
    return f"commtask: {summary.program()}"


def header(summary):
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in summary.notes())
    mpi = {rank.facts.get("mpi") for rank in summary.run.ranks if rank.facts.get("mpi")}
    return (f"<header><h1>{escape(summary.headline())}</h1><p class=\"soft\">{escape('; '.join(sorted(mpi)))}{'; ' if mpi else ''}"
            f"{escape(summary.clocks())}.</p>{notes}</header>")


def findings(summary):
    if not summary.findings:
        return '<section id="findings"><h2>What threads waited for</h2><p>Nothing that this trace shows.</p></section>'
    items = []
    small = []
    for number, finding in enumerate(summary.findings, 1):
        share = finding.ns / summary.idle_ns if summary.idle_ns else 0
        if number > 1 and share < LEAST_SHARE:
            small.append(f"{finding.cause} {units.time(finding.ns)}")
            continue
        worst = max(finding.ranks, key=finding.ranks.get)
        items.append(f'<li data-cause="{escape(finding.cause)}"><span class="time">{units.time(finding.ns)}, {units.share(share)}</span>'
                     f"<b>{number}. {escape(finding.cause)}</b><div class=\"share\"><i style=\"width:{100 * share:.1f}%\"></i></div>"
                     f'<p class="soft">{escape(finding.meaning)}; mostly rank {worst}; first cause of {units.waits(finding.count)}</p>'
                     f"<p>{escape(f'{finding.detail} {summary.advice(finding)}'.strip())}</p></li>")
    of = f" of {units.time(summary.thread_ns)} of thread time" if summary.thread_ns else ""
    return (f'<section id="findings"><h2>What threads waited for: {units.time(summary.idle_ns)}{of}</h2>'
            f'<ol class="findings">{"".join(items)}</ol>' + (f'<p class="soft">Below {units.share(LEAST_SHARE)}: {escape(", ".join(small))}.</p>'
                                                              if small else "") + "</section>")


def table(heading, rows, numeric=()):
    """`rows`: (attributes, cells); cells that are html already are tuples of one."""

    def cell(tag, value, column):
        inner = value[0] if isinstance(value, tuple) else escape(value)
        return f'<{tag}{" class=n" if column in numeric else ""}>{inner}</{tag}>'

    lines = ["<tr>" + "".join(cell("th", name, k) for k, name in enumerate(heading)) + "</tr>"]
    lines += [f"<tr{attributes}>" + "".join(cell("td", value, k) for k, value in enumerate(cells)) + "</tr>" for attributes, cells in rows]
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def stack(parts, colours):
    """A bar cut by shares: [(name, share)]."""
    inner = "".join(f'<i style="width:{100 * share:.2f}%;background:{colours.get(name, "#e15759")}" title="{escape(name)} '
                    f'{units.share(share)}"></i>' for name, share in parts)
    return (f'<div class="stack">{inner}</div>',)


def _delays(summary, index):
    rows = []
    for delay in summary.delays[:MOST_ROWS]:
        went_on = f"thread {delay.unblock.thread}, " + ("its successor" if delay.unblock.what == "compute" else "its wait")
        rows.append((f' data-task="{index[id(delay.task)]}"',
                     (units.time(delay.ns), units.time(delay.idle), delay.task.rank, went_on, delay.task.title(), delay.task.number,
                      delay.cause, delay.where, units.time(delay.begin - summary.begin))))
    if not rows:
        return ""
    return ('<section id="delays"><h2>Unblock delays, the longest idle time first</h2><p class="soft">A row brings its task up in the timeline.</p>' +
            table(("delay", "thread idle", "rank", "what went on late", "task", "number", "cause", "at rank", "from"), rows, (0, 1, 2, 7, 8)) +
            "</section>")


def _phases(summary):
    rows = []
    totals = {}
    for op, _, _, _, _, _, total in summary.phases:
        totals[op] = totals.get(op, 0) + total
    shown = None
    for op, phase, n, median, p99, longest, total in summary.phases:
        bar = (f'<span class="bar" style="width:{120 * total / totals[op] if totals[op] else 0:.1f}px;'
               f'background:{COLOURS[phase]}"></span>',)
        rows.append(("", (op if op != shown else "", phase, units.count(n), units.time(median), units.time(p99), units.time(longest),
                          units.time(total), bar)))
        shown = op
    if not rows:
        return ""
    return ('<section id="phases"><h2>Time of a task in each phase</h2>' +
            table(("operation", "phase", "tasks", "median", "99 % below", "longest", "sum", "share of its life"), rows, (2, 3, 4, 5, 6)) +
            "</section>")


def _overlap(summary):
    rows = [("", (row.comm, units.count(row.n_tasks), units.sizes(row.sizes), units.time(row.under_way), units.share(row.share),
                  (f'<span class="bar" style="width:{150 * (row.share or 0):.1f}px"></span>',))) for row in summary.overlap]
    if not rows:
        return ""
    return ('<section id="overlap"><h2>Overlap by communicator</h2><p class="soft">Time in which something of it was under way, and how much '
            'of that time the compute threads computed.</p>' +
            table(("communicator", "tasks", "bytes", "under way", "covered", ""), rows, (1, 2, 3, 4)) + "</section>")


def _workers(summary):
    rows = []
    for use in summary.workers:
        core = "shared with computing" if use.has_own_core is False else "its own" if use.has_own_core else "unknown"
        rows.append(("", (use.rank, use.lane, "-" if use.cpu is None else use.cpu, core, units.share(use.core_share), units.share(use.got),
                          stack(use.states.items(), COLOURS),
                          ", ".join(f"{state} {units.share(share)}" for state, share in use.states.items()))))
    if not rows:
        return ""
    return ('<section id="workers"><h2>Workers</h2>' +
            table(("rank", "lane", "CPU", "core", "uses of it", "gets while awake", "states", ""), rows, (0, 1, 2, 4, 5)) + "</section>")


def _ranks(summary):
    rows = [("", (use.rank, use.n_threads, units.time(use.computing), units.time(use.waiting), units.time(use.worker), units.time(use.on_path)))
            for use in summary.ranks]
    return ('<section id="ranks"><h2>Ranks</h2><p class="soft">Computing, and idle time in waits for messages, of all threads that compute. Worker: '
            'processor time of the workers, or their time awake in a trace without samples.</p>' +
            table(("rank", "threads", "computing", "waiting", "worker", "of the critical path"), rows, (0, 1, 2, 3, 4, 5)) + "</section>")


def _path(summary):
    whole = sum(summary.path_kinds.values())
    if not whole:
        return ""
    parts = [(kind, ns / whole) for kind, ns in summary.path_kinds.items()]
    rows = [("", (kind, units.time(ns), units.share(ns / whole))) for kind, ns in summary.path_kinds.items()]
    return ('<section id="path-table"><h2>Critical path</h2><p class="soft">What the length of the run hangs on; "other" is a thread between its '
            'compute tasks. The path runs on ' + escape(summary.path_ranks()) + '. Tick "critical path" above the timeline to see where.</p>' +
            stack(parts, PATH_COLOURS)[0] +
            table(("kind", "time", "share"), rows, (1, 2)) + "</section>")


def _steps(values, most):
    """A line of SVG's that has a step where the value changes; `most` is at the top, 100 units above 0."""
    changes = [k for k in range(1, len(values)) if values[k] != values[k - 1]]
    level = [f"{100 - 100 * value / most:.1f}" for value in values]
    return f"M0 {level[0]}" + "".join(f"H{k}V{level[k]}" for k in changes) + f"H{len(values)}"


def _depth(summary):
    plots = []
    lanes = tables.lanes_of(summary.run)
    for rank, lane in lanes[:MOST_DEPTH_PLOTS]:
        queued, unfinished = tables.binned(tables.depth_steps(rank, lane), summary.begin, summary.end, DEPTH_BINS)
        most = max(unfinished + [1])
        lines = "".join(f'<path d="{_steps(values, most)}" stroke="{colour}"/>'
                        for values, colour in zip((unfinished, queued), DEPTH_COLOURS.values()))
        plots.append(f'<div class="plot"><h3>Rank {rank.rank}, lane {lane}: at most {units.count(most)} tasks</h3>'
                     f'<svg viewBox="0 -4 {DEPTH_BINS} 108" preserveAspectRatio="none">{lines}</svg>'
                     f'<p class="soft"><span>{units.time(summary.begin)}</span><span>{units.time(summary.end)}</span></p></div>')
    if not plots:
        return ""
    legend = "".join(f'<i style="background:{colour}"></i>{name}' for name, colour in DEPTH_COLOURS.items())
    more = f"<p class=soft>The first {MOST_DEPTH_PLOTS} of {len(lanes)} lanes.</p>" if len(lanes) > MOST_DEPTH_PLOTS else ""
    return f'<section id="depth"><h2>Depth of the queues</h2><p class="legend">{legend}</p>{more}<div class="plots">{"".join(plots)}</div></section>'


def analyses(summary, index):
    pair = f'<div class="columns"><div>{_phases(summary)}</div><div>{_overlap(summary)}{_path(summary)}</div></div>'
    return _delays(summary, index) + _ranks(summary) + pair + _workers(summary) + _depth(summary)
