# SPDX-License-Identifier: Apache-2.0
# The report for a terminal: what cost most and what to do, then the tables, in at most forty lines of plain text, so that
# it can be read over a slow connection and pasted into a mail. What does not fit is on the page (--html).
"""A summary as lines of text."""

import textwrap

import units

MOST_LINES = 40
N_DELAYS = 10


def aligned(rows, indent="  ", n_headings=0):
    """Columns aligned: words left, numbers right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    numeric = [all(row[column][:1] in "0123456789-<" for row in rows[n_headings:]) for column in range(len(rows[0]))]
    return [(indent + "  ".join(cell.rjust(width) if right else cell.ljust(width)
                                for cell, width, right in zip(row, widths, numeric))).rstrip() for row in rows]


def _shown(n, count):
    """How many rows of a table are here, if not all."""
    return f"; {n} of {units.count(count)}" if n < count else ""


def _findings(summary, most):
    if not summary.findings:
        return []
    of = f" of {units.time(summary.thread_ns)} of thread time" if summary.thread_ns else ""
    lines = [f"Threads waited {units.time(summary.idle_ns)}{of}. Causes, the dearest first{_shown(most, len(summary.findings))}:"]
    for number, finding in enumerate(summary.findings[:most], 1):
        worst = max(finding.ranks, key=finding.ranks.get)
        lines.append(f"  {number}. {finding.cause}: {units.time(finding.ns)}, {units.share(finding.ns / summary.idle_ns)}, mostly "
                     f"rank {worst}; first cause of {units.waits(finding.count)}")
        lines += textwrap.wrap(f"{finding.detail} {summary.advice(finding)}".strip(), 110, initial_indent="     ", subsequent_indent="     ")
    return lines


def _delays(summary):
    if not summary.delays:
        return []
    rows = [("delay", "idle", "rank", "task", "number", "cause", "at rank")]
    for delay in summary.delays[:N_DELAYS]:
        title = delay.task.title()
        rows.append((units.time(delay.ns), units.time(delay.idle), str(delay.task.rank), title if len(title) <= 40 else title[:39] + "…",
                     delay.task.number, delay.cause, str(delay.where)))
    return [f"Unblock delays, the longest idle time first{_shown(N_DELAYS, len(summary.delays))}:", *aligned(rows, n_headings=1)]


def _phases(summary):
    rows = [("phase", "tasks", "median", "99 % below", "longest", "sum")]
    rows += [(phase, units.count(n), units.time(median), units.time(p99), units.time(longest), units.time(total))
             for op, phase, n, median, p99, longest, total in summary.phases if op == "all"]
    return ["Time of a task in each phase:", *aligned(rows, n_headings=1)] if len(rows) > 1 else []


def _overlap(summary, most):
    if not summary.overlap:
        return []
    rows = [("communicator", "tasks", "bytes", "under way", "covered")]
    rows += [(row.comm[:30], units.count(row.n_tasks), units.sizes(row.sizes), units.time(row.under_way), units.share(row.share))
             for row in summary.overlap[:most]]
    return [f"Overlap (time under way, and how much of it computing covers){_shown(most, len(summary.overlap))}:", *aligned(rows, n_headings=1)]


def _workers(summary, most):
    if not summary.workers:
        return []
    rows = [("rank", "lane", "core", "uses", "gets", "states")]
    for use in sorted(summary.workers, key=lambda one: one.got if one.got is not None else 1)[:most]:
        core = "shared" if use.has_own_core is False else "own" if use.has_own_core else "?"
        states = ", ".join(f"{state} {units.share(share)}" for state, share in list(use.states.items())[:4])
        rows.append((str(use.rank), str(use.lane), core, units.share(use.core_share), units.share(use.got), states or "-"))
    return [f"Workers (share of the core that each uses, and that it gets while it is awake){_shown(most, len(summary.workers))}:",
            *aligned(rows, n_headings=1)]


def _depth(summary):
    if not summary.depths:
        return []

    def most(column, words):
        row = max(summary.depths, key=lambda one: one[column])
        return f"{row[column]} {words} (rank {row[0]}, lane {row[1]})"

    return [f"Depth of the queues, at most: {most(3, 'tasks posted and not finished')}, {most(2, 'not yet taken over')}."]


def render(summary, most_lines=MOST_LINES):
    """Lines, at most `most_lines`: all but the delays and the phases is shortened until they fit."""
    notes = [f"Note: {note}" for note in summary.notes()]
    path = [f"{kind} {units.share(ns / sum(summary.path_kinds.values()))}" for kind, ns in list(summary.path_kinds.items())[:5]]
    for shorter in range(4):
        lines = [summary.headline(), f"{summary.clocks()}."]
        n_notes = max(2, 3 - shorter)
        lines += notes if len(notes) <= n_notes else [*notes[:n_notes - 1], f"Note: {len(notes) - n_notes + 1} more notes: --html FILE shows them."]
        lines += _findings(summary, 3 if shorter < 3 else 2)
        lines += _delays(summary)
        lines += _phases(summary)
        lines += _overlap(summary, max(1, 3 - shorter))
        lines += _workers(summary, max(1, 4 - shorter))
        lines += _depth(summary)
        if path:
            lines.append("Critical path: " + ", ".join(path) + f"; on {summary.path_ranks()}.")
        if len(lines) <= most_lines:
            return lines
    return [*lines[:most_lines - 1], f"{len(lines) - most_lines + 1} more lines are left out: --html FILE shows all."]
