// SPDX-License-Identifier: Apache-2.0
//
// mpi.striping: one communicator on several lanes, by the posting thread and by ranks and tags. What arrives and in which order,
// what is refused, and that tasks really go where they should: a lane that is held up holds others up no more, and messages by
// ranks and tags do not go by the communicator that the program has. An MPI without MPI_THREAD_MULTIPLE skips it.
#include "lanes_fixture.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

class Spread : public RuntimeOnLanes {
protected:
    void TearDown() override {
        if (made_ != MPI_COMM_NULL) free_on_worker(made_, MPI_COMM_WORLD);
        Runtime::TearDown();
    }

    /// A communicator whose info has these keys as true.
    MPI_Comm& make(std::initializer_list<const char*> keys) {
        struct wish {
            MPI_Comm of, *made;
            MPI_Info info;
        } wanted{comm_, &made_, MPI_INFO_NULL};
        MPI_Info_create(&wanted.info);
        for (const char* key : keys) MPI_Info_set(wanted.info, key, "true");
        const auto duplicate = [](void* argument) {
            const auto& what = *static_cast<wish*>(argument);
            return MPI_Comm_dup_with_info(what.of, what.info, what.made);
        };
        run(commtask_op_call(+duplicate, &wanted, comm_));
        MPI_Info_free(&wanted.info);
        return made_;
    }

    /// The sentence of a post that must be refused.
    static std::string refusal_of(const commtask_op& operation) {
        commtask_t task = COMMTASK_NULL;
        EXPECT_EQ(commtask_post_operation(&operation, nullptr, &task), COMMTASK_ERR_ARGUMENT);
        EXPECT_EQ(task, COMMTASK_NULL);
        return commtask_last_error();
    }

    MPI_Comm made_ = MPI_COMM_NULL;
};

constexpr const char* no_source = "mpi_assert_no_any_source";
constexpr const char* no_tag = "mpi_assert_no_any_tag";
constexpr const char* overtaking = "mpi_assert_allow_overtaking";

/// Holds up the lane that a thread of its own posts to, until it is opened.
class held_lane {
public:
    explicit held_lane(MPI_Comm comm) {
        const auto wait = [](void* argument) {
            auto& at = *static_cast<held_lane*>(argument);
            at.is_reached_ = true;
            at.is_reached_.notify_all();
            at.is_open_.wait(false);
            return MPI_SUCCESS;
        };
        std::thread{[&] { task_ = post(commtask_op_call(+wait, this, comm)); }}.join();
        is_reached_.wait(false); // a worker drives it, as nobody waits
    }
    ~held_lane() {
        open();
        EXPECT_EQ(finish(task_), COMMTASK_OK);
    }
    held_lane(const held_lane&) = delete;
    held_lane& operator=(const held_lane&) = delete;

    void open() {
        is_open_ = true;
        is_open_.notify_all();
    }

private:
    std::atomic<bool> is_open_{false};
    std::atomic<bool> is_reached_{false};
    commtask_t task_ = COMMTASK_NULL;
};

/// Whether a task of another thread ends while one of this kind of thread is held up inside a function.
bool goes_on_beside_a_held_lane(MPI_Comm comm) {
    held_lane held{comm};
    bool has_ended = false;
    std::thread{[&] {
        commtask_t second = post(commtask_op_noop(comm));
        has_ended = commtask_wait_for(&second, second_ns, nullptr) == COMMTASK_OK;
        held.open();
        if (!has_ended) EXPECT_EQ(finish(second), COMMTASK_OK);
    }}.join();
    return has_ended;
}

TEST_P(Spread, ByThreadGivesEachThreadALaneOfItsOwn) {
    ASSERT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_THREAD), COMMTASK_OK) << commtask_last_error();
    EXPECT_TRUE(goes_on_beside_a_held_lane(comm_));
    EXPECT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_THREAD), COMMTASK_OK);
    EXPECT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::string{commtask_last_error()}.find("by threads already"), std::string::npos);
}

TEST_P(Spread, ByThreadTheLibrarysOwnCallsStayOnTheFirstLane) {
    ASSERT_EQ(commtask_comm_stripe(MPI_COMM_WORLD, COMMTASK_STRIPE_BY_THREAD), COMMTASK_OK) << commtask_last_error();
    int n_held_back = 0;
    // New threads take the lanes in turn, so that some turn holds up the first one, and another lane's thread records.
    for (int turn = 0; turn < 2 * GetParam(); ++turn) {
        held_lane held{MPI_COMM_WORLD};
        std::promise<void> ended;
        std::thread recording{[&] {
            const commtask_op nothing = commtask_op_send(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, comm_);
            commtask_plan_t plan = COMMTASK_PLAN_NULL;
            EXPECT_EQ(commtask_record_begin(), COMMTASK_OK);
            EXPECT_EQ(commtask_post_operation(&nothing, nullptr, nullptr), COMMTASK_OK) << commtask_last_error();
            EXPECT_EQ(commtask_record_end(&plan), COMMTASK_OK) << commtask_last_error(); // asks MPI for requests
            ended.set_value();
            EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK) << commtask_last_error();
        }};
        // Enough to see it end if nothing holds it back.
        const auto seen = ended.get_future().wait_for(std::chrono::milliseconds{50});
        if (seen == std::future_status::timeout) ++n_held_back;
        held.open();
        recording.join();
    }
    EXPECT_GE(n_held_back, 1);
}

TEST_P(Spread, ByThreadComesByItselfWhereMessagesMayOvertake) {
    EXPECT_TRUE(goes_on_beside_a_held_lane(make({overtaking})));
    free_on_worker(made_, MPI_COMM_WORLD);
    // Ranks and tags are better keys, and need a call of all ranks.
    MPI_Comm& with_keys = make({overtaking, no_source});
    EXPECT_EQ(commtask_comm_stripe(with_keys, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
}

TEST_P(Spread, ByThreadMatchesWildcardsAndKeepsTheOrderOfEachThread) {
    ASSERT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_THREAD), COMMTASK_OK) << commtask_last_error();
    constexpr int n_messages = 200;
    constexpr int n_threads = 3;
    std::array<std::thread, n_threads> threads;
    for (int thread = 0; thread < n_threads; ++thread) {
        threads[static_cast<std::size_t>(thread)] = std::thread{[&, thread] {
            std::vector<int> received(n_messages, -1);
            const std::vector<int> sent = values_of(rank_, n_messages);
            std::vector<commtask_t> tasks;
            for (std::size_t i = 0; i < n_messages; ++i) {
                tasks.push_back(post(commtask_op_recv(&received[i], 1, MPI_INT, MPI_ANY_SOURCE, thread, comm_)));
                tasks.push_back(post(commtask_op_send(&sent[i], 1, MPI_INT, right(), thread, comm_)));
            }
            EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
            EXPECT_EQ(received, values_of(left(), n_messages)) << "thread " << thread;
        }};
    }
    for (std::thread& each : threads) each.join();
}

TEST_P(Spread, ByThreadATicketIsGoodForEveryThread) {
    ASSERT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_THREAD), COMMTASK_OK) << commtask_last_error();
    for (int turn = 0; turn < 4; ++turn) {
        commtask_ticket used{};
        commtask_ticket dropped{};
        const commtask_op nothing = commtask_op_noop(comm_);
        std::thread{[&] {
            EXPECT_EQ(commtask_ticket_take(&nothing, &used), COMMTASK_OK);
            EXPECT_EQ(commtask_ticket_take(&nothing, &dropped), COMMTASK_OK);
        }}.join();
        EXPECT_EQ(commtask_ticket_drop(comm_, dropped), COMMTASK_OK) << commtask_last_error();
        options how;
        run(nothing, how.at(used).get());
    }
}

TEST_P(Spread, ByThreadAListenerHearsTheMessagesOfAllLanes) {
    ASSERT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_THREAD), COMMTASK_OK) << commtask_last_error();
    constexpr int n_messages = 60;
    std::atomic<int> n_heard{0};
    const auto hear = [](commtask_message*, void* counter) { return ++*static_cast<std::atomic<int>*>(counter), 0; };
    commtask_listener_t listener = COMMTASK_LISTENER_NULL;
    ASSERT_EQ(commtask_listen(comm_, 1, sizeof(int), 2, +hear, &n_heard, &listener), COMMTASK_OK)
        << commtask_last_error();
    for (int thread = 0; thread < 3; ++thread) {
        std::thread{[&] {
            const int sent = rank_;
            std::vector<commtask_t> tasks;
            for (int i = 0; i < n_messages / 3; ++i)
                tasks.push_back(post(commtask_op_ssend(&sent, 1, MPI_INT, right(), 1, comm_)));
            EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
        }}.join();
    }
    run(commtask_op_barrier(comm_));
    EXPECT_EQ(commtask_unlisten(&listener), COMMTASK_OK);
    EXPECT_EQ(n_heard, n_messages);
}

TEST_P(Spread, ByMessageNeedsAPromiseOfTheCommunicator) {
    EXPECT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::string{commtask_last_error()}.find(no_source), std::string::npos) << commtask_last_error();
    EXPECT_NE(std::string{commtask_last_error()}.find(no_tag), std::string::npos);
    for (const int by : {0, 7}) EXPECT_EQ(commtask_comm_stripe(comm_, by), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_comm_stripe(MPI_COMM_NULL, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_ERR_COMM);
    run(commtask_op_barrier(comm_)); // it is as it was
}

TEST_P(Spread, ByMessageGoesByHiddenDuplicatesInOrder) {
    MPI_Comm& comm = make({no_source, no_tag});
    ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK);
    constexpr int n_tags = 5;
    constexpr int n_messages = 40;
    std::vector<int> received(std::size_t{n_tags} * n_messages, -1);
    const std::vector<int> sent = values_of(rank_, n_tags * n_messages);
    std::vector<commtask_t> tasks;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const int tag = static_cast<int>(i) % n_tags;
        tasks.push_back(post(commtask_op_send(&sent[i], 1, MPI_INT, right(), tag, comm)));
    }
    run(commtask_op_barrier(comm)); // a collective of the same communicator
    struct look {
        MPI_Comm comm;
        int source;
        int is_there = 1;
    } native{comm, left()};
    const auto probe = [](void* argument) {
        auto& at = *static_cast<look*>(argument);
        return MPI_Iprobe(at.source, MPI_ANY_TAG, at.comm, &at.is_there, MPI_STATUS_IGNORE);
    };
    run(commtask_op_call(+probe, &native, MPI_COMM_SELF));
    EXPECT_EQ(native.is_there, 0) << "a message goes by the communicator itself";
    for (std::size_t i = 0; i < received.size(); ++i) {
        const int tag = static_cast<int>(i) % n_tags;
        tasks.push_back(post(commtask_op_recv(&received[i], 1, MPI_INT, left(), tag, comm)));
    }
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(received, values_of(left(), n_tags * n_messages));
}

TEST_P(Spread, ByMessageTheTwoNeighboursInARingAreServedByTwoLanes) {
    if (n_ranks_ < 4 || GetParam() != 2) GTEST_SKIP() << "four ranks on two lanes";
    MPI_Comm& comm = make({no_source});
    ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
    std::array<int, 2> received{};
    std::array<commtask_t, 2> receives{post(commtask_op_recv(&received[0], 1, MPI_INT, left(), 0, comm)),
                                       post(commtask_op_recv(&received[1], 1, MPI_INT, right(), 0, comm))};
    std::array<commtask_t, 2> sends{};
    {
        held_lane held{MPI_COMM_WORLD}; // lane 0
        sends = {post(commtask_op_send(&rank_, 1, MPI_INT, left(), 0, comm)),
                 post(commtask_op_send(&rank_, 1, MPI_INT, right(), 0, comm))};
        std::size_t first = 2;
        EXPECT_EQ(commtask_wait_any_for(2, sends.data(), second_ns, &first, nullptr), COMMTASK_OK)
            << "both are on lane 0";
        // Enough to see it end if nothing holds it back.
        if (first < 2) {
            EXPECT_EQ(commtask_wait_for(&sends[1 - first], 50'000'000, nullptr), COMMTASK_TIMEOUT)
                << "both are on lane 1";
        }
    }
    EXPECT_EQ(commtask_wait_all_for(2, sends.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(commtask_wait_all_for(2, receives.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(received, (std::array{left(), right()}));
}

TEST_P(Spread, ByMessageRefusesWildcardsThatTheInfoRulesOut) {
    int cell = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Comm& comm = make({no_source});
    ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
    const std::string any_source = refusal_of(commtask_op_recv(&cell, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm));
    EXPECT_NE(any_source.find(no_source), std::string::npos) << any_source;
    EXPECT_NE(any_source.find("source is MPI_ANY_SOURCE"), std::string::npos) << any_source;
    refusal_of(commtask_op_mprobe(&message, MPI_ANY_SOURCE, 0, comm));
    commtask_ticket ticket{};
    const commtask_op wild = commtask_op_recv(&cell, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm);
    EXPECT_EQ(commtask_ticket_take(&wild, &ticket), COMMTASK_ERR_ARGUMENT);
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    refusal_of(wild);
    EXPECT_EQ(commtask_record_end(nullptr), COMMTASK_OK);
    commtask_listener_t listener = COMMTASK_LISTENER_NULL;
    const auto hear = [](commtask_message*, void*) { return 0; };
    EXPECT_EQ(commtask_listen(comm, 1, 8, 1, +hear, nullptr, &listener), COMMTASK_ERR_ARGUMENT);
    // The tag is no key here.
    const int sent = value_of(rank_, 1);
    commtask_t receive = post(commtask_op_recv(&cell, 1, MPI_INT, left(), MPI_ANY_TAG, comm));
    run(commtask_op_send(&sent, 1, MPI_INT, right(), 17, comm));
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(receive, &status), COMMTASK_OK);
    EXPECT_EQ(cell, value_of(left(), 1));
    EXPECT_EQ(status.source, left());
    EXPECT_EQ(status.tag, 17);
}

TEST_P(Spread, ByTagAloneReceivesFromAnyRank) {
    MPI_Comm& comm = make({no_tag});
    ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
    std::array<int, 4> cells{};
    std::array<commtask_t, 4> receives{};
    const std::vector<int> sent = values_of(rank_, 4);
    EXPECT_NE(refusal_of(commtask_op_recv(cells.data(), 1, MPI_INT, left(), MPI_ANY_TAG, comm)).find(no_tag),
              std::string::npos);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const int tag = static_cast<int>(i);
        receives[i] = post(commtask_op_recv(&cells[i], 1, MPI_INT, MPI_ANY_SOURCE, tag, comm));
    }
    // Many messages of one tag have one key.
    const std::array<int, 1> dests{right()};
    run(commtask_op_multicast(&sent[0], 1, MPI_INT, dests.data(), 1, 0, comm));
    for (std::size_t i = 1; i < cells.size(); ++i) {
        run(commtask_op_send(&sent[i], 1, MPI_INT, right(), static_cast<int>(i), comm));
    }
    EXPECT_EQ(commtask_wait_all_for(receives.size(), receives.data(), limit_ns, nullptr), COMMTASK_OK);
    for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(cells[i], value_of(left(), static_cast<int>(i)));
}

TEST_P(Spread, ByMessageAnExchangeHasOneKeyOrIsRefused) {
    MPI_Comm& comm = make({no_source, no_tag});
    ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
    const int mine = value_of(rank_, 0);
    int theirs = -1;
    const int partner = (rank_ ^ 1) < n_ranks_ ? rank_ ^ 1 : rank_;
    for (const int tag : {0, 1, 2}) {
        run(commtask_op_sendrecv(&mine, 1, MPI_INT, partner, tag, &theirs, 1, MPI_INT, partner, tag, comm));
        EXPECT_EQ(theirs, value_of(partner, 0));
    }
    run(commtask_op_sendrecv(&mine, 1, MPI_INT, MPI_PROC_NULL, 4, &theirs, 1, MPI_INT, MPI_PROC_NULL, 5, comm));
    const std::string refused =
        refusal_of(commtask_op_sendrecv(&mine, 1, MPI_INT, partner, 0, &theirs, 1, MPI_INT, partner, 1, comm));
    EXPECT_NE(refused.find("several lanes"), std::string::npos) << refused;
}

TEST_P(Spread, ByMessageServesPlansMatchedProbesAndCancels) {
    MPI_Comm& comm = make({no_source, no_tag});
    ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
    std::array<int, 4> received{};
    std::array<int, 4> sent{};
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const int tag = static_cast<int>(i);
        ASSERT_EQ(commtask_post(commtask_op_recv(&received[i], 1, MPI_INT, left(), tag, comm), nullptr, nullptr),
                  COMMTASK_OK);
        ASSERT_EQ(commtask_post(commtask_op_send(&sent[i], 1, MPI_INT, right(), tag, comm), nullptr, nullptr),
                  COMMTASK_OK);
    }
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK) << commtask_last_error();
    for (int turn = 0; turn < 10; ++turn) {
        for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = value_of(rank_, 10 * turn + static_cast<int>(i));
        commtask_t running = COMMTASK_NULL;
        ASSERT_EQ(commtask_plan_start(plan, nullptr, &running), COMMTASK_OK) << commtask_last_error();
        ASSERT_EQ(finish(running), COMMTASK_OK);
        for (std::size_t i = 0; i < sent.size(); ++i)
            EXPECT_EQ(received[i], value_of(left(), 10 * turn + static_cast<int>(i)));
    }
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);

    MPI_Message message = MPI_MESSAGE_NULL;
    commtask_t found = post(commtask_op_mprobe(&message, left(), 9, comm));
    commtask_t send = post(commtask_op_send(&sent[0], 1, MPI_INT, right(), 9, comm));
    ASSERT_EQ(finish(found), COMMTASK_OK);
    run(commtask_op_mrecv(&received[1], 1, MPI_INT, &message, comm));
    EXPECT_EQ(finish(send), COMMTASK_OK);
    EXPECT_EQ(received[1], value_of(left(), 90));
    commtask_t never = post(commtask_op_recv(&received[2], 1, MPI_INT, left(), 33, comm));
    EXPECT_EQ(commtask_cancel(never), COMMTASK_OK);
    EXPECT_EQ(finish(never), COMMTASK_CANCELED);
}

TEST_P(Spread, ByMessageAPlanKeepsItsPlaceOnEachLane) {
    MPI_Comm& comm = make({no_tag});
    ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
    constexpr int n_tags = 6;
    const int by_plan = 1;
    const int singly = 2;
    // Whatever lane has which tag: in some turn the first member is of the lane that is held up.
    for (int first = 0; first < n_tags; ++first) {
        std::array<std::array<int, 2>, n_tags> received{};
        std::vector<commtask_t> tasks;
        for (int tag = 0; tag < n_tags; ++tag) {
            for (int& each : received[static_cast<std::size_t>(tag)])
                tasks.push_back(post(commtask_op_recv(&each, 1, MPI_INT, left(), tag, comm)));
        }
        commtask_plan_t sends = COMMTASK_PLAN_NULL;
        ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
        for (int i = 0; i < n_tags; ++i) {
            const commtask_op send = commtask_op_send(&by_plan, 1, MPI_INT, right(), (first + i) % n_tags, comm);
            ASSERT_EQ(commtask_post_operation(&send, nullptr, nullptr), COMMTASK_OK) << commtask_last_error();
        }
        ASSERT_EQ(commtask_record_end(&sends), COMMTASK_OK) << commtask_last_error();
        {
            held_lane held{comm};
            tasks.emplace_back(COMMTASK_NULL);
            ASSERT_EQ(commtask_plan_start(sends, nullptr, &tasks.back()), COMMTASK_OK) << commtask_last_error();
            for (int tag = 0; tag < n_tags; ++tag)
                tasks.push_back(post(commtask_op_send(&singly, 1, MPI_INT, right(), tag, comm)));
            held.open();
        }
        EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
        for (const std::array<int, 2>& of_tag : received) EXPECT_EQ(of_tag, (std::array{by_plan, singly}));
        EXPECT_EQ(commtask_plan_release(&sends), COMMTASK_OK) << commtask_last_error();
    }
}

TEST_P(Spread, CommunicatorsComeAndGo) {
    for (int turn = 0; turn < 20; ++turn) {
        MPI_Comm& comm = turn % 2 == 0 ? make({no_source, no_tag}) : make({overtaking});
        if (turn % 2 == 0)
            ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
        std::array<commtask_t, 6> tasks{};
        std::array<int, 3> received{};
        const std::vector<int> sent = values_of(rank_, 3);
        for (std::size_t i = 0; i < 3; ++i) {
            const int tag = static_cast<int>(i);
            tasks[2 * i] = post(commtask_op_recv(&received[i], 1, MPI_INT, left(), tag, comm));
            tasks[2 * i + 1] = post(commtask_op_send(&sent[i], 1, MPI_INT, right(), tag, comm));
        }
        EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
        run(commtask_op_barrier(comm));
        free_on_worker(comm, MPI_COMM_WORLD);
    }
    // What is not freed ends with the library.
    MPI_Comm& comm = make({no_tag});
    EXPECT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK);
    ASSERT_EQ(commtask_finalize(), COMMTASK_OK);
    EXPECT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    const commtask_config settings = configuration();
    ASSERT_EQ(commtask_init(&settings), COMMTASK_OK) << commtask_last_error();
}

INSTANTIATE_TEST_SUITE_P(Lanes, Spread, testing::Values(2, 3),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

class SpreadOverOneLane : public Runtime {};

TEST_F(SpreadOverOneLane, ChangesNothing) {
    EXPECT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_THREAD), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(commtask_comm_stripe(comm_, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_ERR_ARGUMENT); // it has no promise
    int received = -1;
    const int sent = value_of(rank_, 2);
    commtask_t receive = post(commtask_op_recv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm_));
    run(commtask_op_send(&sent, 1, MPI_INT, right(), 3, comm_));
    EXPECT_EQ(finish(receive), COMMTASK_OK);
    EXPECT_EQ(received, value_of(left(), 2));
}

class SpreadByMessageOverOneLane : public Spread {};

TEST_P(SpreadByMessageOverOneLane, RefusesWhatSeveralLanesWould) {
    MPI_Comm& comm = make({no_source, no_tag});
    ASSERT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(commtask_comm_stripe(comm, COMMTASK_STRIPE_BY_MESSAGE), COMMTASK_OK) << "again";
    int received = -1;
    EXPECT_NE(refusal_of(commtask_op_recv(&received, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm)).find(no_source),
              std::string::npos);
    EXPECT_NE(refusal_of(commtask_op_recv(&received, 1, MPI_INT, left(), MPI_ANY_TAG, comm)).find(no_tag),
              std::string::npos);
    const int sent = value_of(rank_, 2);
    commtask_t receive = post(commtask_op_recv(&received, 1, MPI_INT, left(), 3, comm));
    run(commtask_op_send(&sent, 1, MPI_INT, right(), 3, comm));
    EXPECT_EQ(finish(receive), COMMTASK_OK);
    EXPECT_EQ(received, value_of(left(), 2));
}

INSTANTIATE_TEST_SUITE_P(Lanes, SpreadByMessageOverOneLane, testing::Values(1));

} // namespace
} // namespace commtask::test
