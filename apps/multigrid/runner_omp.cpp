// SPDX-License-Identifier: Apache-2.0
// Mode omp: the items of a V-cycle as OpenMP tasks, its messages as communication tasks. An item depends on those that it must
// wait for by address, so a box goes on to the next half sweep while others still wait for their ghost cells. The price is a
// task for every piece, which the small boxes of coarse levels feel.
#include "runner.hpp"

#include "common/runtime_session.hpp"

#include <commtask/omp.h>

#include <algorithm>
#include <array>

namespace multigrid {

namespace {

enum : int { compute_priority, unpack_priority, pack_priority, message_priority };

class omp_runner final : public runner {
public:
    omp_runner(const cycle& on, lane_comms lanes, int compute_threads)
        : runner(compute_threads), items_(on.items()), lanes_(lanes), ended_(items_.size()) {
        miniapp::require(commtask_omp_check(), "commtask_omp_check");
    }

    void run() override {
        int code = COMMTASK_OK;
#pragma omp parallel num_threads(compute_threads())
#pragma omp single
#pragma omp taskgroup
        {
            for (std::size_t i = 0; i < items_.size() && code == COMMTASK_OK; ++i) code = create(i);
            // A rank that has one core for everything drives MPI itself, instead of waiting for the worker's turn.
            if (code == COMMTASK_OK) code = commtask_omp_wait_all();
        }
        miniapp::require(code, "a V-cycle of OpenMP tasks");
        if (commtask_omp_error_count() != 0) throw std::runtime_error("a message failed");
    }

private:
    int create(std::size_t i) {
        const item* const what = &items_[i];
        const void* const mine = &ended_[i];
        from_.clear();
        for (const int other : what->after) from_.push_back(&ended_[other]);
        const char* const* const from = from_.data();
        const int n_from = static_cast<int>(from_.size());
        if (what->through.what != message::kind::none) {
            const commtask_op operation = operation_of(what->through, lanes_);
            const std::array clauses{commtask_omp_clause{COMMTASK_OMP_IN, 0, from_.size(),
                                                         reinterpret_cast<const void* const*>(from), nullptr},
                                     commtask_omp_clause{COMMTASK_OMP_OUT, 0, 1, &mine, nullptr},
                                     commtask_omp_clause{COMMTASK_OMP_PRIORITY, message_priority, 0, nullptr, nullptr}};
            return commtask_omp_spawn_clauses(&operation, clauses.size(), clauses.data(), __FILE__, __LINE__);
        }
        const char* const out = &ended_[i];
        const int priority = what->when == part::prepare  ? pack_priority
                             : what->when == part::unpack ? unpack_priority
                                                          : compute_priority;
#pragma omp task firstprivate(what) priority(priority) depend(iterator(k = 0 : n_from), in : *from[k])                 \
    depend(out : *out)
        {
            work(*what, omp_get_thread_num());
            commtask_omp_progress(); // on a core that the worker shares messages move
        }
        return COMMTASK_OK;
    }

    const std::vector<item>& items_;
    lane_comms lanes_;
    std::vector<char> ended_;       ///< Addresses that stand for items.
    std::vector<const char*> from_; ///< Of the thread that creates tasks.
};

} // namespace

std::unique_ptr<runner> make_omp(const cycle& on, lane_comms lanes, int n_cores) {
    return std::make_unique<omp_runner>(on, lanes, std::max(1, n_cores - 1));
}

} // namespace multigrid
