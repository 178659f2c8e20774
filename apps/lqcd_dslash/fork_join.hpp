// SPDX-License-Identifier: Apache-2.0
// The shape that baseline, iprobe, commself and offload share: pack, post, compute the interior while the messages
// fly, wait, compute the boundary, with barriers between. Only the transport differs. The master thread alone calls it.
#pragma once

#include "exchange.hpp"

namespace dslash {

/// Moves the faces of one hop. Called by the master thread only, in the order receive, send, progress*, wait.
class halo_transport {
public:
    virtual ~halo_transport() = default;
    virtual void post_receives(const hop_step& step) = 0;
    virtual void post_sends(const hop_step& step) = 0;
    /// Called after each tile of the interior that the master computed.
    virtual void after_tile() {}
    virtual void wait() = 0;
    virtual void barrier() = 0;
};

/// Isend, Irecv, Waitall by the caller: the transport of baseline, and the base of those that add something.
class mpi_transport : public halo_transport {
public:
    mpi_transport(stencil& on, MPI_Comm comm);
    void post_receives(const hop_step& step) override;
    void post_sends(const hop_step& step) override;
    void wait() override;
    void barrier() override;

protected:
    stencil& on_;
    MPI_Comm comm_;
    std::vector<MPI_Request> requests_;
};

class fork_join_exchange final : public exchange {
public:
    fork_join_exchange(stencil& on, std::unique_ptr<halo_transport> transport, int compute_threads, int cores,
                       bad_habit bad = bad_habit::none);
    phase_times run(std::span<const hop_step> steps) override;
    void barrier() override { transport_->barrier(); }
    int compute_threads() const override { return compute_threads_; }
    int cores() const override { return cores_; }

private:
    stencil& on_;
    std::unique_ptr<halo_transport> transport_;
    int compute_threads_;
    int cores_;
    bad_habit bad_;
};

} // namespace dslash
