// SPDX-License-Identifier: Apache-2.0
//
// Order by message instead of by arrival. A graph handles messages side by side, so two ranks may reach their collectives
// in different orders, which MPI forbids, and sends with equal tags may overtake each other. A sequence takes places in
// the communicator's order message by message: the operations of message 0 first, then those of message 1, and within
// a message in the order in which the nodes were made. Every rank that numbers its messages alike issues alike.
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

/// The common order of several nodes on one communicator. It outlives its nodes and goes before the library is finalised.
/// @threads Any thread may call any member at any time, except that nodes join before the first message.
class sequence {
public:
    /// @param comm  the communicator of all operations in this order.
    explicit sequence(MPI_Comm comm) : comm_(comm) {}
    sequence(const sequence&) = delete;
    sequence& operator=(const sequence&) = delete;
    /// Gives up places that no message has used, so that what comes later on the communicator is not held up.
    ~sequence() = default;

    /// Gives up what a message has not used: for messages that a graph filters out, on every rank alike.
    /// @param number  of the message.
    /// @throws error  if an argument is wrong.
    void skip(std::size_t number) {
        const std::lock_guard guard{lock_};
        if (number < first_number_) return;
        for (std::optional<ticket>& place : row_of(number)) place.reset();
        forget_used_rows();
    }

    /// Gives up all places that no message has used, and counts from 0 again: for a graph's next run, after `graph.reset()`
    /// of one that was canceled. Its nodes stay in the order. The graph is idle, and every rank does the same.
    void reset() {
        const std::lock_guard guard{lock_};
        rows_.clear();
        first_number_ = 0;
    }

    /// @cond
    /// A node joins; gives its column.
    [[nodiscard]] std::size_t join(bool is_collective) {
        const std::lock_guard guard{lock_};
        if (has_begun_) throw error{COMMTASK_ERR_ARGUMENT, "sequence: a node joined after the first message"};
        is_collective_.push_back(is_collective);
        return is_collective_.size() - 1;
    }
    /// The place of one message at one node.
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

    /// Takes the places of all messages up to this one that have none yet.
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
    std::mutex lock_; ///< Held for the time of some atomic additions; no call under it waits.
    std::vector<bool> is_collective_;
    bool has_begun_ = false;
    std::size_t first_number_ = 0;
    std::deque<row> rows_; ///< From `first_number_` on.
};

/// A sequence, and how a node finds the number of a message. Made by in_order().
template <typename NumberOf>
struct numbering {
    sequence& order;    ///< Whose places the node uses.
    NumberOf number_of; ///< Gives 0, 1, 2, ..., each once.
};

/// The option of a node that follows a sequence.
/// @param order  shared by all nodes that follow it; must outlive them.
/// @param number_of  size_t(const Message&): the message's number, counted from 0 without gaps; each comes once.
/// @return an option for a node's constructor.
template <typename NumberOf>
[[nodiscard]] numbering<std::decay_t<NumberOf>> in_order(sequence& order, NumberOf&& number_of) {
    return {order, std::forward<NumberOf>(number_of)};
}

} // namespace commtask::tbb
