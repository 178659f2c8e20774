// SPDX-License-Identifier: Apache-2.0
// The shape that baseline, seg, p2p, iprobe, commself and offload share: all threads produce a chunk, the master hands
// its messages over, and so on; then segment by segment the master waits and the threads consume. Only the transport
// differs. The master thread alone calls it.
#pragma once

#include "exchange/messages.hpp"
#include "exchange/schedule.hpp"

namespace tiled {

/// Moves the blocks of one run, in the order of the functions here.
class transport {
public:
    virtual ~transport() = default;
    /// Starts the halo, and the receives where there are any. There are at least two ranks.
    virtual void begin(work& of) = 0;
    virtual void wait_halo() = 0;
    /// All pieces of the chunk are produced.
    virtual void send_chunk(int /*chunk*/) {}
    /// All chunks are.
    virtual void produced() {}
    /// Called after each piece that the master produced.
    virtual void after_piece() {}
    /// All blocks of the segment are there.
    virtual void wait_segment(int segment) = 0;
    /// The outgoing buffers are free again.
    virtual void finish() = 0;
    virtual void barrier() = 0;
    /// Of this run so far.
    virtual traffic sent() const = 0;
};

/// Isend, Irecv, Wait by the caller, one message per (chunk, segment, peer): the transport of p2p, and the base of
/// those that add something.
class message_transport : public transport {
public:
    explicit message_transport(const schedule_options& options) : comm_(options.comm) {}
    void begin(work& of) override;
    void wait_halo() override;
    void send_chunk(int chunk) override;
    void wait_segment(int segment) override;
    void finish() override;
    void barrier() override;
    traffic sent() const override { return sent_; }

protected:
    /// The halo alone.
    void begin_halo(work& of);

    MPI_Comm comm_;
    work* of_ = nullptr;
    traffic sent_;
    std::vector<MPI_Request> sends_;
    std::vector<MPI_Request> receives_; ///< [segment][peer and chunk]
    MPI_Request halo_ = MPI_REQUEST_NULL;

private:
    void receive(const incoming_message& one, MPI_Request& request) const;
    void send(const outgoing_message& one);
};

class fork_join_schedule final : public schedule {
public:
    fork_join_schedule(std::unique_ptr<transport> by, int compute_threads, int cores);
    phase_times run(work& of) override;
    void barrier() override { by_->barrier(); }
    int compute_threads() const override { return compute_threads_; }
    int cores() const override { return cores_; }

private:
    std::unique_ptr<transport> by_;
    int compute_threads_;
    int cores_;
};

/// A transport is made of the options.
template <class Transport>
std::unique_ptr<schedule> make_fork_join(mode which, const schedule_options& options) {
    return std::make_unique<fork_join_schedule>(std::make_unique<Transport>(options),
                                                compute_threads_of(which, options.n_cores),
                                                cores_of(which, options.n_cores));
}

} // namespace tiled
