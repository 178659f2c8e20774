// SPDX-License-Identifier: Apache-2.0
// Starting and ending the runtime. Errors become exceptions here: the miniapp cannot go on without its messages.
// The destructor ends the runtime on every path, before MPI_Finalize.
#include "runtime_session.hpp"

#include <commtask/commtask.h>

#include <cstdlib>

namespace miniapp {

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

lane_comms::lane_comms(MPI_Comm comm, int n_lanes) {
    if (n_lanes == 1) return;
    all_.resize(static_cast<std::size_t>(n_lanes), MPI_COMM_NULL);
    require(commtask_comm_split_lanes(comm, n_lanes, all_.data()), "commtask_comm_split_lanes");
}

lane_comms::~lane_comms() {
    for (MPI_Comm& each : all_) {
        if (each != MPI_COMM_NULL) MPI_Comm_free(&each);
    }
}

void require(int code, const char* what) {
    if (code == COMMTASK_OK) return;
    const char* sentence = commtask_last_error();
    throw std::runtime_error(std::string(what) + ": " + (*sentence != '\0' ? sentence : commtask_error_string(code)));
}

} // namespace miniapp
