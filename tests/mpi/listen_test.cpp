// SPDX-License-Identifier: Apache-2.0
//
// Standing receives: every message of every rank comes once, those of one sender in their order, however few slots there are and
// however long messages are kept; and they end, by the program or by commtask_finalize.
#include "mpi_facts.hpp"
#include "runtime_test.hpp"

#include <commtask/frontend.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace commtask::test {
namespace {

constexpr int tag = 9;

class Listen : public Runtime {
protected:
    [[nodiscard]] commtask_listener_t listen(std::size_t max_bytes, std::size_t n_slots,
                                             commtask_message_handler handler, void* argument) {
        commtask_listener_t made = COMMTASK_LISTENER_NULL;
        EXPECT_EQ(commtask_listen(comm_, tag, max_bytes, n_slots, handler, argument, &made), COMMTASK_OK)
            << commtask_last_error();
        return made;
    }
    void unlisten(commtask_listener_t& listener) {
        EXPECT_EQ(commtask_unlisten(&listener), COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(listener, COMMTASK_LISTENER_NULL);
    }
    /// Until an event has had all its signals.
    void wait_for(const event& all) {
        options after;
        run(commtask_op_noop(comm_), after.on({all.get()}).get());
    }
};

/// A message: how many its sender has sent before, and as many of that number as it is long.
[[nodiscard]] std::vector<int> numbered(int number, int length) {
    return std::vector<int>(static_cast<std::size_t>(length), number);
}
[[nodiscard]] int length_of(int number) { return number % 10 == 9 ? 30'000 : 1 + number % 7; }

/// What a handler counts.
struct counts {
    std::vector<int> next_of; ///< By source.
    int n_wrong = 0;
    commtask_event_t all = COMMTASK_EVENT_NULL;

    void take(const commtask_message& come) {
        int& expected = next_of[static_cast<std::size_t>(come.source)];
        const int length = length_of(expected);
        const std::vector<int> right = numbered(expected, length);
        const bool is_right = come.error == MPI_SUCCESS && come.tag == tag &&
                              come.bytes == static_cast<MPI_Count>(right.size() * sizeof(int)) &&
                              std::memcmp(come.data, right.data(), static_cast<std::size_t>(come.bytes)) == 0 &&
                              reinterpret_cast<std::uintptr_t>(come.data) % 64 == 0;
        if (!is_right) ++n_wrong;
        ++expected;
        commtask_event_signal(all);
    }
};

TEST_F(Listen, EveryMessageOfEveryRankComesOnceAndInOrder) {
    constexpr int n_messages = 60;
    for (const std::size_t n_slots : {1U, 2U, 16U}) {
        const event all{static_cast<unsigned>(n_messages * n_ranks_)};
        counts seen{std::vector<int>(static_cast<std::size_t>(n_ranks_)), 0, all.get()};
        const auto handle = [](commtask_message* come, void* argument) -> int {
            static_cast<counts*>(argument)->take(*come);
            return COMMTASK_MESSAGE_DONE;
        };
        commtask_listener_t listener = listen(30'000 * sizeof(int), n_slots, +handle, &seen);
        std::deque<std::vector<int>> sent;
        std::vector<commtask_t> sends;
        for (int i = 0; i < n_messages; ++i) {
            sent.push_back(numbered(i, length_of(i)));
            for (int dest = 0; dest < n_ranks_; ++dest) {
                sends.push_back(post(commtask_op_send(sent.back().data(), length_of(i), MPI_INT, dest, tag, comm_)));
            }
        }
        wait_for(all);
        for (commtask_t& each : sends) EXPECT_EQ(finish(each), COMMTASK_OK);
        EXPECT_EQ(seen.n_wrong, 0);
        EXPECT_EQ(seen.next_of, std::vector<int>(static_cast<std::size_t>(n_ranks_), n_messages));
        unlisten(listener);
        run(commtask_op_barrier(comm_)); // no rank sends before all listen again
    }
}

/// Messages that a handler keeps for a thread.
struct kept_messages {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<commtask_message*> waiting;

    static int keep(commtask_message* come, void* self) {
        auto& mine = *static_cast<kept_messages*>(self);
        const std::lock_guard guard{mine.mutex};
        mine.waiting.push_back(come);
        mine.changed.notify_one();
        return COMMTASK_MESSAGE_KEPT;
    }
    [[nodiscard]] commtask_message* take() {
        std::unique_lock guard{mutex};
        changed.wait(guard, [&] { return !waiting.empty(); });
        commtask_message* const next = waiting.front();
        waiting.pop_front();
        return next;
    }
};

TEST_F(Listen, ASenderOfWhatMpiDoesNotBufferIsHeldWhileTheSlotsAreTaken) {
    kept_messages kept;
    commtask_listener_t listener = listen(sizeof(int), 2, &kept_messages::keep, &kept);
    run(commtask_op_barrier(comm_));
    std::vector<commtask_t> sends;
    for (int i = 0; i < 3; ++i) sends.push_back(post(commtask_op_ssend(&rank_, 1, MPI_INT, right(), tag, comm_)));
    EXPECT_EQ(finish(sends[0]), COMMTASK_OK);
    EXPECT_EQ(finish(sends[1]), COMMTASK_OK);
    commtask_message* const first = kept.take();
    commtask_message* const second = kept.take();
    for (int i = 0; i < 20; ++i) run(commtask_op_barrier(comm_)); // long enough for a third receive, were there one
    int has_ended = 1;
    EXPECT_EQ(commtask_test(&sends[2], &has_ended, nullptr), COMMTASK_OK);
    EXPECT_EQ(has_ended, 0) << "all slots are taken";
    run(commtask_op_barrier(comm_)); // nobody makes room before all have asked
    EXPECT_EQ(commtask_message_release(first), COMMTASK_OK);
    EXPECT_EQ(finish(sends[2]), COMMTASK_OK);
    EXPECT_EQ(commtask_message_release(kept.take()), COMMTASK_OK);
    EXPECT_EQ(commtask_message_release(second), COMMTASK_OK);
    unlisten(listener);
}

TEST_F(Listen, MessagesStayWithThoseWhoWorkOnThem) {
    constexpr int n_messages = 100;
    const event all{static_cast<unsigned>(n_messages * n_ranks_)};
    counts seen{std::vector<int>(static_cast<std::size_t>(n_ranks_)), 0, all.get()};
    kept_messages kept;
    commtask_listener_t listener = listen(30'000 * sizeof(int), 3, &kept_messages::keep, &kept);
    std::thread works{[&] {
        commtask_message* before = nullptr;
        for (int i = 0; i < n_messages * n_ranks_; ++i) {
            commtask_message* const come = kept.take();
            seen.take(*come);
            // Not in the order in which they came.
            if (before != nullptr) {
                EXPECT_EQ(commtask_message_release(come), COMMTASK_OK);
                EXPECT_EQ(commtask_message_release(before), COMMTASK_OK);
                before = nullptr;
            } else {
                before = come;
            }
        }
        EXPECT_EQ(commtask_message_release(before), COMMTASK_OK);
    }};
    std::deque<std::vector<int>> sent;
    std::vector<commtask_t> sends;
    for (int i = 0; i < n_messages; ++i) {
        sent.push_back(numbered(i, length_of(i)));
        for (int dest = 0; dest < n_ranks_; ++dest) {
            sends.push_back(post(commtask_op_send(sent.back().data(), length_of(i), MPI_INT, dest, tag, comm_)));
        }
    }
    wait_for(all);
    works.join();
    for (commtask_t& each : sends) EXPECT_EQ(finish(each), COMMTASK_OK);
    EXPECT_EQ(seen.n_wrong, 0);
    unlisten(listener);
}

TEST_F(Listen, NoMoreAreTakenThanThereAreSlots) {
    constexpr int n_slots = 4;
    constexpr int n_messages = 20;
    kept_messages kept;
    commtask_listener_t listener = listen(sizeof(int), n_slots, &kept_messages::keep, &kept);
    std::vector<int> sent(n_messages);
    std::vector<commtask_t> sends;
    for (int i = 0; i < n_messages; ++i) {
        sent[static_cast<std::size_t>(i)] = i;
        sends.push_back(post(commtask_op_send(&sent[static_cast<std::size_t>(i)], 1, MPI_INT, rank_, tag, comm_)));
    }
    std::deque<commtask_message*> taken;
    for (int i = 0; i < n_slots; ++i) taken.push_back(kept.take());
    for (int i = 0; i < 100; ++i) run(commtask_op_noop(comm_));
    EXPECT_TRUE(kept.waiting.empty()) << "the other messages wait with MPI";
    for (int i = 0; i < n_messages; ++i) {
        EXPECT_EQ(*static_cast<int*>(taken.front()->data), i);
        EXPECT_EQ(commtask_message_release(taken.front()), COMMTASK_OK);
        taken.pop_front();
        if (i + n_slots < n_messages) taken.push_back(kept.take());
    }
    for (commtask_t& each : sends) EXPECT_EQ(finish(each), COMMTASK_OK);
    unlisten(listener);
}

TEST_F(Listen, WhatComesAfterTheEndIsLeftToOthers) {
    kept_messages kept;
    commtask_listener_t listener = listen(sizeof(int), 2, &kept_messages::keep, &kept);
    int number = 5;
    commtask_t sent = post(commtask_op_send(&number, 1, MPI_INT, rank_, tag, comm_));
    commtask_message* const last = kept.take();
    EXPECT_EQ(finish(sent), COMMTASK_OK);
    unlisten(listener);
    EXPECT_EQ(commtask_unlisten(&listener), COMMTASK_OK) << "there is none any more";
    number = 6;
    sent = post(commtask_op_send(&number, 1, MPI_INT, rank_, tag, comm_));
    int got = 0;
    run(commtask_op_recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm_));
    EXPECT_EQ(finish(sent), COMMTASK_OK);
    EXPECT_EQ(got, 6);
    EXPECT_EQ(*static_cast<int*>(last->data), 5) << "it was kept";
    EXPECT_EQ(commtask_message_release(last), COMMTASK_OK);
}

/// MPI may give the handle of a communicator that was freed to the next one.
TEST_F(Listen, WhoseCommunicatorWasFreedEndsAndTakesNothingOfTheNextOne) {
    for (const bool are_slots_taken : {true, false}) {
        MPI_Comm mine = MPI_COMM_NULL;
        ASSERT_EQ(MPI_Comm_dup(comm_, &mine), MPI_SUCCESS);
        kept_messages kept;
        commtask_listener_t listener = COMMTASK_LISTENER_NULL;
        ASSERT_EQ(commtask_listen(mine, tag, sizeof(int), 2, &kept_messages::keep, &kept, &listener), COMMTASK_OK);
        std::vector<commtask_message*> taken;
        for (int i = 0; are_slots_taken && i < 2; ++i) {
            run(commtask_op_send(&rank_, 1, MPI_INT, rank_, tag, mine));
            taken.push_back(kept.take());
        }
        ASSERT_EQ(MPI_Comm_free(&mine), MPI_SUCCESS);
        if (are_slots_taken) {
            EXPECT_EQ(commtask_message_release(taken[0]), COMMTASK_OK) << commtask_last_error();
        } else {
            unlisten(listener); // first: MPICH gives the receives that are left what comes on the next one
        }
        MPI_Comm next = MPI_COMM_NULL;
        ASSERT_EQ(MPI_Comm_dup(comm_, &next), MPI_SUCCESS);
        run(commtask_op_noop(next));
        if (are_slots_taken) {
            EXPECT_EQ(commtask_message_release(taken[1]), COMMTASK_OK) << commtask_last_error();
        }
        for (int i = 0; i < 2; ++i) run(commtask_op_noop(next)); // its receive would be posted by now
        commtask_t sent = post(commtask_op_send(&rank_, 1, MPI_INT, rank_, tag, next));
        int got = -1;
        run(commtask_op_recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, tag, next));
        EXPECT_EQ(got, rank_);
        EXPECT_EQ(finish(sent), COMMTASK_OK);
        if (are_slots_taken) unlisten(listener);
        EXPECT_TRUE(kept.waiting.empty()) << "nothing came to it";
        ASSERT_EQ(MPI_Comm_free(&next), MPI_SUCCESS);
    }
}

/// A message that is given back while the driver is kept busy.
struct late_return {
    MPI_Comm comm;
    commtask_message* kept = nullptr;
    std::atomic<bool> is_worker_busy{false};
    std::atomic<bool> is_ending{false};
    std::atomic<bool> has_ended{false};
    bool was_early = false;

    /// Long enough for another thread to do something, were it to.
    template <typename Flag>
    static void yield_until(Flag&& flag) {
        for (int i = 0; i < 20'000 && !flag(); ++i) std::this_thread::yield();
    }
    static void give_back(const commtask_status* /*status*/, void* self) {
        auto& mine = *static_cast<late_return*>(self);
        mine.is_worker_busy = true;
        while (!mine.is_ending) std::this_thread::yield();
        yield_until([] { return false; }); // the end is asked for
        options later;
        post_detached(mine.comm, later.call(&look, self));
        EXPECT_EQ(commtask_message_release(mine.kept), COMMTASK_OK);
    }
    static void look(const commtask_status* /*status*/, void* self) {
        auto& mine = *static_cast<late_return*>(self);
        yield_until([&] { return mine.has_ended.load(); });
        mine.was_early = mine.has_ended;
    }
    static void post_detached(MPI_Comm comm, options& how) {
        const commtask_op noop = commtask_op_noop(comm);
        EXPECT_EQ(commtask_post_operation(&noop, how.get(), nullptr), COMMTASK_OK) << commtask_last_error();
    }
};

/// The worker is kept busy, so that a message is given back between the call that ends the listener and its end: the driver must have
/// come for it by then, since the program may free the communicator next.
TEST_F(Listen, EndsAfterAMessageThatIsOnItsWayBack) {
    late_return play{.comm = comm_};
    kept_messages kept;
    commtask_listener_t listener = listen(sizeof(int), 1, &kept_messages::keep, &kept);
    const int number = 3;
    run(commtask_op_send(&number, 1, MPI_INT, rank_, tag, comm_));
    play.kept = kept.take();
    std::thread ends{[&] {
        while (!play.is_worker_busy) std::this_thread::yield();
        play.is_ending = true;
        unlisten(listener);
        play.has_ended = true;
    }};
    options now;
    late_return::post_detached(comm_, now.call(&late_return::give_back, &play));
    ends.join();
    run(commtask_op_noop(comm_));
    EXPECT_FALSE(play.was_early);
}

TEST_F(Listen, OneThatIsTooLongIsReported) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not tell of a message to oneself that is too long";
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
    if (n_ranks_ > 1) GTEST_SKIP() << "MPICH 5 does not tell of one from any source that came before its receive";
#endif
    kept_messages kept;
    commtask_listener_t listener = listen(sizeof(int), 2, &kept_messages::keep, &kept);
    const int numbers[3] = {1, 2, 3};
    for (const int count : {3, 1}) {
        commtask_t sent = post(commtask_op_send(numbers, count, MPI_INT, right(), tag, comm_));
        commtask_message* const come = kept.take();
        EXPECT_EQ(come->error_class, count == 3 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        EXPECT_EQ(commtask_message_release(come), COMMTASK_OK);
        static_cast<void>(finish(sent));
    }
    unlisten(listener);
}

TEST_F(Listen, IsEndedByTheEndOfTheLibrary) {
    kept_messages kept;
    commtask_listener_t listener = listen(sizeof(int), 5, &kept_messages::keep, &kept);
    const int number = 8;
    run(commtask_op_send(&number, 1, MPI_INT, rank_, tag, comm_));
    commtask_message* const come = kept.take();
    EXPECT_EQ(commtask_finalize(), COMMTASK_OK) << "nobody waits for a standing receive";
    EXPECT_EQ(*static_cast<int*>(come->data), 8);
    EXPECT_EQ(commtask_message_release(come), COMMTASK_OK);
    const commtask_config settings = configuration();
    ASSERT_EQ(commtask_init(&settings), COMMTASK_OK);
    EXPECT_EQ(commtask_unlisten(&listener), COMMTASK_ERR_ARGUMENT);
}

/// Also where a message is given back later.
TEST_F(Listen, TellsAFaceOfItsEndOnceAndAfterTheLastMessage) {
    struct told {
        std::atomic<int> n_come{0};
        std::atomic<int> n_ends{0};
        std::atomic<int> n_come_after{0};
        std::atomic<commtask_message*> kept{nullptr};
    };
    const auto keep = [](commtask_message* come, void* argument) -> int {
        auto& seen = *static_cast<told*>(argument);
        seen.n_come_after += seen.n_ends;
        seen.kept = come;
        ++seen.n_come;
        return COMMTASK_MESSAGE_KEPT;
    };
    const auto count_end = [](void* argument) { ++static_cast<told*>(argument)->n_ends; };
    for (const bool by_finalize : {false, true}) {
        told seen;
        commtask_listener_t listener = listen(sizeof(int), 3, +keep, &seen);
        commtask_frontend_on_listener_end(listener, +count_end, &seen);
        const int word = 1;
        run(commtask_op_send(&word, 1, MPI_INT, right(), tag, comm_));
        while (seen.n_come == 0) std::this_thread::yield();
        EXPECT_EQ(seen.n_ends, 0);
        if (by_finalize) {
            EXPECT_EQ(commtask_finalize(), COMMTASK_OK);
        } else {
            unlisten(listener);
        }
        EXPECT_EQ(seen.n_ends, 1);
        EXPECT_EQ(commtask_message_release(seen.kept), COMMTASK_OK);
        if (by_finalize) {
            const commtask_config settings = configuration();
            ASSERT_EQ(commtask_init(&settings), COMMTASK_OK) << commtask_last_error();
        }
        run(commtask_op_barrier(comm_));
        EXPECT_EQ(seen.n_ends, 1);
        EXPECT_EQ(seen.n_come, 1);
        EXPECT_EQ(seen.n_come_after, 0);
    }
}

TEST_F(Listen, AHandlerPostsButDoesNotWait) {
    // Whoever gets a number above 0 sends one less; to itself, since nobody else knows when a game is over.
    struct game {
        MPI_Comm comm;
        int rank;
        commtask_event_t over;
        std::deque<int> numbers{};
        commtask_listener_t listener = COMMTASK_LISTENER_NULL;
        int code_of_end = COMMTASK_OK;
    };
    const event over;
    game mine{comm_, rank_, over.get()};
    const auto pass_on = [](commtask_message* come, void* argument) -> int {
        auto& played = *static_cast<game*>(argument);
        const int number = *static_cast<int*>(come->data);
        if (number > 0) {
            played.numbers.push_back(number - 1);
            EXPECT_EQ(commtask_post(commtask_op_send(&played.numbers.back(), 1, MPI_INT, played.rank, tag, played.comm),
                                    nullptr, nullptr),
                      COMMTASK_OK);
        } else {
            commtask_listener_t copy = played.listener;
            played.code_of_end = commtask_unlisten(&copy);
            commtask_event_signal(played.over);
        }
        return COMMTASK_MESSAGE_DONE;
    };
    ASSERT_EQ(commtask_listen(comm_, tag, sizeof(int), 1, +pass_on, &mine, &mine.listener), COMMTASK_OK);
    const int first = 400;
    run(commtask_op_send(&first, 1, MPI_INT, rank_, tag, comm_));
    wait_for(over);
    EXPECT_EQ(mine.code_of_end, COMMTASK_ERR_WORKER_THREAD);
    unlisten(mine.listener);
}

TEST_F(Listen, IsRefusedWithTheReason) {
    const auto handle = [](commtask_message*, void*) -> int { return COMMTASK_MESSAGE_DONE; };
    commtask_listener_t listener = COMMTASK_LISTENER_NULL;
    const auto refuse = [&](int code, const char* word, int answer) {
        EXPECT_EQ(answer, code);
        EXPECT_NE(std::string(commtask_last_error()).find(word), std::string::npos) << commtask_last_error();
        EXPECT_EQ(listener, COMMTASK_LISTENER_NULL);
    };
    refuse(COMMTASK_ERR_ARGUMENT, "handler", commtask_listen(comm_, tag, 4, 1, nullptr, nullptr, &listener));
    refuse(COMMTASK_ERR_ARGUMENT, "listener", commtask_listen(comm_, tag, 4, 1, +handle, nullptr, nullptr));
    refuse(COMMTASK_ERR_ARGUMENT, "n_slots", commtask_listen(comm_, tag, 4, 0, +handle, nullptr, &listener));
    refuse(COMMTASK_ERR_TAG, "tag", commtask_listen(comm_, -5, 4, 1, +handle, nullptr, &listener));
    refuse(COMMTASK_ERR_COMM, "", commtask_listen(MPI_COMM_NULL, tag, 4, 1, +handle, nullptr, &listener));
    refuse(COMMTASK_ERR_COUNT, "max_bytes", commtask_listen(comm_, tag, SIZE_MAX, 1, +handle, nullptr, &listener));
    refuse(COMMTASK_ERR_NO_MEMORY, "memory",
           commtask_listen(comm_, tag, 1U << 30U, SIZE_MAX / 64, +handle, nullptr, &listener));
    refuse(COMMTASK_ERR_ARGUMENT, "listener is null", commtask_unlisten(nullptr));
    EXPECT_EQ(commtask_message_release(nullptr), COMMTASK_OK);
}

} // namespace
} // namespace commtask::test
