// SPDX-License-Identifier: Apache-2.0
// The table of modes, and the two that fork and join: all threads compute the parts of a stage one after the other, the master
// posts and waits. Baseline's master calls MPI; offload's leaves that to the worker, and there is a core less to compute with.
#include "runner.hpp"

#include "common/clock.hpp"
#include "common/runtime_session.hpp"

#include <algorithm>
#include <atomic>
#include <omp.h>

namespace multigrid {

double runner::collective_max(double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return mine;
}

double runner::busy_seconds() const {
    double sum = 0;
    for (const busy_time& each : busy_) sum += each.seconds;
    return sum;
}

void runner::work(const item& of, int thread) { busy_[thread].seconds += miniapp::seconds_of(of.work); }

commtask_op operation_of(const message& what, lane_comms lanes) {
    const MPI_Comm comm = lanes[what.lane];
    switch (what.what) {
    case message::kind::receive: return commtask_op_recv(what.into, what.count, MPI_DOUBLE, what.peer, what.tag, comm);
    case message::kind::send: return commtask_op_send(what.from, what.count, MPI_DOUBLE, what.peer, what.tag, comm);
    case message::kind::sum: return commtask_op_allreduce(what.from, what.into, what.count, MPI_DOUBLE, MPI_SUM, comm);
    case message::kind::none: break;
    }
    return commtask_op_noop(comm);
}

namespace {

class mpi_messages {
public:
    explicit mpi_messages(lane_comms lanes) : comm_(lanes[0]) {}
    void start(const message& m) {
        MPI_Request* const request = &requests_.emplace_back(MPI_REQUEST_NULL);
        if (m.what == message::kind::receive) {
            MPI_Irecv(m.into, m.count, MPI_DOUBLE, m.peer, m.tag, comm_, request);
        } else if (m.what == message::kind::send) {
            MPI_Isend(m.from, m.count, MPI_DOUBLE, m.peer, m.tag, comm_, request);
        } else {
            MPI_Iallreduce(m.from, m.into, m.count, MPI_DOUBLE, MPI_SUM, comm_, request);
        }
    }
    void wait() {
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
        requests_.clear();
    }

private:
    MPI_Comm comm_;
    std::vector<MPI_Request> requests_;
};

class task_messages {
public:
    explicit task_messages(lane_comms lanes) : lanes_(lanes) {}
    void start(const message& m) {
        miniapp::require(commtask_submit(operation_of(m, lanes_), nullptr, &tasks_.emplace_back(COMMTASK_NULL)),
                         "commtask_post");
    }
    void wait() {
        miniapp::require(commtask_wait_all(tasks_.size(), tasks_.data(), -1, nullptr), "commtask_wait_all");
        tasks_.clear();
    }

private:
    lane_comms lanes_;
    std::vector<commtask_t> tasks_;
};

template <class Messages>
class fork_join final : public runner {
public:
    fork_join(const cycle& on, lane_comms lanes, int compute_threads)
        : runner(compute_threads), items_(on.items()), messages_(lanes) {
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (i == 0 || items_[i].stage != items_[i - 1].stage || items_[i].when != items_[i - 1].when)
                first_.push_back(i);
        }
        first_.push_back(items_.size());
    }

    void run() override {
        std::vector<std::atomic<std::size_t>> drawn(first_.size());
#pragma omp parallel num_threads(compute_threads())
        {
            const int thread = omp_get_thread_num();
            bool is_under_way = false;
            for (std::size_t p = 0; p + 1 < first_.size(); ++p) {
                const item* const begin = &items_[first_[p]];
                const std::size_t size = first_[p + 1] - first_[p];
                if (begin->through.what != message::kind::none) {
                    for (std::size_t k = 0; k < size && thread == 0; ++k) messages_.start(begin[k].through);
                    is_under_way = true;
                    continue;
                }
                if (begin->when == part::unpack) {
                    if (thread == 0) messages_.wait();
                    is_under_way = false;
#pragma omp barrier
                }
                // relaxed: the counter only shares out; the barriers order the data.
                for (std::size_t k = 0; (k = drawn[p].fetch_add(1, std::memory_order_relaxed)) < size;)
                    work(begin[k], thread);
                if (begin->when != part::core || !is_under_way) {
#pragma omp barrier
                }
            }
        }
    }

private:
    const std::vector<item>& items_;
    Messages messages_;
    std::vector<std::size_t> first_; ///< Items of the parts of all stages.
};

} // namespace

std::unique_ptr<runner> make_baseline(const cycle& on, lane_comms lanes, int n_cores) {
    return std::make_unique<fork_join<mpi_messages>>(on, lanes, n_cores);
}

std::unique_ptr<runner> make_offload(const cycle& on, lane_comms lanes, int n_cores) {
    return std::make_unique<fork_join<task_messages>>(on, lanes, std::max(1, n_cores - 1));
}

std::span<const mode_description> modes() {
    static constexpr mode_description table[]{{mode::baseline, "baseline", make_baseline},
                                              {mode::offload, "offload", make_offload},
                                              {mode::omp, "omp", make_omp},
#if MULTIGRID_HAS_TBB
                                              {mode::tbb, "tbb", make_tbb}
#endif
    };
    return table;
}

} // namespace multigrid
