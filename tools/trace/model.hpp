// SPDX-License-Identifier: Apache-2.0
//
// A run as the converters see it: ranks with threads, what these did in spans that nest, and tasks with their steps. The rules by
// which it is made of records are those of docs/trace-format.md; tools/report has the same in Python for reports, which ask
// other questions.
#pragma once

#include "core/trace_record.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace commtask::tools {

/// A file that cannot be read; the sentence names it.
struct trace_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr std::array<std::string_view, 7> phase_names{"posted",    "waiting", "held",   "ready",
                                                             "in flight", "ended",   "dropped"};
inline constexpr std::array<std::string_view, 6> end_names{"open", "completed", "failed", "canceled", "", "given up"};
inline constexpr std::array<std::string_view, 9> state_names{"none",   "issue",  "poll",     "idle",  "nap",
                                                             "asleep", "driven", "callback", "paused"};

/// Phases as the format numbers them.
inline constexpr std::uint8_t in_flight = 4;
inline constexpr std::uint8_t ended = 5;
inline constexpr std::uint8_t dropped = 6;

struct step {
    std::uint64_t time_ns;
    std::uint8_t before;
    std::uint8_t phase;
    std::uint32_t thread; ///< Who drove the lane.
};

/// A message that a task has beside those that its post names.
struct other_message {
    std::int32_t rank;
    std::int32_t tag;
    bool is_sent;
};

struct task {
    std::uint64_t id = 0;
    std::uint8_t kind = 0;
    std::uint8_t lane = 0;
    std::uint8_t end = 0; ///< Index of end_names.
    bool stands = false;  ///< A standing receive.
    std::uint32_t communicator = 0;
    std::int32_t peer = detail::trace::nobody;
    std::int32_t tag = 0;
    std::optional<std::pair<std::int32_t, std::int32_t>> source;  ///< And its tag, of a sendrecv.
    std::optional<std::pair<std::int32_t, std::int32_t>> matched; ///< Source and tag of the message.
    std::vector<other_message> others;                            ///< Of a task with several messages.
    std::uint64_t posted_ns = 0;                                  ///< 0: the record is lost.
    std::uint64_t post_returned_ns = 0;                           ///< 0: soon.
    std::uint64_t given_bytes = 0;                                ///< That it sends.
    std::uint64_t bytes = 0;                ///< That it sent and received; of one that did not complete 0.
    std::vector<std::uint64_t> sent_as;     ///< Identifiers of the messages that it sent, as far as they are known.
    std::vector<std::uint64_t> received_as; ///< The same of those that it received.
    std::vector<step> steps;
    std::vector<std::uint64_t> after;
    std::uint64_t compute = 0; ///< The compute task in which it was posted; 0: none.

    [[nodiscard]] std::uint32_t poster() const { return static_cast<std::uint32_t>(id >> 48U); }
    [[nodiscard]] const step* step_to(std::uint8_t phase) const;
    [[nodiscard]] bool has_completed() const { return end == 1; }
    [[nodiscard]] bool has_ended() const { return !steps.empty() && steps.back().phase >= ended; }
};

/// Regions are those from `mpi` on.
enum class span_class : std::uint8_t { state, wait, compute, mpi, openmp, onetbb, program };

/// What a thread did. Spans of a thread nest once they are put in order.
struct span {
    std::uint64_t begin_ns;
    std::uint64_t end_ns;
    span_class what;
    std::string name;
    std::uint64_t id = 0; ///< A wait's task, a slice's compute task.
    bool is_rest = false; ///< What was left of it when what it lies in had ended.
};

/// Puts outer spans before inner ones, of those that begin together states first. What begins inside of another and ends after it is cut there, and its rest goes on behind.
void nest(std::vector<span>& spans);

/// A task of OpenMP's, a body of oneTBB's.
struct compute_task {
    std::string name;
    detail::trace::compute_model model{}; ///< 0: unknown.
    bool is_detached = false;             ///< It ends by an event: what its body posted is what others wait for.
    struct predecessor {
        std::uint64_t id;
        std::uint64_t said_ns;
    };
    std::vector<predecessor> after;
};

struct state_change {
    std::uint64_t time_ns;
    std::uint8_t lane;
    std::uint8_t state;
};

struct thread {
    std::uint32_t number = 0;
    std::uint64_t kernels_id = 0;
    std::int32_t lane = -1; ///< Whose worker it is.
    std::string name;
    std::vector<state_change> states;
    std::vector<span> spans; ///< In order of their beginning; outer ones first.
};

struct communicator {
    std::uint32_t number = 0;
    std::string name;
    std::vector<int> members; ///< Ranks in MPI_COMM_WORLD.
    bool is_intercommunicator = false;
    std::string key; ///< The same on all ranks.
};

struct operation {
    std::string name;
    std::uint8_t flags = 0;
};

struct rank_trace {
    std::string path;
    detail::trace::file_header header{};
    std::string host;
    std::uint64_t last_ns = 0;
    std::map<std::uint32_t, thread> threads;
    std::map<std::uint32_t, communicator> communicators;
    std::array<operation, 256> operations;
    std::vector<task> tasks; ///< In the order of their posts; those without one first.
    std::unordered_map<std::uint64_t, std::size_t> task_at;
    std::unordered_map<std::uint64_t, compute_task> computes;
    std::map<std::uint8_t, detail::trace::record> clocks;
    std::string clock; ///< How its clock was put beside rank 0's.
    /// Of one that lost records: after the first moment (the newest are kept), before the second (the oldest) none is missing.
    std::uint64_t whole_from_ns = UINT64_MAX;
    std::uint64_t whole_until_ns = UINT64_MAX;

    [[nodiscard]] int rank() const { return static_cast<int>(header.rank); }
    [[nodiscard]] bool lost_records() const { return header.n_dropped > 0; }
    [[nodiscard]] bool keeps_newest() const { return header.keep == 1; }
    [[nodiscard]] const operation& operation_of(const task& which) const { return operations.at(which.kind); }
    [[nodiscard]] const task* find(std::uint64_t id) const;
};

/// "recv of rank 1, tag 7": a task in a few words.
[[nodiscard]] std::string describe(const rank_trace& of, const task& which);

/// What it sent and received; of one that did not complete what it was to send, if it was not to receive anything.
/// @return nothing if that is unknown
[[nodiscard]] std::optional<std::uint64_t> size_of(const rank_trace& of, const task& which);

/// "worker of lane 0", "thread 1 app".
[[nodiscard]] std::string name_of(const thread& which);

/// One file, on its own clock. @throws trace_error
[[nodiscard]] rank_trace read_rank(const std::string& path);

struct run {
    std::vector<rank_trace> ranks; ///< By rank.
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t begin_realtime_ns = 0;
    std::size_t n_messages = 0;
};

/// All ranks on rank 0's clock, with their messages. @throws trace_error
/// @param paths  files, or folders of files
[[nodiscard]] run read_run(const std::vector<std::string>& paths);

} // namespace commtask::tools
