// SPDX-License-Identifier: Apache-2.0
// Mode offload: baseline's shape, but every MPI call is made by the communication worker, which progresses the messages
// while the master computes. One core less computes; nothing else of the program changes. A hop's messages are one plan, which
// starts the receives, and each send when its face is packed; or a task each.
#include "common/runtime_session.hpp"
#include "fork_join.hpp"
#include "halo_plan.hpp"

#include <commtask/commtask.h>

#include <algorithm>

namespace dslash {

namespace {

class offload_transport final : public halo_transport {
public:
    offload_transport(stencil& on, const exchange_options& options)
        : on_(on), comm_(options.comm), messages_(options.messages(on)) {
        require(commtask_comm_register(comm_), "commtask_comm_register");
        tasks_.reserve(2 * n_directions);
    }

    void post_receives(const hop_step& step) override {
        for (int d = 0; d < n_directions; ++d) {
            const auto size = static_cast<MPI_Count>(on_.face_bytes(d));
            if (size == 0) continue;
            post(commtask_op_recv(on_.receive_buffer(step.parity, d), size, MPI_BYTE, on_.shape().geom.neighbour(d), d,
                                  messages_[static_cast<std::size_t>(d)]));
        }
    }

    void post_sends(const hop_step& step) override {
        for (int d = 0; d < n_directions; ++d) {
            const auto size = static_cast<MPI_Count>(on_.face_bytes(d));
            if (size == 0) continue;
            post(commtask_op_send(on_.send_buffer(step.parity, d), size, MPI_BYTE, on_.shape().geom.neighbour(d ^ 1), d,
                                  messages_[static_cast<std::size_t>(d)]));
        }
    }

    void wait() override {
        require(commtask_wait_all(tasks_.size(), tasks_.data(), -1, nullptr), "commtask_wait_all");
        tasks_.clear();
    }

    void barrier() override { miniapp::worker_barrier(comm_); }

private:
    void post(const commtask_op& operation) {
        require(commtask_post(&operation, nullptr, &tasks_.emplace_back(COMMTASK_NULL)), "commtask_post");
    }

    stencil& on_;
    MPI_Comm comm_;
    halo_comms messages_;
    std::vector<commtask_t> tasks_;
};

class planned_transport final : public halo_transport {
public:
    planned_transport(stencil& on, const exchange_options& options)
        : comm_(options.comm), plans_{{{on, options.messages(on), 0, halo_plan::of::both},
                                       {on, options.messages(on), 1, halo_plan::of::both}}} {}

    void post_receives(const hop_step& step) override {
        require(commtask_plan_start(plan_of(step).handle(), nullptr, &run_), "commtask_plan_start");
    }

    void post_sends(const hop_step& step) override {
        for (int d = 0; d < n_directions; ++d) plan_of(step).packed(d);
    }

    void wait() override { require(commtask_wait(&run_, nullptr), "commtask_wait"); }

    void barrier() override { miniapp::worker_barrier(comm_); }

private:
    halo_plan& plan_of(const hop_step& step) { return plans_[static_cast<std::size_t>(step.parity)]; }

    MPI_Comm comm_;
    std::array<halo_plan, 2> plans_;
    commtask_t run_ = COMMTASK_NULL;
};

std::unique_ptr<halo_transport> make_transport(stencil& on, const exchange_options& options) {
    // Bad habits are about single messages.
    if (options.has_plan && options.bad == bad_habit::none) return std::make_unique<planned_transport>(on, options);
    return std::make_unique<offload_transport>(on, options);
}

} // namespace

std::unique_ptr<exchange> make_offload_exchange(stencil& on, const exchange_options& options) {
    return std::make_unique<fork_join_exchange>(on, make_transport(on, options), std::max(1, options.n_cores - 1),
                                                std::max(2, options.n_cores), options.bad);
}

} // namespace dslash
