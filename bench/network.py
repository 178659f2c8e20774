# SPDX-License-Identifier: Apache-2.0
# How the ranks of whole runs reach each other: as they come (shared memory), or over emulated links, which take no processor time
# (bench/delayed). One place, so that every comparison of whole runs means the same by a setting's name.
"""Starts runs over emulated links, or over none."""

import json
import os
from pathlib import Path

import miniapp

LINKS = ("link", "rendezvous")
EAGER_BYTES = 16 << 10  # of a network with rendezvous: larger messages come only when the receiver looks


class Network:
    """`setting` is one of LINKS, or anything else for ranks as they come; `rate_mbs` is what each direction carries.

    Ranks get `cores_each` cores of their own (0: as they come); over links always. With `gap_us` a link injects one message of a
    communicator in that time. With `delay_us` each transfer takes so long, beside its bytes.
    """

    def __init__(self, build, setting, n_ranks, rate_mbs=0.0, cores_each=0, gap_us=0.0, delay_us=0.0):
        self.build, self.setting, self.n_ranks, self.rate_mbs, self.gap_us, self.delay_us = build, setting, n_ranks, rate_mbs, gap_us, delay_us
        self.cores_each = cores_of(n_ranks) if setting in LINKS else cores_each
        if setting in LINKS and not build.is_mpich:
            raise miniapp.Skipped("the emulated link needs a build with MPICH")

    def _command(self, words):
        if self.setting in LINKS:
            links = ["env", f"LD_PRELOAD={self.build.program('libcommtask_emulated_link.so').resolve()}", f"EMULATED_LINK_RATE_MBS={self.rate_mbs:.4g}"]
            links += [f"EMULATED_LINK_EAGER_BYTES={EAGER_BYTES}"] if self.setting == "rendezvous" else []
            links += [f"EMULATED_LINK_GAP_US={self.gap_us:g}"] if self.gap_us else []
            links += [f"EMULATED_LINK_DELAY_US={self.delay_us:g}"] if self.delay_us else []
            words = links + words
        return self.build.mpiexec(self.n_ranks, self.cores_each) + words

    def execute(self, words, json_file):
        """One run of the program `words`, which writes `json_file`; what that says, of a miniapp with the `median` of its repetitions."""
        miniapp.execute(self._command(words), json_file)
        answer = json.loads(Path(json_file).read_text(encoding="utf-8"))
        return {**answer, "median": miniapp.median_run(answer)} if isinstance(answer, dict) else answer


def as_it_comes(build, n_ranks):
    """Ranks that share memory, each on its share of the cores."""
    return Network(build, "", n_ranks, cores_each=cores_of(n_ranks))


def cores_of(n_ranks):
    """The cores that each of `n_ranks` ranks can have for itself."""
    return max(1, len(os.sched_getaffinity(0)) // n_ranks)
