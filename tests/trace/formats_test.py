#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Has commtask-report write the trace of a run of exchange.c, omp_tasks.cpp or tbb_nodes.cpp for other programs, and reads that with their
# own readers: every packet with the schema of Perfetto, the archive with otf2-print. What the reader found in the trace must be there.
"""usage: formats_test.py --expect NAME --reader FOLDER [--perfetto PYTHON] -- LAUNCHER... PROGRAM"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))
import otf2_regions  # noqa: E402

CANNOT_RUN = 77
SKIP_SCHEMA = "the schema of Perfetto's traces is not there: run scripts/perfetto"
N_ROUNDS = 10
NODE = 4  # model of a compute task
EXCHANGES = ("exchange", "lanes")  #: runs of exchange.c
N_LANES = {"lanes": 2}

# Runs in the Python that has the schema: prints what the test compares.
READ_PACKETS = """
import collections, json, sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
data = open(sys.argv[1], "rb").read()
trace = Trace()
trace.ParseFromString(data)
assert trace.ByteSize() == len(data), "the schema does not know every field"
names, notes, texts, tracks, depth = {}, {}, {}, {}, collections.Counter()
flows, ends, slices = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()
annotations, counters = collections.defaultdict(collections.Counter), collections.defaultdict(list)
places = collections.Counter()
for packet in trace.packet:
    for known, new in ((names, packet.interned_data.event_names), (notes, packet.interned_data.debug_annotation_names)):
        known.update((entry.iid, entry.name) for entry in new)
    texts.update((entry.iid, entry.str.decode()) for entry in packet.interned_data.debug_annotation_string_values)
    if packet.HasField("track_descriptor"):
        tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        continue
    assert packet.HasField("track_event") and packet.timestamp > 0 and packet.trusted_packet_sequence_id == 1, packet
    event = packet.track_event
    assert event.track_uuid in tracks, packet
    if event.type in (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_INSTANT):
        name = names[event.name_iid]
        slices[name] += 1
        for found, here in ((flows, event.flow_ids), (ends, event.terminating_flow_ids)):
            for each in here:
                found[each].append((packet.timestamp, name))
        for each in event.debug_annotations:
            if each.HasField("string_value_iid"):
                annotations[notes[each.name_iid]][texts[each.string_value_iid]] += 1
                if notes[each.name_iid] == "end":  # a task
                    places[tracks[event.track_uuid].name] += 1
    if event.type == TrackEvent.TYPE_COUNTER:
        assert tracks[event.track_uuid].HasField("counter"), packet
        counters[event.track_uuid].append((packet.timestamp, event.counter_value))
    depth[event.track_uuid] += {TrackEvent.TYPE_SLICE_BEGIN: 1, TrackEvent.TYPE_SLICE_END: -1}.get(event.type, 0)
    assert depth[event.track_uuid] >= 0, "a slice ends that has not begun"
assert not any(depth.values()), "a slice does not end"
assert all(each.parent_uuid in tracks for each in tracks.values() if each.parent_uuid)
print(json.dumps({"packets": len(trace.packet), "flows": flows, "ends": ends, "slices": slices,
                  "annotations": annotations, "places": places, "counters": [(tracks[each].name, sorted(values)) for each, values in counters.items()],
                  "processes": sum(each.HasField("process") for each in tracks.values()),
                  "threads": [each.thread.thread_name for each in tracks.values() if each.HasField("thread")]}))
"""


class Failed(Exception):
    """What is not as it should be."""


def demand(holds, what):
    if not holds:
        raise Failed(what)


def output_of(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    demand(done.returncode == 0, f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def arrows_of(run):
    """What there must be an arrow for inside of a rank: [(kind, time when it begins at the latest, time of its end)]."""
    import load  # noqa: PLC0415: where it lies is an argument

    found = []
    for trace, rank in zip(run.ranks, load.loaded(run).ranks):
        for task in rank.tasks:
            if task.issued is not None:
                found += [("task to task", one.ended, task.issued) for one in set(task.predecessors) if one.ended is not None]
                found += [("compute to task", end, task.issued) for end, _, _ in set(task.computed_before)]
            if task.ended is not None:
                found += [("task to compute", task.ended, at) for at, _, _ in set(task.computed_after)]
        begins = {}
        for span in (span for thread in trace.threads.values() for span in thread.computes):
            begins[span.id] = min(span.begin, begins.get(span.id, span.begin))
        for each in trace.computes.values():
            if each.model == NODE:
                found += [("task to node", trace.tasks[one].ended, begins[each.id]) for one, _ in each.after if one in trace.tasks]
        found += [("post", task.posted, task.posted) for task in trace.tasks.values() if task.compute in trace.computes]
    return [each for each in found if each[1] <= each[2]]


def kind_of_arrow(begin, end):
    """By the names of the slices at its ends."""
    if begin.startswith("post "):
        return "post"
    if begin not in ("arrived", "ended"):
        return "compute to task"
    return "task to task" if end == "in flight" else "task to node" if end.endswith("_node") else "task to compute"


def drivers_of(run, phases):
    """Who moved the tasks there, and what for: a thread that says it drives waits, but for the worker."""
    found = collections.Counter()
    for trace in run.ranks:
        for task in trace.tasks.values():
            for step in (step for step in task.steps if step.phase in phases):
                thread = trace.threads[step.thread]
                said = [state for time, lane, state in thread.states if time <= step.time]
                name = f"thread {thread.number} {thread.name}".strip()
                found[f"worker of lane {thread.lane}" if thread.is_worker else f"waiting {name}" if said and said[-1]
                      else f"submitter, {name}" if thread.number == task.submitter else name] += 1
    return found


def check_arrows(run, found):
    messages = {str(message.id) for message in run.messages}
    demand(messages <= set(found["flows"]) and messages <= set(found["ends"]), "a message has no arrow")
    demand(set(found["flows"]) == set(found["ends"]), "an arrow begins or ends nowhere")
    seen = collections.Counter()
    for each, begins in found["flows"].items():
        ends = found["ends"][each]
        demand(len(begins) == len(ends) == 1, f"an arrow has two ends: {begins}, {ends}")
        demand(begins[0][0] <= ends[0][0], f"an arrow points backwards: {begins}, {ends}")
        if each not in messages:
            seen[kind_of_arrow(begins[0][1], ends[0][1])] += 1
    expected = collections.Counter(kind for kind, _, _ in arrows_of(run))
    demand(seen == expected, f"arrows {seen}, not {expected}")
    return seen


def check_perfetto(run, file, python, expect):
    found = json.loads(output_of(python, "-c", READ_PACKETS, file))
    seen = check_arrows(run, found)
    n_ranks = len(run.ranks)
    for kind, least in {"exchange": {"task to task": 1}, "lanes": {"task to task": 1}, "openmp": {"task to compute": N_ROUNDS, "compute to task": N_ROUNDS},
                        "onetbb": {"task to node": 2 * N_ROUNDS, "post": 2 * N_ROUNDS}}[expect].items():
        demand(seen[kind] >= least * n_ranks, f"arrows {seen}, and each of {n_ranks} ranks has {least} of '{kind}'")
    for name, phases in (("issued by", (4,)), ("ended by", (5, 6))):
        expected = drivers_of(run, phases)
        demand(found["annotations"][name] == expected, f"{name} {found['annotations'][name]}, not {expected}")
    lanes = range(run.ranks[0].n_lanes)
    expected = collections.Counter(f"lane {task.lane}: tasks" for trace in run.ranks for task in trace.tasks.values())
    demand(found["places"] == expected and len(expected) == len(lanes) == N_LANES.get(expect, 1), f"tasks at {found['places']}, not {expected}")
    named = collections.Counter(name for name, _ in found["counters"])
    demand(named == {f"lane {lane}: {what}": n_ranks for lane in lanes for what in ("posted, not finished", "not yet taken over")}, f"counters {named}")
    for name, values in found["counters"]:
        demand(values[-1][1] == 0 and max(depth for _, depth in values) > 0 and min(depth for _, depth in values) >= 0, f"{name}: {values}")
    workers = [found["threads"].count(f"worker of lane {lane}") for lane in lanes]
    demand(found["processes"] == n_ranks and workers == [n_ranks] * len(lanes), f"{found['threads']}")
    for operation in ("sendrecv", "allreduce") if expect in EXCHANGES else ("send", "recv"):
        demand(any(name.startswith(operation) for name in found["slices"]), f"no slice of an {operation}")
    print(f"{found['packets']} packets, {len(run.messages)} messages")


#: Of regions that a run of the program has: their roles.
ROLES = {
    "exchange": {"wait": ("TASK_WAIT", "USER")},
    "lanes": {"wait": ("TASK_WAIT", "USER")},
    "openmp": {"parallel region": ("PARALLEL", "OpenMP"), "barrier": ("BARRIER", "OpenMP"), "recv, posted": ("TASK", "OpenMP")},
    "onetbb": {"in a oneTBB arena": ("PARALLEL", "oneTBB"), "add up": ("TASK", "oneTBB"), "recv_node": ("CODE", "oneTBB")},
}


def check_otf2(run, archive, expect):
    regions = otf2_regions.read(archive)  # they nest
    names = {name for each in regions.values() for name, _, _ in each}
    kinds = otf2_regions.kinds(archive)
    demand(names == set(kinds), f"regions {names}, defined {set(kinds)}")
    demand(ROLES[expect].items() <= kinds.items(), f"roles {kinds}")
    states = {name: kind for name, kind in kinds.items() if name.startswith("worker: ")}
    demand(states and set(states.values()) == {("ARTIFICIAL", "MEASUREMENT_SYSTEM")}, f"{states}")
    text = otf2_regions.print_archive(archive)
    counted = collections.Counter(line.split()[0] for line in text.splitlines() if re.match(r"[A-Z_0-9]+ +\d+ +\d+ ", line))
    n_messages = len(run.messages)
    demand(counted["MPI_ISEND"] == counted["MPI_IRECV"] == counted["MPI_ISEND_COMPLETE"] == n_messages, f"{counted}, {n_messages} messages")
    called = collections.Counter(re.findall(r"NON_BLOCKING_COLLECTIVE_COMPLETE.*Operation: (\w+)", text))
    demand(called == ({"ALLREDUCE": len(run.ranks), "BARRIER": len(run.ranks)} if expect in EXCHANGES else {}), f"collectives {called}")
    demand(counted["NON_BLOCKING_COLLECTIVE_REQUEST"] == sum(called.values()), f"{counted}")
    sizes = set(re.findall(r"Length: (\d+)", text))
    demand(sizes == {"4"}, f"lengths {sizes}")
    named = otf2_regions.print_archive(archive, "-G")
    team = {"openmp": "OpenMP thread", "onetbb": "oneTBB thread"}.get(expect, "thread")
    workers = [f"worker of lane {lane}" for lane in range(N_LANES.get(expect, 1))]
    for name in ("rank 0", *workers, *(["the second one"] if expect in EXCHANGES else [])):
        demand(f'"{name}"' in named, f"no definition of {name}")
    demand(re.search(rf'(?m)^LOCATION .* Name: "{team} \d+', named), f"no location is called {team}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--reader", required=True)
    parser.add_argument("--perfetto", required=True)
    parser.add_argument("--format", required=True, choices=["perfetto", "otf2"])
    parser.add_argument("--expect", required=True, choices=ROLES)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    sys.path.insert(0, options.reader)
    import trace_run  # noqa: PLC0415: where it lies is an argument

    if options.format == "perfetto" and not os.access(options.perfetto, os.X_OK):
        print(SKIP_SCHEMA)
        return CANNOT_RUN
    if options.format == "otf2" and shutil.which("otf2-print") is None:
        print("otf2-print is not there (Debian: otf2-tools)")
        return CANNOT_RUN
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        traces = folder / "traces"
        environment = {**os.environ, "COMMTASK_TRACE": str(traces), "OMP_NUM_THREADS": "2"}
        if options.expect in N_LANES:
            environment["COMMTASK_LANES"] = str(N_LANES[options.expect])
        subprocess.run(options.command, env=environment, check=True)
        result = folder / "result"
        output_of(sys.executable, "-B", options.reader, f"--{options.format}", result, traces)
        run = trace_run.read_run([traces])
        if options.format == "perfetto":
            check_perfetto(run, result, options.perfetto, options.expect)
        else:
            check_otf2(run, result, options.expect)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"formats_test: {failure}")
