// SPDX-License-Identifier: Apache-2.0
//
// Program order by message instead of by arrival. A graph processes messages concurrently, so two
// ranks may reach their collectives in different orders, which MPI forbids, and sends with equal
// tags may overtake each other. A sequence takes places in the communicator's order message by
// message: first the operations of message 0, then the operations of message 1, and within a
// message in the order in which the nodes were made. Ranks that number their messages alike post in
// the same order.
#pragma once

#include <commtask/error.hpp>
#include <commtask/operation.hpp>
#include <commtask/options.hpp>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace commtask::tbb {

/// The common order of several nodes on one communicator. It must outlive its nodes, and be
/// destroyed before commtask_finalize.
/// @threads Any thread may call any member at any time, except that nodes must join before the
///          first message.
class sequence {
public:
    /// @param comm  the communicator of all operations in this order.
    explicit sequence(MPI_Comm comm) : comm_(comm) {}
    sequence(const sequence&) = delete;
    sequence& operator=(const sequence&) = delete;
    /// Gives up places that no message has used, so that later operations on the communicator do
    /// not wait for them.
    ~sequence() = default;

    /// Gives up the unused places of a message that the graph filters out; every rank must skip the
    /// same messages.
    /// @param number  of the message.
    /// @throws error  if an argument is wrong.
    void skip(std::size_t number) {
        const std::lock_guard guard{lock_};
        if (number < first_number_) return;
        for (std::optional<ticket>& place : row_of(number)) place.reset();
        forget_used_rows();
    }

    /// Gives up all unused places, and counts from 0 again: for the next run of a graph, after
    /// `graph.reset()` of a canceled graph. The nodes stay in the sequence. The graph must be idle,
    /// and every rank must call it.
    void reset() {
        const std::lock_guard guard{lock_};
        rows_.clear();
        first_number_ = 0;
    }

    /// @cond
    /// A node joins. @return its column
    [[nodiscard]] std::size_t join(bool is_collective) {
        const std::lock_guard guard{lock_};
        if (has_begun_) throw error{COMMTASK_ERR_ARGUMENT, "sequence: a node joined after the first message"};
        is_collective_.push_back(is_collective);
        return is_collective_.size() - 1;
    }
    /// Takes the place of one message at one node.
    [[nodiscard]] ticket take(std::size_t number, std::size_t column) {
        const std::lock_guard guard{lock_};
        if (number >= first_number_) {
            if (std::optional<ticket>& place = row_of(number)[column]) {
                ticket taken = std::move(*place);
                place.reset();
                forget_used_rows();
                return taken;
            }
        }
        throw error{COMMTASK_ERR_ARGUMENT,
                    "sequence: message " + std::to_string(number) + " came twice to a node, or was skipped"};
    }
    /// @endcond

private:
    using row = std::vector<std::optional<ticket>>;

    /// Takes the places of all messages up to `number` that have none yet.
    [[nodiscard]] row& row_of(std::size_t number) {
        has_begun_ = true;
        while (first_number_ + rows_.size() <= number) {
            row next;
            for (const bool is_collective : is_collective_) {
                next.emplace_back(operation{is_collective ? commtask_op_barrier(comm_) : commtask_op_noop(comm_)});
            }
            rows_.push_back(std::move(next));
        }
        return rows_[number - first_number_];
    }
    void forget_used_rows() {
        const auto is_used = [](const row& places) {
            for (const std::optional<ticket>& place : places) {
                if (place) return false;
            }
            return true;
        };
        while (!rows_.empty() && is_used(rows_.front())) {
            rows_.pop_front();
            ++first_number_;
        }
    }

    MPI_Comm comm_;
    std::mutex
        lock_; ///< Held for a few atomic additions. The first ticket on a communicator may wait for its registration.
    std::vector<bool> is_collective_;
    bool has_begun_ = false;
    std::size_t first_number_ = 0;
    std::deque<row> rows_; ///< From `first_number_` on.
};

/// A sequence, and the function that numbers a node's messages. Made by in_order().
template <typename NumberOf>
struct numbering {
    sequence& order;    ///< The sequence whose places the node uses.
    NumberOf number_of; ///< Returns 0, 1, 2, ..., each once.
};

/// Returns the option of a node that follows a sequence.
/// @param order  shared by all nodes that follow it; must outlive them.
/// @param number_of  size_t(const Message&): the message's number, counted from 0 without gaps;
///                   each number occurs once.
/// @return an option for a node's constructor.
template <typename NumberOf>
[[nodiscard]] numbering<std::decay_t<NumberOf>> in_order(sequence& order, NumberOf&& number_of) {
    return {order, std::forward<NumberOf>(number_of)};
}

} // namespace commtask::tbb
