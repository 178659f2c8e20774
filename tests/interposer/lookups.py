#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# MPI from Python by ctypes: functions of MPICH's library by name, with MPICH's numbers for handles. Says what the other probes
# say, a line for each step.
"""usage: lookups.py LIBRARY"""
import ctypes
import os
import sys

WORLD, INT, SUM = 0x44000000, 0x4C000405, 0x58000003
IGNORED = ctypes.c_void_p(1)
mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)


def say(rank, text):
    os.write(1, f"[{rank}] ctypes: {text}\n".encode())


def exchange(rank, size, text):
    got, sent = ctypes.c_int(-1), ctypes.c_int(rank)
    requests = (ctypes.c_int * 2)()
    entry = ctypes.sizeof(ctypes.c_int)
    mpi.MPI_Irecv(ctypes.byref(got), 1, INT, (rank - 1) % size, 3, WORLD, ctypes.byref(requests))
    mpi.MPI_Isend(ctypes.byref(sent), 1, INT, (rank + 1) % size, 3, WORLD, ctypes.byref(requests, entry))
    mpi.MPI_Barrier(WORLD)
    mpi.MPI_Wait(ctypes.byref(requests), IGNORED)
    mpi.MPI_Waitall(2, requests, IGNORED)
    say(rank, f"{text}: {got.value}")


def main():
    mpi.MPI_Init(None, None)
    rank, size, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
    mpi.MPI_Comm_size(WORLD, ctypes.byref(size))
    for round_ in range(20):
        exchange(rank.value, size.value, f"round {round_}")
    mpi.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, INT, SUM, WORLD)
    say(rank.value, f"sum {total.value}")
    mpi.MPI_Finalize()


main()
