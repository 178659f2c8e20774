// SPDX-License-Identifier: Apache-2.0
// How spikes reach the ranks that need them, in parts of an interval. By allgather every rank gets all spikes, at the end of an interval
// or, of a half, while the next half is computed. By multicast a spike goes at once to the ranks where its cell has targets; a global sum
// beside the computing of the next half says when as many have come as were sent. The price of parts is memory: four of them.
#pragma once

#include "common/report.hpp"
#include "common/runner.hpp"
#include "network.hpp"

#include <atomic>

namespace spikes {

enum class exchange_kind : std::uint8_t { allgather, halves, multicast };

class exchange {
public:
    /// Collective. With `by_worker`, which multicast needs, only the communication worker calls MPI from now until end().
    exchange(network& on, exchange_kind kind, MPI_Comm comm, bool by_worker);
    void end();
    /// Collective: back to the begin of a run.
    void reset();
    /// What a part sends, and the blocks that are advanced in it.
    [[nodiscard]] const miniapp::item_list& parts() const { return parts_; }
    /// Collective, after a run of so many parts: what the last one fired. @throws std::runtime_error if a message failed
    void finish(int n_parts);
    [[nodiscard]] int parts_per_interval() const { return kind_ == exchange_kind::allgather ? 1 : 2; }
    /// Of this rank, since reset(): messages, and global sums.
    [[nodiscard]] long n_sent() const { return n_sent_; }
    [[nodiscard]] long n_sums() const { return n_sums_; }
    /// Of all ranks together 0 after finish() unless a message was changed on its way.
    [[nodiscard]] std::uint64_t left_of_messages() const { return left_of_messages_; }

private:
    /// A rank can be three parts ahead of another: spikes of part p + 3 may come when p has been collected, but not before. With two slots
    /// in turns they could come before, since the sum for a part ends on some rank first. The fourth slot is for a rank's
    /// own spikes: its blocks read them two parts later, while faster blocks are two parts further.
    static constexpr int n_slots = 4;
    struct slot {
        exchange* owner = nullptr;
        int number = 0;                        ///< And the tag of its multicasts.
        std::vector<std::vector<spike>> fired; ///< By the blocks of this rank.
        std::vector<spike> come;               ///< Written by the handler, until as many have come as were sent.
        std::vector<spike> ready;              ///< Of the other ranks, for the blocks.
        std::atomic<long> sent = 0, ended = 0, received = 0;
    };

    [[nodiscard]] bool gathers() const { return kind_ != exchange_kind::multicast; }
    [[nodiscard]] int n_steps() const { return steps_per_interval / parts_per_interval(); }
    [[nodiscard]] slot& at(int part) { return slots_[(part + n_slots) % n_slots]; }
    void add_parts();
    void advance(int part, std::size_t b);
    void post_multicasts(slot& of, std::size_t b);
    void pack(const slot& of);
    void collect(slot& of);
    static int gather(MPI_Request* request, void* of); ///< Also by plain MPI.
    static int balance(MPI_Request* request, void* of_slot);
    void post_sum(slot& of);
    static int take(commtask_message* come, void* self);

    network& on_;
    exchange_kind kind_;
    bool by_worker_;
    int rank_ = 0, n_ranks_ = 1;
    MPI_Comm comm_ = MPI_COMM_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL; ///< A spike.
    commtask_listener_t listener_ = COMMTASK_LISTENER_NULL;
    std::array<slot, n_slots> slots_;
    miniapp::item_list parts_;
    MPI_Request request_ = MPI_REQUEST_NULL; ///< Of the sum under way; there is one at a time.
    std::array<long, 4> mine_{}, all_{};     ///< Of a part: sent, ended, received, failed.
    std::vector<spike> packed_, gathered_;
    std::vector<int> counts_, places_;
    int n_packed_ = 0;
    std::atomic<long> n_failed_ = 0;
    long n_sent_ = 0, n_sums_ = 0;
    std::atomic<std::uint64_t> left_of_messages_ = 0; ///< Bits of the spikes that were sent less those that came.
};

} // namespace spikes
