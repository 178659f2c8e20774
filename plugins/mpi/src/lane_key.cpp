// SPDX-License-Identifier: Apache-2.0
//
// The info key that chooses the lane of a new communicator. Some MPI implementations drop unknown
// keys, so the key is read from the program's info object. As for any info key, an invalid value is
// ignored.
#include "own.hpp"
#include "sections.hpp"

#include "base/log.hpp"

#include <commtask/lanes.h>

#include <array>

namespace commtask::interposer {
namespace {

/// The caller is in a progress_section, and MPI has accepted the info object.
void choose_lane(MPI_Info info, MPI_Comm made) {
    detail::lane_set* const lanes = active_lanes();
    if (lanes == nullptr || lanes->size() == 1 || info == MPI_INFO_NULL || made == MPI_COMM_NULL) return;
    std::array<char, 16> text{};
    int is_there = 0;
    commtask_real_MPI_Info_get(info, COMMTASK_LANE_KEY, static_cast<int>(text.size()) - 1, text.data(), &is_there);
    if (is_there == 0) return;
    int lane = detail::lane_of_text(text.data());
    detail::context& runtime = *detail::context::running();
    if (lane != detail::comm_hints::by_thread && !lanes->has(lane)) {
        if (runtime.settings().verbose >= 1) {
            detail::say("warning: %s=%s names no lane: it must be a number from 0 to %d (COMMTASK_LANES), or thread",
                        COMMTASK_LANE_KEY, text.data(), static_cast<int>(lanes->size()) - 1);
        }
        lane = 0; // if MPI keeps the invalid key, the library would refuse the communicator later
    }
    detail::comm_queue* queue = nullptr;
    // An error is reported when the communicator is used.
    static_cast<void>(runtime.comms().add(made, queue, lane));
}

} // namespace

int own_MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
    const int code = inside<blocking_section>([&] { return commtask_real_MPI_Comm_dup_with_info(comm, info, made); });
    if (code == MPI_SUCCESS && made != nullptr) {
        const progress_section section; // adding a communicator requires the progress locks
        choose_lane(info, *made);
    }
    return code;
}

} // namespace commtask::interposer
