// SPDX-License-Identifier: Apache-2.0
// Starting and ending the runtime. Errors become exceptions here: the miniapp cannot go on without its messages.
// The destructor ends the runtime on every path, before MPI_Finalize.
#include "runtime_session.hpp"

#include <commtask/commtask.h>

#include <algorithm>
#include <cstdlib>

namespace miniapp {

namespace {

bool has_table() {
    const char* const table = std::getenv("COMMTASK_LANE_TABLE");
    return table != nullptr && *table != '\0';
}

} // namespace

runtime_session::runtime_session(bool is_needed, int n_lanes) {
    if (!is_needed) return;
    // Tasks that feed messages go before the others. libomp reads this when it starts; the user's own value stays.
    ::setenv("OMP_MAX_TASK_PRIORITY", "3", 0);
    commtask_config config = COMMTASK_CONFIG_INIT;
    if (n_lanes > 1) config.lanes = static_cast<unsigned>(n_lanes);
    require(commtask_init(&config), "commtask_init");
    started_ = true;
}

runtime_session::~runtime_session() {
    if (started_) commtask_finalize();
}

lane_comms::lane_comms(MPI_Comm comm, int n_lanes, int n_of_one) : n_lanes_(n_lanes), n_at_work_(n_lanes), all_{comm} {
    if (n_lanes == 1) {
        grow_to(n_of_one);
    } else if (!has_table()) {
        set_at_work(1);
    }
}

lane_comms::~lane_comms() {
    for (std::size_t k = 1; k < all_.size(); ++k) MPI_Comm_free(&all_[k]);
}

void lane_comms::grow_to(int n) {
    for (int k = static_cast<int>(all_.size()); k < n; ++k) {
        MPI_Comm_dup(all_.front(), &all_.emplace_back(MPI_COMM_NULL));
        if (n_lanes_ > 1) require(commtask_comm_set_lane(all_.back(), k), "commtask_comm_set_lane");
    }
}

void lane_comms::set_at_work(int n) {
    if (n != n_at_work_) require(commtask_lanes_set(n), "commtask_lanes_set");
    n_at_work_ = n;
}

std::vector<MPI_Comm> lane_comms::spread(std::size_t size_bytes, std::size_t n_messages, bool is_selective) {
    commtask_lane_choice choice = COMMTASK_LANE_CHOICE_INIT;
    choice.n_lanes = 1;
    choice.in_row = 1;
    if (!is_selective) choice.n_lanes = static_cast<unsigned>(std::max(n_lanes_, static_cast<int>(all_.size())));
    if (n_lanes_ > 1 && is_selective && has_table()) {
        commtask_burst burst = COMMTASK_BURST_INIT;
        burst.size_bytes = size_bytes;
        burst.n_messages = n_messages;
        burst.most_lanes = static_cast<unsigned>(n_lanes_); // what was measured counts whether lanes have cores or not
        set_at_work(n_lanes_);                              // the answer has no more
        require(commtask_lanes_choose(&burst, &choice), "commtask_lanes_choose");
    }
    grow_to(static_cast<int>(choice.n_lanes));
    std::vector<MPI_Comm> of_messages;
    for (std::size_t k = 0; k < n_messages; ++k) of_messages.push_back(all_[commtask_lane_of_message(&choice, k)]);
    return of_messages;
}

int lane_comms::beside_lanes(int n_cores) {
    set_at_work(1 + n_more_lanes());
    return std::max(1, n_cores - n_more_lanes());
}

void worker_barrier(MPI_Comm comm) {
    commtask_t task = COMMTASK_NULL;
    require(commtask_post(commtask_op_barrier(comm), nullptr, &task), "commtask_post");
    require(commtask_wait(&task, nullptr), "commtask_wait");
}

void require(int code, const char* what) {
    if (code == COMMTASK_OK) return;
    const char* sentence = commtask_last_error();
    throw std::runtime_error(std::string(what) + ": " + (*sentence != '\0' ? sentence : commtask_error_string(code)));
}

} // namespace miniapp
