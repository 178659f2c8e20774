#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Converts the trace of a run of exchange.c and reads the result with the other programs' own readers: every packet with the
# schema of Perfetto, the archive with otf2-print. What the Python reader found in the trace must be there.
"""usage: formats_test.py --reader FOLDER --convert PROGRAM [--perfetto PYTHON] -- LAUNCHER... PROGRAM"""
import argparse
import collections
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

CANNOT_RUN = 77
SKIP_SCHEMA = "the schema of Perfetto's traces is not there: run scripts/perfetto"

# Runs in the Python that has the schema: prints what the test compares.
READ_PACKETS = """
import collections, json, sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
data = open(sys.argv[1], "rb").read()
trace = Trace()
trace.ParseFromString(data)
assert trace.ByteSize() == len(data), "the schema does not know every field"
names, tracks, depth = {}, {}, collections.Counter()
flows, ends, slices, used = collections.Counter(), collections.Counter(), collections.Counter(), set()
for packet in trace.packet:
    for entry in packet.interned_data.event_names:
        names[entry.iid] = entry.name
    if packet.HasField("track_descriptor"):
        tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        continue
    assert packet.HasField("track_event") and packet.timestamp > 0 and packet.trusted_packet_sequence_id == 1, packet
    event = packet.track_event
    assert event.track_uuid in tracks, packet
    if event.type in (TrackEvent.TYPE_SLICE_BEGIN, TrackEvent.TYPE_INSTANT):
        slices[names[event.name_iid]] += 1
        flows.update(event.flow_ids)
        ends.update(event.terminating_flow_ids)
        if event.correlation_id:
            used.add(event.correlation_id)
    depth[event.track_uuid] += {TrackEvent.TYPE_SLICE_BEGIN: 1, TrackEvent.TYPE_SLICE_END: -1}.get(event.type, 0)
    assert depth[event.track_uuid] >= 0, "a slice ends that has not begun"
assert not any(depth.values()), "a slice does not end"
assert all(each.parent_uuid in tracks for each in tracks.values() if each.parent_uuid)
print(json.dumps({"packets": len(trace.packet), "flows": flows, "ends": ends, "slices": slices, "used": sorted(used),
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


def check_perfetto(run, file, python):
    import json  # noqa: PLC0415

    found = json.loads(output_of(python, "-c", READ_PACKETS, file))
    messages = {str(message.id) for message in run.messages}
    demand(messages <= set(found["flows"]) and messages <= set(found["ends"]), "a message has no arrow")
    demand(all(found["flows"][each] == found["ends"][each] == 1 for each in messages), "an arrow has two beginnings")
    demand(set(found["flows"]) == set(found["ends"]), "an arrow begins or ends nowhere")
    demand(messages <= {str(each) for each in found["used"]}, "the slices of a message have no correlation")
    edges = sum(before in trace.tasks for trace in run.ranks for task in trace.tasks.values() for before in task.after)
    inside = [each for each in found["flows"] if each not in messages]
    demand(len(inside) == edges and all(each in found["ends"] for each in inside), f"{len(inside)} arrows for {edges} edges")
    demand(found["processes"] == len(run.ranks) and found["threads"].count("worker of lane 0") == len(run.ranks), f"{found['threads']}")
    for trace in run.ranks:
        for operation in ("sendrecv", "allreduce"):
            demand(any(name.startswith(operation) for name in found["slices"]), f"no slice of an {operation}")
    print(f"{found['packets']} packets, {len(messages)} messages")


def check_otf2(run, archive):
    text = output_of("otf2-print", archive / "traces.otf2")
    kinds = collections.Counter(line.split()[0] for line in text.splitlines() if re.match(r"[A-Z_0-9]+ +\d+ +\d+ ", line))
    n_messages = len(run.messages)
    demand(kinds["MPI_ISEND"] == kinds["MPI_IRECV"] == kinds["MPI_ISEND_COMPLETE"] == n_messages, f"{kinds}, {n_messages} messages")
    demand(kinds["ENTER"] == kinds["LEAVE"] > 0, f"{kinds}")
    called = collections.Counter(re.findall(r"NON_BLOCKING_COLLECTIVE_COMPLETE.*Operation: (\w+)", text))
    demand(called == {"ALLREDUCE": len(run.ranks), "BARRIER": len(run.ranks)}, f"collectives {called}")
    demand(kinds["NON_BLOCKING_COLLECTIVE_REQUEST"] == sum(called.values()), f"{kinds}")
    sizes = set(re.findall(r"Length: (\d+)", text))
    demand(sizes == {"4"}, f"lengths {sizes}")
    named = output_of("otf2-print", "-G", archive / "traces.otf2")
    for name in ("rank 0", "worker of lane 0", "the second one"):
        demand(f'"{name}"' in named, f"no definition of {name}")
    last = collections.defaultdict(int)
    for place, time in re.findall(r"(?m)^[A-Z_0-9]+ +(\d+) +(\d+) ", text):
        demand(int(time) >= last[place], "events of a location are not in order")
        last[place] = int(time)


def check_end_before_the_end(options, traces, folder):
    """What could not be written whole is not there, and what was there before is."""
    result = folder / "again"
    if options.format == "perfetto":
        result.write_text("old", encoding="utf-8")

    def allow_little():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
    before = sorted(folder.iterdir())
    # libotf2 loses some bytes itself when its writing fails, and a sanitizer would end the converter for that with a status of its own.
    asan = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
    done = subprocess.run([options.convert, traces, f"--{options.format}", result], env={**os.environ, "ASAN_OPTIONS": asan},
                          capture_output=True, text=True, check=False, preexec_fn=allow_little)
    demand(done.returncode == 2, f"exit status {done.returncode}: {done.stderr}")
    demand(sorted(folder.iterdir()) == before, f"left behind: {sorted(folder.iterdir())}")
    demand(options.format != "perfetto" or result.read_text(encoding="utf-8") == "old", "the old file was touched")


def check_lost_output(options, traces):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([options.convert, traces], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    demand(done.returncode == 1 and "standard output was lost" in done.stderr, done.stderr)


def check_refusals(options, traces):
    for words in (["--no-such-option"], [traces, f"--{options.format}"], [traces, f"--{options.format}", ""], [""], ["/dev/zero"]):
        done = subprocess.run([options.convert, *words], capture_output=True, text=True, timeout=20, check=False)
        demand(done.returncode == 2 and done.stderr.count("\n") == 1, f"{words}: {done.returncode}, {done.stderr}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--reader", required=True)
    parser.add_argument("--convert", required=True)
    parser.add_argument("--perfetto", required=True)
    parser.add_argument("--format", required=True, choices=["perfetto", "otf2"])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    sys.path.insert(0, options.reader)
    import trace_run  # noqa: PLC0415: where it lies is an argument

    if options.format not in output_of(options.convert, "--formats").split():
        print(f"commtask-trace-convert was built without {options.format}")
        return CANNOT_RUN
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        traces = folder / "traces"
        environment = {**os.environ, "COMMTASK_TRACE": str(traces)}
        subprocess.run(options.command, env=environment, check=True)
        result = folder / "result"
        said = output_of(options.convert, traces, f"--{options.format}", result)
        run = trace_run.read_run([traces])
        demand(f"{len(run.messages)} messages are on both ranks" in said, said)
        check_end_before_the_end(options, traces, folder)
        check_refusals(options, traces)
        check_lost_output(options, traces)
        if options.format == "perfetto" and not os.access(options.perfetto, os.X_OK):
            print(SKIP_SCHEMA)
            return CANNOT_RUN
        if options.format == "otf2" and shutil.which("otf2-print") is None:
            print("otf2-print is not there (Debian: otf2-tools)")
            return CANNOT_RUN
        if options.format == "perfetto":
            check_perfetto(run, result, options.perfetto)
        else:
            check_otf2(run, result)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"formats_test: {failure}")
