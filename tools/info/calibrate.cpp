// SPDX-License-Identifier: Apache-2.0
//
// Sends bursts through the runtime, as a program posts them: bursts of one message per lane, and
// long ones. Both ranks send at once, and the time of the slower one counts. The same is measured
// for all-to-alls, which stand for all collectives, and for puts into a window per lane, until they
// are at their target. The results are medians of rounds in which all cases take turns, so that a
// disturbance affects all cases.
#include "calibrate.hpp"

#include "config/config.hpp"
#include "core/lane_policy.hpp"
#include "mpi/identity.hpp"
#include "mpi/network_contexts.hpp"
#include "node/affinity.hpp"
#include "node/node_map.hpp"
#include "report/lane_table.hpp"

#include <commtask/commtask.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace commtask::info {

namespace {

constexpr std::array<std::size_t, 8> sizes{8, 256, 1024, 2048, 4096, 8192, 16384, 65536};
constexpr std::size_t long_burst = 256;
constexpr std::size_t most_bytes = std::size_t{8} << 20U; ///< Limits memory and time of a burst.
constexpr unsigned in_row = 4;
constexpr int n_rounds = 9;
constexpr unsigned most_by_default = 8;

void require(int code, const char* what) {
    if (code < 0) throw std::runtime_error(std::string(what) + ": " + commtask_last_error());
}

[[nodiscard]] double now_ns() {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// For how many lanes every rank has cores, at least 1: the number to measure, unless
/// COMMTASK_LANES is set.
[[nodiscard]] unsigned collective_lanes_with_cores(MPI_Comm comm) {
    detail::config settings;
    static_cast<void>(detail::apply_environment(settings, environ));
    for (unsigned n_lanes = most_by_default; n_lanes > 1; --n_lanes) {
        settings.lanes = n_lanes;
        const detail::node_map map = detail::collective_map_node(comm, settings, detail::process_cpus());
        const detail::rank_placement& mine = map.placements.at(map.me);
        int has_cores =
            !map.failure && mine.idle == detail::idle_policy::reserved && mine.lane_cpus.front() != detail::no_cpu;
        MPI_Allreduce(MPI_IN_PLACE, &has_cores, 1, MPI_INT, MPI_MIN, comm);
        if (has_cores != 0) return n_lanes;
    }
    return 1;
}

/// The cost of one burst: the time from the first post to the last end, and the time of the posts
/// alone.
struct burst_time {
    double all_ns;
    double posts_ns;
};

class bench {
public:
    explicit bench(MPI_Comm comm, int n_lanes) : comms_(static_cast<std::size_t>(n_lanes), MPI_COMM_NULL) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &n_ranks_);
        partner_ = n_ranks_ == 1 ? 0 : 1 - rank;
        require(commtask_comm_split_lanes(comm, n_lanes, comms_.data()), "commtask_comm_split_lanes");
    }

    /// Collective. Prepares for puts. Workers poll all the time while windows are open, so
    /// everything else is measured before.
    void collective_open_windows() {
        constexpr std::size_t least_turn = sizes.back() * in_row;
        const auto n_bytes = static_cast<MPI_Aint>(std::max(most_bytes, least_turn * comms_.size()));
        // One after the other: some MPIs then give each its own network context.
        for (MPI_Comm each : comms_) {
            void* base = nullptr;
            windows_.push_back(MPI_WIN_NULL);
            if (MPI_Win_allocate(n_bytes, 1, MPI_INFO_NULL, each, &base, &windows_.back()) != MPI_SUCCESS)
                throw std::runtime_error("MPI_Win_allocate failed");
        }
        for (std::size_t i = 0; i < comms_.size(); ++i)
            require(commtask_win_register(windows_[i], comms_[i]), "commtask_win_register");
    }
    void collective_close_windows() {
        for (MPI_Win& each : windows_) {
            require(commtask_win_unregister(each), "commtask_win_unregister");
            MPI_Win_free(&each);
        }
    }

    /// Collective. `row` messages go to one lane before the next lane gets any.
    [[nodiscard]] burst_time burst(const detail::message_burst& of, unsigned n_lanes, unsigned row) {
        // Received in a collective.
        const std::size_t stride = of.size_bytes * static_cast<std::size_t>(n_ranks_);
        sent_.resize(std::max(sent_.size(), stride));
        received_.resize(std::max(received_.size(), stride * of.n_messages));
        const auto count = static_cast<MPI_Count>(of.size_bytes);
        const auto lane_of = [&](std::size_t message) { return message / row % n_lanes; };
        for (std::size_t i = 0; of.kind == detail::burst_kind::messages && i < of.n_messages; ++i) {
            post(commtask_op_recv(&received_[i * stride], count, MPI_BYTE, partner_, 0, comms_[lane_of(i)]));
        }
        run(commtask_op_barrier(comms_[0]));
        const double begin_ns = now_ns();
        for (std::size_t i = 0; i < of.n_messages; ++i) {
            MPI_Comm on = comms_[lane_of(i)];
            switch (of.kind) {
            case detail::burst_kind::messages:
                post(commtask_op_send(sent_.data(), count, MPI_BYTE, partner_, 0, on));
                break;
            case detail::burst_kind::collectives:
                post(commtask_op_alltoall(sent_.data(), count, MPI_BYTE, &received_[i * stride], count, MPI_BYTE, on));
                break;
            case detail::burst_kind::puts:
                post_in_order(commtask_op_put(sent_.data(), count, MPI_BYTE, partner_,
                                              static_cast<MPI_Aint>(i * of.size_bytes), count, MPI_BYTE,
                                              windows_[lane_of(i)]));
            }
        }
        const double posted_ns = now_ns();
        for (std::size_t i = 0; i < windows_.size() && i < n_lanes; ++i)
            post_in_order(commtask_op_flush(partner_, windows_[i]));
        require(commtask_wait_all(tasks_.size(), tasks_.data(), nullptr), "commtask_wait_all");
        tasks_.clear();
        std::array<double, 2> times{now_ns() - begin_ns, posted_ns - begin_ns};
        std::array<double, 2> slower{};
        run(commtask_op_allreduce(times.data(), slower.data(), 2, MPI_DOUBLE, MPI_MAX, comms_[0]));
        return {slower[0], slower[1]};
    }

private:
    void post(const commtask_op& op) {
        require(commtask_post_operation(&op, nullptr, &tasks_.emplace_back(COMMTASK_NULL)), "commtask_post");
    }
    void post_in_order(const commtask_op& op) {
        commtask_options how = COMMTASK_OPTIONS_INIT;
        how.flags = COMMTASK_ORDERED;
        require(commtask_post_operation(&op, &how, &tasks_.emplace_back(COMMTASK_NULL)), "commtask_post");
    }
    static void run(const commtask_op& op) {
        commtask_t task = COMMTASK_NULL;
        require(commtask_post_operation(&op, nullptr, &task), "commtask_post");
        require(commtask_wait(&task, nullptr), "commtask_wait");
    }

    int n_ranks_ = 0;
    int partner_ = 0;
    std::vector<MPI_Comm> comms_; ///< MPI_Finalize frees them.
    std::vector<MPI_Win> windows_;
    std::vector<char> sent_;
    std::vector<char> received_;
    std::vector<commtask_t> tasks_;
};

[[nodiscard]] double median(std::vector<double> of) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::ranges::nth_element(of, middle);
    return *middle;
}

/// The samples of one message size and number of lanes.
struct case_samples {
    std::size_t size_bytes;
    unsigned n_lanes;
    std::size_t n_messages; ///< In its long burst.
    std::vector<double> first_ns;
    std::vector<double> long_ns;
    std::vector<double> post_ns; ///< Per message of the long burst.
};

/// Sent as the policy distributes them.
[[nodiscard]] unsigned row_of(detail::burst_kind kind) { return kind == detail::burst_kind::collectives ? 1 : in_row; }

[[nodiscard]] std::vector<case_samples> collective_measure(bench& with, unsigned n_lanes, detail::burst_kind kind) {
    const unsigned row = row_of(kind);
    std::vector<case_samples> cases;
    for (const std::size_t size_bytes : sizes) {
        for (unsigned n = 1; n <= n_lanes; ++n) {
            const std::size_t turns =
                std::max<std::size_t>(std::min(long_burst, most_bytes / size_bytes) / (std::size_t{n} * row), 1);
            cases.push_back({size_bytes, n, turns * n * row, {}, {}, {}});
        }
    }
    for (int round = -1; round < n_rounds; ++round) { // the first round is discarded
        for (case_samples& each : cases) {
            const double first_ns = with.burst({each.size_bytes, each.n_lanes, kind}, each.n_lanes, 1).all_ns;
            const burst_time all = with.burst({each.size_bytes, each.n_messages, kind}, each.n_lanes, row);
            if (round < 0) continue;
            each.first_ns.push_back(first_ns);
            each.long_ns.push_back(all.all_ns);
            each.post_ns.push_back(all.posts_ns / static_cast<double>(each.n_messages));
        }
    }
    return cases;
}

[[nodiscard]] double collective_switch_ns(bench& with, unsigned n_lanes, detail::burst_kind kind, double post_ns) {
    if (n_lanes == 1) return 0;
    std::vector<double> samples;
    for (int round = 0; round < n_rounds; ++round) {
        samples.push_back(with.burst({sizes.front(), long_burst, kind}, 2, 1).posts_ns /
                          static_cast<double>(long_burst));
    }
    return std::max(median(std::move(samples)) - post_ns, 0.0);
}

[[nodiscard]] detail::saturation_table collective_table(bench& with, unsigned n_lanes, detail::burst_kind kind) {
    const std::vector<case_samples> cases = collective_measure(with, n_lanes, kind);
    detail::saturation_table table;
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    table.machine = host.data();
    for (const case_samples& each : cases) {
        if (each.n_lanes == 1) table.rows.push_back({each.size_bytes, {}});
        const double first_ns = median(each.first_ns);
        const auto further = static_cast<double>(std::max<std::size_t>(each.n_messages - each.n_lanes, 1));
        table.rows.back().lanes.push_back(
            {each.n_lanes, first_ns, std::max((median(each.long_ns) - first_ns) / further, 1.0)});
    }
    table.post_ns = median(cases.front().post_ns);
    table.round_trip_ns = table.rows.front().lanes.front().first_ns;
    table.switch_ns = collective_switch_ns(with, n_lanes, kind, table.post_ns);
    return table;
}

void print(const detail::saturation_table& table, detail::burst_kind kind, const char* what) {
    std::printf("Nanoseconds per %s in a long burst, by bytes and lanes; then the lanes that bursts of 8, 32 and "
                "128 get\n%10s",
                what, "");
    for (const detail::lane_cost& cost : table.rows.front().lanes) std::printf("%9u", cost.n_lanes);
    std::printf("\n");
    for (const detail::size_costs& row : table.rows) {
        std::printf("%10zu", row.size_bytes);
        for (const detail::lane_cost& cost : row.lanes) std::printf("%9.0f", cost.each_ns);
        std::printf("   ->");
        for (const std::size_t burst : {8U, 32U, 128U}) {
            std::printf(
                "%4u", detail::choose_lanes(table, {row.size_bytes, burst, kind}, detail::most_lanes_in_table).n_lanes);
        }
        std::printf("\n");
    }
}

/// The message after a failure.
[[nodiscard]] std::string why_not(const std::string& file) {
    // No other thread fails.
    return "cannot write " + file + ": " + std::strerror(errno); // NOLINT(concurrency-mt-unsafe)
}

/// @return why the file could not be written; empty: it was
[[nodiscard]] std::string write(const std::string& text, const std::string& file) {
    std::ofstream out{file};
    return out << text << std::flush ? "" : why_not(file);
}

/// @return why the file cannot be written; empty: it can. Leaves no file behind that did not exist
///     before
[[nodiscard]] std::string try_to_write(const std::string& file) {
    std::error_code unknown;
    const bool was_there = std::filesystem::exists(std::filesystem::symlink_status(file, unknown));
    if (!std::ofstream{file, std::ios::app}.is_open()) return why_not(file);
    if (!was_there) std::filesystem::remove(file, unknown);
    return "";
}

} // namespace

int collective_calibrate(MPI_Comm comm, const std::string& file) {
    int rank = 0;
    int n_ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    if (n_ranks > 2) {
        if (rank == 0)
            std::cerr << "commtask-info: --calibrate needs two ranks, best on two nodes, or one that sends to itself\n";
        return 2;
    }
    int can_write = 1; // tested before a minute of measuring
    if (rank == 0) {
        const std::string why = try_to_write(file);
        if (!why.empty()) std::cerr << "commtask-info: " << why << "\n";
        can_write = why.empty() ? 1 : 0;
    }
    MPI_Bcast(&can_write, 1, MPI_INT, 0, comm);
    if (can_write == 0) return 1;
    // The old table has no effect, and need not exist. NOLINTNEXTLINE(concurrency-mt-unsafe)
    unsetenv("COMMTASK_LANE_TABLE");
    commtask_config config = COMMTASK_CONFIG_INIT;
    config.lanes = collective_lanes_with_cores(comm);
    config.verbose = COMMTASK_ZERO;
    if (commtask_init(&config) != COMMTASK_OK) {
        if (rank == 0) std::cerr << "commtask-info: " << commtask_last_error() << "\n";
        return 1;
    }
    commtask_info info{};
    info.struct_size = sizeof info;
    require(commtask_get_info(&info), "commtask_get_info");
    detail::lane_tables tables;
    {
        bench with{comm, static_cast<int>(info.lanes)};
        tables.messages = collective_table(with, info.lanes, detail::burst_kind::messages);
        tables.collectives = collective_table(with, info.lanes, detail::burst_kind::collectives);
        with.collective_open_windows();
        tables.puts = collective_table(with, info.lanes, detail::burst_kind::puts);
        with.collective_close_windows();
    }
    require(commtask_finalize(), "commtask_finalize");
    int status = 0;
    if (rank == 0) {
        const detail::mpi_identity mpi = detail::mpi_at_run_time();
        std::printf("%s, %s, %s, %s\n", tables.messages.machine.c_str(), mpi.text().c_str(),
                    n_ranks == 1 ? "one rank to itself" : "two ranks",
                    info.worker_is_reserved != 0 ? "each lane on a core of its own" : "the lanes share cores");
        if (info.lanes == 1) {
            std::printf("One lane: there are no cores for more. COMMTASK_LANES=n measures n that share cores.\n");
        } else {
            std::printf("%s.\n", detail::lanes_in_this_mpi(info.lanes).message.c_str());
        }
        print(tables.messages, detail::burst_kind::messages, "message");
        print(tables.puts, detail::burst_kind::puts, "put");
        print(tables.collectives, detail::burst_kind::collectives, "all-to-all");
        const std::string why = write(detail::text_of(tables, mpi.text()), file);
        if (!why.empty()) std::cerr << "commtask-info: " << why << "\n";
        if (why.empty())
            std::printf("Written to %s: COMMTASK_LANE_TABLE=%s has programs use it.\n", file.c_str(), file.c_str());
        const bool is_lost = std::fflush(stdout) != 0;
        if (is_lost) std::cerr << "commtask-info: standard output was lost\n";
        status = why.empty() && !is_lost ? 0 : 1;
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, comm);
    return status;
}

} // namespace commtask::info
