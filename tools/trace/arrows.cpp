// SPDX-License-Identifier: Apache-2.0
//
// Arrows point forwards: where records were lost, something may seem to have ended too late to have let the other begin, and is
// left out. Between two compute tasks there are none, since the picture is about messages.
#include "arrows.hpp"

#include <algorithm>
#include <unordered_set>

namespace commtask::tools {
namespace {

class finder {
public:
    explicit finder(const rank_trace& of) : of_(of) {
        for (const auto& [number, each] : of.threads) {
            for (const span& slice : each.spans) {
                if (slice.what != span_class::compute) continue;
                slices_[slice.id].push_back(&slice);
                if (!slice.is_rest) begun_[slice.id].push_back(&slice);
            }
        }
        for (auto* const all : {&slices_, &begun_}) {
            for (auto& [id, slices] : *all) std::ranges::stable_sort(slices, {}, &span::begin_ns);
        }
        for (const task& each : of.tasks) {
            if (each.compute != 0) posted_in_[each.compute].push_back(&each);
        }
    }

    [[nodiscard]] arrows find() {
        for (const task& each : of_.tasks) find_before(each);
        for (const auto& [id, each] : of_.computes) {
            if (!each.is_detached) find_before(id, each);
        }
        return std::move(found_);
    }

private:
    [[nodiscard]] const compute_task* detached(std::uint64_t id) const {
        const auto found = of_.computes.find(id);
        return found != of_.computes.end() && found->second.is_detached ? &found->second : nullptr;
    }

    /// The communication tasks that the identifier stands for.
    [[nodiscard]] std::vector<const task*> behind(std::uint64_t id) const {
        if (const task* const itself = of_.find(id)) return {itself};
        const auto posted = detached(id) != nullptr ? posted_in_.find(id) : posted_in_.end();
        return posted == posted_in_.end() ? std::vector<const task*>{} : posted->second;
    }

    void find_before(const task& each) {
        const step* const issued = each.step_to(in_flight);
        if (issued == nullptr) return;
        std::vector<std::uint64_t> befores = each.after;
        if (const compute_task* const posting = detached(each.compute)) {
            for (const compute_task::predecessor& one : posting->after) befores.push_back(one.id);
        }
        for (const std::uint64_t before : befores) {
            add_behind(before, each.id, issued->time_ns, found_.to_issue[each.id]);
            const auto slices = detached(before) == nullptr ? slices_.find(before) : slices_.end();
            if (slices != slices_.end() && slices->second.back()->end_ns <= issued->time_ns) {
                add(before, each.id, found_.from_slice[slices->second.back()], found_.to_issue[each.id]);
            }
        }
    }

    /// What is said to wait goes on with the slice that begins next. A body may wait as often as it has slices, so that is looked up.
    void find_before(std::uint64_t id, const compute_task& each) {
        const auto slices = begun_.find(id);
        for (const compute_task::predecessor& before : each.after) {
            if (slices == begun_.end()) return;
            const auto slice = std::ranges::lower_bound(slices->second, before.said_ns, {}, &span::begin_ns);
            if (slice != slices->second.end()) add_behind(before.id, id, (*slice)->begin_ns, found_.to_slice[*slice]);
        }
    }

    void add_behind(std::uint64_t before, std::uint64_t after, std::uint64_t went_on_ns, arrows::ends& to) {
        for (const task* const one : behind(before)) {
            if (one->id != after && one->has_ended() && one->steps.back().time_ns <= went_on_ns)
                add(one->id, after, found_.from_end[one->id], to);
        }
    }

    void add(std::uint64_t before, std::uint64_t after, arrows::ends& from, arrows::ends& to) {
        const std::uint64_t id = arrow_id(of_, before, after);
        if (!known_.insert(id).second) return;
        from.push_back(id);
        to.push_back(id);
    }

    const rank_trace& of_;
    arrows found_;
    std::unordered_set<std::uint64_t> known_;
    using slices_by_task =
        std::unordered_map<std::uint64_t, std::vector<const span*>>; ///< In order of their beginning.
    slices_by_task slices_;
    slices_by_task begun_; ///< Without rests: where a task began or went on.
    std::unordered_map<std::uint64_t, std::vector<const task*>> posted_in_;
};

} // namespace

arrows find_arrows(const rank_trace& of) { return finder{of}.find(); }

std::uint64_t arrow_id(const rank_trace& of, std::uint64_t before, std::uint64_t after) {
    constexpr std::uint64_t mix = 0x9e3779b97f4a7c15U;
    return ((before * mix) ^ (after + mix * static_cast<std::uint64_t>(of.rank() + 1))) * mix;
}

} // namespace commtask::tools
