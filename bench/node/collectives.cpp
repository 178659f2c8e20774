// SPDX-License-Identifier: Apache-2.0
//
// Collectives that all ranks start together, without computing between: what one exposes comes from the steps between the ranks, which
// MPI makes when it is called.
#include "node/exchange.h"

#include <string>
#include <vector>

namespace commtask::bench {
namespace {

void alltoall(const place& here, buffers& of, bool computes) {
    const int block = of.size() / here.n_ranks;
    const started running{
        commtask_op_alltoall(of.sent.data(), block, MPI_CHAR, of.received.data(), block, MPI_CHAR, MPI_COMM_WORLD),
        [&](MPI_Request* request) {
            return MPI_Ialltoall(of.sent.data(), block, MPI_CHAR, of.received.data(), block, MPI_CHAR, MPI_COMM_WORLD,
                                 request);
        }};
    if (computes) compute_elsewhere(computing_us);
}

void broadcast(const place& here, buffers& of, bool computes) {
    char* const buffer = here.rank == 0 ? of.sent.data() : of.received.data();
    const started running{commtask_op_bcast(buffer, of.size(), MPI_CHAR, 0, MPI_COMM_WORLD), [&](MPI_Request* request) {
                              return MPI_Ibcast(buffer, of.size(), MPI_CHAR, 0, MPI_COMM_WORLD, request);
                          }};
    if (computes) compute_elsewhere(computing_us);
}

void gather(const place& here, buffers& of, bool computes) {
    const int block = of.size() / here.n_ranks;
    const started running{
        commtask_op_gather(of.sent.data(), block, MPI_CHAR, of.received.data(), block, MPI_CHAR, 0, MPI_COMM_WORLD),
        [&](MPI_Request* request) {
            return MPI_Igather(of.sent.data(), block, MPI_CHAR, of.received.data(), block, MPI_CHAR, 0, MPI_COMM_WORLD,
                               request);
        }};
    if (computes) compute_elsewhere(computing_us);
}

} // namespace

question collective(const std::string& name, int n_ranks) {
    const std::vector<int> sizes =
        n_ranks > 4 ? std::vector{16 << 10, 256 << 10} : std::vector{16 << 10, 256 << 10, 4 << 20};
    return {name, sizes, name == "ialltoall" ? alltoall : name == "igather" ? gather : broadcast, computing_us};
}

} // namespace commtask::bench
