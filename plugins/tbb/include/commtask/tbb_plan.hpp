// SPDX-License-Identifier: Apache-2.0
//
// A plan in a flow graph: a message starts a run, and goes on when the run has ended; every member is told of as it ends, so that what
// waits for one message need not wait for all. One run at a time: a message that comes before the last run has ended is refused, as
// commtask_plan_start refuses it; a limiter_node in front keeps them apart.
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

/// Starts a plan with each message. Port 0 sends the message on when the run has ended, port 1 a failure; members() sends the number
/// of each member as it ends, in whatever way, before port 0 sends.
template <typename Message>
class plan_node : public frontend::operation_node<Message> {
public:
    /// @param graph  the graph.
    /// @param what  outlives the node and belongs to it as long: nobody else starts it, or hears of its members.
    /// @param priority  as for every node.
    /// @throws error  if the plan runs, or there is none.
    plan_node(::tbb::flow::graph& graph, const plan& what,
              ::tbb::flow::node_priority_t priority = ::tbb::flow::no_priority)
        : frontend::operation_node<Message>(frontend::plan_kind, graph, ::tbb::flow::serial,
                                            frontend::fixed_operation{what.run()}, priority),
          plan_(what.native()),
          members_(graph, ::tbb::flow::unlimited, [](char, typename sender::gateway_type&) noexcept {}) {
        for (std::size_t number = 0; number < what.size(); ++number) news_.emplace_back(*this, number);
        commtask::frontend::check(commtask_plan_on_member(plan_, &tell, this));
    }
    ~plan_node() { static_cast<void>(commtask_plan_on_member(plan_, nullptr, nullptr)); }
    plan_node(const plan_node&) = delete;
    plan_node& operator=(const plan_node&) = delete;

    /// Where edges of the members begin: make_edge(node.members(), successor), whose messages are std::size_t.
    using sender = ::tbb::flow::async_node<char, std::size_t>;
    /// The members as they end.
    /// @return a node that sends their numbers.
    [[nodiscard]] sender& members() noexcept { return members_; }

private:
    /// On the worker. The run is pending, so the graph waits.
    static void tell(std::size_t member, const commtask_status* /*status*/, void* self) {
        auto& mine = *static_cast<plan_node*>(self);
        if (mine.last_is_looked_for() && mine.news_[member].begin()) {
            mine.side().leave(mine.news_[member]);
        } else {
            const frontend::handing_on scope{mine.trace_name(), commtask_trace_ended()};
            mine.members_.gateway().try_put(member);
        }
    }

    /// A member's end, for a thread that looks for it.
    class member_news final : public frontend::arrival {
    public:
        member_news(plan_node& of, std::size_t number) noexcept : of_(of), number_(number) {}
        /// On the worker. @return false: that of the run before has not been taken yet
        [[nodiscard]] bool begin() noexcept {
            // acquire: partner of the release in forget().
            return !is_under_way_.exchange(true, std::memory_order_acquire);
        }
        void enter() override {
            const frontend::handing_on scope{of_.trace_name(), trace_id()};
            forget();
            std::get<0>(of_.members_.output_ports()).try_put(number_);
        }
        void forget() noexcept override {
            // release: it is in no list any more; partner of the acquire in begin().
            is_under_way_.store(false, std::memory_order_release);
        }

    private:
        std::atomic<bool> is_under_way_{false};
        plan_node& of_;
        std::size_t number_;
    };

    const commtask_plan_t plan_;
    sender members_;
    std::deque<member_news> news_; ///< By member.
};

} // namespace commtask::tbb
