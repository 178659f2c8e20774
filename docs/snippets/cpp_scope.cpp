// SPDX-License-Identifier: Apache-2.0
//
// Snippet of docs/cpp.md about buffers that outlive their tasks. The marked part stands in the page word for word; the rest makes it
// a program that checks itself.
#include <commtask/commtask.hpp>

#include <cmath>
#include <vector>

using namespace commtask;

namespace {

struct not_a_number {};

bool may_go_on(const std::vector<double>& halo) { return !std::isnan(halo.front()); }

// [scope]
bool exchange(std::vector<double>& field, int left, int right, MPI_Comm comm) {
    std::vector<double> halo(field.size());
    scope all; // after the buffers of its tasks: C++ destroys it before them
    task received = post(recv(halo, left, 0, comm));
    post_detached(send(field, right, 0, comm));
    if (field.empty()) return false;            // both are joined
    if (!received.wait()) return false;         // and here the send
    if (!may_go_on(halo)) throw not_a_number{}; // and here
    field = halo;
    return all.wait() == ending::completed; // without canceling
}
// [scope]

} // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    int rank = 0;
    int n_ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    bool is_right = true;
    {
        runtime library;
        const int left = (rank + n_ranks - 1) % n_ranks;
        const int right = (rank + 1) % n_ranks;
        std::vector<double> field(1000, rank);
        is_right = exchange(field, left, right, MPI_COMM_WORLD) && field.back() == left;
        bool was_thrown = false;
        field.assign(1000, std::nan(""));
        try {
            is_right = exchange(field, left, right, MPI_COMM_WORLD) && is_right;
        } catch (const not_a_number&) {
            was_thrown = true;
        }
        is_right = library.finalize() && was_thrown && is_right;
    }
    MPI_Finalize();
    return is_right ? 0 : 1;
}
