// SPDX-License-Identifier: Apache-2.0
//
// The same messages in every way that there is, each timed from a barrier until they have come on every rank: by MPI as a program without this library writes it, by MPI's
// persistent requests, by a post for each, by a plan; and under OpenMP by a task for each, and by one for the plan. What is an alltoallv
// for MPI is one commtask_op_many_to_many too.
#pragma once

#include <commtask/commtask.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace commtask::bench {

struct place {
    int rank = 0;
    int n_ranks = 1;
    /// Another rank, if there is one.
    [[nodiscard]] int at(int step) const {
        const int other = ((rank + step) % n_ranks + n_ranks) % n_ranks;
        return other == rank && n_ranks > 1 ? ((rank + (step > 0 ? 1 : -1)) % n_ranks + n_ranks) % n_ranks : other;
    }
};

/// The last rank's time: what one rank waits for says nothing of the others, and one that only sends waits for no arrival.
[[nodiscard]] double latest_of_all(double us);

enum class way : std::uint8_t { mpi, startall, posts, plan, omp_tasks, omp_plan, many_to_many };
inline constexpr std::array names_of_ways{"MPI",          "MPI_Startall", "posts",       "plan",
                                          "OpenMP tasks", "OpenMP plan",  "many_to_many"};

struct message {
    bool is_received;
    int peer;
    int tag;
    int bytes;
};

class exchange {
public:
    exchange(std::string its_name, place here, std::vector<message> messages);
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    ~exchange();

    [[nodiscard]] const std::string& name() const { return name_; }
    /// MPI's way is one collective: a block for each rank, most of them empty.
    void use_alltoallv(int bytes);
    /// Whether it can go this way.
    [[nodiscard]] bool has(way by) const { return by != way::many_to_many || !send_counts_.empty(); }

    /// In microseconds.
    struct times {
        double submitter; ///< Of this rank.
        double whole;     ///< Of the last rank, each from its own way out of the barrier.
    };
    /// Once.
    [[nodiscard]] times run(way by);

private:
    [[nodiscard]] times run_here(way by);
    [[nodiscard]] commtask_op operation(std::size_t i);
    void make_persistent(std::size_t i);
    void start_by_mpi();
    void start_by_tasks();
    void start(way by);
    void wait(way by);
    [[nodiscard]] int count() const { return static_cast<int>(messages_.size()); }

    std::string name_;
    place here_;
    std::vector<message> messages_;
    std::vector<std::vector<char>> buffers_;
    std::vector<const void*> filled_; ///< Where messages come.
    std::vector<const void*> used_;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Request> persistent_;
    std::vector<commtask_t> tasks_;
    commtask_plan_t plan_ = COMMTASK_PLAN_NULL;
    commtask_t run_ = COMMTASK_NULL;
    std::vector<int> send_counts_; ///< Empty: MPI's way are messages.
    std::vector<int> recv_counts_;
    std::vector<int> displs_;
    int block_bytes_ = 0; ///< Of the one block that is not empty, as many_to_many has it.
    int block_dest_ = 0;
    int block_source_ = 0;
};

} // namespace commtask::bench
