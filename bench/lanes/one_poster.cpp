// SPDX-License-Identifier: Apache-2.0
//
// One thread posts; the messages go in turns to the communicators of one and two lanes. Over gapped links that measures what lanes
// are for, contexts that inject side by side. Then all-to-alls of 4 KiB.
#include "lanes/questions.h"

#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/machine.h"
#include "harness/report.h"

#include <commtask/commtask.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace commtask::bench {
namespace {

constexpr unsigned most_lanes = 2;
constexpr std::size_t n_messages = 64; ///< In each direction, behind one sample.
constexpr int n_all_to_alls = 16;
constexpr int block_bytes = 4096;

void require(int code, const char* what) {
    if (code < 0) throw std::runtime_error(std::string(what) + ": " + commtask_last_error());
}

void post(const commtask_op& op, std::vector<commtask_t>& to) {
    require(commtask_post_operation(&op, nullptr, &to.emplace_back(COMMTASK_NULL)), "commtask_post");
}

void wait(std::vector<commtask_t>& for_all) {
    require(commtask_wait_all(for_all.size(), for_all.data(), nullptr), "commtask_wait_all");
    for_all.clear();
}

class two_ranks {
public:
    two_ranks() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        commtask_config config = COMMTASK_CONFIG_INIT;
        config.lanes = most_lanes;
        config.verbose = COMMTASK_ZERO;
        require(commtask_init(&config), "commtask_init");
        require(commtask_comm_split_lanes(MPI_COMM_WORLD, most_lanes, comms_.data()), "commtask_comm_split_lanes");
    }

    [[nodiscard]] int rank() const { return rank_; }

    /// Thousands of messages a second that this rank sends by the lanes in turns.
    void messages(unsigned n_lanes, std::size_t n_bytes, round_samples& out) {
        std::vector<char> sent(n_bytes);
        std::vector<char> received(n_bytes * n_messages);
        const auto count = static_cast<MPI_Count>(n_bytes);
        for (std::size_t i = 0; i < n_messages; ++i) {
            post(commtask_op_recv(&received[i * n_bytes], count, MPI_BYTE, 1 - rank_, 0, comms_[i % n_lanes]), tasks_);
        }
        meet();
        const std::uint64_t begin = ticks();
        for (std::size_t i = 0; i < n_messages; ++i) {
            post(commtask_op_send(sent.data(), count, MPI_BYTE, 1 - rank_, 0, comms_[i % n_lanes]), tasks_);
        }
        wait(tasks_);
        out.push_back(static_cast<double>(n_messages) / ns_between(begin, ticks()) * 1e6);
    }

    /// Thousands of all-to-alls a second.
    void all_to_alls(unsigned n_lanes, round_samples& out) {
        static constexpr std::array counts{block_bytes, block_bytes};
        static constexpr std::array displs{0, block_bytes};
        const std::vector<char> sent(std::size_t{2} * block_bytes);
        std::vector<std::vector<char>> received(n_all_to_alls, std::vector<char>(sent.size()));
        meet();
        const std::uint64_t begin = ticks();
        for (int i = 0; i < n_all_to_alls; ++i) {
            post(commtask_op_alltoallv_int(sent.data(), counts.data(), displs.data(), MPI_BYTE,
                                           received[static_cast<std::size_t>(i)].data(), counts.data(), displs.data(),
                                           MPI_BYTE, comms_[static_cast<std::size_t>(i) % n_lanes]),
                 tasks_);
        }
        wait(tasks_);
        out.push_back(n_all_to_alls / ns_between(begin, ticks()) * 1e6);
    }

    void end() {
        require(commtask_finalize(), "commtask_finalize");
        for (MPI_Comm& each : comms_) MPI_Comm_free(&each);
    }

private:
    void meet() {
        std::vector<commtask_t> barrier;
        post(commtask_op_barrier(MPI_COMM_WORLD), barrier);
        wait(barrier);
    }

    int rank_ = 0;
    std::array<MPI_Comm, most_lanes> comms_{}; ///< Each of a lane of its own.
    std::vector<commtask_t> tasks_;
};

[[nodiscard]] std::string lanes_text(unsigned n_lanes) {
    return std::to_string(n_lanes) + (n_lanes == 1 ? " lane" : " lanes");
}

} // namespace

void ask_one_poster(const options& given) {
    const char* const gap_us = std::getenv("EMULATED_LINK_GAP_US");
    if (gap_us == nullptr) throw std::runtime_error("--one-submitter is of emulated links: EMULATED_LINK_GAP_US");
    two_ranks all;
    report out("lanes", "links of one message per " + std::string(gap_us) + " us and context",
               describe_machine(mpi_version()));
    std::vector<side> sides;
    for (const std::size_t n_bytes : {std::size_t{8}, std::size_t{4096}}) {
        for (unsigned n = 1; n <= most_lanes; ++n) {
            sides.push_back({lanes_text(n) + ", messages of " + std::to_string(n_bytes) + " B", "k/s",
                             [&all, n, n_bytes](round_samples& to) { all.messages(n, n_bytes, to); }});
        }
    }
    for (unsigned n = 1; n <= most_lanes; ++n) {
        sides.push_back({lanes_text(n) + ", all-to-alls of 4096 B", "k/s",
                         [&all, n](round_samples& to) { all.all_to_alls(n, to); }});
    }
    const std::vector<series> found = alternate(sides, given.rounds(40));
    for (std::size_t i = 0; i < found.size(); i += most_lanes) {
        out.add(found[i]);
        out.add(found[i + 1], found[i]);
    }
    all.end();
    if (all.rank() == 0) out.publish(given.json_file);
}

} // namespace commtask::bench
