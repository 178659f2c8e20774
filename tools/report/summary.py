# SPDX-License-Identifier: Apache-2.0
# What a run comes to: every analysis done once, for the terminal and for the page, so that the two cannot differ. It also
# puts the facts together that both show above everything else, and the sentences of a finding and of a delay.
"""All analyses of a run."""

import critical_path
import delays
import tables
import units


#: Of the threads' time. A smaller cause gets no advice: any run on any machine has some of it.
LEAST_ADVISED = 0.05
N_PATH_RANKS = 4


class Summary:
    def __init__(self, run):
        self.run = run
        self.begin, self.end = run.extent()
        self.delays = delays.delays(run)
        self.findings = delays.findings(self.delays)
        self.phases = tables.phase_table(run)
        self.overlap = tables.overlap_table(run)
        self.workers = tables.worker_table(run)
        self.depths = tables.depth_table(run)
        self.path = critical_path.critical_path(run, self.delays)
        self.path_kinds = critical_path.by_kind(self.path)
        self.ranks = tables.rank_table(run, self.delays, self.path)

    @property
    def ns(self):
        return self.end - self.begin

    @property
    def idle_ns(self):
        return sum(finding.ns for finding in self.findings)

    @property
    def thread_ns(self):
        """Time of all threads that did anything of the program's."""
        return self.ns * sum(1 for rank in self.run.ranks for thread in rank.threads if thread.computing())

    def advice(self, finding):
        """Empty where following it would bring nothing."""
        return finding.advice if finding.ns >= LEAST_ADVISED * self.thread_ns else ""

    def path_ranks(self):
        """`rank 1 70 %, rank 0 30 %`: where the critical path runs, the longest first."""
        whole = sum(use.on_path for use in self.ranks)
        longest = sorted((use for use in self.ranks if use.on_path), key=lambda use: -use.on_path)
        shown = [f"rank {use.rank} {units.share(use.on_path / whole)}" for use in longest[:N_PATH_RANKS]]
        return ", ".join(shown + ([f"{len(longest) - N_PATH_RANKS} more ranks"] if len(longest) > N_PATH_RANKS else []))

    def program(self):
        """Its command, without the folder that it lies in."""
        words = ((self.run.ranks[0].facts.get("program") or "a program") if self.run.ranks else "a program").strip().split(" ", 1)
        return " ".join([words[0].rsplit("/", 1)[-1], *words[1:]])

    def headline(self):
        hosts = sorted({rank.facts.get("host", "") for rank in self.run.ranks})
        tasks = list(self.run.tasks())
        size = units.sizes([task.bytes for task in tasks])
        size = "size unknown" if size == "unknown" else size
        where = f" on {hosts[0]}" if len(hosts) == 1 and hosts[0] else f" on {len(hosts)} machines" if len(hosts) > 1 else ""
        ranks = f"{len(self.run.ranks)} rank{'s' if len(self.run.ranks) != 1 else ''}"
        return (f"{self.program()}: {ranks}{where}, {units.time(self.ns)}, "
                f"{units.count(len(tasks))} tasks, {size}")

    def clocks(self):
        error = self.run.clock_error_ns
        if error is None:
            return "clocks of some ranks were not compared: do not trust times between ranks"
        within = f"clocks agree within {units.time(error)}" if error or self.run.clocks_may_drift else "all ranks have one clock"
        return within + (" at the start, drift unknown" if self.run.clocks_may_drift else "")

    def notes(self):
        notes = [note.rstrip(".") + "." for note in self.run.notes]
        if not self.findings:
            notes.append("No thread was seen to wait for a message: the trace has no waits and no compute tasks, or nothing was late.")
        elif not any(span.kind == "compute" for rank in self.run.ranks for thread in rank.threads for span in thread.spans):
            notes.append("Compute tasks were not traced: a thread counts as computing while it neither waits, nor drives a lane, nor is in MPI "
                         "(bodies of oneTBB are traced where commtask::tbb::traced names them).")
        return notes
