// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.plans: random plans against the same posts made singly. All ranks draw the same pattern of messages, operations of many
// of them, buffers in partitions, collectives and local calls, some of which fail, with predecessors; of it each does its part, in every round by its plan
// or by posts, as it likes, in one of two places of memory. Each part is on one of two communicators. What arrives, how each part ends, and the order in which ordered parts
// are issued, must be the same. Partitions are for plans alone: who posts singly has a second plan of these.
#include "plan_fixture.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace commtask::test {
namespace {

/// One thing that happens in a pattern, the same on all ranks.
struct step {
    enum class kind { message, multicast, exchange, partitions, allreduce, note, faulty } what;
    int from;
    int to;
    int tag;
    int count;
    std::size_t comm; ///< Which of the two.
    bool is_ordered;
    std::array<int, 2> n_partitions; ///< Of the sender and the receiver.
};

[[nodiscard]] std::vector<step> draw_pattern(std::mt19937& dice, int n_ranks) {
    const auto draw = [&](int below) { return static_cast<int>(dice() % static_cast<unsigned>(below)); };
    constexpr std::array kinds{step::kind::allreduce,  step::kind::note,      step::kind::faulty,
                               step::kind::partitions, step::kind::multicast, step::kind::exchange};
    std::vector<step> pattern(static_cast<std::size_t>(1 + draw(40)));
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const auto choice = static_cast<std::size_t>(draw(12));
        step& made = pattern[i];
        made.what = choice < kinds.size() ? kinds.at(choice) : step::kind::message;
        made.from = draw(n_ranks);
        made.to = draw(n_ranks);
        made.is_ordered = draw(2) == 0;
        // Those that share a tag are ordered on both sides, so that the first sent is the first received.
        const bool has_own_tag = made.what != step::kind::message || !made.is_ordered;
        made.tag = has_own_tag ? 1 + static_cast<int>(i) : 0;
        made.count = draw(4) == 0 ? 20'400 : draw(10);
        made.comm = static_cast<std::size_t>(draw(2));
        for (int& each : made.n_partitions) each = std::array{1, 2, 3, 4, 12}.at(static_cast<std::size_t>(draw(5)));
        if (made.what == step::kind::partitions) made.count = 12 * (draw(2) == 0 ? 4000 : 1 + draw(5));
        if (made.what == step::kind::exchange) made.count *= n_ranks; // a block for each
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

/// Numbers of parts.
using part_list = std::vector<std::size_t>;
/// Duplicates: what is ordered on one of them has no order with the other.
using two_comms = std::array<MPI_Comm, 2>;

class rank_part {
public:
    rank_part(const std::vector<step>& pattern, const two_comms& comms, int rank, std::mt19937& my_dice)
        : pattern_(pattern), comms_(comms), everybody_(static_cast<std::size_t>(size_of(comms[0]))) {
        std::iota(everybody_.begin(), everybody_.end(), 0);
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            const step::kind what = pattern[i].what;
            const bool is_to_one = what == step::kind::message || what == step::kind::partitions;
            const bool is_from_one = is_to_one || what == step::kind::multicast;
            if (is_to_one ? pattern[i].to == rank : is_from_one) add(i, true, my_dice);
            if (!is_from_one || pattern[i].from == rank) add(i, false, my_dice);
        }
        for (part_list& each : notes_) each.reserve(pattern.size());
        ends_.resize(parts_.size(), COMMTASK_OK);
    }
    [[nodiscard]] const step& step_of(std::size_t p) const { return pattern_[parts_[p].of]; }
    [[nodiscard]] bool is(std::size_t p, step::kind what) const { return step_of(p).what == what; }
    /// Apart from what it sends.
    [[nodiscard]] bool has_result(std::size_t p) const {
        return is(p, step::kind::allreduce) || is(p, step::kind::exchange);
    }
    [[nodiscard]] part_list those(bool with_partitions, bool with_others) const {
        part_list chosen;
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            if (is(p, step::kind::partitions) ? with_partitions : with_others) chosen.push_back(p);
        }
        return chosen;
    }

    /// Draws places and failures, and fills what is sent.
    void begin(int round, std::mt19937& dice) {
        for (part_list& each : notes_) each.clear();
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            places_[p] = dice() % 2;
            for (std::vector<int>& each : buffers_[p]) std::ranges::fill(each, untouched);
            for (std::vector<int>& each : results_[p]) std::ranges::fill(each, untouched);
            if (!parts_[p].receives) std::ranges::fill(buffer(p), value_of(round, static_cast<int>(parts_[p].of)));
            const bool fails = is(p, step::kind::faulty) && dice() % 3 == 0;
            calls_[p].fails = fails;
            const bool is_lost =
                std::ranges::any_of(parts_[p].after, [&](std::size_t q) { return ends_[q] != COMMTASK_OK; });
            ends_[p] = is_lost ? COMMTASK_CANCELED : fails ? COMMTASK_FAILED : COMMTASK_OK;
        }
    }
    [[nodiscard]] std::vector<int>& buffer(std::size_t p) { return buffers_[p].at(places_[p]); }
    [[nodiscard]] std::vector<int>& result(std::size_t p) { return results_[p].at(places_[p]); }
    [[nodiscard]] std::size_t place(std::size_t p) const { return places_[p]; }
    /// How it is to end in this round.
    [[nodiscard]] int end_of(std::size_t p) const { return ends_[p]; }

    [[nodiscard]] commtask_op operation(std::size_t p) {
        const bool receives = parts_[p].receives;
        const step& what = step_of(p);
        const MPI_Comm comm = comms_.at(what.comm);
        int* const data = buffer(p).data();
        const auto [n_out, n_in] = what.n_partitions;
        const auto n_ranks = static_cast<int>(everybody_.size());
        switch (what.what) {
        case step::kind::allreduce:
            return commtask_op_allreduce(data, result(p).data(), what.count, MPI_INT, MPI_MAX, comm);
        case step::kind::note:
        case step::kind::faulty: return commtask_op_call(&take_note, &calls_[p], comm);
        case step::kind::partitions:
            return receives ? commtask_op_precv(data, n_in, what.count / n_in, MPI_INT, what.from, what.tag, comm)
                            : commtask_op_psend(data, n_out, what.count / n_out, MPI_INT, what.to, what.tag, comm);
        case step::kind::exchange:
            return commtask_op_many_to_many(data, blocks_[p].counts.data(), blocks_[p].displs.data(), MPI_INT,
                                            everybody_.data(), n_ranks, result(p).data(), blocks_[p].counts.data(),
                                            blocks_[p].displs.data(), MPI_INT, everybody_.data(), n_ranks, what.tag,
                                            comm);
        case step::kind::multicast:
            if (receives) break;
            return commtask_op_multicast(data, what.count, MPI_INT, everybody_.data(), n_ranks, what.tag, comm);
        case step::kind::message: break;
        }
        return receives ? commtask_op_recv(data, what.count, MPI_INT, what.from, what.tag, comm)
                        : commtask_op_send(data, what.count, MPI_INT, what.to, what.tag, comm);
    }
    /// Posts them, each with those of its predecessors that are among them, or has them recorded.
    [[nodiscard]] std::vector<commtask_t> post(const part_list& chosen) {
        std::vector<commtask_t> handles(parts_.size(), COMMTASK_NULL);
        for (const std::size_t p : chosen) {
            std::vector<commtask_t> after;
            for (const std::size_t earlier : parts_[p].after) after.push_back(handles[earlier]);
            commtask_options how = COMMTASK_OPTIONS_INIT;
            how.after = after.data();
            how.n_after = after.size();
            const step& what = step_of(p);
            const bool is_call = what.what == step::kind::note || what.what == step::kind::faulty;
            if (is_call || (what.what == step::kind::message && what.is_ordered)) how.flags = COMMTASK_ORDERED;
            commtask_op op = operation(p);
            handles[p] = commtask::test::post(op, &how);
        }
        return handles;
    }
    void check(int round) {
        std::array<part_list, 2> expected_notes;
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            const step& what = step_of(p);
            const bool is_note = what.what == step::kind::note || what.what == step::kind::faulty;
            if (is_note && ends_[p] != COMMTASK_CANCELED) expected_notes.at(what.comm).push_back(p);
            const std::vector<int>& got = has_result(p) ? result(p) : buffer(p);
            const auto size = static_cast<std::size_t>(what.count);
            const std::vector<int> expected(size, value_of(round, static_cast<int>(parts_[p].of)));
            EXPECT_TRUE(is_note || got == expected) << "part " << p << " of round " << round;
            const std::vector<int> other(size, untouched);
            EXPECT_TRUE(buffers_[p].at(1 - places_[p]) == other) << "part " << p << " in the wrong place";
        }
        EXPECT_EQ(notes_, expected_notes) << "round " << round;
    }
    [[nodiscard]] const std::vector<part>& parts() const { return parts_; }

private:
    static constexpr int untouched = -7;
    [[nodiscard]] static int size_of(MPI_Comm comm) {
        int size = 0;
        MPI_Comm_size(comm, &size);
        return size;
    }
    /// Of an exchange: as large for every rank.
    struct block_list {
        std::vector<MPI_Count> counts;
        std::vector<MPI_Aint> displs;
    };
    struct call_argument {
        part_list* notes;
        std::size_t of;
        bool fails;
    };
    static int take_note(void* argument) {
        const auto& mine = *static_cast<const call_argument*>(argument);
        mine.notes->push_back(mine.of);
        return mine.fails ? MPI_ERR_OTHER : MPI_SUCCESS;
    }
    void add(std::size_t of, bool receives, std::mt19937& dice) {
        const step::kind what = pattern_[of].what;
        const bool is_call = what == step::kind::note || what == step::kind::faulty;
        part made{of, receives, {}, false};
        bool may_be_lost = false;
        for (std::size_t earlier = 0; earlier < parts_.size(); ++earlier) {
            // Not after the other half of a message to oneself. What others wait for is not after what may fail.
            if (parts_[earlier].of == of || (may_be_lost_[earlier] && !is_call) || dice() % 6 != 0) continue;
            made.after.push_back(earlier);
            may_be_lost = may_be_lost || may_be_lost_[earlier];
        }
        // The ready of one that was canceled would be the next round's.
        made.is_held = !may_be_lost && what != step::kind::partitions && dice() % 5 == 0;
        may_be_lost_.push_back(may_be_lost || what == step::kind::faulty);
        calls_.push_back({&notes_.at(pattern_[of].comm), parts_.size(), false});
        parts_.push_back(std::move(made));
        const std::vector<int> empty(static_cast<std::size_t>(pattern_[of].count));
        buffers_.push_back({empty, empty});
        results_.push_back({empty, empty});
        const auto per_rank = static_cast<MPI_Count>(empty.size() / everybody_.size());
        blocks_.push_back({std::vector<MPI_Count>(everybody_.size(), per_rank), {}});
        for (const int rank : everybody_) blocks_.back().displs.push_back(static_cast<MPI_Aint>(rank * per_rank));
        places_.push_back(0);
    }

    const std::vector<step>& pattern_;
    const two_comms comms_;
    std::vector<int> everybody_; ///< The numbers of all ranks.
    std::deque<block_list> blocks_;
    std::vector<part> parts_;
    std::vector<bool> may_be_lost_;
    std::deque<std::array<std::vector<int>, 2>> buffers_;
    std::deque<std::array<std::vector<int>, 2>> results_;
    std::vector<std::size_t> places_; ///< Which of the two it uses in this round.
    std::vector<int> ends_;
    std::deque<call_argument> calls_;
    std::array<part_list, 2> notes_; ///< By communicator.
};

/// Some of a rank's parts as a plan.
class planned_parts {
public:
    planned_parts(rank_part& of, part_list which)
        : of_(of), which_(std::move(which)), places_(which_.size(), 0), plan_{[&] {
              std::vector<commtask_t> recorded = of.post(which_);
              for (commtask_t& each : recorded) EXPECT_EQ(commtask_release(&each), COMMTASK_OK);
          }} {
        for (std::size_t i = 0; i < which_.size(); ++i) {
            places_[i] = of.place(which_[i]);
            if (of.parts()[which_[i]].is_held) EXPECT_EQ(commtask_plan_defer(plan_.get(), i), COMMTASK_OK);
        }
    }
    /// Starts a run, with what its members need to go on by another thread.
    [[nodiscard]] commtask_t start(std::mt19937& dice) {
        rebind();
        struct release {
            std::size_t member;
            int partition; ///< -1: all of it, which was held.
        };
        std::vector<release> releases;
        for (std::size_t i = 0; i < which_.size(); ++i) {
            const part& each = of_.parts()[which_[i]];
            if (each.is_held) releases.push_back({i, -1});
            if (!of_.is(which_[i], step::kind::partitions) || each.receives) continue;
            for (int n = 0; n < of_.step_of(which_[i]).n_partitions[0]; ++n) releases.push_back({i, n});
        }
        std::ranges::shuffle(releases, dice);
        std::thread compute{[&] {
            for (const release& next : releases) {
                EXPECT_EQ(next.partition < 0 ? commtask_plan_pready(plan_.get(), next.member)
                                             : commtask_plan_pready_range(plan_.get(), next.member, next.partition, 1),
                          COMMTASK_OK)
                    << commtask_last_error();
            }
        }};
        const commtask_t run = plan_.start();
        compute.join();
        return run;
    }
    /// Waits for it, and asks each member how it has ended.
    void finish(commtask_t& run) {
        const bool fails = std::ranges::any_of(which_, [&](std::size_t p) { return of_.end_of(p) != COMMTASK_OK; });
        EXPECT_EQ(commtask::test::finish(run), fails ? COMMTASK_FAILED : COMMTASK_OK);
        for (std::size_t i = 0; i < which_.size(); ++i) {
            commtask_t member = plan_.member(i);
            EXPECT_EQ(commtask::test::finish(member), of_.end_of(which_[i])) << "part " << which_[i];
        }
    }

private:
    void rebind() {
        for (std::size_t i = 0; i < which_.size(); ++i) {
            const std::size_t p = which_[i];
            if (std::exchange(places_[i], of_.place(p)) == of_.place(p)) continue;
            if (of_.is(p, step::kind::note) || of_.is(p, step::kind::faulty)) continue;
            const bool receives = of_.parts()[p].receives;
            const int* const send = receives ? nullptr : of_.buffer(p).data();
            int* const recv = of_.has_result(p) ? of_.result(p).data() : receives ? of_.buffer(p).data() : nullptr;
            EXPECT_EQ(commtask_plan_rebind(plan_.get(), i, send, recv), COMMTASK_OK) << commtask_last_error();
        }
    }

    rank_part& of_;
    const part_list which_;
    std::vector<std::size_t> places_; ///< Where its members are bound to.
    plan plan_;
};

class RandomPlans : public Runtime, public testing::WithParamInterface<unsigned> {
protected:
    void SetUp() override {
        Runtime::SetUp();
        ASSERT_EQ(MPI_Comm_dup(comm_, &other_), MPI_SUCCESS);
    }
    void TearDown() override {
        Runtime::TearDown();
        EXPECT_EQ(MPI_Comm_free(&other_), MPI_SUCCESS);
    }
    MPI_Comm other_ = MPI_COMM_NULL;
};

TEST_P(RandomPlans, DoWhatTheirPostsDo) {
    std::mt19937 dice{GetParam()};
    std::mt19937 my_dice{1000 * GetParam() + static_cast<unsigned>(rank_)};
    const std::vector<step> pattern = draw_pattern(dice, n_ranks_);
    rank_part mine{pattern, {comm_, other_}, rank_, my_dice};
    const part_list singly = mine.those(false, true);
    planned_parts all{mine, mine.those(true, true)};
    planned_parts partitions{mine, mine.those(true, false)};
    for (int round = 0; round < 12; ++round) {
        mine.begin(round, my_dice);
        const bool is_planned = my_dice() % 3 != 0;
        std::vector<commtask_t> tasks;
        if (!is_planned) tasks = mine.post(singly);
        planned_parts& started = is_planned ? all : partitions;
        commtask_t run = started.start(my_dice);
        for (const std::size_t p : is_planned ? part_list{} : singly) {
            EXPECT_EQ(finish(tasks[p]), mine.end_of(p)) << "part " << p;
        }
        started.finish(run);
        mine.check(round);
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, testing::Range(1U, 17U));

} // namespace
} // namespace commtask::test
