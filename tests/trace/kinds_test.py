#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A trace of kinds.c: one-sided operations say whose window it was, notifications and messages of one call for many are found on both
# ranks and shift no other, a standing receive is told apart, and so is a thread that is inside MPI for the program.
"""Usage: kinds_test.py FOLDER_OF_THE_REPORT -- LAUNCHER... PROGRAM"""
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

import load  # noqa: E402
import otf2_archive  # noqa: E402
import tables  # noqa: E402
import trace_run  # noqa: E402

BYTES = 64 * 8


def demand(holds, what):
    if not holds:
        sys.exit(f"not so: {what}")


def of(trace, operation):
    return [task for task in trace.tasks.values() if task.operation == operation]


def check_one_sided(trace, peer):
    names = {communicator.number: communicator.name for communicator in trace.communicators.values()}
    for operation in ("put", "get"):
        for task in of(trace, operation):
            demand((task.peer, task.bytes) == (peer, BYTES), f"{operation} has peer {task.peer}, {task.bytes} B")
            demand(names[task.communicator] in ("halos", "epochs"), f"{operation} on {names[task.communicator]}")
    demand([task.peer for task in of(trace, "flush")] == [peer], "a flush says of whom")
    demand([(task.peer, task.tag) for task in of(trace, "put_notify")] == 2 * [(peer, 7)], "a put with a notification says which")


def check_messages(run):
    found = [(message.send.operation, message.receive.operation, message.send.rank == message.receive.rank) for message in run.messages if message.send.tag < 100]
    for pair, count in {("put_notify", "await_notify", False): 4, ("multicast", "recv", False): 2, ("multicast", "recv", True): 2,
                        ("send", "recv", False): 4, ("many_to_many", "many_to_many", False): 2, ("many_to_many", "many_to_many", True): 2}.items():
        demand(found.count(pair) == count, f"{found.count(pair)} messages of {pair}, not {count}: {found}")
    by_call = {message.receive.rank: message.receive for message in run.messages
               if message.send.operation == "multicast" and message.send.rank != message.receive.rank}
    by_send = {message.receive.rank: message.receive for message in run.messages if message.send.operation == "send" and message.send.tag == 5}
    demand(by_call.keys() == by_send.keys() == {0, 1}, f"{by_call}, {by_send}")
    demand(all(by_call[rank].id < by_send[rank].id for rank in (0, 1)), "the call for many was first, the send second")


def check_standing(trace, run):
    standing = [task for task in of(trace, "recv") if task.stands]
    heard = [task for task in standing if task.end == 1]
    demand(len(standing) >= 2 and [(task.matched[1], task.bytes) for task in heard] == [(9, BYTES)], "one message was listened to")
    demand(any(message.receive is heard[0] for message in run.messages), "it is found on both ranks")


def check_threads(trace):
    helpers = [thread for thread in trace.threads.values() if thread.is_helper]
    if of(trace, "win_fence"):
        demand([thread.name for thread in helpers] == ["commtask-window"], f"names of the library's own threads: {helpers}")
        calls = [span.name for thread in helpers for span in thread.regions]
        demand(calls.count("win_fence") == len(of(trace, "win_fence")), f"calls of the library's own thread: {calls}")


def check_otf2(folder, run):
    """Where there is a reader for it: it has nothing to complain of."""
    if shutil.which("otf2-print") is None:
        print("OTF2 was left out: otf2-print is not there (Debian: otf2-tools)")
        return
    otf2_archive.write(run, folder)
    done = subprocess.run(["otf2-print", folder / "traces.otf2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    demand(not done.stderr, done.stderr)
    counted = collections.Counter(line.split()[0] for line in done.stdout.splitlines() if line)
    demand(counted["MPI_ISEND"] == len(run.messages), f"{counted['MPI_ISEND']} sends in the archive, {len(run.messages)} messages")
    n_puts = sum(len(of(trace, "put")) + len(of(trace, "put_notify")) for trace in run.ranks)
    n_gets = sum(len(of(trace, "get")) + len(of(trace, "get_notify")) for trace in run.ranks)
    demand(counted["RMA_PUT"] == n_puts > 0 and counted["RMA_GET"] == n_gets > 0, f"{counted}, {n_puts} puts, {n_gets} gets")
    demand(counted["RMA_OP_COMPLETE_NON_BLOCKING"] == n_puts + n_gets + counted["RMA_ATOMIC"], f"{counted}")
    named = subprocess.run(["otf2-print", "-G", folder / "traces.otf2"], stdout=subprocess.PIPE, text=True, check=True).stdout
    demand('RMA_WIN ' in named and '"halos"' in named, "no definition of the window")


def main():
    command = sys.argv[sys.argv.index("--") + 1:]
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COMMTASK_")}
        subprocess.run([*command, str(folder / "file")], env={**environment, "COMMTASK_TRACE": str(folder / "trace")}, timeout=50, check=True)
        run = trace_run.read_run([folder / "trace"])
        model = load.load([folder / "trace"])
        check_otf2(folder / "archive", run)
    check_messages(run)
    for trace in run.ranks:
        check_one_sided(trace, 1 - trace.rank)
        check_standing(trace, run)
        check_threads(trace)
        demand(not any(task.bytes for task in of(trace, "barrier")), f"bytes of barriers: {[task.bytes for task in of(trace, 'barrier')]}")
        demand([task.bytes for task in of(trace, "file_write_at")] == [BYTES], "a file's task has its bytes")
    titles = {task.title() for task in model.tasks()}
    for words in (f"put -> 1, {BYTES} B", f"get <- 1, {BYTES} B", f"standing recv <- 1 tag 9, {BYTES} B"):
        demand(any(title.startswith(words) for title in titles), f"no task is called {words}: {sorted(titles)}")
    world = next(row for row in tables.overlap_table(model) if row.comm == "MPI_COMM_WORLD")
    lasted = model.extent()[1] - model.extent()[0]
    demand(world.under_way < 2 * lasted, "what stands is not under way")
    demand(not any(thread.computing() for rank in model.ranks for thread in rank.threads if thread.is_helper), "a helper computes nothing")


if __name__ == "__main__":
    main()
