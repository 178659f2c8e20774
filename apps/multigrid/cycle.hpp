// SPDX-License-Identifier: Apache-2.0
// A V-cycle as a list of items, each a piece of computing or a message, with what must have ended before it. The list is made
// once; a mode is a way to carry it out. Its price is some memory for each item; it brings one description of the method for all
// modes, whose order alone is a correct way too.
#pragma once

#include "level.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace multigrid {

/// What MPI is asked for; on the communicator of the lane.
struct message {
    enum class kind : std::uint8_t { none, receive, send, sum } what = kind::none;
    const double* from = nullptr;
    double* into = nullptr;
    int count = 0, peer = 0, tag = 0, lane = 0;
};

/// The parts of a stage, in their order.
enum class part : std::uint8_t { receive, prepare, send, core, unpack, shell };

struct item {
    int stage;
    part when;
    message through;            ///< Of kind none: `work` is to be done.
    std::function<void()> work; ///< Throws nothing.
    std::vector<int> after;     ///< Items that must have ended; for a message one at most.
};

class cycle {
public:
    /// @param n_threads  there are items for so many in each part of a stage, if the boxes suffice
    cycle(const domain& whole, bool is_aggregated, const lane_policy& lanes, int n_threads = 1);
    cycle(const cycle&) = delete;
    cycle& operator=(const cycle&) = delete;

    level& finest() { return levels_.front(); }
    const level& finest() const { return levels_.front(); }
    const domain& whole() const { return whole_; }
    const std::vector<item>& items() const { return items_; }
    /// Of this rank, when all items have ended.
    double largest_residual() const;
    /// Where there are no messages.
    void run_serially() const;

private:
    class builder;
    cycle(const domain& whole, bool is_aggregated, const lane_policy& lanes, int n_threads, bool is_bottom);
    void solve_bottom();
    void gather();
    void solve_gathered();
    void scatter(int box);

    domain whole_;
    std::vector<level> levels_;
    std::vector<item> items_;
    std::vector<double> residuals_; ///< Of pieces of boxes.
    /// Where boxes have become small every rank solves what is left of the whole domain; none: there is one box.
    std::unique_ptr<cycle> bottom_;
    std::vector<double> mine_; ///< Of its right-hand side; elsewhere 0.
};

} // namespace multigrid
