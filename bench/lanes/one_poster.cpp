// SPDX-License-Identifier: Apache-2.0
//
// One thread posts; the messages go in turns to the communicators of 1 to 4 lanes. Over gapped links that measures what lanes are
// for, contexts that inject side by side; over this machine's memory what one thread's messages gain by several workers, on the
// cores that there are. As a control one lane serves as many communicators, for which an MPI may have a network context each. Then
// all-to-alls of 4 KiB.
#include "lanes/questions.h"

#include "harness/alternate.h"
#include "harness/clock.h"
#include "harness/machine.h"
#include "harness/report.h"

#include <commtask/commtask.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace commtask::bench {
namespace {

constexpr unsigned most_lanes = 4;
constexpr std::size_t n_messages = 64; ///< In each direction, behind one sample.
constexpr int n_all_to_alls = 16;
constexpr int block_bytes = 4096;

void require(int code, const char* what) {
    if (code < 0) throw std::runtime_error(std::string(what) + ": " + commtask_last_error());
}

void post(const commtask_op& op, std::vector<commtask_t>& to) {
    require(commtask_post(&op, nullptr, &to.emplace_back(COMMTASK_NULL)), "commtask_post");
}

void wait(std::vector<commtask_t>& for_all) {
    require(commtask_wait_all(for_all.size(), for_all.data(), -1, nullptr), "commtask_wait_all");
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
        for (MPI_Comm& each : of_one_lane_) {
            MPI_Comm_dup(MPI_COMM_WORLD, &each);
            require(commtask_comm_set_lane(each, 0), "commtask_comm_set_lane");
        }
    }

    [[nodiscard]] int rank() const { return rank_; }

    /// A communicator for each of the lanes, or as many of one lane.
    [[nodiscard]] std::span<const MPI_Comm> comms(unsigned n, bool are_of_one_lane) const {
        return std::span{are_of_one_lane ? of_one_lane_ : comms_}.first(n);
    }

    /// Thousands of messages a second that this rank sends by the communicators in turns.
    void messages(std::span<const MPI_Comm> comms, std::size_t n_bytes, round_samples& out) {
        std::vector<char> sent(n_bytes);
        std::vector<char> received(n_bytes * n_messages);
        const auto count = static_cast<MPI_Count>(n_bytes);
        for (std::size_t i = 0; i < n_messages; ++i) {
            post(commtask_op_recv(&received[i * n_bytes], count, MPI_BYTE, 1 - rank_, 0, comms[i % comms.size()]),
                 tasks_);
        }
        meet();
        const std::uint64_t begin = ticks();
        for (std::size_t i = 0; i < n_messages; ++i) {
            post(commtask_op_send(sent.data(), count, MPI_BYTE, 1 - rank_, 0, comms[i % comms.size()]), tasks_);
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
        for (auto* const all : {&comms_, &of_one_lane_}) {
            for (MPI_Comm& each : *all) MPI_Comm_free(&each);
        }
    }

private:
    void meet() {
        std::vector<commtask_t> barrier;
        post(commtask_op_barrier(MPI_COMM_WORLD), barrier);
        wait(barrier);
    }

    int rank_ = 0;
    std::array<MPI_Comm, most_lanes> comms_{}; ///< Each of a lane of its own.
    std::array<MPI_Comm, most_lanes> of_one_lane_{};
    std::vector<commtask_t> tasks_;
};

[[nodiscard]] std::string lanes_text(unsigned n_lanes) {
    return std::to_string(n_lanes) + (n_lanes == 1 ? " lane" : " lanes");
}

[[nodiscard]] goal at_least(double limit) { return {goal::field::ratio, goal::bound::at_least, limit}; }

} // namespace

void ask_one_poster(const options& given) {
    const char* const gap_us = std::getenv("EMULATED_LINK_GAP_US");
    const bool is_gapped = gap_us != nullptr;
    two_ranks all;
    report out("lanes",
               is_gapped ? "links of one message per " + std::string(gap_us) + " us and context"
                         : "two ranks, one thread",
               describe_machine(mpi_version()));
    std::vector<side> sides;
    std::vector<std::vector<goal>> goals;
    const auto ask_messages = [&](std::size_t n_bytes, unsigned n, bool are_of_one_lane) {
        const std::string of_one_lane = lanes_text(1) + ", " + std::to_string(n) + " communicators";
        sides.push_back({.name = (are_of_one_lane ? of_one_lane : lanes_text(n)) + ", messages of " +
                                 std::to_string(n_bytes) + " B",
                         .unit = "k/s",
                         .measure = [&all, comms = all.comms(n, are_of_one_lane), n_bytes](round_samples& to) {
                             all.messages(comms, n_bytes, to);
                         }});
        goals.push_back(are_of_one_lane ? std::vector<goal>{} : std::vector{at_least(0.8 * n)});
    };
    for (const std::size_t n_bytes : {std::size_t{8}, std::size_t{4096}}) {
        for (unsigned n = 1; n <= most_lanes; ++n) ask_messages(n_bytes, n, false);
        for (const unsigned n : {2U, most_lanes}) ask_messages(n_bytes, n, true);
    }
    for (const unsigned n : {1U, 2U}) {
        sides.push_back({.name = lanes_text(n) + ", all-to-alls of 4096 B",
                         .unit = "k/s",
                         .measure = [&all, n](round_samples& to) { all.all_to_alls(n, to); }});
        goals.push_back({at_least(1.3)});
    }
    const std::vector<series> found = alternate(sides, given.rounds(40));
    std::size_t reference = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const bool is_reference = sides[i].name.starts_with("1 lane") && !goals[i].empty();
        if (is_reference) {
            reference = i;
            out.add(found[i]);
        } else {
            out.add(found[i], found[reference], is_gapped ? goals[i] : std::vector<goal>{});
        }
    }
    all.end();
    if (all.rank() == 0) out.publish(given.json_file);
}

} // namespace commtask::bench
