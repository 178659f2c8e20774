#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Starts one scenario (scenario.hpp) under the launcher and judges it from outside: how it ended, within which time, and
# what it printed. EXPECTATIONS has one entry per scenario or per setting of one. "wait_for" texts must appear while the
# program still runs: it reads its standard input until they have, so no test depends on a guess of time.
import argparse
import os
import re
import subprocess
import sys
import threading
import time

UNFINISHED = r"task(s)? unfinished, abandoned by commtask_finalize"
AGE = r"\d+\.\d+\s+"
REFUSED = r"rank \d: send of 4 (?:MPI_INT|elements) to rank \d, tag \d, halo was refused: "
WORKER = r"rank (\d+) worker (-?\d+) reserved (\d) compute ([\d,]+)"


def distinct_or_shared(found, n_ranks):
    """Every rank reports; no two have the same worker CPU."""
    cpus = [int(match[1]) for match in found if int(match[1]) >= 0]
    return len(found) == n_ranks and len(set(cpus)) == len(cpus)


def all_without(found, n_ranks):
    return len(found) == n_ranks and all(int(match[1]) == -1 for match in found)


def all_reserved(found, n_ranks):
    return len(found) == n_ranks and all(match[2] == "1" and int(match[1]) >= 0 for match in found)


def on_first_given(found, n_ranks):
    return len(found) == n_ranks and int(found[0][1]) == min(os.sched_getaffinity(0))


def first_cpu():
    return str(min(os.sched_getaffinity(0)))


# environment; prints / never: patterns in what it printed; exits: "zero", "nonzero", "anyhow";
# cpus: how many it takes to run; beside: whether a second job of the same runs at the same time.
EXPECTATIONS = {
    "before_mpi": {},
    "thread_level": {},
    "init_twice": {},
    "after_finalize": {},
    "bad_field": {},
    "bad_variable": {"environment": {"COMMTASK_IDLE": "reservd"}, "never": [r"warning"],
                     "once": r"rank 0: commtask_init was refused: COMMTASK_IDLE=reservd"},
    "misspelt_variable": {"environment": {"COMMTASK_QUEUE_CAPCITY": "128"},
                          "prints": [r"COMMTASK_QUEUE_CAPCITY.*COMMTASK_QUEUE_CAPACITY"],
                          "once": r"COMMTASK_QUEUE_CAPCITY"},
    "good_variable": {"environment": {"COMMTASK_IDLE": "shared"}, "never": [r"COMMTASK_"]},
    # No column is zero or empty for all ranks together, of times at least the longest: the scenario has something for each.
    "stats": {"environment": {"COMMTASK_STATS": "1"},
              "prints": [r"statistics of \d rank", r"0  send 10 \(9\.8 KiB\), ssend 10, recv 11 \(", r"sendrecv 20 \(19\.5 KiB\)",
                         r"neighbor_allgather 1 \(400 B\)", r"  bytes +payload sent and received", r"  unblock +from the end",
                         r"(?m)^ +all +[1-9]\d* +[1-9]\d* +[1-9]\d* +[1-9][\d.]* \wi?B? +[\d.]*[1-9][\d.]* %( +[\d.]+/[\d.]+/[\d.]*[1-9][\d.]*){4}$"]},
    "finalize_lists": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "1"},
                       "prints": [UNFINISHED,
                                  AGE + r"recv of 1 MPI_INT from rank \d, tag 77, halo\\x1b\[2J\\x0a, created at halo\.c:50; in flight",
                                  AGE + r"send of 1 MPI_INT to rank \d, tag 78, halo\\x1b\[2J\\x0a; after recv of 1 MPI_INT from rank \d, "
                                  r"tag 77, halo\\x1b\[2J\\x0a, created at halo\.c:50",
                                  AGE + r"barrier, halo\\x1b\[2J\\x0a; waits for its turn behind barrier"]},
    "finalize_unsignalled": {"prints": [UNFINISHED, AGE + r"barrier, MPI_COMM_WORLD; after an event with 1 signal missing"]},
    "finalize_waits_for_a_call": {"never": [UNFINISHED]},
    "finalize_leaves_a_call": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "0.5"},
                               "prints": [r"incomplete tasks are abandoned.*inside one call \(call\)"]},
    "finalize_leaves_a_submitter": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "0.5", "COMMTASK_IDLE": "shared"},
                                 "prints": [r"incomplete tasks are abandoned.*inside one call"]},
    "finalize_retries": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "0.5"}, "prints": [UNFINISHED]},
    "finalize_half_ready": {"prints": [UNFINISHED, AGE + r"plan of 3 members; 2 of its members have not ended",
                                       AGE + r"send of 1 MPI_INT to rank 0, tag 1, MPI_COMM_SELF, member 1 of a plan; "
                                       r"for commtask_plan_pready",
                                       AGE + r"send of 1 MPI_INT to rank 0, tag 2, MPI_COMM_SELF, member 2 of a plan; after send of "
                                       r"1 MPI_INT to rank 0, tag 1, MPI_COMM_SELF, member 1",
                                       AGE + r"psend of .* to rank 0, tag 4, MPI_COMM_SELF, member 0 of a plan: elements 0 to 3; "
                                       r"for commtask_plan_pready_range"]},
    # What is freed is overwritten: whoever uses it still finds no pointer there.
    "stale_plans": {"environment": {"MALLOC_PERTURB_": "85"}, "prints": [UNFINISHED]},
    "finalize_leaves_plans": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "0.5", "MALLOC_PERTURB_": "85"},
                              "prints": [r"incomplete tasks are abandoned.*inside one call \(call\)"]},
    "peer_leaves_in_a_run": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "1"},
                             "prints": [r"rank 1: \d tasks unfinished, abandoned by commtask_finalize",
                                        AGE + r"send of 1 MPI_INT to rank 0, tag 5, MPI_COMM_WORLD, member 1 of a plan; "
                                        r"for commtask_plan_pready",
                                        r"rank 0: 3 tasks unfinished, abandoned by commtask_finalize",
                                        AGE + r"plan of 3 members; 2 of its members have not ended",
                                        AGE + r"recv of 1 MPI_INT from rank 1, tag 5, MPI_COMM_WORLD, member 0 of a plan; in flight",
                                        AGE + r"send of 1 MPI_INT to MPI_PROC_NULL, tag 0, MPI_COMM_SELF, member 2 of a plan; "
                                        r"after recv of 1 MPI_INT from rank 1, tag 5, MPI_COMM_WORLD, member 0",
                                        r"rank 0 came to its end", r"rank 1 came to its end"]},
    "finalize_window": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "1"},
                        "prints": [UNFINISHED, AGE + r"await_notify of 2 from rank 0, notification 7, halos; in flight",
                                   AGE + r"put of 2 MPI_DOUBLE to rank 0, displacement 16, halos; after await_notify",
                                   AGE + r"file_write_at of 2 MPI_DOUBLE, offset 32, file 0x\w+, MPI_COMM_SELF; after await_notify",
                                   r"warning: halos is still registered at commtask_finalize"]},
    "finalize_epoch": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "1"},
                       "prints": [UNFINISHED, AGE + r"win_wait, halos; in flight"]},
    # What is freed is overwritten: whoever uses it still finds no pointer there.
    "finalize_late_signal": {"environment": {"MALLOC_PERTURB_": "85"}, "prints": [UNFINISHED]},
    "levels_differ": {"once": r"rank 0: commtask_init was refused: MPI was initialised with MPI_THREAD_SINGLE"},
    "memory_differs": {"never": [r"rank 1: commtask_init was refused"]},
    "stats_give_up": {"environment": {"COMMTASK_STATS": "1", "COMMTASK_FINALIZE_TIMEOUT_S": "0.5"},
                      "prints": [r"rank 1: 1 task unfinished", r"statistics of 1 rank of 2", r"\n +0  none", r"\n +1  recv 1"]},
    "stats_in_any_order": {"environment": {"COMMTASK_STATS": "1", "COMMTASK_FINALIZE_TIMEOUT_S": "1"},
                           "prints": [r"statistics of 1 rank of 2", r"statistics of 2 ranks"]},
    "forked_child": {},
    "signalled": {"environment": {"COMMTASK_SIGNAL": "SIGUSR1"},
                  "wait_for": [r"rank 0: 1 task unfinished, requested by a signal",
                               r"recv of 1 MPI_INT from rank 0, tag 77, MPI_COMM_WORLD; in flight"],
                  "never": [UNFINISHED]},
    "watchdog": {"environment": {"COMMTASK_STALL_S": "0.3"},
                 "wait_for": [r"recv of 1 MPI_INT from rank 0, tag 77, MPI_COMM_WORLD; in flight"] * 2,
                 "never": [UNFINISHED]},
    "watchdog_window": {"environment": {"COMMTASK_STALL_S": "0.3"},
                        "wait_for": [r"await_notify of 1 from rank 0, notification 7, halos; in flight",
                                     r"file_write_at of 2 MPI_DOUBLE, offset 0, .*; after await_notify",
                                     r"file_write_at of 1 MPI_DOUBLE, offset 8, .*; after await_notify"] * 2,
                        "prints": [r"files (0x\w+) and (?!\1)(0x\w+)\n[\s\S]*offset 0, file \1, MPI_COMM_SELF;.*\n"
                                   r".*offset 8, file \2, MPI_COMM_SELF;"],
                        "never": [UNFINISHED]},
    "forgotten_finalize": {"prints": [r"MPI_Finalize.*commtask_finalize", r"rank 0 came to its end"],
                           "never": [UNFINISHED]},
    "forgotten_finalize_with_tasks": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "1"},
                                      "prints": [r"MPI_Finalize.*commtask_finalize", UNFINISHED,
                                                 r"recv of 1 MPI_INT from rank 0, tag 77", r"rank 0 came to its end"]},
    "leaves_early": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "1"},
                     "prints": [UNFINISHED, r"recv of 1 MPI_INT from rank 1, tag 77, MPI_COMM_WORLD; in flight",
                                r"rank 0 came to its end"]},
    # Launchers do not agree on the exit status of a job that lost a rank.
    "killed": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "2"}, "prints": [r"the survivor came to its end"],
               "exits": "anyhow"},
    "killed.bells": {"environment": {"COMMTASK_FINALIZE_TIMEOUT_S": "2", "COMMTASK_IDLE": "shared", "COMMTASK_NODE_DOORBELLS": "on"},
                     "prints": [r"the survivor came to its end"], "exits": "anyhow"},
    # Tasks that fail or are refused where nobody looks.
    "unseen_failure": {"exits": "nonzero", "never": [r"the failure was passed over"],
                       "prints": [r"rank \d: recv of 1 MPI_INT from rank \d, tag 7, halo, created at halo\.c:50, failed: "
                                  r"it has room for 4 bytes and got (?:more|16): \w"]},
    "unseen_call": {"exits": "nonzero", "never": [r"the failure was passed over"], "prints": [r"rank \d: call, halo, failed: \w"]},
    "unseen_plan": {"exits": "nonzero", "never": [r"the failure was passed over"],
                    "prints": [r"rank \d: call, halo, member 1 of a plan, failed: \w"]},
    "unseen_failures_return": {"prints": [r"rank 0: 12 tasks failed or were refused; the first 10 are named above; 1 task was "
                                          r"canceled, which came after such a task", r"rank 0 came to its end"]},
    "seen_failures": {"prints": [r"rank 0 came to its end"], "never": [r"failed: "]},
    "failing_truncated": {"exits": "nonzero", "never": [r"goes on"],
                          "prints": [r"rank \d: recv of 1 MPI_INT from rank \d, tag 7, halo, created at failing\.c:\d+, failed: "
                                     r"it has room for 4 bytes and got (?:more|16): \w"]},
    "failing_uncommitted": {"exits": "nonzero", "never": [r"it has room"],
                            "prints": [r"rank \d: recv of 1 element from rank \d, tag 7, halo, created at failing\.c:\d+, failed: \w"]},
    "failing_uncommitted_collective": {"exits": "nonzero",
                                       "prints": [r"rank \d: bcast of 1 element, root 1, halo, created at failing\.c:\d+, failed: \w"]},
    "failing_truncated_returns_many": {"prints": [r"rank 0: 12 tasks failed or were refused; the first 10 are named above",
                                                  r"rank 0 came to its end"]},
    "failing_truncated_status": {"prints": [r"rank 0 came to its end"], "never": [r"failed: "]},
    "failing_truncated_handler": {"prints": [r"rank 0 came to its end"], "never": [r"failed: "]},
    "failing_refused_returns": {"prints": [REFUSED + r"dest is \d, and halo has ranks 0 to \d \(.*failing\.c:\d+\)",
                                           r"rank 0 came to its end"]},
    "failing_refused_function": {"prints": [REFUSED + r"dest is \d", r"rank 0 came to its end"]},
    "failing_fortran_ierror": {"prints": [r"rank 0 came to its end"]},
    "failing_taskgroup": {"exits": "nonzero",
                          "prints": [r"rank \d: an explicit task ended before 1 communication task that it created \(the first of all: recv of 1 "
                                     r"element from rank \d, tag 9, created at failing\.c:\d+\), and no taskgroup"]},
    "fatal_handler": {"exits": "nonzero", "never": [r"the wrong call came back"]},
    # The last line of the statistics: worker us, blocks, waits, rung, rang.
    "node_late_sender": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "auto"},
                         "prints": [r"(?m)^ +all +[\d.]*[1-9][\d.]* +\d+ +[1-9]\d* +[1-9]\d* +[1-9]\d*$"]},
    "node_access": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "on"},
                    "prints": [r"(?m)^ +1 +[\d.]+ +\d+ +[1-9]\d* +[1-9]\d* +\d+$"]},
    "node_late_sender.off": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1"},
                             "prints": [r"(?m)^ +all +[\d.]+ +\d+ +[1-9]\d* +0 +0$"]},
    "node_late_sender.simulated": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "on",
                                                   "COMMTASK_NODE_RANKS": "1"},
                                   "prints": [r"(?m)^ +all +[\d.]+ +\d+ +[1-9]\d* +0 +0$"]},
    "node_without_memory": {"environment": {"COMMTASK_NODE_DOORBELLS": "on"},
                            "once": r"rank 0: warning: the ranks of this node cannot share memory: .*; their workers wait for limited times instead"},
    "node_versions_differ": {"once": r"rank 0: commtask_init was refused: another rank runs another version"},
    # Only a leader rings there.
    "node_far_sender": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "on",
                                        "COMMTASK_NODE_ANNOUNCE_BYTES": "16384"},
                        "prints": [r"(?m)^ +1 +[\d.]+ +\d+ +[1-9]\d* +[1-9]\d* +\d+$"]},
    "node_far_sender.unannounced": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "on"},
                                    "prints": [r"(?m)^ +1 +[\d.]+ +\d+ +[1-9]\d* +0 +\d+$"]},
    # Messages above 16 KiB come when their receiver looks, and not before.
    "node_far_sender.over_links": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "on",
                                                   "COMMTASK_NODE_ANNOUNCE_BYTES": "16384", "EMULATED_LINK_RATE_MBS": "200",
                                                   "EMULATED_LINK_EAGER_BYTES": "16384"},
                                   "prints": [r"(?m)^ +1 +[\d.]+ +\d+ +[1-9]\d* +[1-9]\d* +\d+$"]},
    "node_far_sender_with_a_core": {"environment": {"COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "auto",
                                                    "COMMTASK_NODE_ANNOUNCE_BYTES": "16384"},
                                    "prints": [r"(?m)^ +1 +[\d.]+ +\d+ +[1-9]\d* +[1-9]\d* +\d+$"]},
    "node_leader_stopped": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "on",
                                             "COMMTASK_NODE_ANNOUNCE_BYTES": "16384"},
                             "prints": [r"(?m)^ +1 +[\d.]+ +\d+ +[1-9]\d* +0 +\d+$"]},
    "node_sleeper_killed": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_NODE_DOORBELLS": "on",
                                            "COMMTASK_NODE_ANNOUNCE_BYTES": "16384"},
                            "prints": [r"the survivor came to its end"], "exits": "anyhow"},
    "node_late_sender.beside": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_STATS": "1", "COMMTASK_NODE_DOORBELLS": "on"},
                                "beside": True,
                                "prints": [r"(?m)^ +all +[\d.]+ +\d+ +[1-9]\d* +[1-9]\d* +[1-9]\d*$"]},
    "node_auto": {"environment": {"COMMTASK_NODE_DOORBELLS": "auto"}},
    "node_forked": {"environment": {"COMMTASK_IDLE": "shared", "COMMTASK_NODE_DOORBELLS": "on"}},
    "node_memory": {"environment": {"COMMTASK_NODE_DOORBELLS": "on", "COMMTASK_NODE_ANNOUNCE_BYTES": "16384"}},
    "node_differs": {"once": r"commtask_init was refused: COMMTASK_NODE_DOORBELLS \(off on this rank\)"},
    "idle": {},
    "idle_with_a_receive": {},
    "idle_with_a_window_of_one_rank": {},
    "idle.lanes": {"environment": {"COMMTASK_LANES": "2"}},
    "idle_with_a_receive.lanes": {"environment": {"COMMTASK_LANES": "2"}},
    "serialized.lanes": {"environment": {"COMMTASK_LANES": "2"},
                         "once": r"rank 0: commtask_init was refused: MPI was initialised with MPI_THREAD_SERIALIZED, and "
                                 r"COMMTASK_LANES=2 needs MPI_THREAD_MULTIPLE"},
    "serialized.announced": {"environment": {"COMMTASK_NODE_DOORBELLS": "on", "COMMTASK_NODE_ANNOUNCE_BYTES": "16384"},
                             "once": r"rank 0: commtask_init was refused: MPI was initialised with MPI_THREAD_SERIALIZED, and "
                                     r"COMMTASK_NODE_ANNOUNCE_BYTES needs MPI_THREAD_MULTIPLE"},
    "lanes_differ": {"once": r"rank 0: commtask_init was refused: COMMTASK_LANES is 1 on this rank, and from 1 to 3 on all ranks"},
    "lanes_unfinished": {"environment": {"COMMTASK_LANES": "2", "COMMTASK_FINALIZE_TIMEOUT_S": "1"},
                         "prints": [r"2 tasks unfinished on lane 0, abandoned by commtask_finalize",
                                    AGE + r"recv of 1 MPI_INT from rank 0, tag 70, .*; in flight",
                                    r"2 tasks unfinished on lane 1, abandoned by commtask_finalize",
                                    AGE + r"recv of 1 MPI_INT from rank 0, tag 71, .*; in flight",
                                    AGE + r"noop, .*; after a task of lane 0"]},
    "lanes_stats": {"environment": {"COMMTASK_LANES": "2", "COMMTASK_STATS": "1"},
                    "prints": [r"a line for each of their 2 lanes", r"\n +0\.0  sendrecv 3 ", r"\n +0\.1  sendrecv 5 ",
                               r"\n +all  sendrecv \d+ "]},
    "lanes_watchdog": {"environment": {"COMMTASK_LANES": "2", "COMMTASK_STALL_S": "0.3"},
                       "wait_for": [r"recv of 1 MPI_INT from rank 0, tag 70, .*; in flight",
                                    r"recv of 1 MPI_INT from rank 0, tag 71, .*; in flight"] * 2,
                       "never": [UNFINISHED]},
    "placement": {"match": distinct_or_shared},
    "placement.none": {"environment": {"COMMTASK_CORE": "none"}, "match": all_without},
    "placement.list": {"environment": {"COMMTASK_CORE": first_cpu}, "match": on_first_given, "cpus": 2},
    "placement.shared": {"environment": {"COMMTASK_IDLE": "shared"}, "match": all_without},
    "placement.reserved": {"environment": {"COMMTASK_IDLE": "reserved"}, "match": all_reserved, "cpus": 2},
    "placement.crowded": {"match": all_without, "bind_to_one": True, "once": r"commtask: rank 0: warning: .*core"},
}

for maker in ("refused", "refused_serialized", "prepared", "fortran"):
    EXPECTATIONS[f"failing_{maker}"] = {"exits": "nonzero", "never": [r"came to its end"], "prints": [REFUSED + "dest is"]}
    EXPECTATIONS[f"failing_{maker}_noinit"] = {"exits": "nonzero", "never": [r"came to its end"],
                                               "prints": [REFUSED + "commtask_init was not called"]}

# The ends of those with one lane, with two: what is given up is said by lane.
for name in ("finalize_waits_for_a_call", "finalize_leaves_a_call", "finalize_leaves_a_submitter", "finalize_retries",
             "finalize_late_signal", "finalize_window", "finalize_epoch", "forgotten_finalize", "finalize_half_ready",
             "finalize_leaves_plans", "peer_leaves_in_a_run"):
    with_one = EXPECTATIONS[name]
    EXPECTATIONS[name + ".lanes"] = {
        **with_one, "environment": {**with_one.get("environment", {}), "COMMTASK_LANES": "2"},
        "prints": [text.replace("unfinished, abandoned", "unfinished(?: on lane \\d)?, abandoned")
                   .replace("MPI_COMM_SELF; after await_notify", "MPI_COMM_SELF; after a task of lane 1")
                   for text in with_one.get("prints", [])]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--expect", required=True, choices=sorted(EXPECTATIONS))
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--preload", help="a library for the ranks to load before all others")
    parser.add_argument("--limit", type=float, default=50, help="seconds")
    parser.add_argument("command", nargs="+", help="-- launcher and its words, up to the rank count, and the program")
    arguments = parser.parse_args()
    expected = EXPECTATIONS[arguments.expect]
    if len(os.sched_getaffinity(0)) < expected.get("cpus", 1):
        print("needs more CPUs")
        return 77
    environment = dict(os.environ)
    for name, value in expected.get("environment", {}).items():
        environment[name] = value() if callable(value) else value
    if arguments.preload:
        environment["LD_PRELOAD"] = arguments.preload

    def bind():
        if expected.get("bind_to_one"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    begin = time.monotonic()
    process = subprocess.Popen(arguments.command + [arguments.expect.split(".")[0]], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env=environment, preexec_fn=bind)
    beside = expected.get("beside") and subprocess.Popen(
        arguments.command + [arguments.expect.split(".")[0]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=environment)
    timed_out = threading.Event()

    def end_it():
        timed_out.set()
        process.kill()
        if beside:
            beside.kill()

    timer = threading.Timer(arguments.limit, end_it)
    timer.start()
    missing = list(expected.get("wait_for", []))
    if not missing:
        process.stdin.close()
    printed = []
    for line in process.stdout:
        printed.append(line)
        if missing and re.search(missing[0], line):
            missing.pop(0)
            if not missing:
                process.stdin.write("go on\n")
                process.stdin.close()
    status = process.wait()
    status = status or (beside.wait() if beside else 0)
    timer.cancel()
    text = "".join(printed)

    faults = []
    if timed_out.is_set():
        faults.append(f"did not end within {arguments.limit:.0f} s")
    if status == 77:
        print(text + "cannot run here")
        return 77
    exits = expected.get("exits", "zero")
    if exits != "anyhow" and (status == 0) != (exits == "zero"):
        faults.append(f"exit status {status}, expected {exits}")
    # A rank that was killed leaves nothing either; what its MPI leaves is not ours.
    faults += [f"/dev/shm/{name} was left there" for name in os.listdir("/dev/shm") if "commtask" in name]
    if "CHECK FAILED" in text:
        faults.append("a check failed")
    faults += [f"printed nothing like '{pattern}' while it ran" for pattern in missing]
    faults += [f"nothing like '{p}'" for p in expected.get("prints", []) if not re.search(p, text)]
    faults += [f"'{p}' should not be there" for p in expected.get("never", []) if re.search(p, text)]
    if "once" in expected and len(re.findall(expected["once"], text)) != 1:
        faults.append(f"'{expected['once']}' should be there once")
    if "match" in expected and not expected["match"](sorted(re.findall(WORKER, text)), arguments.ranks):
        faults.append("the workers are not where the settings want them")
    print(text)
    print(f"{time.monotonic() - begin:.1f} s")
    for fault in faults:
        print("FAULT:", fault)
    return 1 if faults else 0


sys.exit(main())
