// SPDX-License-Identifier: Apache-2.0
//
// A plan in a flow graph: a message starts a run, and leaves the node when the run has ended. The
// node also sends the number of each member that ends, so that a successor of one member need not
// wait for the whole run. A plan has one run at a time: a message that arrives during a run is an
// error, as in commtask_plan_start; put a limiter_node in front.
#pragma once

#include <commtask/plan.hpp>
#include <commtask/tbb_node.hpp>
#include <commtask/tbb_trace.hpp>

#include <oneapi/tbb/flow_graph.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <tuple>

namespace commtask::tbb {

/// @cond
namespace frontend {
inline constexpr node_kind plan_kind{"plan_node", [](const commtask_kind_info&) { return true; }, false};
} // namespace frontend
/// @endcond

/// Starts a plan for each message. Port 0 sends the message when the run has ended, port 1 a
/// failure. members() sends the number of each member that has ended, with or without success,
/// before port 0 sends.
template <typename Message>
class plan_node : public frontend::operation_node<Message> {
public:
    /// @param graph  the graph.
    /// @param what  outlives the node and is used by this node only: no other code starts it, or
    ///              registers a function for its members.
    /// @param priority  as for every node.
    /// @throws error  if the plan is running, or is null.
    plan_node(::tbb::flow::graph& graph, const plan& what,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::plan_kind, graph, ::tbb::flow::serial,
                                            frontend::fixed_operation{what.run()}, priority),
          plan_(what.native()),
          members_(graph, ::tbb::flow::unlimited, [](char, typename sender::gateway_type&) noexcept {}) {
        for (std::size_t number = 0; number < what.size(); ++number) arrivals_.emplace_back(*this, number);
        commtask::frontend::check(commtask_plan_on_member(plan_, &tell, this));
    }
    ~plan_node() { static_cast<void>(commtask_plan_on_member(plan_, nullptr, nullptr)); }
    plan_node(const plan_node&) = delete;
    plan_node& operator=(const plan_node&) = delete;

    /// The type of members(), for make_edge(node.members(), successor); its messages are
    /// std::size_t.
    using sender = ::tbb::flow::async_node<char, std::size_t>;
    /// Returns the node that sends the members' numbers.
    /// @return the node.
    [[nodiscard]] sender& members() noexcept { return members_; }

private:
    /// On the worker. The run is pending, so the graph waits.
    static void tell(std::size_t member, const commtask_status* /*status*/, void* self) {
        auto& mine = *static_cast<plan_node*>(self);
        if (mine.last_is_polled() && mine.arrivals_[member].begin()) {
            mine.side().leave(mine.arrivals_[member]);
        } else {
            const frontend::forwarding scope{mine.trace_name(), commtask_trace_ended()};
            mine.members_.gateway().try_put(member);
        }
    }

    /// The end of a member, for the progress task of the graph.
    class member_arrival final : public frontend::arrival {
    public:
        member_arrival(plan_node& of, std::size_t number) noexcept : of_(of), number_(number) {}
        /// On the worker. @return false: the end of this member in the run before has not been
        /// taken yet
        [[nodiscard]] bool begin() noexcept {
            // acquire: partner of the release in forget().
            return !is_under_way_.exchange(true, std::memory_order_acquire);
        }
        void enter() override {
            const frontend::forwarding scope{of_.trace_name(), trace_id()};
            forget();
            std::get<0>(of_.members_.output_ports()).try_put(number_);
        }
        void forget() noexcept override {
            // release: the object is in no list any more; partner of the acquire in begin().
            is_under_way_.store(false, std::memory_order_release);
        }

    private:
        std::atomic<bool> is_under_way_{false};
        plan_node& of_;
        std::size_t number_;
    };

    const commtask_plan_t plan_;
    sender members_;
    std::deque<member_arrival> arrivals_; ///< By member.
};

} // namespace commtask::tbb
