// SPDX-License-Identifier: Apache-2.0
// A training step as a list of items. The weights of a convolution are cut among the ranks: a rank gets the others' gradients of its
// part, adds them in the order of the ranks, updates its part and sends it to the others. Activations travel in chunks, so that a chunk
// is on its way while another is computed. Each exchange is a message to each rank and one from there, or a plan of them.
#pragma once

#include "common/items.hpp"
#include "network.hpp"

#include <map>

namespace cnn {

class training {
public:
    training(const problem& whole, MPI_Comm comm, bool has_plan);
    network net;
    miniapp::item_list items; ///< A round is a step.

private:
    using name = miniapp::item_list::name;
    using names = std::vector<name>;
    /// Numbers that go to a rank, and as many or others that come from there.
    struct parcel {
        const void* from;
        long n_from;
        name from_name;
        void* into;
        long n_into;
        name into_name;
    };
    void add_pipeline();
    void add_backward();
    void add(miniapp::part when, int urgency, const names& reads, const names& writes, std::function<void()> work);
    void add_exchange(int tag, const std::function<parcel(int)>& with);
    /// Names of a kind at positions `first` to below `last`, of each of `n` ranks or bundles.
    static names all(int kind, int first, int last, int n, names made = {});

    MPI_Comm comm_;
    bool has_plan_;
    std::map<int, commtask::plan> plans_;
};

} // namespace cnn
