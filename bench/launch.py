# SPDX-License-Identifier: Apache-2.0
# How programs of a build folder are started: with the launcher of the MPI that they were built for, as the build
# folder itself tells. A program of one MPI under the launcher of another runs as many programs of one rank.
"""Finds programs and their launcher in a build folder."""

from pathlib import Path


class NotBuilt(Exception):
    """A program or the build folder is not there."""


class Build:
    def __init__(self, folder, mpi=""):
        """`mpi` names one of scripts/get_mpi's that it was built with in place of the usual one."""
        self.folder = Path(folder)
        self.mpi = mpi
        try:
            lines = (self.folder / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise NotBuilt(f"{folder} is no build folder: build first, or name it with --build-dir") from error
        entries = (line.partition("=") for line in lines if ":" in line.partition("=")[0])
        self._cache = {key.partition(":")[0]: value for key, _, value in entries}

    @property
    def is_mpich(self):
        return self._cache["COMMTASK_MPI"] == "mpich"

    def launcher(self, cores_each=0):
        """The words that start ranks, as many as are named after them, each bound to cores of its own if `cores_each` is not 0."""
        words = [self._cache["MPIEXEC_EXECUTABLE"]]
        if self.is_mpich:
            words += ["-bind-to", f"core:{cores_each}"] if cores_each else []
        elif self._cache["COMMTASK_MPI"] == "intel":
            words += ["-genv", "I_MPI_PIN_DOMAIN", str(cores_each)] if cores_each else ["-genv", "I_MPI_PIN", "off"]
        else:
            words += ["--allow-run-as-root", "--oversubscribe"]
            words += ["--map-by", f"slot:PE={cores_each}", "--bind-to", "core:overload-allowed"] if cores_each else ["--bind-to", "none"]
        return words

    def mpiexec(self, n_ranks, cores_each=0):
        """The words that start `n_ranks` ranks; the rest as for launcher()."""
        return [*self.launcher(cores_each), "-n", str(n_ranks)]

    def program(self, name, room="bench"):
        path = self.folder / room / name
        if not path.exists():
            raise NotBuilt(f"{path} is not there: build the target {name} first")
        return path
