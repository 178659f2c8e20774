# SPDX-License-Identifier: Apache-2.0
# The Spack recipe. It lies in a clone of the source that it builds, and takes the source from
# there: the commit of `main` that the clone has. `spack repo add packaging/spack` makes it known.
import os

from spack.package import *


class Commtask(CMakePackage):
    """MPI operations as communication tasks for OpenMP (LLVM libomp) and oneTBB programs, with
    predecessors and successors like any other task, run by a worker with a core of its own; and an
    interposer that gives the same to unmodified MPI programs."""

    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))

    license("Apache-2.0")

    version("main", branch="main")

    variant("tbb", default=True, description="Build the oneTBB face")
    variant("interposer", default=True, description="Build commtask-run for unmodified programs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json@3.11:", type="build")

    depends_on("mpi@3.1:")
    depends_on("hwloc@2.4:")
    depends_on("llvm-openmp@19:")
    depends_on("intel-tbb@2021.5:", when="+tbb")

    requires(
        "^[virtuals=mpi] mpich",
        "^[virtuals=mpi] openmpi",
        policy="one_of",
        msg="commtask knows MPICH and Open MPI",
    )
    conflicts("%gcc@:11", msg="C++20 as of gcc 12 is needed")
    conflicts("platform=darwin", msg="Linux only")

    def cmake_args(self):
        libomp = self.spec["llvm-openmp"].prefix
        return [
            self.define("COMMTASK_MPI", self.spec["mpi"].name),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("COMMTASK_LIBOMP", join_path(libomp.lib, "libomp.so")),
            self.define("COMMTASK_OMP_TOOLS_DIR", libomp.include),
            self.define("COMMTASK_BUILD_TESTS", False),
            self.define("COMMTASK_BUILD_APPS", False),
            self.define("COMMTASK_BUILD_BENCH", False),
            self.define_from_variant("COMMTASK_BUILD_TBB", "tbb"),
            self.define_from_variant("COMMTASK_BUILD_MPI", "interposer"),
        ]
