# SPDX-License-Identifier: Apache-2.0
# What a thread did, as spans of which each lies within another one or beside it: Perfetto and OTF2 both want regions that nest,
# while a trace has waits, compute tasks and regions in any order.
"""Nested spans of a thread."""

import heapq
import itertools

#: Categories of regions, by their class in the trace.
REGIONS = {1: "mpi", 2: "openmp", 4: "onetbb"}


def name_of(thread):
    if thread.is_worker:
        return f"worker of lane {thread.lane}"
    return f"thread {thread.number} {thread.name}".strip()


def of_thread(trace, thread):
    """(begin, end, category, trace_reader.Span); what is open at the end of the trace ends there."""
    for category, spans in (("wait", thread.waits), ("compute", thread.computes), ("", thread.regions)):
        for span in spans:
            end = max(trace.last, span.begin) if span.end is None else span.end
            if category != "wait" or end > span.begin:
                yield span.begin, end, category or REGIONS.get(span.sub, "program"), span


def nest(spans):
    """Yields (begin, end, category, span, is_rest), outer ones first. The part of a span that goes on after the span around it has
    ended is a rest of its own."""
    number = itertools.count()
    # Of spans that begin together states are outside, then the longer ones.
    queue = [(begin, category != "state", -end, next(number), category, span, False) for begin, end, category, span in spans]
    heapq.heapify(queue)
    around = []  #: ends of the spans that are open
    while queue:
        begin, order, end, _, category, span, is_rest = heapq.heappop(queue)
        end = -end
        while around and around[-1] <= begin:
            around.pop()
        if around and around[-1] < end:
            heapq.heappush(queue, (around[-1], order, -end, next(number), category, span, True))
            end = around[-1]
        around.append(end)
        yield begin, end, category, span, is_rest
