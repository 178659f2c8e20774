// SPDX-License-Identifier: Apache-2.0
//
// One split and two allgathers: since the texts have different lengths, the lengths are exchanged
// first.
#include "node/node_map.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <new>
#include <utility>

namespace commtask::detail {

namespace {

/// The communicator of the node, freed on every path.
class node_communicator {
public:
    explicit node_communicator(MPI_Comm comm) {
        code_ = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm_);
        if (code_ == MPI_SUCCESS) code_ = MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    node_communicator(const node_communicator&) = delete;
    node_communicator& operator=(const node_communicator&) = delete;
    ~node_communicator() { (void)free(); }

    int free() { return comm_ == MPI_COMM_NULL ? MPI_SUCCESS : MPI_Comm_free(&comm_); }
    [[nodiscard]] int code() const { return code_; }
    [[nodiscard]] MPI_Comm get() const { return comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int code_ = MPI_SUCCESS;
};

std::optional<std::string> failure_of(const char* call, int code) {
    return code == MPI_SUCCESS ? std::nullopt : std::optional{mpi_failure_text(call, code)};
}

/// Checks that every rank has the memory to continue. If one rank alone returned early, the others
/// would wait forever in the next call.
/// @throws std::bad_alloc on every rank, if one rank does not have the memory
std::optional<std::string> collective_check_memory(MPI_Comm comm, bool has_it) {
    const int mine = has_it ? 1 : 0;
    int all = 0;
    if (auto failure = failure_of("MPI_Allreduce", MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm)))
        return failure;
    if (all == 0) throw std::bad_alloc{};
    return std::nullopt;
}

std::optional<std::string> gather_texts(MPI_Comm comm, const std::string* mine, text_exchange& result) {
    int n_ranks = 0;
    int me = 0;
    if (auto failure = failure_of("MPI_Comm_size", MPI_Comm_size(comm, &n_ranks))) return failure;
    if (auto failure = failure_of("MPI_Comm_rank", MPI_Comm_rank(comm, &me))) return failure;

    const auto n = static_cast<std::size_t>(n_ranks);
    const int length = mine == nullptr ? 0 : static_cast<int>(mine->size());
    const std::unique_ptr<int[]> lengths{new (std::nothrow) int[n]};
    const std::unique_ptr<int[]> offsets{new (std::nothrow) int[n]};
    if (auto failure = collective_check_memory(comm, mine != nullptr && lengths != nullptr && offsets != nullptr)) {
        return failure;
    }
    if (auto failure = failure_of("MPI_Allgather", MPI_Allgather(&length, 1, MPI_INT, lengths.get(), 1, MPI_INT, comm)))
        return failure;
    int total = 0;
    for (std::size_t rank = 0; rank < n; ++rank) {
        if (lengths[rank] < 0 || lengths[rank] > INT_MAX - total)
            return "the requests of the node's ranks exceed the largest count of MPI";
        offsets[rank] = total;
        total += lengths[rank];
    }
    const std::unique_ptr<char[]> all{new (std::nothrow) char[static_cast<std::size_t>(total) + 1]};
    if (auto failure = collective_check_memory(comm, all != nullptr)) return failure;
    if (auto failure = failure_of("MPI_Allgatherv", MPI_Allgatherv(mine->data(), length, MPI_CHAR, all.get(),
                                                                   lengths.get(), offsets.get(), MPI_CHAR, comm)))
        return failure;
    for (std::size_t rank = 0; rank < n; ++rank)
        result.texts.emplace_back(all.get() + offsets[rank], static_cast<std::size_t>(lengths[rank]));
    result.me = static_cast<std::size_t>(me);
    return std::nullopt;
}

/// @param mine  null: this rank had no memory for its text
text_exchange exchange(MPI_Comm comm, const std::string* mine) {
    text_exchange result;
    result.failure = gather_texts(comm, mine, result);
    if (result.failure) result = {{*mine}, 0, std::move(result.failure)};
    return result;
}

text_exchange exchange_on_node(MPI_Comm comm, const std::string* mine) {
    node_communicator node{comm};
    if (node.code() != MPI_SUCCESS) {
        return {{mine == nullptr ? std::string{} : *mine}, 0, mpi_failure_text("MPI_Comm_split_type", node.code())};
    }
    text_exchange result = exchange(node.get(), mine);
    const int code = node.free();
    if (!result.failure && code != MPI_SUCCESS) {
        result = {{*mine}, 0, mpi_failure_text("MPI_Comm_free", code)};
    }
    return result;
}

} // namespace

std::string mpi_failure_text(const char* call, int code) {
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
    std::string reason =
        length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "error code " + std::to_string(code);
    // MPICH appends its internal calls, one per line.
    reason.resize(std::min({reason.size(), reason.find(", error stack"), reason.find('\n')}));
    return std::string{call} + " failed: " + reason;
}

text_exchange collective_exchange(MPI_Comm comm, const std::string& mine) { return exchange(comm, &mine); }

text_exchange collective_exchange_on_node(MPI_Comm comm, const std::string& mine) {
    return exchange_on_node(comm, &mine);
}

node_map collective_map_node(MPI_Comm comm, const config& settings, const cpu_set& cpus) {
    std::optional<rank_request> mine;
    std::optional<std::string> my_text;
    try {
        mine = rank_request{cpus, static_cast<int>(settings.lanes), settings.core, settings.idle};
        my_text = to_text(*mine);
    } catch (const std::bad_alloc&) { // the exchange reports it to the other ranks
    }
    text_exchange exchange = exchange_on_node(comm, my_text ? &*my_text : nullptr);
    if (!my_text) throw std::bad_alloc{};
    node_map map;
    map.failure = std::move(exchange.failure);
    map.me = exchange.me;
    cpu_set all = cpus;
    for (const std::string& text : exchange.texts) {
        auto request = rank_request_from_text(text);
        if (!request) {
            map.failure = "a rank of this node sent a request that this version cannot read: " + text;
            break;
        }
        all |= request->cpus;
        map.requests.push_back(std::move(*request));
    }
    if (map.failure) {
        // Without the other ranks' requests this rank must not take a core, since another rank
        // might take the same one.
        map.me = 0;
        map.requests = {*mine};
        map.requests[0].core = "none";
    }
    map.node = read_node_shape(all);
    map.placements = place_ranks(map.node, map.requests);
    return map;
}

} // namespace commtask::detail
