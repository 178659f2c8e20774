# SPDX-License-Identifier: Apache-2.0
# Which stored results docs/performance.md and README's first table show, and in what words; the figures come from bench/results
# (performance.py). Rows are sorted by what a user asks, gains beside losses; each says what was done and what one would use instead.
"""The rows of the performance page and of README."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    """One comparison: `own` is this library's row of the result, `other` what one would use instead; either may be any side's.

    `time_over`: the stored ratio is this library's time over the other's; else it is the gain already.
    """

    words: str
    instead: str
    benchmark: str
    setting: str
    own: str
    other: str
    time_over: bool = False
    paper: str = ""


@dataclasses.dataclass(frozen=True)
class Span:
    """Least and greatest gain of several rows, those that `names` matches, each beside what its ratio is to; `only` on one machine."""

    words: str
    instead: str
    benchmark: str
    setting: str
    names: str
    only: str = ""


SC15 = "[1]"
PMAM15 = "[2]"
IPDPS10 = "[3]"
PAPERS = (
    "[1] Vaidyanathan et al., *Improving concurrency and asynchrony in multithreaded MPI applications using software offloading*, SC'15.",
    "[2] Chaimov, Ibrahim, Williams, Iancu, *Exploiting communication concurrency on high performance computing systems*, PMAM'15.",
    "[3] Kumar, Heidelberger, Chen, Hines, *Optimization of applications with non-blocking neighborhood collectives via multisends on the "
    "Blue Gene/P supercomputer*, IPDPS'10.",
)


def dslash(mode, lattice, setting="crowded", words="", paper=""):
    how = {"offload": "messages by the worker, computing as before (`offload`)", "omp": "a graph of OpenMP tasks (`omp`)",
           "tbb": "a oneTBB flow graph (`tbb`)"}[mode]
    return Row(f"Lattice QCD (Dslash) on {lattice.split()[0]}{words}: {how}", "plain MPI, threads that compute (`baseline`)", "dslash", setting,
               f"{mode} {lattice}", f"baseline {lattice}", paper=paper)


def multigrid(mode, case, words):
    return Row(f"Multigrid, {words}: mode `{mode}`", "plain MPI (`baseline`)", "multigrid", "crowded", f"{mode}: {case}", f"baseline: {case}")


def halo(mode, words):
    return Row(f"Poisson's equation, 1024 x 1024 points: {words}", "plain MPI (`baseline`)", "poisson", "crowded", f"{mode} p2p", "baseline p2p")


def exchange(n_bytes, size):
    return Row(f"Time of an exchange of {size} beyond 5 ms of computing off the core, under `commtask-run`", "the same program natively",
               "offload", "free", f"exposed of {n_bytes} B, commtask-run", f"exposed of {n_bytes} B, native",
               paper=f"88 % of the wait hidden {SC15}" if n_bytes == 4194304 else "")


#: (question, what holds for all of its rows, rows)
SECTIONS = (
    ("Does a whole program become faster?",
     "Two ranks share the cores. If a rank has more than one core, its worker has one of them. On two cores every worker shares "
     "a core with computing, which is the case to avoid ([few cores](few-cores.md)).", (
         dslash("offload", "16.16.16.32 double", paper=f"up to 2 × {SC15}"),
         dslash("omp", "16.16.16.32 double"),
         dslash("tbb", "16.16.16.32 double"),
         dslash("omp", "8.8.8.16 double"),
         dslash("tbb", "8.8.8.16 double"),
         multigrid("omp", "1 box", "one box a rank"),
         multigrid("omp", "64 boxes", "64 boxes a rank"),
         multigrid("omp", "64 boxes, faces", "64 boxes a rank with a message for each face: thousands of tasks of a few µs"),
         halo("omp", "OpenMP tasks (`omp`)"),
         Row("1-D FFT of 2^21 points (`fft_soi`), one all-to-all as a graph of OpenMP tasks (`omp`)", "FFTW-MPI, three all-to-alls", "fft", "crowded",
             "SOI omp 2^21", "FFTW-MPI 2^21", True),
         Row("1-D FFT of 2^21 points (`fft_soi`), one all-to-all as a graph of OpenMP tasks (`omp`)", "the same algorithm by plain MPI (`p2p`)", "fft",
             "crowded", "SOI omp 2^21", "SOI p2p 2^21", True),
     )),
    ("Does it hide a slow network?",
     "Two ranks over emulated links that take no processor time; the messages of a step take as long as its computing "
     "([how](benchmarks.md#the-link-setting)). *Rendezvous*: a large message moves only after its receiver calls MPI, as with most MPIs.", (
         dslash("offload", "16.16.16.32 double", "rendezvous", ", network with rendezvous"),
         dslash("omp", "16.16.16.32 double", "rendezvous", ", network with rendezvous"),
         dslash("tbb", "16.16.16.32 double", "rendezvous", ", network with rendezvous"),
         dslash("omp", "16.16.16.32 double", "link", ", network without rendezvous"),
         Row("1-D FFT of 2^21 points, all-to-all as long as computing: `offload`", "blocking all-to-all (`baseline`)", "fft", "link",
             "offload soi, T_net = 1 T_comp", "baseline soi, T_net = 1 T_comp", paper=f"1.23 to 1.44 × {SC15}"),
         Row("Multigrid, a message for each face, links of one message per 100 µs and communicator: two lanes", "one lane", "multigrid", "link",
             "omp, 2 lanes: 64 boxes, faces", "omp: 64 boxes, faces", paper=f"up to 1.76 × {PMAM15}"),
     )),
    ("What does an unmodified program gain or lose under `commtask-run`?",
     "Two ranks with one core each, shared with the worker, unless a row says otherwise. *Computing off the core*: on an accelerator.", (
         exchange(4194304, "4 MiB"),
         exchange(524288, "512 KiB"),
         exchange(65536, "64 KiB"),
         Row("Overlapped share of an exchange of 4 MiB with computing of equal length, 0.4 ms", "MPICH's progress thread", "offload",
             "free", "overlap of 4194304 B, commtask-run", "overlap of 4194304 B, async"),
         Row("`MPI_Isend` of 4 MiB, the call alone; one rank with a reserved worker", "the same program natively", "offload", "own cores",
             "Isend of 4194304 B, commtask-run", "Isend of 4194304 B, native"),
         Row("`MPI_Isend` of 8 KiB, the call alone", "the same program natively", "offload", "free", "Isend of 8192 B, commtask-run",
             "Isend of 8192 B, native"),
         Row("Blocking round trip of 8 B", "the same program natively", "offload", "free", "round trip of 8 B, commtask-run",
             "round trip of 8 B, native"),
         Row("Dslash that calls MPI from one thread; one rank with a spare core", "the same program natively", "offload", "crowded",
             "dslash baseline, 1 ranks, commtask-run", "dslash baseline, 1 ranks, native"),
     )),
    ("How soon does work go on after a message?",
     "From MPI's completion of a receive to the first instruction of the task that depends on it; one rank.", (
         Row("OpenMP task", "a thread that polls every 100 µs, as TAMPI does by default", "unblock", "one rank", "commtask",
             "poll every 100 us (TAMPI's default)", True),
         Row("Node of a oneTBB flow graph", "an `async_node` whose own thread spins in MPI for this one message", "tbb", "one rank",
             "successor of recv_node", "async_node and a thread in MPI", True),
         Row("Node of a oneTBB flow graph", "a task that polls all the time and keeps a core busy", "tbb", "one rank",
             "successor of recv_node", "polling in a task", True),
     )),
    ("What does one message or task cost?",
     "One rank that sends to itself, so the time is the library's own. Thread and worker are on different cores.", (
         Row("Post of a message of 8 B, the call alone", "round trip of a cache line between two cores", "post", "one rank", "post 8 B", "ping-pong", True,
             paper=f"a tenth of MPI's own call {SC15}"),
         Row("One message of 8 B, from post to end", "MPI alone", "roundtrip", "one rank", "message to itself, by tasks",
             "message to itself, by MPI alone", True),
         Row("Rate of one lane: messages of 8 B with 64 outstanding", "MPI alone", "rate", "one rank", "messages by tasks, 64 outstanding",
             "messages by MPI alone, 64 outstanding"),
         Row("Rate of one lane that eight threads post to, 8 B", "eight threads in MPI with `MPI_THREAD_MULTIPLE`", "lanes", "one rank, many threads",
             "1 lane, 8 threads, 8 B, SERIALIZED", "MPI alone, 8 threads, 8 B, MULTIPLE"),
         Row("Rate of one lane that eight threads of each of two ranks post to, 8 B; MPICH 5 with a context for each thread", "eight threads in MPI with `MPI_THREAD_MULTIPLE`", "lanes",
             "two ranks, many threads, mpich5", "1 lane, 8 threads, 8 B, SERIALIZED", "MPI alone, 8 threads, 8 B, MULTIPLE"),
         Row("Dslash `offload` on 8.8.8.16 with a trace; one rank", "without a trace", "trace", "own cores", "offload 8.8.8.16, trace",
             "offload 8.8.8.16, no trace"),
     )),
    ("What do plans, bound tasks and lanes bring?", "Two ranks unless a row says otherwise.", (
         Row("Exchange of eight messages each way, QCD on 2^4 sites, by a plan among OpenMP tasks", "an OpenMP task for each message", "patterns",
             "crowded", "QCD 2^4, OpenMP plan, all", "QCD 2^4, OpenMP tasks, all", True, paper=f"1.9 × {IPDPS10}"),
         Row("Exchange of eight messages each way, QCD on 2^4 sites, by a plan, with nothing to compute", "`MPI_Startall`", "patterns", "crowded", "QCD 2^4, plan, all, beside MPI_Startall",
             "QCD 2^4, MPI_Startall, all", True),
         Row("Exchange of eight messages each way, QCD on 8^4 sites, by a plan, with nothing to compute", "`MPI_Startall`", "patterns", "crowded", "QCD 8^4, plan, all, beside MPI_Startall",
             "QCD 8^4, MPI_Startall, all", True),
         Row("Creating a task that eight messages are bound to (`commtask_omp_bind`), per message; one rank, team of one", "a `COMM_TASK` for each message",
             "bind", "one rank", "create, team of 1: one bound task", "create, team of 1: eight COMM_TASKs", True),
         Row("Links of one message per 300 µs and context, 8 B: two lanes", "one lane", "lanes", "links of one message per 300 us and context",
             "2 lanes, messages of 8 B", "1 lane, messages of 8 B", paper=f"2.2 to 2.5 × {PMAM15}"),
         Row("Shared memory, MPICH 4.0 with one context: two lanes for two threads, 8 B", "one lane", "lanes", "two ranks", "2 lanes, 2 threads, 8 B, MULTIPLE",
             "1 lane, 2 threads, 8 B, MULTIPLE"),
     )),
    ("What do one-sided operations cost?", "Two ranks; a window of `MPI_Win_create`.", (
         Row("Accumulate of 8 B to a rank that computes for 3 ms without calling MPI, by tasks", "MPI alone to the computing rank", "rma", "two ranks",
             "accumulate of 8 B, Win_create: target computes, tasks", "accumulate of 8 B, Win_create: target computes, native", True),
         Row("Accumulate of 8 B to a rank that computes for 3 ms without calling MPI, by tasks", "MPI alone to a rank that waits in MPI", "rma", "two ranks", "accumulate of 8 B, Win_create: target computes, tasks",
             "accumulate of 8 B, Win_create: alone, native", True),
         Row("Accumulate of 64 KiB to a rank that computes, by tasks", "MPICH's progress thread, which never blocks", "rma", "two ranks",
             "accumulate of 65536 B, Win_create: target computes, tasks", "accumulate of 65536 B, Win_create: target computes, async", True),
         Row("Put of 8 B with its notification", "a message of 8 B by tasks", "rma", "two ranks", "put_notify of 8 B, tasks", "message of 8 B, tasks", True),
     )),
    ("What if there are more ranks than cores?",
     "Messages of 4 MiB, with the receive posted first, and computing off the core. On sixteen cores each of the eight ranks has two.", (
         Row("Time of an exchange beyond its computing: eight ranks with doorbells (`COMMTASK_NODE_DOORBELLS=on`)",
             "the same program by MPI alone", "node", "8 ranks", "exposed receiver early, 4 MiB, 8 ranks, doorbells",
             "exposed receiver early, 4 MiB, 8 ranks, native"),
         Row("Time of an exchange beyond its computing: eight ranks with doorbells (`COMMTASK_NODE_DOORBELLS=on`)",
             "MPICH's progress thread", "node", "8 ranks", "exposed receiver early, 4 MiB, 8 ranks, doorbells",
             "exposed receiver early, 4 MiB, 8 ranks, MPICH's progress thread"),
         Row("Processor time of the workers of eight ranks with doorbells", "workers with timed waits", "node", "8 ranks",
             "workers' processor time, messages, 8 ranks, doorbells", "workers' processor time, messages, 8 ranks, timed waits"),
     )),
)

README = (
    Span("Lattice QCD (Dslash) as a graph of OpenMP tasks, four lattices", "plain MPI, threads that compute", "dslash", "crowded", r"omp \S+ \w+"),
    Span("Dslash as a oneTBB flow graph, four lattices", "plain MPI, threads that compute", "dslash", "crowded", r"tbb \S+ \w+"),
    Span("Dslash over an emulated network that moves a large message only after its receiver calls MPI (rendezvous)", "plain MPI, threads that compute",
         "dslash", "rendezvous", r"(offload|omp|tbb) \S+ \w+"),
    Row("From a message's arrival to the start of the dependent OpenMP task", "polling every 100 µs", "unblock", "one rank", "commtask",
        "poll every 100 us (TAMPI's default)", True),
    Row("Time of a 4 MiB exchange beyond computing on an accelerator, unmodified program under `commtask-run`", "the same program natively",
        "offload", "free", "exposed of 4194304 B, commtask-run", "exposed of 4194304 B, native"),
    Row("Repeated exchange of sixteen halo messages among OpenMP tasks: one plan", "a task for each message", "patterns", "crowded",
        "QCD 2^4, OpenMP plan, all", "QCD 2^4, OpenMP tasks, all", True),
    Row("One-sided accumulate of 8 B to a rank that computes for 3 ms without calling MPI", "MPI alone", "rma", "two ranks",
        "accumulate of 8 B, Win_create: target computes, tasks", "accumulate of 8 B, Win_create: target computes, native", True),
    Row("**Cost:** messages of 8 B per second through one worker, with nothing to compute", "MPI alone", "rate", "one rank",
        "messages by tasks, 64 outstanding", "messages by MPI alone, 64 outstanding"),
    Row("**Cost:** repeated exchange of sixteen halo messages with nothing to compute: one plan", "`MPI_Startall`", "patterns", "crowded",
        "QCD 2^4, plan, all, beside MPI_Startall", "QCD 2^4, MPI_Startall, all", True),
    Span("**Cost:** Dslash with shared workers, since every core computes; OpenMP and oneTBB", "plain MPI, threads that compute", "dslash",
         "crowded", r"(omp|tbb) \S+ \w+", only="2-cores"),
    Row("**Cost:** multigrid as thousands of OpenMP tasks of a few µs", "plain MPI", "multigrid", "crowded",
        "omp: 64 boxes, faces", "baseline: 64 boxes, faces"),
)
