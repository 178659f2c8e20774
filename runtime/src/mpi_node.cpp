// SPDX-License-Identifier: Apache-2.0
//
// One split, two allgathers. The texts have different lengths, and a rank must never read beyond what another sent, so
// lengths go first.
#include "mpi_node.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

namespace commtask::detail {

namespace {

/// Frees the communicator of the node on every way out.
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

std::optional<std::string> gather_texts(MPI_Comm comm, const std::string& mine, text_exchange& result) {
    int n_ranks = 0;
    int me = 0;
    if (auto failure = failure_of("MPI_Comm_size", MPI_Comm_size(comm, &n_ranks))) return failure;
    if (auto failure = failure_of("MPI_Comm_rank", MPI_Comm_rank(comm, &me))) return failure;

    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(static_cast<std::size_t>(n_ranks));
    if (auto failure =
            failure_of("MPI_Allgather", MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm)))
        return failure;
    std::vector<int> offsets;
    int total = 0;
    for (const int other : lengths) {
        if (other < 0 || other > INT_MAX - total)
            return "the requests of the node's ranks are longer than MPI can count";
        offsets.push_back(total);
        total += other;
    }
    std::string all(static_cast<std::size_t>(total), '\0');
    if (auto failure = failure_of("MPI_Allgatherv", MPI_Allgatherv(mine.data(), length, MPI_CHAR, all.data(),
                                                                   lengths.data(), offsets.data(), MPI_CHAR, comm)))
        return failure;
    result.texts.clear();
    for (std::size_t rank = 0; rank < lengths.size(); ++rank)
        result.texts.push_back(
            all.substr(static_cast<std::size_t>(offsets[rank]), static_cast<std::size_t>(lengths[rank])));
    result.me = static_cast<std::size_t>(me);
    return std::nullopt;
}

} // namespace

std::string mpi_failure_text(const char* call, int code) {
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = 0;
    if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
    std::string reason =
        length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "error code " + std::to_string(code);
    // MPICH adds its internal calls, each on a line of its own.
    reason.resize(std::min({reason.size(), reason.find(", error stack"), reason.find('\n')}));
    return std::string{call} + " failed: " + reason;
}

text_exchange collective_exchange(MPI_Comm comm, const std::string& mine) {
    text_exchange result{{mine}, 0};
    result.failure = gather_texts(comm, mine, result);
    return result;
}

text_exchange collective_exchange_on_node(MPI_Comm comm, const std::string& mine) {
    text_exchange result{{mine}, 0};
    node_communicator node{comm};
    if (node.code() != MPI_SUCCESS) {
        result.failure = mpi_failure_text("MPI_Comm_split_type", node.code());
        return result;
    }
    result = collective_exchange(node.get(), mine);
    const int code = node.free();
    if (!result.failure && code != MPI_SUCCESS) result.failure = mpi_failure_text("MPI_Comm_free", code);
    if (result.failure) result = {{mine}, 0, std::move(result.failure)};
    return result;
}

node_map collective_map_node(MPI_Comm comm, const config& settings, const cpu_set& cpus) {
    const rank_request mine{cpus, static_cast<int>(settings.lanes), settings.core, settings.idle};
    text_exchange exchange = collective_exchange_on_node(comm, to_text(mine));
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
        // Not knowing the others, this rank must not take a core: it might be the one that another rank takes.
        map.me = 0;
        map.requests = {mine};
        map.requests[0].core = "none";
    }
    map.node = read_node_shape(all);
    map.places = place_ranks(map.node, map.requests);
    return map;
}

} // namespace commtask::detail
