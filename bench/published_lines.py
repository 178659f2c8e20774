# SPDX-License-Identifier: Apache-2.0
# What the tables of README and the pages say in words, and which row of which stored result each line has; the figures come from
# there (published.py). A page that shows a result by hand would go on saying it when the result has changed.
"""The lines of published tables."""

import dataclasses

from schedules import SCHEDULES


@dataclasses.dataclass(frozen=True)
class Line:
    """`of`: median, p99, ratio, difference, or inverse, one over the ratio; `setting` is for parts with several. A part of another
    machine than most has its folder before it."""

    text: str
    part: str
    row: str
    of: str = "ratio"
    setting: str = ""


README = (
    Line("A thread posts a message of 8 B, in bursts of eight; the goal is a quarter of a cache line's way there and back. One rank.", "post",
         "post 8 B", "median"),
    Line("An empty task is posted and waited for; the goal is 1.7 such ways. One rank.", "roundtrip", "empty task", "median"),
    Line("Messages a second by tasks over MPI alone, 64 outstanding. One rank.", "rate", "messages by tasks, 64 outstanding"),
    Line("The start of a plan of 16 messages over one post. One rank.", "replay", "start of a plan of 16"),
    Line("Eight messages of one held task over eight communication tasks: creating them. One rank.", "hold", "create, team of 1: one held task"),
    Line("From a message's completion to the first instruction of the OpenMP task that depends on it. One rank.", "unblock", "commtask", "median"),
    Line("The same: 99 of 100 are within", "unblock", "commtask", "p99"),
    Line("From a message's completion to the first instruction of the oneTBB node behind it. One rank.", "tbb", "successor of recv_node", "median"),
    Line("The same: 99 of 100 are within", "tbb", "successor of recv_node", "p99"),
    Line("An exchange of sixteen messages by a plan over `MPI_Startall` with nothing to compute. Two ranks that share their cores with their workers.",
         "patterns", "QCD 2^4, plan, all, beside MPI_Startall"),
    Line("The same by a plan among OpenMP tasks over a task for each message.", "patterns", "QCD 2^4, OpenMP plan, all"),
    Line("Speed of Dslash `offload` over `baseline`. Two ranks on two cores: the worker shares one with computing.", "dslash-crowded",
         "offload 16.16.16.32 double"),
    Line("The same of `omp`.", "dslash-crowded", "omp 16.16.16.32 double"),
    Line("The same of `omp` on the small lattice, 8.8.8.16.", "dslash-crowded", "omp 8.8.8.16 double"),
    Line("The same of `offload`. A slow wire with TCP between the ranks.", "dslash-delayed", "offload 16.16.16.32 double"),
    Line("The same of `omp`. That wire; TCP takes the processor time that overlap would win.", "dslash-delayed", "omp 16.16.16.32 double"),
    Line("The same of `offload`. A slow network with rendezvous that takes no processor time.", "dslash-rendezvous", "offload 16.16.16.32 double"),
    Line("The same of `omp`. That network.", "dslash-rendezvous", "omp 16.16.16.32 double"),
    Line("Speed of multigrid with two lanes over one, small messages. Links that inject one message per 100 µs and communicator, "
         "of which a lane has one; [the control](docs/multigrid.md#lanes) is two of one lane.", "multigrid-link",
         "omp, 2 lanes: 64 boxes, faces"),
    Line("Time of an FFT of 2^21 points over FFTW-MPI's. Two ranks.", "fft-crowded", "SOI p2p 2^21"),
    Line("Speed of that FFT over what perfect overlap would give. A slow network that takes no processor time.", "fft-link",
         "offload soi, T_net = 1 T_comp"),
    Line("`commtask-run`: time in `Isend` of 8 KiB over native. Computing leaves the core.", "offload-crowded", "Isend of 8192 B, commtask-run", "inverse",
         "free"),
    Line("`commtask-run`: what an exchange of 4 MiB takes beyond its computing. Computing leaves the core.", "offload-crowded",
         "exposed of 4194304 B, commtask-run", "median", "free"),
    Line("The same of native MPI over it.", "offload-crowded", "exposed of 4194304 B, commtask-run", "ratio", "free"),
    Line("`commtask-run`: blocking round trip of 8 B over native. Computing leaves the core.", "offload-crowded", "round trip of 8 B, commtask-run",
         "inverse", "free"),
    Line("`commtask-run`: speed of a FUNNELED program over native. The worker has a core.", "offload-crowded",
         "dslash baseline, 1 ranks, commtask-run", "ratio", "crowded"),
    Line("An accumulate of 8 B to a rank that computes, over one by MPI alone to a rank that waits.", "rma",
         "accumulate of 8 B, Win_create: target computes, tasks"),
    Line("`COMMTASK_TRACE`: one event.", "trace", "event, trace", "median"),
    Line("Speed of Dslash `offload` with a trace over without, 8.8.8.16, one rank with a core for each thread.", "trace", "offload 8.8.8.16, trace"),
)
INTERPOSER = (
    *(Line(f"`Isend` of {size}, time over native. Two ranks with a core each that their workers share.", "offload-crowded",
           f"Isend of {n_bytes} B, commtask-run", "inverse", "free") for size, n_bytes in (("8 B", 8), ("8 KiB", 8192), ("64 KiB", 65536))),
    Line("`Isend` of 4 MiB, the same; the goal is native's and 2 µs.", "offload-crowded", "Isend of 4194304 B, commtask-run", "median", "free"),
    *(Line(f"{call} of 4 MiB over 8 B, time of the call. One rank and its worker on a core each.", "offload-crowded",
           f"{call} of 4194304 B, commtask-run, again", "inverse", "own cores") for call in ("Isend", "Irecv", "Ibcast", "Iallreduce", "Ialltoall")),
    *(Line(f"What an exchange of {size} takes beyond its computing, which leaves the core: native over `commtask-run`.", "offload-crowded",
           f"exposed of {n_bytes} B, commtask-run", "ratio", "free") for size, n_bytes in (("64 KiB", 65536), ("512 KiB", 524288), ("4 MiB", 4194304))),
    Line("The same of 4 MiB under `commtask-run`.", "offload-crowded", "exposed of 4194304 B, commtask-run", "median", "free"),
    *(Line(f"Blocking round trip of {size}, time over native.", "offload-crowded", f"round trip of {n_bytes} B, commtask-run", "inverse", "free")
      for size, n_bytes in (("8 B", 8), ("8 KiB", 8192), ("256 KiB", 262144))),
    Line("Speed of a FUNNELED miniapp over native. The worker has a core.", "offload-crowded", "dslash baseline, 1 ranks, commtask-run", "ratio",
         "crowded"),
)
TBB = tuple(Line(f"{what}{words}", "tbb", row, of) for what, row in (
    ("From MPI's completion to the first instruction of the node behind a `recv_node`", "successor of recv_node"),
    ("From MPI's completion to the first instruction of a task behind `wait()`", "task behind wait()"))
    for of, words in (("median", "."), ("p99", ": 99 of 100 are within")))
HOLD = (
    *(Line(f"{what}, over eight `COMM_TASK`s. Team of {team}.", "hold", f"{row}, team of {team}: one held task")
      for row, what in (("create", "One held task with eight messages: creating it"), ("burst", "The same with the wait for it")) for team in (1, 2)),
    Line("From MPI's message to the task that depends on it, over that of a `COMM_TASK`. Team of 1.", "hold", "unblock: held task"),
    *(Line(f"What a task that starts nothing costs more when tasks are bound{words}. Team of {team}.", "hold", f"empty task{row}, team of {team}, bound",
           "difference") for row, words in (("", ""), (" with a dependence", ", with a dependence")) for team in (1, 2)),
    Line("The same with a dependence in a team of 1 that has had a detached task, as a program with communication tasks has.", "hold",
         "empty task with a dependence, after a detached one, team of 1, bound", "difference"),
)
ONE_SIDED = (
    *(Line(f"An accumulate of {size} with its flush to a rank that sleeps, over one by MPI alone to a rank that waits.", "rma",
           f"accumulate of {n_bytes} B, Win_create: target computes, tasks") for size, n_bytes in (("8 B", 8), ("64 KiB", 65536), ("512 KiB", 524288))),
    *(Line(f"A put of {size} with its notification, over a message.", "rma", f"put_notify of {n_bytes} B, tasks")
      for size, n_bytes in (("8 B", 8), ("1 KiB", 1024), ("64 KiB", 65536))),
)
PLANS = (
    *(Line(f"One rank: start of a plan of {n} over one post{words}.", "replay", f"start of a plan of {n}{row}")
      for row, words in (("", ""), (" beside a run of 64", ", while the worker has a run of 64")) for n in (1, 16, 64)),
    *(Line(f"One rank: post of a multicast to {n} ranks over one to one rank.", "replay", f"one multicast to {n}") for n in (16, 64)),
    *(Line(f"Two ranks: exchange of {n}^4 sites{words}, {plan} over `MPI_Startall`.", "patterns", f"QCD {n}^4{behind}, {plan}, all, beside MPI_Startall")
      for plan in ("plan", "OpenMP plan") for behind, words in (("", ""), (" behind 200 us", " behind 200 µs of something else")) for n in (2, 4, 8)),
    *(Line(f"{ranks} ranks: exchange of 2^4 sites, OpenMP plan over an OpenMP task for each message.", part, "QCD 2^4, OpenMP plan, all")
      for ranks, part in (("Two", "patterns"), ("Four", "patterns-n4"))),
)
NODE = (
    *(Line(f"Workers' processor time for messages of 16 KiB to 4 MiB with bells, over that of naps. {n} ranks.", "node",
           f"workers' processor time, messages, {n} ranks, bell", "inverse", f"{n} ranks") for n in (2, 4, 8)),
    *(Line(f"The same of 64 KiB to 1 MiB over emulated links, with a watcher. {n} ranks.", "node",
           f"workers' processor time, large, {n} ranks, links, watcher", "inverse", f"{n} ranks") for n in (4, 8)),
    *(Line(f"Overlap of messages of 4 MiB with bells, the {who} early. {n} ranks.", "node", f"exposed {who} early, 4 MiB, {n} ranks, bell", "ratio",
           f"{n} ranks") for n in (2, 4, 8) for who in ("receiver", "sender")),
    *(Line(f"The same of 1 MiB over emulated links, with a watcher, the {who} early. 8 ranks.", "node",
           f"exposed {who} early, 1 MiB, 8 ranks, links, watcher", "ratio", "8 ranks") for who in ("receiver", "sender")),
    *(Line(f"The same where the watcher's worker has a core, {size}, the {who} early. 8 ranks.", "node",
           f"exposed {who} early, {size}, 8 ranks, links, watcher with a core", "ratio", "8 ranks, a core to spare")
      for size in ("256 KiB", "1 MiB") for who in ("receiver", "sender")),
    *(Line(f"Workers' processor time for these messages, the watcher's with it, over that of naps. {n} ranks.", "node",
           f"workers' processor time, large, {n} ranks, links, watcher with a core", "inverse", f"{n} ranks, a core to spare") for n in (4, 8)),
    *(Line(f"Messages over these links of which no wake-up was for nothing, the watcher's worker with a core. {n} ranks.", "node", f"for nothing per message, large, {n} ranks, links, watcher with a core",
           "ratio", f"{n} ranks, a core to spare") for n in (4, 8)),
    *(Line(f"Messages of which no wake-up was for nothing, of all. {n} ranks.", "node", f"for nothing per message, messages, {n} ranks, bell", "ratio",
           f"{n} ranks") for n in (2, 4, 8)),
    *(Line(f"Speed of messages of {size} to and fro, with bells over naps. 2 ranks.", "node", f"way of a message, {size}, 2 ranks, bell", "ratio", "2 ranks")
      for size in ("8 B", "1 KiB", "8 KiB")),
    Line("Speed of a sweep over links with a watcher, over native. 4 ranks.", "node", "sweep, 256 KiB, 4 ranks, links, watcher", "ratio", "4 ranks"),
    *(Line(f"Collectives of which no wake-up was for nothing, `MPI_{name.capitalize()}` by MPICH's `{one}`. 4 ranks.", "schedules",
           f"for nothing per collective of a rank, {name}, 4 ranks, by {one}, bell", "ratio", f"{name}, 4 ranks")
      for name, all_of in SCHEDULES.items() for one in all_of),
)
FFT = (
    *(Line(f"Time of `p2p` over FFTW-MPI's, 2^{n} points. Two ranks.", "fft-crowded", f"SOI p2p 2^{n}", "ratio", "crowded") for n in range(20, 25)),
    *(Line(f"Convolution of the FMA peak, window `{window}`, S = {s}. One rank.", "fft-crowded", f"convolution {window}, S = {s}", "median", "one rank")
      for window, s in (("full", 16), ("full", 32), ("full", 128), ("fat", 16), ("thin", 16))),
    Line("Everything before the exchange over its two kernels. One rank.", "fft-crowded", "everything before the exchange, S = 16", "median", "one rank"),
    Line("Demodulation of STREAM's triad. One rank.", "fft-crowded", "demodulation of 2^21 bins", "median", "one rank"),
    Line("Tables for 2^24 points on two ranks.", "fft-crowded", "tables of N = 2^24 on 2 ranks", "median", "one rank"),
    *(Line(f"Time of `{mode}` over `serial`, 2^20 points. One rank.", "fft-crowded", f"SOI {mode} against serial 2^20", "ratio", "one rank")
      for mode in ("omp", "tbb")),
    *(Line(f"Time of `{mode}` over `serial`, 2^{n} points. Two ranks on two cores.", "fft-crowded", f"SOI {mode} against serial 2^{n}", "ratio", "crowded")
      for mode in ("omp", "tbb") for n in (20, 22, 24)),
    *(Line(f"One post of `offload`, 2^{n} points.", "fft-crowded", f"one post, offload 2^{n}", "median", "crowded") for n in (20, 24)),
    *(Line(f"Speed of `{mode}` over the model's, T_net = {t} T_comp. Links that take no processor time.", "fft-link",
           f"{mode} soi, T_net = {t} T_comp") for t in (0.5, 1, 2) for mode in ("offload", "omp", "tbb")),
    *(Line(f"Speed of `{mode}` over `seg`'s, T_net = T_comp. The same links.", "fft-link", f"{mode} against seg, T_net = 1 T_comp")
      for mode in ("offload", "omp", "tbb")),
    *(Line(f"Speed of `{mode}` over the model's, T_net = T_comp. The wire, whose TCP takes processor time.", "fft-delayed",
           f"{mode} soi, T_net = 1 T_comp") for mode in ("offload", "omp", "tbb")),
)
LANES = (
    *(Line(f"Links of one message per 300 µs and context: messages of 8 B a second on {n} lanes over one.", "lanes",
           f"{n} lanes, messages of 8 B", "ratio", "links of one message per 300 us and context") for n in (2, 3, 4)),
    Line("The same links: all-to-alls of 4 KiB a second on two lanes over one.", "lanes", "2 lanes, all-to-alls of 4096 B", "ratio",
         "links of one message per 300 us and context"),
    *(Line(f"{ranks.capitalize()}, {mpi}, {cores} cores: messages of {size} a second by eight threads, one lane over MPI alone.",
           f"{folder}lanes{part and '-' + part}", f"1 lane, 8 threads, {n_bytes} B, SERIALIZED", "ratio",
           f"{ranks}, many threads{part and ', ' + part}")
      for folder, cores, mpis in (("", "two", (("MPICH 4.0", ""), ("MPICH 5", "mpich5"), ("Intel MPI", "intel"))),
                                  ("16-cores/", "16", (("MPICH 4.0", ""), ("MPICH 5", "mpich5"))))
      for mpi, part in mpis for ranks in ("one rank", "two ranks") for size, n_bytes in (("8 B", 8), ("4 KiB", 4096))),
    *(Line(f"Two ranks, MPICH 5, two cores: speed with two lanes over one, {app}.", f"{part}-mpich5", f"omp, 2 lanes{row}")
      for app, part, row in (("multigrid, small messages", "multigrid-crowded", ": 64 boxes, faces"), ("Dslash on 8.8.8.16", "dslash-crowded", " 8.8.8.16 double"),
                             ("Dslash on 16.16.16.32", "dslash-crowded", " 16.16.16.32 double"),
                             ("multigrid over links of one message per 100 µs and communicator, small messages", "multigrid-link", ": 64 boxes, faces"),
                             ("an FFT over links, T_net = T_comp", "fft-link", " soi, T_net = 1 T_comp"))),
)
#: From the root.
PAGES = {"README.md": README, "docs/interposer.md": INTERPOSER, "docs/tbb.md": TBB, "docs/hold.md": HOLD,
         "docs/one-sided.md": ONE_SIDED, "docs/plans.md": PLANS, "docs/node.md": NODE, "docs/fft.md": FFT, "docs/lanes.md": LANES}
