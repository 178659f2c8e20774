# SPDX-License-Identifier: Apache-2.0
# Question: of which collectives does a bell tell enough? MPICH sends a collective's own messages by one of several schedules, and nobody sees
# those: the ranks of a node ring each other at its end alone. Each schedule for the ranks of one node, by MPI alone, with naps and with bells.
# Goal: futile wake-ups <= 1 % of the collectives, as of messages. Watchers are told of no collective, so their side is made once.
"""Bells for collectives, by the schedule that MPICH takes."""

import node

N_RANKS = 4
#: Of MPICH 4.0, within a communicator.
SCHEDULES = {
    "ialltoall": (node.AUTO, "sched_brucks", "sched_pairwise", "sched_permuted_sendrecv", "tsp_brucks", "tsp_ring", "tsp_scattered"),
    "igather": (node.AUTO, "sched_binomial", "tsp_tree"),
    "ibcast": (node.AUTO, "sched_binomial", "sched_scatter_recursive_doubling_allgather", "sched_scatter_ring_allgather", "tsp_ring",
               "tsp_scatterv_recexch_allgatherv", "tsp_tree"),
}


def parts(n_rounds, n_steps):
    return tuple(node.Part(name, n_rounds, n_steps, (node.NATIVE, node.NAPS, *((node.WATCHER,) if one == node.AUTO else ()), node.BELL), schedule=one)
                 for name, all_of in SCHEDULES.items() for one in all_of)


def run(build, is_quick, json_file, wanted=""):
    """The exit status of the driver."""
    asked = tuple(part for part in parts(1, 1) if part.schedule == node.AUTO) if is_quick else parts(2, 5)
    return node.measure(build, "schedules", {N_RANKS: asked}, json_file, wanted)
