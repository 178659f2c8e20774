#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Runs exchange.c with COMMTASK_TRACE and reads what it left. Each expectation is a function of the run that was read and of
# what was printed; a trace must say what the program did, however the program ended.
"""usage: trace_test.py --expect NAME --reader FOLDER [--ranks N] -- LAUNCHER... PROGRAM"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

N_ROUNDS = 10
N_MESSAGES = 2 * N_ROUNDS + 2 + 1  # of a rank
AHEAD_S = 1000
NOTHING, ISSUE, POLL, IDLE, NAP, ASLEEP, DRIVEN, CALLBACK = range(8)  # docs/trace-format.md
DRIVES = (ISSUE, POLL, CALLBACK)
IN_FLIGHT = 4
EVERY_LANE = 255
NODE = 4  # model of a compute task
N_MANY = 20000
CANNOT_RUN = 77


class Failed(Exception):
    """What is not as it should be."""


def demand(holds, what):
    if not holds:
        raise Failed(what)


def tasks_of(trace, operation):
    return [task for task in trace.tasks.values() if task.operation == operation]


def check_messages(run, n_ranks):
    """Two exchanges, two chains, and a sendrecv: all found on both ranks, in their order."""
    demand(len(run.messages) == n_ranks * N_MESSAGES, f"{len(run.messages)} messages instead of {n_ranks * N_MESSAGES}")
    demand(len({message.id for message in run.messages}) == len(run.messages), "two messages have one identifier")
    for message in run.messages:
        for task, given in ((message.send, 4), (message.receive, 0)):
            expected = (8, 4) if task.operation == "sendrecv" else (4, given)
            demand((task.bytes, task.given) == expected, f"{task.bytes} and {task.given} bytes of {task}")
        demand(message.send.issued <= message.receive.ended, f"received before it was sent: {message}")
    named = {message.key[0][1] for message in run.messages}
    demand(named == {"MPI_COMM_WORLD", "the second one"}, f"communicators {named}")


def check_lives(run):
    for trace in run.ranks:
        for task in trace.tasks.values():
            demand(task.posted is not None, f"{task} was never posted")
            times = [task.posted, *(step.time for step in task.steps)]
            demand(times == sorted(times), f"the steps of {task} are not in order")
            walked = [step.phase for step in task.steps]
            demand([step.before for step in task.steps] == [0, *walked[:-1]], f"{task} jumps")


def check_dependences(run):
    for trace in run.ranks:
        forwarded = next(task for task in tasks_of(trace, "send") if task.tag == 51)
        received = next(task for task in tasks_of(trace, "recv") if task.tag == 50)
        demand(forwarded.after == [received.id], f"{forwarded} waits for {received}")
        demand(forwarded.issued >= received.ended, "a successor started before its predecessor had ended")
        sent = next(task for task in tasks_of(trace, "send") if task.tag == 50)
        demand(len(sent.after) == 1 and sent.after[0] in trace.events, "the event was signaled")
        demand(trace.events[sent.after[0]][0] <= sent.issued, "a successor started before its event")


def check_threads(run):
    for trace in run.ranks:
        worker = trace.worker()
        demand(worker is not None and worker.name == "commtask" and worker.states, "the worker is there, and says what it does")
        programs = [thread for thread in trace.threads.values() if thread.number and not thread.is_worker]
        waits = [wait for thread in programs for wait in thread.waits]
        demand(any(wait.id in trace.tasks and wait.end is not None for wait in waits), "a wait knows its task")
        # A worker with a core of its own does all; one that shares leaves the start to who posts.
        issuers = {step.thread for task in trace.tasks.values() for step in task.steps if step.phase == IN_FLIGHT}
        said = {state for _, _, state in worker.states}
        demand(worker.states[-1][2] == NOTHING and len(said) > 1, f"the worker's states {worker.states}")
        if trace.worker_is_reserved:
            demand(issuers == {worker.number} and {ISSUE, POLL, IDLE} <= said, f"issued by {issuers}; the worker's states {said}")
        else:
            demand(any(thread.number in issuers for thread in programs), f"issued by {issuers}, not by who posts")


def check_drivers(run):
    """Whoever moves a task is the worker of its lane or the program's one thread, and says at that moment that it drives; the
    program's thread need not in what it posts or signals, where it does so for a moment."""
    for trace in run.ranks:
        waits = [wait for thread in trace.threads.values() for wait in thread.waits]
        for task in trace.tasks.values():
            for step in task.steps:
                thread = trace.threads[step.thread]
                demand(thread is trace.worker(task.lane) or thread.number == task.submitter, f"{thread.name} moved {task}")
                said = [state for time, lane, state in thread.states if lane in (task.lane, EVERY_LANE) and time <= step.time]
                may_be_silent = not thread.is_worker and not any(wait.begin <= step.time <= wait.end for wait in waits)
                demand(said and said[-1] in DRIVES or may_be_silent, f"{thread.name} moved {task} at {step.time} and said {said[-1:]} before")


def lanes(run, output, n_ranks):
    """The second communicator is the second lane's; each lane has a worker, which serves that lane alone."""
    check_lives(run)
    check_messages(run, n_ranks)
    check_drivers(run)
    for trace in run.ranks:
        names = {communicator.number: communicator.name for communicator in trace.communicators.values()}
        places = {(names[task.communicator], task.lane) for task in trace.tasks.values()}
        demand(places == {("MPI_COMM_WORLD", 0), ("the second one", 1)}, f"tasks of {places}")
        demand(trace.n_lanes == 2, f"{trace.n_lanes} lanes")
        for lane in (0, 1):
            demand({served for _, served, _ in trace.worker(lane).states} == {lane}, f"states of the worker of lane {lane}")


def whole(run, output, n_ranks):
    check_lives(run)
    check_drivers(run)
    check_messages(run, n_ranks)
    check_threads(run)
    if n_ranks > 1:
        check_dependences(run)
    for trace in run.ranks:
        demand(trace.state == 1 and trace.end is not None and trace.n_dropped == 0, "it says that it is whole")
        demand(all(task.end == 1 for task in trace.tasks.values()), "every task has completed")
        demand(set(trace.clocks) == {0, 1}, "the clocks were compared twice")
        # All ranks are on this machine: what was measured must not contradict that.
        for _, offset, error in trace.clocks.values():
            demand(abs(offset) <= error, f"a clock of the same machine is {offset} ns away, {error} ns at most")
    demand(not run.remarks, f"remarks {run.remarks}")


def spawns(run, output, n_ranks):
    """One process more than there are ranks was started, with their settings: none replaces a file, or leaves one of its own."""
    refused = re.findall(r"rank \d refused: ", output)
    demand(len(refused) == n_ranks + 1 and "is the trace of a running process" in output, output)
    whole(run, output, n_ranks)


def two_clocks(run, output, n_ranks):
    """Rank 1 has another clock: the report says how well it knows that one, and with that no message comes before it was sent."""
    import load  # noqa: PLC0415: where it lies is an argument
    import summary  # noqa: PLC0415

    first, second = run.ranks
    demand(first.clock_domain != second.clock_domain, f"the clocks of {first.path} and {second.path} are told apart")
    for _, offset, error in second.clocks.values():
        demand(abs(offset + AHEAD_S * 10**9) < 10**9 > error, f"rank 1's clock is {-offset} ns ahead, but for {error} ns")
    demand(0 < run.clock_error < 10**9 and not run.clocks_may_drift, f"the clocks agree within {run.clock_error} ns")
    said = summary.Summary(load.loaded(run)).clocks()
    demand(re.fullmatch(r"clocks agree within \d[\d.]* (ns|us|ms)", said), said)
    demand(len(run.messages) == n_ranks * N_MESSAGES, f"{len(run.messages)} messages")
    for message in run.messages:
        demand(message.send.issued <= message.receive.ended + run.clock_error, f"received before it was sent: {message}")


def cut(run, output, n_ranks):
    """The process ended without a word; everything up to there can be read."""
    check_lives(run)
    check_messages(run, n_ranks)
    barriers = [task for trace in run.ranks for task in trace.tasks.values() if task.operation == "barrier"]
    demand(len(barriers) == n_ranks and any(task.end for task in barriers), "each rank posts a barrier, and somebody came out of it")
    for trace in run.ranks:
        demand(trace.state == 0, "nobody closed it")
        # The launcher ends the other ranks when it sees one gone, so these may still be in the barrier.
        open_ones = [task for task in trace.tasks.values() if not task.end and task not in barriers]
        sizes = {task.tag: task.bytes for task in open_ones}
        demand(sizes == {98: 1 << 20, 99: None}, f"a large send, whose size is known, and a receive that nobody answers are open, not {sizes}")
    demand(any("did not come to the end" in remark for remark in run.remarks), f"remarks {run.remarks}")


def given_up(run, output, n_ranks):
    check_messages(run, n_ranks)
    for trace in run.ranks:
        demand(trace.state == 2, "tasks were given up")
        demand([task.tag for task in trace.tasks.values() if task.end == 5] == [99], "the receive was given up")
        demand(set(trace.clocks) == {0}, "no rank talks to another after a give-up")


def oldest(run, output, n_ranks):
    check_messages(run, n_ranks)
    for trace in run.ranks:
        demand(trace.n_dropped > 0, "there was no room")
        demand(trace.path.stat().st_size <= 1 << 20, "the file keeps to its bound")
        demand(f"rank {trace.rank}: warning: the trace has no space for {trace.n_dropped} records" in output, "that is said")


def newest(run, output, n_ranks):
    demand(len(run.messages) == n_ranks * N_ROUNDS, f"{len(run.messages)} messages: those of the last exchange are counted from the end")
    for message in run.messages:
        demand(message.key[-1] < 0 and message.key[0][1] == "the second one", f"{message.key}")
        demand(message.send.issued <= message.receive.ended, f"received before it was sent: {message}")
    for trace in run.ranks:
        demand(trace.n_dropped > 0, "there was no room")
        demand(trace.tasks[max(trace.tasks)].end == 1 and max(trace.tasks) & 0xffffffff > N_MANY, "the last task is there")
        demand(not tasks_of(trace, "allreduce"), "the first ones are not")
        demand(f"rank {trace.rank}: warning: the trace has no space for {trace.n_dropped} records, the first ones of its threads" in output, output)


def openmp(run, output, n_ranks):
    check_openmp_tasks(run)
    for trace in run.ranks:
        regions = {span.name for thread in trace.threads.values() for span in thread.regions}
        demand({"parallel region", "barrier"} <= regions, f"regions {regions}")


def check_openmp_tasks(run):
    """omp_tasks.cpp: who posted what, and which task waited for which."""
    for trace in run.ranks:
        computes = trace.computes
        received = [task for task in tasks_of(trace, "recv") if task.compute and task.tag < N_ROUNDS]
        demand(len(received) == N_ROUNDS, f"{len(received)} receives were posted in a task of OpenMP's")
        for task in received:
            posting = computes[task.compute]
            demand(posting.name == "recv, posted" and posting.fulfilled >= task.ended, f"{posting} of {task}")
            waiting = [each for each in computes.values() if posting.id in dict(each.after)]
            demand(len(waiting) == 1 and waiting[0].name.startswith("task "), f"{waiting} wait for {posting}")
            slices = [span for thread in trace.threads.values() for span in thread.computes if span.id == waiting[0].id]
            demand(slices and slices[0].begin >= posting.fulfilled and slices[-1].how == 0, f"{slices}")
        for thread in trace.threads.values():
            spans = [span for span in thread.computes if span.end is not None]
            demand(all(before.end <= after.begin for before, after in zip(spans, spans[1:])), "slices of a thread overlap")


def without_openmp(run, output, n_ranks):
    demand(not any(trace.computes for trace in run.ranks), "no tool, no tasks")
    demand("the trace has no OpenMP tasks" in output, output)


def beside_a_tool(run, output, n_ranks):
    demand(output.count("another tool was taken") == n_ranks, output)
    openmp(run, output, n_ranks)


def beside_archer(run, output, n_ranks):
    """It keeps its own data of a task where the trace would."""
    demand(output.count("Archer detected OpenMP application with TSan") == n_ranks, output)
    check_openmp_tasks(run)


def openmp_checked(run, output, n_ranks):
    demand("Archer" not in output, output)
    openmp(run, output, n_ranks)


def archer_shut_out(run, output, n_ranks):
    demand(output.count("COMMTASK_OMP_CHECK=1 takes the place of Archer") == n_ranks, output)
    demand("Archer detected" not in output, output)
    check_openmp_tasks(run)


def archer_not_shut_out(run, output, n_ranks):
    """Where libomp would have taken another tool, or Archer none of its own accord, there is nothing to warn of."""
    demand("Archer" not in output and "another tool was taken" not in output, output)
    check_openmp_tasks(run)


def states(run, output, n_ranks):
    """states.cpp: each pause of the worker is there while what it is for went on."""
    check_lives(run)
    for trace in run.ranks:
        received, = tasks_of(trace, "recv")
        main, = (thread for thread in trace.threads.values() if thread.waits)
        first_wait, last_wait = main.waits[0].begin, max(wait.end for wait in main.waits)
        pauses = trace.worker().states
        napped = [time for time, _, state in pauses if state == NAP and received.issued <= time < first_wait]
        left = [time for time, _, state in pauses if state == DRIVEN and any(wait.begin <= time <= wait.end for wait in main.waits)
                and [said for when, _, said in main.states if when <= time][-1:] == [POLL]]
        slept = [time for time, _, state in pauses if state == ASLEEP and time >= max(last_wait, received.ended)]
        demand(napped and left and slept, f"{len(napped)} naps, left to who waits {len(left)} times, asleep {len(slept)} times: {pauses}")


def unmodified(run, output, n_ranks):
    """plain.c under commtask-run: its calls, and all of its messages, whether they were tasks or over at once."""
    demand(len(run.messages) == n_ranks * 20, f"{len(run.messages)} messages")
    for trace in run.ranks:
        calls = [span for thread in trace.threads.values() for span in thread.regions if span.sub == 1]
        names = {span.name for span in calls}
        demand({"MPI_Irecv", "MPI_Waitall", "MPI_Sendrecv", "MPI_Allreduce"} <= names, f"calls {names}")
        demand(all(span.end is None or span.begin <= span.end for span in calls), "a call ends before it begins")
        demand(all(task.flags & 1 for task in tasks_of(trace, "sendrecv")), "the interposer made them")
    check_lives(run)


def onetbb(run, output, n_ranks):
    """tbb_nodes.cpp: bodies with a name, what they posted, and what let the thread of the others go on."""
    check_bodies_behind_nodes(run)
    for trace in run.ranks:
        named = [each for each in trace.computes.values() if each.name == "add up" and each.model == 2]
        demand(len(named) == N_ROUNDS, f"{len(named)} bodies")
        posted = [task for task in trace.tasks.values() if task.compute]
        demand(len(posted) == 2 * N_ROUNDS and {task.compute for task in posted} == {each.id for each in named}, "bodies post")
        demand(any(span.name == "in a oneTBB arena" for thread in trace.threads.values() for span in thread.regions), "an arena")


def check_bodies_behind_nodes(run):
    """Each node hands on what has come because of its task, and the thread of the body behind it went on because of that."""
    import load  # noqa: PLC0415: where it lies is an argument

    let_go_on = {rank.rank: sorted(task.decisive.number for task in rank.tasks for unblock in task.unblocks if unblock.what == "compute")
                 for rank in load.loaded(run).ranks}
    for trace in run.ranks:
        nodes = [each for each in trace.computes.values() if each.model == NODE]
        begin_of = {}
        for thread in trace.threads.values():
            for span in thread.computes:
                begin_of[span.id] = min(span.begin, begin_of.get(span.id, span.begin))
        all_received = []
        for name, body, tag in (("recv_node", "behind a node", N_ROUNDS), ("plan_node", "behind a member", N_ROUNDS + 1)):
            received = sorted((task for task in tasks_of(trace, "recv") if task.tag == tag), key=lambda task: task.ended)
            begins = sorted(begin_of[each.id] for each in trace.computes.values() if each.name == body)
            demand(len(received) == len(begins) == N_ROUNDS, f"{len(received)} receives, {len(begins)} bodies {body}")
            for task, begin in zip(received, begins):
                mine = [each for each in nodes if task.id in dict(each.after)]
                demand([each.name for each in mine] == [name], f"{task} was handed on by {mine}")
                demand(task.ended <= begin_of[mine[0].id] <= begin, f"{task}, {mine[0]} at {begin_of[mine[0].id]}, {body} at {begin}")
            all_received += received
        numbers = sorted(f"{task.submitter}.{task.id & 0xffffffffffff}" for task in all_received)
        demand(let_go_on[trace.rank] == numbers, f"bodies went on because of {let_go_on[trace.rank]}, not {numbers}")


def suspended(run, output, n_ranks):
    """tbb_waits.cpp: a body pauses where it waits and goes on once its message has come, on whatever thread that is."""
    for trace in run.ranks:
        slices = {}
        for thread in trace.threads.values():
            for before, after in zip(thread.computes, thread.computes[1:]):
                demand(before.end is not None and before.end <= after.begin, f"slices of {thread.name} overlap: {before}, {after}")
            for span in thread.computes:
                slices.setdefault(span.id, []).append(span)
        receiving = [each for each in trace.computes.values() if each.name == "receive"]
        demand(len(receiving) == N_ROUNDS, f"{len(receiving)} bodies receive")
        paused = 0
        for body in receiving:
            mine = sorted(slices[body.id], key=lambda span: span.begin)
            demand([span.how for span in mine] == [1] * (len(mine) - 1) + [0], f"slices of {body}: {mine}")
            if len(mine) == 1:
                continue
            paused += 1
            awaited = trace.tasks[body.after[0][0]]
            demand(len(mine) == 2 and awaited.compute == body.id and awaited.operation == "recv", f"{body} waits for {awaited}")
            demand(mine[0].begin <= body.after[0][1] <= mine[0].end and awaited.ended <= mine[1].begin, f"{mine}, {awaited}")
        demand(paused > 0, "no body was suspended")


EXPECTATIONS = {
    "onetbb": ([], {}, onetbb),
    "suspended": ([], {}, suspended),
    "unmodified": ([], {}, unmodified),
    "openmp": ([], {"OMP_NUM_THREADS": "2"}, openmp),
    "openmp_checked": ([], {"OMP_NUM_THREADS": "2", "COMMTASK_OMP_CHECK": "1"}, openmp_checked),
    "without_openmp": ([], {"OMP_NUM_THREADS": "2", "OMP_TOOL": "disabled"}, without_openmp),
    "beside_a_tool": ([], {"OMP_NUM_THREADS": "2"}, beside_a_tool),
    "beside_archer": ([], {"OMP_NUM_THREADS": "1", "ARCHER_OPTIONS": "verbose=1"}, beside_archer),
    "archer_shut_out": ([], {"OMP_NUM_THREADS": "1", "ARCHER_OPTIONS": "verbose=1", "COMMTASK_OMP_CHECK": "1"}, archer_shut_out),
    "archer_not_taken": ([], {"OMP_NUM_THREADS": "1", "ARCHER_OPTIONS": "verbose=1", "COMMTASK_OMP_CHECK": "1"}, archer_not_shut_out),
    "archer_off": ([], {"OMP_NUM_THREADS": "1", "ARCHER_OPTIONS": "verbose=1 enable=0", "COMMTASK_OMP_CHECK": "1"}, archer_not_shut_out),
    "states": ([], {"COMMTASK_IDLE": "shared"}, states),
    "whole": ([], {}, whole),
    "lanes": ([], {"COMMTASK_LANES": "2"}, lanes),
    "spawns": (["spawn"], {}, spawns),
    "two_clocks": ([], {}, two_clocks),
    "exits": (["_exit"], {}, cut),
    "killed": (["kill"], {}, cut),
    "gives_up": (["give_up"], {"COMMTASK_FINALIZE_TIMEOUT_S": "1"}, given_up),
    "keeps_oldest": (["finish", str(N_MANY)], {"COMMTASK_TRACE_MB": "1"}, oldest),
    "keeps_newest": (["finish", str(N_MANY)], {"COMMTASK_TRACE_MB": "1", "COMMTASK_TRACE_KEEP": "newest"}, newest),
}


#: Rank 1 of MPICH's launcher, or Open MPI's, is ahead.
AHEAD = f'''if [ "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" = 1 ]; then exec unshare --time --fork --monotonic {AHEAD_S} "$0" "$@"; fi
exec "$0" "$@"'''


def why_not_ahead():
    try:
        tried = subprocess.run(["unshare", "--time", "--monotonic", "1", "true"], capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return tried.stderr


def run_program(command, folder, settings):
    environment = {**os.environ, "COMMTASK_TRACE": str(folder), **settings}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def expect_refusal(command, folder, n_ranks):
    """All ranks refuse, and one says why."""
    blocker = folder / "file"
    blocker.write_text("")
    code, output = run_program(command, blocker / "traces", {})
    demand(code != 0 and output.count("refused: ") >= n_ranks, output)
    demand(output.count("COMMTASK_TRACE=") >= 1 and "folder cannot be created (Not a directory)" in output, output)
    return 0


def expect_left_alone(command, folder, read_run, n_ranks):
    """A second job into a folder that a running one writes to is refused, and what the first wrote is whole."""
    environment = {**os.environ, "COMMTASK_TRACE": str(folder)}
    with subprocess.Popen([*command, "stay"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        said = first.stdout.readline()
        code, output = run_program(command, folder, {})
        first.communicate("\n")
    demand(said == "running\n" and first.returncode == 0, f"{said} {first.returncode}")
    demand(code != 0 and output.count("refused: ") >= n_ranks and "is the trace of a running process" in output, output)
    run = read_run([folder])
    demand([each.state for each in run.ranks] == [1] * n_ranks, f"{run.remarks}")
    number = run.ranks[0].run
    code, output = run_program(command, folder, {})
    demand(code == 0 and read_run([folder]).ranks[0].run != number, f"what a job that is over wrote is replaced: {output}")
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--expect", required=True, choices=[*EXPECTATIONS, "refusal", "left_alone"])
    parser.add_argument("--reader", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--tool", help="a tool of OpenMP's")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    sys.path.insert(0, options.reader)
    import trace_run  # noqa: PLC0415: where it lies is an argument

    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        if options.expect == "refusal":
            return expect_refusal(options.command, folder, options.ranks)
        if options.expect == "left_alone":
            return expect_left_alone(options.command, folder, trace_run.read_run, options.ranks)
        arguments, settings, expectation = EXPECTATIONS[options.expect]
        if options.expect == "two_clocks":
            if why_not := why_not_ahead():
                print(f"no process can be given a clock of its own here: {why_not}")
                return CANNOT_RUN
            options.command[-1:-1] = ["sh", "-c", AHEAD]
        if options.tool and not os.path.exists(options.tool):
            print(f"the tool is not there: {options.tool}")
            return CANNOT_RUN
        if options.tool:
            settings = {**settings, "OMP_TOOL_LIBRARIES": options.tool}
        code, output = run_program([*options.command, *arguments], folder / "made" / "here", settings)
        if code == CANNOT_RUN:
            print("this MPI starts no processes")
            return CANNOT_RUN
        # Launchers differ in what they make of a rank that leaves without MPI_Finalize.
        demand(code == 0 or options.expect in ("killed", "exits"), output)
        run = trace_run.read_run([folder / "made" / "here"])
        demand(len(run.ranks) == options.ranks, f"{len(run.ranks)} ranks: {output}")
        expectation(run, output, options.ranks)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"trace_test: {failure}")
