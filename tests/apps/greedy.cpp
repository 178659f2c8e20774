// SPDX-License-Identifier: Apache-2.0
// A miniapp whose last rank asks for more memory than there is, although it promised to need little: an allocation that
// fails after the check of memory, as under another program that takes it meanwhile.
#include "common/program.hpp"

#include <mpi.h>

#include <cstdint>
#include <new>

int main(int argc, char** argv) {
    const miniapp::program greedy{.name = "greedy",
                                  .settle = [](int) { return std::string(); },
                                  .memory = [](int, int) { return miniapp::memory_need{3e9, "the test", "use less"}; },
                                  .run =
                                      [](int rank) {
                                          int n_ranks = 1;
                                          MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
                                          if (rank == n_ranks - 1) {
                                              const volatile std::size_t too_much = PTRDIFF_MAX / 2;
                                              ::operator delete(::operator new(too_much));
                                          }
                                          MPI_Barrier(MPI_COMM_WORLD);
                                          return miniapp::outcome{};
                                      }};
    return miniapp::run_program(argc, argv, greedy);
}
