// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.plans: random plans against the same posts made singly. All ranks draw the same pattern of messages and collectives
// with predecessors, of which each does its part; in every round each rank does it by its plan or by posts, as it likes. What arrives,
// and the order in which ordered members are issued, must be the same.
#include "plan_fixture.hpp"

#include <cstddef>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace commtask::test {
namespace {

/// One thing that happens in a pattern, the same on all ranks.
struct step {
    enum class kind { message, allreduce, note } what;
    int from;
    int to;
    int tag;
    int count;
    bool is_ordered;
};

[[nodiscard]] std::vector<step> draw_pattern(std::mt19937& dice, int n_ranks) {
    const auto draw = [&](int below) { return static_cast<int>(dice() % static_cast<unsigned>(below)); };
    std::vector<step> pattern(static_cast<std::size_t>(1 + draw(40)));
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const int choice = draw(8);
        step& made = pattern[i];
        made.what = choice == 0 ? step::kind::allreduce : choice == 1 ? step::kind::note : step::kind::message;
        made.from = draw(n_ranks);
        made.to = draw(n_ranks);
        made.is_ordered = draw(2) == 0;
        // Those that share a tag are ordered on both sides, so that the first sent is the first received.
        made.tag = made.is_ordered ? 0 : 1 + static_cast<int>(i);
        made.count = draw(4) == 0 ? 20'000 : draw(10);
    }
    return pattern;
}

/// One post of this rank's part.
struct part {
    std::size_t of;
    bool receives;
    std::vector<std::size_t> after; ///< Parts before it.
    bool is_held;
};

class rank_part {
public:
    rank_part(const std::vector<step>& pattern, MPI_Comm comm, int rank, std::mt19937& my_dice)
        : pattern_(pattern), comm_(comm) {
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            const bool is_for_all = pattern[i].what != step::kind::message;
            if (!is_for_all && pattern[i].to == rank) add(i, true, my_dice);
            if (is_for_all || pattern[i].from == rank) add(i, false, my_dice);
        }
        notes_.reserve(pattern.size());
    }

    void fill(int round) {
        notes_.clear();
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            const part& each = parts_[p];
            for (int& entry : buffers_[p]) entry = each.receives ? -1 : value_of(round, static_cast<int>(each.of));
            results_[p].assign(results_[p].size(), -1);
        }
    }
    [[nodiscard]] commtask_op operation(std::size_t p) {
        const part& mine = parts_[p];
        const step& what = pattern_[mine.of];
        std::vector<int>& buffer = buffers_[p];
        switch (what.what) {
        case step::kind::allreduce:
            return commtask_op_allreduce(buffer.data(), results_[p].data(), what.count, MPI_INT, MPI_MAX, comm_);
        case step::kind::note: return commtask_op_call(&take_note, &note_arguments_[p], comm_);
        case step::kind::message: break;
        }
        return mine.receives ? commtask_op_recv(buffer.data(), what.count, MPI_INT, what.from, what.tag, comm_)
                             : commtask_op_send(buffer.data(), what.count, MPI_INT, what.to, what.tag, comm_);
    }
    /// Posts all, each with its predecessors, or has them recorded.
    [[nodiscard]] std::vector<commtask_t> post_all() {
        std::vector<commtask_t> handles;
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            std::vector<commtask_t> after;
            for (const std::size_t earlier : parts_[p].after) after.push_back(handles[earlier]);
            commtask_options how = COMMTASK_OPTIONS_INIT;
            how.after = after.data();
            how.n_after = after.size();
            const step& what = pattern_[parts_[p].of];
            const bool is_ordered =
                what.what == step::kind::note || (what.what == step::kind::message && what.is_ordered);
            if (is_ordered) how.flags = COMMTASK_ORDERED;
            commtask_op op = operation(p);
            handles.push_back(post(op, &how));
        }
        return handles;
    }
    void check(int round) const {
        std::vector<std::size_t> expected_notes;
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            const step& what = pattern_[parts_[p].of];
            if (what.what == step::kind::note) expected_notes.push_back(p);
            const std::vector<int>& got = what.what == step::kind::allreduce ? results_[p] : buffers_[p];
            const std::vector<int> expected(static_cast<std::size_t>(what.count),
                                            value_of(round, static_cast<int>(parts_[p].of)));
            EXPECT_TRUE(got == expected) << "part " << p << " of round " << round;
        }
        EXPECT_EQ(notes_, expected_notes) << "round " << round;
    }
    [[nodiscard]] const std::vector<part>& parts() const { return parts_; }

private:
    struct note_argument {
        std::vector<std::size_t>* notes;
        std::size_t of;
    };
    static int take_note(void* argument) {
        const auto& mine = *static_cast<const note_argument*>(argument);
        mine.notes->push_back(mine.of);
        return MPI_SUCCESS;
    }
    void add(std::size_t of, bool receives, std::mt19937& dice) {
        part made{of, receives, {}, dice() % 5 == 0};
        for (std::size_t earlier = 0; earlier < parts_.size(); ++earlier) {
            // Not after the other half of a message to oneself.
            if (parts_[earlier].of != of && dice() % 6 == 0) made.after.push_back(earlier);
        }
        note_arguments_.push_back({&notes_, parts_.size()});
        parts_.push_back(std::move(made));
        buffers_.emplace_back(static_cast<std::size_t>(pattern_[of].count));
        results_.emplace_back(static_cast<std::size_t>(pattern_[of].count));
    }

    const std::vector<step>& pattern_;
    MPI_Comm comm_;
    std::vector<part> parts_;
    std::deque<std::vector<int>> buffers_;
    std::deque<std::vector<int>> results_;
    std::deque<note_argument> note_arguments_;
    std::vector<std::size_t> notes_;
};

class RandomPlans : public Runtime, public testing::WithParamInterface<unsigned> {};

TEST_P(RandomPlans, DoWhatTheirPostsDo) {
    std::mt19937 dice{GetParam()};
    std::mt19937 my_dice{1000 * GetParam() + static_cast<unsigned>(rank_)};
    const std::vector<step> pattern = draw_pattern(dice, n_ranks_);
    rank_part mine{pattern, comm_, rank_, my_dice};
    std::vector<commtask_t> recorded;
    plan whole{[&] { recorded = mine.post_all(); }};
    for (commtask_t& each : recorded) EXPECT_EQ(commtask_release(&each), COMMTASK_OK);
    std::vector<std::size_t> held;
    for (std::size_t p = 0; p < mine.parts().size(); ++p) {
        if (!mine.parts()[p].is_held) continue;
        held.push_back(p);
        EXPECT_EQ(commtask_plan_hold(whole.get(), p), COMMTASK_OK);
    }
    for (int round = 0; round < 12; ++round) {
        mine.fill(round);
        if (my_dice() % 3 == 0) {
            std::vector<commtask_t> tasks = mine.post_all();
            for (commtask_t& each : tasks) EXPECT_EQ(finish(each), COMMTASK_OK);
        } else {
            std::thread compute{[&] {
                for (const std::size_t p : held) EXPECT_EQ(commtask_plan_ready(whole.get(), p), COMMTASK_OK);
            }};
            commtask_t run_task = whole.start();
            compute.join();
            EXPECT_EQ(finish(run_task), COMMTASK_OK);
        }
        mine.check(round);
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, testing::Range(1U, 13U));

} // namespace
} // namespace commtask::test
