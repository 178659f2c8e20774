// SPDX-License-Identifier: Apache-2.0
//
// The threads' chunks: what is written is found again, in order, whoever else writes; what has no room is counted; nothing is
// written outside of what the room gave.
#include "core/tracer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace commtask::detail {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using trace::record;
using trace::record_type;
using trace::thread_state;

constexpr std::size_t per_chunk = trace::records_per_chunk - 1;

/// Memory for a trace, and a reader of it.
class traced final : public trace_room {
public:
    explicit traced(std::size_t n_chunks, bool keeps_newest = false, std::size_t most_reserved = SIZE_MAX)
        : most_reserved_(most_reserved), chunks_(n_chunks), records_(chunks_, *this, keeps_newest) {}

    [[nodiscard]] bool reserve(std::size_t first_chunk, std::size_t count) noexcept override {
        if (first_chunk >= most_reserved_) return false;
        if (while_made_) while_made_();
        // As a file does: what somebody had written there already would be gone.
        std::memset(static_cast<void*>(&chunks_[first_chunk]), 0, count * sizeof(trace::chunk));
        n_reserved_ = first_chunk + count;
        return true;
    }

    /// What happens meanwhile.
    void while_made(std::function<void()> what) { while_made_ = std::move(what); }

    [[nodiscard]] tracer& records() { return records_; }
    [[nodiscard]] const trace::file_header& header() const {
        return *reinterpret_cast<const trace::file_header*>(chunks_.data());
    }
    [[nodiscard]] std::size_t n_reserved() const { return n_reserved_; }

    /// By thread, each thread's in the order of its chunks.
    [[nodiscard]] std::map<std::uint32_t, std::vector<record>> read() const {
        std::map<std::pair<std::uint32_t, std::uint64_t>, const trace::chunk*> found;
        for (std::size_t i = 1; i < chunks_.size(); ++i) {
            const record& first = chunks_[i].records[0];
            if (first.tail.type == record_type::chunk) found[{first.tail.detail, first.time_ns}] = &chunks_[i];
        }
        std::map<std::uint32_t, std::vector<record>> all;
        for (const auto& [key, chunk] : found) {
            for (std::size_t i = 1; i <= per_chunk && chunk->records[i].tail.type != record_type::none; ++i) {
                all[key.first].push_back(chunk->records[i]);
            }
        }
        return all;
    }
    [[nodiscard]] std::vector<std::uint64_t> ids_of(std::uint32_t thread) const {
        std::vector<std::uint64_t> ids;
        const auto all = read();
        if (const auto found = all.find(thread); found != all.end()) {
            for (const record& each : found->second) ids.push_back(each.id);
        }
        return ids;
    }

private:
    std::size_t most_reserved_;
    std::size_t n_reserved_ = 0;
    std::function<void()> while_made_;
    std::vector<trace::chunk> chunks_;
    tracer records_;
};

[[nodiscard]] record numbered(std::uint64_t number) { return {number, number, 0, {0, record_type::moved}}; }

[[nodiscard]] std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> all(last - first + 1);
    std::iota(all.begin(), all.end(), first);
    return all;
}

TEST(Tracer, GivesBackWhatEachThreadWroteInItsOrder) {
    constexpr unsigned n_threads = 4;
    constexpr std::uint64_t n_each = 5 * per_chunk + 7;
    traced made{2 + n_threads * 8};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < n_threads; ++i) {
        threads.emplace_back([&] {
            for (std::uint64_t number = 1; number <= n_each; ++number) made.records().write(numbered(number));
        });
    }
    for (std::thread& each : threads) each.join();
    for (std::uint32_t thread = 1; thread <= n_threads; ++thread) {
        EXPECT_EQ(made.ids_of(thread), from_to(1, n_each)) << "thread " << thread;
    }
    EXPECT_EQ(made.header().n_threads, n_threads);
    EXPECT_EQ(made.header().n_dropped, 0U);
}

TEST(Tracer, GivesOutNoChunkBeforeThereIsRoomForIt) {
    constexpr std::uint64_t n_each = 100 * per_chunk; // more than has room when the next is made
    traced made{1024};
    std::atomic<std::uint64_t> n_written{0};
    std::thread other;
    made.while_made([&] {
        if (other.joinable()) return;
        other = std::thread{[&] {
            for (std::uint64_t number = 1; number <= n_each; ++number) {
                made.records().write(numbered(number));
                n_written.store(number);
            }
        }};
        // It cannot come to its end now; one that could would lose what it has written.
        for (int looks = 0; looks < 20'000 && n_written.load() < n_each; ++looks) std::this_thread::yield();
    });
    for (std::uint64_t number = 1; number <= n_each; ++number) made.records().write(numbered(number));
    ASSERT_TRUE(other.joinable()) << "no room was made";
    other.join();
    EXPECT_EQ(made.ids_of(1), from_to(1, n_each));
    EXPECT_EQ(made.ids_of(2), from_to(1, n_each));
    EXPECT_LE(made.header().n_chunks_used, made.n_reserved());
}

TEST(Tracer, KeepsTheOldestAndCountsTheRest) {
    traced made{10}; // one is the header, one has the names, and the last eighth is for others
    for (std::uint64_t number = 1; number <= 9 * per_chunk; ++number) made.records().write(numbered(number));
    const std::vector<std::uint64_t> kept = made.ids_of(1);
    EXPECT_EQ(kept, from_to(1, 7 * per_chunk));
    EXPECT_EQ(made.header().n_dropped, 2 * per_chunk);
}

TEST(Tracer, KeepsTheNewestWhereAsked) {
    traced made{10, true};
    constexpr std::uint64_t n_written = 30 * per_chunk + 5;
    for (std::uint64_t number = 1; number <= n_written; ++number) made.records().write(numbered(number));
    const std::vector<std::uint64_t> kept = made.ids_of(1);
    ASSERT_THAT(kept, SizeIs(6 * per_chunk + 5));
    EXPECT_EQ(kept, from_to(n_written - kept.size() + 1, n_written));
    EXPECT_EQ(made.header().n_dropped, n_written - kept.size());
}

TEST(Tracer, HasRoomForAThreadThatComesLate) {
    traced made{32};
    for (std::uint64_t number = 1; number <= 100 * per_chunk; ++number) made.records().write(numbered(number));
    std::thread{[&] { made.records().write(numbered(77)); }}.join();
    EXPECT_THAT(made.ids_of(2), ElementsAre(77U));
}

TEST(Tracer, WritesOnlyWhereThereIsRoomOnTheDisk) {
    traced made{1024, false, 128};
    for (std::uint64_t number = 1; number <= 300 * per_chunk; ++number) made.records().write(numbered(number));
    EXPECT_LE(made.header().n_chunks_used, made.n_reserved());
    EXPECT_GT(made.header().n_dropped, 0U);
    traced none{16, false, 0};
    none.records().write(numbered(1));
    EXPECT_THAT(none.read(), IsEmpty());
    EXPECT_GE(none.header().n_dropped, 1U);
}

TEST(Tracer, GivesNoChunkOnceItIsClosed) {
    traced made{64};
    made.records().write(numbered(1));
    const std::size_t n_used = made.records().close();
    std::thread{[&] { made.records().write(numbered(2)); }}.join();
    for (std::uint64_t number = 2; number <= 2 * per_chunk; ++number) made.records().write(numbered(number));
    EXPECT_EQ(n_used, 3U) << "the header, the names, this thread's";
    EXPECT_EQ(made.ids_of(1), from_to(1, per_chunk)) << "who has a chunk may fill it";
    EXPECT_THAT(made.ids_of(2), IsEmpty());
}

[[nodiscard]] std::vector<thread_state> states_of(const traced& made) {
    std::vector<thread_state> states;
    const auto all = made.read();
    const auto found = all.find(1);
    if (found == all.end()) return states;
    for (const record& each : found->second) {
        if (each.tail.type == record_type::state) states.push_back(static_cast<thread_state>(each.tail.sub));
    }
    return states;
}

TEST(Tracer, WritesAStateWhenItChanges) {
    traced made{8};
    made.records().begin_worker(0);
    for (int i = 0; i < 5; ++i) made.records().thread_does(0, thread_state::poll);
    made.records().thread_does(0, thread_state::issue);
    made.records().thread_does(0, thread_state::poll);
    EXPECT_THAT(states_of(made), ElementsAre(thread_state::poll, thread_state::issue, thread_state::poll));
}

TEST(Tracer, OfWhoIsNoWorkerSaysThatItDrivesOnly) {
    traced made{8};
    for (const thread_state now : {thread_state::issue, thread_state::poll, thread_state::callback, thread_state::issue,
                                   thread_state::idle, thread_state::none})
        made.records().thread_does(0, now);
    EXPECT_THAT(states_of(made), ElementsAre(thread_state::poll, thread_state::none));
}

TEST(Tracer, TellsTheTimeOfAThreadsLastRecord) {
    traced made{8};
    EXPECT_GE(made.records().last_time_ns(), 1U) << "the present, where there is none";
    made.records().write(numbered(77));
    EXPECT_EQ(made.records().last_time_ns(), 77U);
    for (std::uint64_t number = 2; number <= per_chunk; ++number) made.records().write(numbered(number));
    made.records().write(numbered(99)); // the first of a chunk
    EXPECT_EQ(made.records().last_time_ns(), 99U);
}

TEST(Tracer, ForgetsThatAThreadLeftForAMomentOnly) {
    traced made{8};
    for (int i = 0; i < 5; ++i) {
        made.records().thread_does(0, thread_state::poll);
        made.records().thread_does(0, thread_state::none);
    }
    const auto states = states_of(made);
    ASSERT_FALSE(states.empty());
    EXPECT_EQ(states.back(), thread_state::none);
    EXPECT_LT(states.size(), 10U) << "a pause of the machine may leave one";
    made.records().write(numbered(1));
    made.records().thread_does(0, thread_state::poll);
    EXPECT_THAT(states_of(made), SizeIs(states.size() + 1)) << "only its last record can be taken back";
}

/// Of the first thread's records of states: lane and state.
[[nodiscard]] std::vector<std::pair<int, thread_state>> places_of(const traced& made) {
    std::vector<std::pair<int, thread_state>> places;
    const auto all = made.read();
    for (const record& each : all.at(1)) {
        if (each.tail.type == record_type::state)
            places.emplace_back(each.tail.lane, static_cast<thread_state>(each.tail.sub));
    }
    return places;
}

TEST(Tracer, OfWhoDrivesLanesInTurnsSaysThatItDrivesEveryLane) {
    constexpr int n_turns = 200;
    for (const bool leaves_each : {false, true}) {
        traced made{8};
        for (int turn = 0; turn < n_turns; ++turn) {
            for (std::uint8_t lane = 0; lane < 3; ++lane) {
                made.records().thread_does(lane, thread_state::issue);
                if (leaves_each) made.records().thread_does(lane, thread_state::none);
            }
        }
        made.records().thread_does(2, thread_state::none);
        const auto places = places_of(made);
        EXPECT_THAT(places, testing::Contains(std::pair{int{trace::every_lane}, thread_state::poll}));
        EXPECT_EQ(places.front(), (std::pair{0, thread_state::poll}));
        EXPECT_EQ(places.back().second, thread_state::none);
        EXPECT_LT(places.size(), std::size_t{n_turns}) << "pauses of the machine may leave some";
    }
}

TEST(Tracer, OfAWorkersStatesKeepsTheLaneOfEach) {
    traced made{8};
    made.records().begin_worker(0);
    made.records().thread_does(0, thread_state::callback);
    made.records().thread_does(1, thread_state::issue); // it posts there
    made.records().thread_does(0, thread_state::callback);
    EXPECT_THAT(places_of(made), ElementsAre(std::pair{0, thread_state::callback}, std::pair{1, thread_state::issue},
                                             std::pair{0, thread_state::callback}));
}

TEST(Tracer, RemembersWhatEndedOnAThread) {
    traced made{8};
    EXPECT_EQ(made.records().last_ended(), 0U);
    made.records().write(numbered(1));
    made.records().set_last_ended(7);
    EXPECT_EQ(made.records().last_ended(), 7U);
    std::thread{[&] { EXPECT_EQ(made.records().last_ended(), 0U); }}.join();
    traced next{8};
    EXPECT_EQ(next.records().last_ended(), 0U) << "of another trace";
}

TEST(Tracer, NumbersTasksByThread) {
    traced made{8};
    const std::uint64_t first = made.records().new_id();
    EXPECT_EQ(first >> 48U, 1U);
    EXPECT_EQ(made.records().new_id(), first + 1);
    std::uint64_t others = 0;
    std::thread{[&] { others = made.records().new_id(); }}.join();
    EXPECT_EQ(others >> 48U, 2U);
}

[[nodiscard]] std::string text_in(const traced& made, std::uint32_t number) {
    std::string text;
    const auto all = made.read();
    for (const record& each : all.at(0)) {
        if (each.tail.type != record_type::text_part || each.tail.detail != number) continue;
        text.append(reinterpret_cast<const char*>(&each), each.tail.sub);
    }
    return text;
}

TEST(Tracer, BeginsWithTheTextsThatAreKnown) {
    const std::string early = "a text that is a good deal longer than one record";
    const std::uint32_t first = tracer::number_of(early);
    traced made{8};
    made.records().begin();
    const std::uint32_t second = tracer::number_of("short");
    EXPECT_EQ(tracer::number_of(early), first);
    EXPECT_EQ(text_in(made, first), early);
    EXPECT_EQ(text_in(made, second), "short");
    tracer::end();
}

} // namespace
} // namespace commtask::detail
