// SPDX-License-Identifier: Apache-2.0
// Starting and ending the runtime. Errors become exceptions here: the miniapp cannot go on without its messages.
// The destructor ends the runtime on every path, before MPI_Finalize.
#include "runtime_session.hpp"

#include <commtask/commtask.h>

#include <cstdlib>

namespace miniapp {

namespace {

commtask_lane_choice choose(std::size_t size_bytes, std::size_t n_messages, int n_lanes) {
    const char* const table = std::getenv("COMMTASK_LANE_TABLE");
    commtask_burst burst = COMMTASK_BURST_INIT;
    burst.size_bytes = size_bytes;
    burst.n_messages = n_messages;
    burst.most_lanes = table != nullptr && *table != '\0' ? static_cast<unsigned>(n_lanes) : 1;
    commtask_lane_choice choice = COMMTASK_LANE_CHOICE_INIT;
    require(commtask_lanes_set(n_lanes), "commtask_lanes_set"); // the answer has no more
    require(commtask_lanes_choose(&burst, &choice), "commtask_lanes_choose");
    return choice;
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

lane_comms::lane_comms(MPI_Comm comm, int n_lanes, int n_of_one)
    : n_lanes_(n_lanes), all_(static_cast<std::size_t>(n_lanes > 1 ? n_lanes : n_of_one), comm) {
    if (n_lanes > 1) {
        require(commtask_comm_split_lanes(comm, n_lanes, all_.data()), "commtask_comm_split_lanes");
    } else if (n_of_one > 1) {
        for (MPI_Comm& each : all_) MPI_Comm_dup(comm, &each);
    }
}

lane_comms::~lane_comms() {
    for (std::size_t lane = 0; lane < all_.size() && all_.size() > 1; ++lane) MPI_Comm_free(&all_[lane]);
}

std::vector<MPI_Comm> lane_comms::spread(std::size_t size_bytes, std::size_t n_messages, bool is_selective) {
    commtask_lane_choice choice = COMMTASK_LANE_CHOICE_INIT;
    choice.n_lanes = static_cast<unsigned>(all_.size());
    choice.in_row = 1;
    if (n_lanes_ > 1) {
        if (is_selective) choice = choose(size_bytes, n_messages, n_lanes_);
        n_in_use_ = std::max(n_in_use_, static_cast<int>(choice.n_lanes));
        require(commtask_lanes_set(n_in_use_), "commtask_lanes_set");
    }
    std::vector<MPI_Comm> of_messages;
    for (std::size_t k = 0; k < n_messages; ++k) of_messages.push_back(all_[commtask_lane_of_message(&choice, k)]);
    return of_messages;
}

void worker_barrier(MPI_Comm comm) {
    commtask_t task = COMMTASK_NULL;
    require(commtask_submit(commtask_op_barrier(comm), nullptr, &task), "commtask_post");
    require(commtask_wait(&task, nullptr), "commtask_wait");
}

void require(int code, const char* what) {
    if (code == COMMTASK_OK) return;
    const char* sentence = commtask_last_error();
    throw std::runtime_error(std::string(what) + ": " + (*sentence != '\0' ? sentence : commtask_error_string(code)));
}

} // namespace miniapp
