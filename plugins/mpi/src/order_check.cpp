// SPDX-License-Identifier: Apache-2.0
//
// Each rank records for each communicator the number of its collectives, a rolling hash of them,
// and the first of them by name. The ranks exchange number and hash. Only if these differ do the
// ranks compare the recorded collectives.
#include "order_check.hpp"

#include "post.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace commtask::interposer::order_check {
namespace {

constexpr std::size_t most_named = std::size_t{1} << 16U;
constexpr std::uint32_t other_root = 0xffffffffU; ///< The root of a collective without one.

struct notes {
    std::uint64_t n_calls = 0;
    std::uint64_t hash = 0;
    std::vector<std::uint64_t> first; ///< Collective and root of each call.
};

struct table {
    std::mutex mutex;
    std::unordered_map<MPI_Comm, notes> comms;
};
table& all() {
    static table* const made = new table; // never destroyed: calls may come during exit
    return *made;
}

[[nodiscard]] notes take(MPI_Comm comm) {
    table& known = all();
    const std::lock_guard guard{known.mutex};
    const auto found = known.comms.find(comm);
    if (found == known.comms.end()) return {};
    notes taken = std::move(found->second);
    known.comms.erase(found);
    return taken;
}

void say_difference(std::uint64_t call, int n_ranks, std::uint64_t of_first, int rank, std::uint64_t mine) {
    const auto root_of = [](std::uint64_t note) { return static_cast<int>(static_cast<std::uint32_t>(note)); };
    std::array<std::array<char, 96>, 2> texts{};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::uint64_t note = i == 0 ? of_first : mine;
        const char* const name = collective_names[note >> 32U];
        if (static_cast<std::uint32_t>(note) == other_root) {
            std::snprintf(texts[i].data(), texts[i].size(), "%s", name);
        } else {
            std::snprintf(texts[i].data(), texts[i].size(), "%s with root %d", name, root_of(note));
        }
    }
    detail::say("check: collective %llu of a communicator of %d ranks differs: rank 0 called %s, rank %d %s",
                static_cast<unsigned long long>(call), n_ranks, texts[0].data(), rank, texts[1].data());
}

} // namespace

void initialize() {
    // Called once, in MPI_Init, before the program may have threads that set the environment.
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    const char* const text = std::getenv("COMMTASK_MPI_CHECK");
    is_on = text != nullptr && std::string_view{text} == "1";
    if (text != nullptr && !is_on && std::string_view{text} != "0") {
        detail::say("warning: COMMTASK_MPI_CHECK is '%s', and must be 0 or 1; nothing is checked", text);
    }
}

void add(MPI_Comm comm, std::uint32_t collective, int root) {
    if (is_nested()) return;
    constexpr std::uint64_t prime = 0x100000001b3ULL;
    const std::uint64_t note = (std::uint64_t{collective} << 32U) | static_cast<std::uint32_t>(root);
    table& known = all();
    const std::lock_guard guard{known.mutex};
    notes& of_comm = known.comms[comm];
    ++of_comm.n_calls;
    of_comm.hash = (of_comm.hash ^ (note + 1)) * prime;
    if (of_comm.first.size() < most_named) of_comm.first.push_back(note);
}

void compare(MPI_Comm comm) {
    int is_intercommunicator = 1;
    int n_ranks = 0;
    int rank = 0;
    if (!is_on || is_nested() || comm == MPI_COMM_NULL ||
        MPI_Comm_test_inter(comm, &is_intercommunicator) != MPI_SUCCESS)
        return;
    notes mine = take(comm);
    // On an intercommunicator the root has different numbers in the two groups.
    if (is_intercommunicator != 0 || MPI_Comm_size(comm, &n_ranks) != MPI_SUCCESS || n_ranks < 2) return;
    MPI_Comm_rank(comm, &rank);
    const std::array<std::uint64_t, 2> sums{mine.n_calls, mine.hash};
    std::vector<std::uint64_t> theirs(2 * static_cast<std::size_t>(n_ranks));
    const auto gather = [&](MPI_Request* request) {
        return commtask_real_MPI_Iallgather(sums.data(), 2, MPI_UINT64_T, theirs.data(), 2, MPI_UINT64_T, comm,
                                            request);
    };
    if (run_twin(comm, MPI_STATUS_IGNORE, gather) != MPI_SUCCESS) return;
    int odd = 1;
    while (odd < n_ranks && theirs[2 * static_cast<std::size_t>(odd) + 1] == theirs[1]) ++odd;
    if (odd == n_ranks) return;
    // The first rank that differs from rank 0 reports how. All ranks compute the same length, as
    // they have the same numbers.
    const std::uint64_t n_both = std::min(theirs[0], theirs[2 * static_cast<std::size_t>(odd)]);
    const auto n_named = static_cast<std::size_t>(std::min<std::uint64_t>(n_both, most_named));
    std::vector<std::uint64_t> of_first(n_named);
    if (rank == 0) std::copy_n(mine.first.begin(), n_named, of_first.begin());
    const auto send_first = [&](MPI_Request* request) {
        return commtask_real_MPI_Ibcast(of_first.data(), static_cast<int>(n_named), MPI_UINT64_T, 0, comm, request);
    };
    if (run_twin(comm, MPI_STATUS_IGNORE, send_first) != MPI_SUCCESS || rank != odd) return;
    for (std::size_t i = 0; i < n_named; ++i) {
        if (of_first[i] != mine.first[i]) return say_difference(i + 1, n_ranks, of_first[i], rank, mine.first[i]);
    }
    detail::say("check: the collectives of a communicator of %d ranks differ after the first %zu: rank 0 made %llu "
                "calls, rank %d "
                "%llu",
                n_ranks, n_named, static_cast<unsigned long long>(theirs[0]), rank,
                static_cast<unsigned long long>(mine.n_calls));
}

} // namespace commtask::interposer::order_check
