// SPDX-License-Identifier: Apache-2.0
//
// Program order by message number instead of by arrival. Nodes process messages concurrently.
// Without a common order two ranks may start collectives in different orders, which MPI forbids,
// and sends with equal tags may overtake each other. A sequence orders operations first by message
// number, then by the order in which the nodes were constructed. If all ranks assign the same
// numbers, all ranks post in the same order.
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

/// The common order of several nodes on one communicator. A sequence must outlive its nodes, and be
/// destroyed before commtask_finalize.
/// @threads Any thread may call skip(). reset() and the construction of nodes need an idle graph.
class sequence {
public:
    /// @param comm  the communicator of all operations in this order.
    explicit sequence(MPI_Comm comm) : comm_(comm) {}
    sequence(const sequence&) = delete;
    sequence& operator=(const sequence&) = delete;
    /// Releases the tickets that were not used, so that later operations on the communicator do not
    /// wait for them.
    ~sequence() = default;

    /// Releases the tickets of a message that reaches no further node. Every rank must skip the
    /// same messages.
    /// @param number  the message's number.
    /// @throws error if an argument is wrong.
    void skip(std::size_t number) {
        const std::lock_guard guard{lock_};
        if (number < first_number_) return;
        for (std::optional<ticket>& each : tickets_of(number)) each.reset();
        forget_used();
    }

    /// Releases all unused tickets and restarts numbering at 0. Call it on every rank, on an idle
    /// graph, after graph.reset() on a canceled graph. The nodes stay in the sequence.
    void reset() {
        const std::lock_guard guard{lock_};
        tickets_.clear();
        first_number_ = 0;
    }

    /// @cond
    /// Registers a node. @return its index
    [[nodiscard]] std::size_t join(bool is_collective) {
        const std::lock_guard guard{lock_};
        if (has_begun_) throw error{COMMTASK_ERR_ARGUMENT, "sequence: a node joined after the first message"};
        is_collective_.push_back(is_collective);
        return is_collective_.size() - 1;
    }
    /// Returns the ticket of one message at one node.
    [[nodiscard]] ticket take(std::size_t number, std::size_t node) {
        const std::lock_guard guard{lock_};
        if (number >= first_number_) {
            if (std::optional<ticket>& found = tickets_of(number)[node]) {
                ticket taken = std::move(*found);
                found.reset();
                forget_used();
                return taken;
            }
        }
        throw error{COMMTASK_ERR_ARGUMENT,
                    "sequence: message " + std::to_string(number) + " came twice to a node, or was skipped"};
    }
    /// @endcond

private:
    using message_tickets = std::vector<std::optional<ticket>>;

    /// Takes tickets for all messages up to `number`.
    [[nodiscard]] message_tickets& tickets_of(std::size_t number) {
        has_begun_ = true;
        while (first_number_ + tickets_.size() <= number) {
            message_tickets next;
            for (const bool is_collective : is_collective_) {
                next.emplace_back(operation{is_collective ? commtask_op_barrier(comm_) : commtask_op_noop(comm_)});
            }
            tickets_.push_back(std::move(next));
        }
        return tickets_[number - first_number_];
    }
    void forget_used() {
        const auto is_used = [](const message_tickets& tickets) {
            for (const std::optional<ticket>& each : tickets) {
                if (each) return false;
            }
            return true;
        };
        while (!tickets_.empty() && is_used(tickets_.front())) {
            tickets_.pop_front();
            ++first_number_;
        }
    }

    MPI_Comm comm_;
    /// The first ticket on a communicator waits under this lock for the registration.
    std::mutex lock_;
    std::vector<bool> is_collective_;
    bool has_begun_ = false;
    std::size_t first_number_ = 0;
    std::deque<message_tickets> tickets_; ///< Of the messages first_number_, first_number_ + 1, ...
};

/// A sequence, and the function that numbers a node's messages. Made by in_order().
template <typename NumberOf>
struct numbering {
    sequence& order;    ///< The sequence whose tickets the node uses.
    NumberOf number_of; ///< Returns 0, 1, 2, ..., each once.
};

/// Returns a node option: the node takes its operations' positions from `order`.
/// @param order  shared by all nodes that follow it; must outlive them.
/// @param number_of  size_t(const Message&): the message's number, counted from 0 without gaps;
///                   each number occurs once.
/// @return an option for a node's constructor.
template <typename NumberOf>
[[nodiscard]] numbering<std::decay_t<NumberOf>> in_order(sequence& order, NumberOf&& number_of) {
    return {order, std::forward<NumberOf>(number_of)};
}

} // namespace commtask::tbb
