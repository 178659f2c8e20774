// SPDX-License-Identifier: Apache-2.0
//
// mpi.lanes: two and three lanes on real ranks. Which lane serves a communicator, and that edges, cancels, failures, plans and
// waits go from lane to lane as they do within one. An MPI without MPI_THREAD_MULTIPLE skips it.
#include "lanes_fixture.hpp"

#include <commtask/commtask.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <thread>

namespace commtask::test {
namespace {

class Lanes : public RuntimeOnLanes {
protected:
    void SetUp() override {
        Runtime::SetUp();
        if (HasFatalFailure()) return;
        ASSERT_EQ(commtask_comm_split_lanes(comm_, n_lanes(), lane_comms_.data()), COMMTASK_OK)
            << commtask_last_error();
    }
    void TearDown() override {
        for (MPI_Comm& each : lane_comms_) {
            if (each != MPI_COMM_NULL) free_on_worker(each, each);
        }
        Runtime::TearDown();
    }

    [[nodiscard]] static int n_lanes() { return GetParam(); }
    [[nodiscard]] MPI_Comm on(int lane) const { return lane_comms_[static_cast<std::size_t>(lane)]; }
    [[nodiscard]] int last_lane() const { return n_lanes() - 1; }

    std::array<MPI_Comm, 3> lane_comms_{MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
};

TEST_P(Lanes, AreCountedInTheInfo) {
    commtask_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(commtask_get_info(&info), COMMTASK_OK);
    EXPECT_EQ(info.lanes, static_cast<unsigned>(n_lanes()));
}

TEST_P(Lanes, ServeTheDuplicatesThatAreMadeForThem) {
    for (int lane = 0; lane < n_lanes(); ++lane) {
        EXPECT_EQ(lane_of(on(lane)), lane);
        int how = MPI_UNEQUAL;
        ASSERT_EQ(MPI_Comm_compare(comm_, on(lane), &how), MPI_SUCCESS);
        EXPECT_EQ(how, MPI_CONGRUENT);
    }
    std::vector<MPI_Comm> more = split_lanes(comm_, 1);
    EXPECT_EQ(lane_of(more.at(0)), 0);
    free_on_worker(more[0], more[0]);
}

TEST_P(Lanes, ServeOtherCommunicatorsInTurnAndTheWorldByTheFirst) {
    EXPECT_EQ(lane_of(MPI_COMM_WORLD), 0);
    EXPECT_EQ(lane_of(MPI_COMM_SELF), 0);
    EXPECT_EQ(lane_of(comm_), 1); // the first that was used
    for (int nth = 2; nth < 6; ++nth) {
        MPI_Comm next = MPI_COMM_NULL;
        run(commtask_op_comm_dup(&next, comm_));
        EXPECT_EQ(lane_of(next), nth % n_lanes());
        free_on_worker(next, next);
    }
}

TEST_P(Lanes, AreChosenByTheProgramBeforeTheFirstTask) {
    for (int lane = 0; lane < n_lanes(); ++lane) {
        MPI_Comm chosen = MPI_COMM_NULL;
        run(commtask_op_comm_dup(&chosen, comm_));
        EXPECT_EQ(commtask_comm_set_lane(chosen, lane), COMMTASK_OK) << commtask_last_error();
        EXPECT_EQ(lane_of(chosen), lane);
        run(commtask_op_barrier(chosen));
        EXPECT_EQ(commtask_comm_set_lane(chosen, lane), COMMTASK_OK);
        EXPECT_EQ(commtask_comm_set_lane(chosen, (lane + 1) % n_lanes()), COMMTASK_ERR_ARGUMENT);
        EXPECT_NE(std::string{commtask_last_error()}.find("before its first task"), std::string::npos);
        free_on_worker(chosen, chosen);
    }
    EXPECT_EQ(commtask_comm_set_lane(comm_, n_lanes()), COMMTASK_ERR_ARGUMENT);
    EXPECT_NE(std::string{commtask_last_error()}.find("COMMTASK_LANES"), std::string::npos);
    EXPECT_EQ(commtask_comm_set_lane(comm_, -1), COMMTASK_ERR_ARGUMENT);
    EXPECT_EQ(commtask_comm_set_lane(MPI_COMM_NULL, 0), COMMTASK_ERR_COMM);
    EXPECT_EQ(commtask_comm_lane(comm_, nullptr), COMMTASK_ERR_ARGUMENT);
}

/// A duplicate with an info key, where this MPI gives the key back.
bool make_with_key(MPI_Comm of, const char* value, MPI_Comm& made) {
    struct duplication {
        MPI_Comm of;
        MPI_Info info;
        MPI_Comm* made;
        int is_kept;
    } wanted{of, MPI_INFO_NULL, &made, 0};
    MPI_Info_create(&wanted.info);
    MPI_Info_set(wanted.info, COMMTASK_LANE_KEY, value);
    const auto duplicate = [](void* argument) {
        auto& what = *static_cast<duplication*>(argument);
        const int code = MPI_Comm_dup_with_info(what.of, what.info, what.made);
        MPI_Info kept = MPI_INFO_NULL;
        std::array<char, 8> text{};
        MPI_Comm_get_info(*what.made, &kept);
        MPI_Info_get(kept, COMMTASK_LANE_KEY, 7, text.data(), &what.is_kept);
        MPI_Info_free(&kept);
        return code;
    };
    run(commtask_op_call(+duplicate, &wanted, of));
    MPI_Info_free(&wanted.info);
    return wanted.is_kept != 0;
}

TEST_P(Lanes, AreChosenByAnInfoKeyWhereMpiKeepsIt) {
    const std::string last = std::to_string(last_lane());
    const std::string none = std::to_string(n_lanes());
    MPI_Comm chosen = MPI_COMM_NULL;
    const bool is_kept = make_with_key(on(0), last.c_str(), chosen);
    if (is_kept) {
        EXPECT_EQ(lane_of(chosen), last_lane());
        for (const std::string& wrong : {none, std::string{"-1"}, std::string{"1st"}, std::string{"123456789"}}) {
            MPI_Comm refused = MPI_COMM_NULL;
            make_with_key(on(0), wrong.c_str(), refused);
            EXPECT_EQ(commtask_comm_register(refused), COMMTASK_ERR_ARGUMENT) << wrong;
            EXPECT_NE(std::string{commtask_last_error()}.find(COMMTASK_LANE_KEY), std::string::npos);
            MPI_Comm_free(&refused);
        }
    }
    free_on_worker(chosen, chosen);
    if (!is_kept) GTEST_SKIP() << "MPI_Comm_get_info does not give the key back";
}

TEST_P(Lanes, RefuseASplitOnAllRanksIfItIsWrongOnOne) {
    std::array<MPI_Comm, 4> made{};
    const auto refusal = [&](MPI_Comm comm, int n_comms, MPI_Comm* comms) {
        const int code = commtask_comm_split_lanes(comm, n_comms, comms);
        return std::to_string(code) + " " + commtask_last_error();
    };
    const std::string argument = std::to_string(COMMTASK_ERR_ARGUMENT) + " ";
    EXPECT_EQ(refusal(comm_, 0, made.data()).rfind(argument + "n_comms is 0", 0), 0U);
    const std::string too_many = refusal(comm_, n_lanes() + 1, made.data());
    EXPECT_NE(too_many.find("COMMTASK_LANES"), std::string::npos) << too_many;
    EXPECT_EQ(refusal(comm_, 1, nullptr).rfind(argument + "comms is null", 0), 0U);
    EXPECT_EQ(commtask_comm_split_lanes(MPI_COMM_NULL, 1, made.data()), COMMTASK_ERR_COMM);
    if (n_ranks_ == 1) return;
    EXPECT_EQ(refusal(comm_, rank_ == 0 ? 1 : 2, made.data()).rfind(argument + "n_comms is", 0), 0U);
    EXPECT_EQ(refusal(comm_, rank_ == 0 ? 1 : 0, made.data()).rfind(argument, 0), 0U);
}

TEST_P(Lanes, RefuseASplitInACallback) {
    struct heard {
        MPI_Comm comm;
        std::atomic<int> code{COMMTASK_OK};
    } seen{comm_};
    options how;
    const auto split = [](const commtask_status* /*status*/, void* argument) {
        auto& to = *static_cast<heard*>(argument);
        MPI_Comm made = MPI_COMM_NULL;
        to.code = commtask_comm_split_lanes(to.comm, 1, &made);
    };
    commtask_t task = post(commtask_op_noop(on(last_lane())), how.call(+split, &seen));
    EXPECT_EQ(finish(task), COMMTASK_OK);
    EXPECT_EQ(seen.code, COMMTASK_ERR_WORKER_THREAD);
}

TEST_P(Lanes, PassAValueAlongAChainThatChangesLanes) {
    constexpr int n_links = 60;
    std::vector<int> cells(n_links + 1, -1);
    cells[0] = value_of(rank_, 0);
    std::vector<commtask_t> tasks;
    // Each link sends what the last one received: it must not start earlier.
    for (int i = 0; i < n_links; ++i) {
        options how;
        if (!tasks.empty()) how.after({tasks.back()});
        tasks.push_back(post(commtask_op_sendrecv(&cells[static_cast<std::size_t>(i)], 1, MPI_INT, right(), i,
                                                  &cells[static_cast<std::size_t>(i) + 1], 1, MPI_INT, left(), i,
                                                  on(i % n_lanes())),
                             how));
    }
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    EXPECT_EQ(cells.back(), value_of(((rank_ - n_links) % n_ranks_ + n_ranks_) % n_ranks_, 0));
}

TEST_P(Lanes, CancelSuccessorsOnOtherLanes) {
    const auto fail = [](void* /*argument*/) { return MPI_ERR_OTHER; };
    commtask_t failing = post(commtask_op_call(+fail, nullptr, on(0)));
    options after_it;
    commtask_t child = post(commtask_op_noop(on(last_lane())), after_it.after({failing}));
    options after_child;
    commtask_t survivor = post(commtask_op_noop(on(0)), after_child.after({child}).flags(COMMTASK_RUN_AFTER_FAILURE));
    EXPECT_EQ(finish(survivor), COMMTASK_OK);
    EXPECT_EQ(finish(child), COMMTASK_CANCELED);
    EXPECT_EQ(finish(failing), COMMTASK_FAILED);
}

TEST_P(Lanes, WithdrawAReceiveThatWaitsOnAnyLane) {
    for (int lane = 0; lane < n_lanes(); ++lane) {
        int never = 0;
        commtask_t receive = post(commtask_op_recv(&never, 1, MPI_INT, left(), 99, on(lane)));
        EXPECT_EQ(commtask_cancel(receive), COMMTASK_OK);
        EXPECT_EQ(finish(receive), COMMTASK_CANCELED);
    }
}

TEST_P(Lanes, KeepTheOrderOfEachCommunicatorWhateverTheThreads) {
    constexpr int n_messages = 300;
    std::array<std::vector<int>, 3> received;
    std::array<std::vector<int>, 3> sent;
    std::vector<std::thread> threads;
    for (int lane = 0; lane < n_lanes(); ++lane) {
        threads.emplace_back([&, lane] {
            auto& to = received[static_cast<std::size_t>(lane)];
            auto& from = sent[static_cast<std::size_t>(lane)];
            to.assign(n_messages, -1);
            from = values_of(rank_, n_messages);
            std::vector<commtask_t> tasks;
            for (std::size_t i = 0; i < n_messages; ++i) {
                tasks.push_back(post(commtask_op_recv(&to[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, on(lane))));
                tasks.push_back(post(commtask_op_send(&from[i], 1, MPI_INT, right(), 5, on(lane))));
            }
            EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
        });
    }
    for (std::thread& each : threads) each.join();
    for (int lane = 0; lane < n_lanes(); ++lane) {
        EXPECT_EQ(received[static_cast<std::size_t>(lane)], values_of(left(), n_messages)) << "lane " << lane;
    }
}

TEST_P(Lanes, CarryLongMessagesSideBySide) {
    constexpr int n_ints = 60'000; // beyond what MPI sends at once
    std::array<std::vector<int>, 3> received;
    std::array<std::vector<int>, 3> sent;
    for (int turn = 0; turn < 5; ++turn) {
        std::vector<commtask_t> tasks;
        for (int lane = 0; lane < n_lanes(); ++lane) {
            auto& to = received[static_cast<std::size_t>(lane)];
            auto& from = sent[static_cast<std::size_t>(lane)];
            to.assign(n_ints, -1);
            from.assign(n_ints, value_of(rank_, 10 * turn + lane));
            tasks.push_back(post(commtask_op_recv(to.data(), n_ints, MPI_INT, left(), 0, on(lane))));
            tasks.push_back(post(commtask_op_send(from.data(), n_ints, MPI_INT, right(), 0, on(lane))));
        }
        ASSERT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
        for (int lane = 0; lane < n_lanes(); ++lane) {
            const std::vector<int> expected(n_ints, value_of(left(), 10 * turn + lane));
            ASSERT_EQ(received[static_cast<std::size_t>(lane)], expected);
        }
    }
}

TEST_P(Lanes, RunAPlanWithMembersOnAllOfThem) {
    std::array<int, 3> received{};
    std::array<int, 3> sent{};
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    for (int lane = 0; lane < n_lanes(); ++lane) {
        const auto i = static_cast<std::size_t>(lane);
        ASSERT_EQ(commtask_post(commtask_op_recv(&received[i], 1, MPI_INT, left(), 7, on(lane)), nullptr, nullptr),
                  COMMTASK_OK);
        ASSERT_EQ(commtask_post(commtask_op_send(&sent[i], 1, MPI_INT, right(), 7, on(lane)), nullptr, nullptr),
                  COMMTASK_OK);
    }
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK) << commtask_last_error();
    for (int turn = 0; turn < 50; ++turn) {
        for (int lane = 0; lane < n_lanes(); ++lane) {
            sent[static_cast<std::size_t>(lane)] = value_of(rank_, 10 * turn + lane);
        }
        commtask_t running = COMMTASK_NULL;
        ASSERT_EQ(commtask_plan_start(plan, nullptr, &running), COMMTASK_OK) << commtask_last_error();
        ASSERT_EQ(finish(running), COMMTASK_OK);
        for (int lane = 0; lane < n_lanes(); ++lane) {
            ASSERT_EQ(received[static_cast<std::size_t>(lane)], value_of(left(), 10 * turn + lane));
        }
    }
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
}

TEST_P(Lanes, TellACallbackThatPostsToAnotherLane) {
    struct relay {
        int next;
        int value = 0;
        commtask_t send = COMMTASK_NULL;
        MPI_Comm comm;
    };
    relay state{right(), value_of(rank_, 3), COMMTASK_NULL, on(last_lane())};
    int received = -1;
    commtask_t receive = post(commtask_op_recv(&received, 1, MPI_INT, left(), 11, on(last_lane())));
    options how;
    const auto pass_on = [](const commtask_status* /*status*/, void* argument) {
        auto& mine = *static_cast<relay*>(argument);
        mine.send = post(commtask_op_send(&mine.value, 1, MPI_INT, mine.next, 11, mine.comm));
    };
    commtask_t first = post(commtask_op_noop(on(0)), how.call(+pass_on, &state));
    EXPECT_EQ(finish(first), COMMTASK_OK);
    EXPECT_EQ(finish(state.send), COMMTASK_OK);
    EXPECT_EQ(finish(receive), COMMTASK_OK);
    EXPECT_EQ(received, value_of(left(), 3));
}

TEST_P(Lanes, WaitForAnyOfTasksOnAllOfThem) {
    std::vector<commtask_t> tasks;
    std::array<int, 3> received{};
    const int sent = rank_;
    for (int lane = 0; lane < n_lanes(); ++lane) {
        tasks.push_back(
            post(commtask_op_recv(&received[static_cast<std::size_t>(lane)], 1, MPI_INT, left(), 0, on(lane))));
    }
    for (int lane = last_lane(); lane >= 0; --lane) {
        run(commtask_op_send(&sent, 1, MPI_INT, right(), 0, on(lane)));
        std::size_t ended = 99;
        ASSERT_EQ(commtask_wait_any_for(tasks.size(), tasks.data(), limit_ns, &ended, nullptr), COMMTASK_OK);
        EXPECT_EQ(ended, static_cast<std::size_t>(lane));
        run(commtask_op_barrier(comm_)); // or a neighbour's next message would come before this one is looked at
    }
}

TEST_P(Lanes, ServeFreshCommunicatorsOfSeveralThreadsAtOnce) {
    // Each registers while the others do, and from callbacks of every lane.
    constexpr int n_comms = 8;
    std::array<MPI_Comm, n_comms> fresh{};
    for (MPI_Comm& each : fresh) run(commtask_op_comm_dup(&each, comm_));
    std::array<commtask_t, n_comms> tasks{};
    for (int i = 0; i < n_comms; ++i) {
        options how;
        const auto use = [](const commtask_status* /*status*/, void* comm) {
            EXPECT_EQ(commtask_comm_register(*static_cast<MPI_Comm*>(comm)), COMMTASK_OK) << commtask_last_error();
        };
        MPI_Comm& shared = fresh[static_cast<std::size_t>(i / n_lanes())]; // by callbacks of several lanes
        tasks[static_cast<std::size_t>(i)] = post(commtask_op_noop(on(i % n_lanes())), how.call(+use, &shared));
    }
    std::vector<std::thread> threads;
    for (MPI_Comm& each : fresh) {
        threads.emplace_back(
            [&each] { EXPECT_EQ(commtask_comm_register(each), COMMTASK_OK) << commtask_last_error(); });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(commtask_wait_all_for(tasks.size(), tasks.data(), limit_ns, nullptr), COMMTASK_OK);
    for (MPI_Comm& each : fresh) {
        run(commtask_op_barrier(each));
        free_on_worker(each, each);
    }
}

TEST(LanesInMpi, AreWhatItHasAndNotWhatAVariableSaysThatCameTooLate) {
    int level = MPI_THREAD_SINGLE;
    int rank = 0;
    MPI_Query_thread(&level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI gives no MPI_THREAD_MULTIPLE";
    const char* const variable = "MPIR_CVAR_CH4_NUM_VCIS";
    const char* const before = std::getenv(variable);
    const std::string kept = before == nullptr ? "" : before;
    ASSERT_EQ(setenv(variable, "64", 1), 0);
    commtask_config settings = COMMTASK_CONFIG_INIT;
    settings.lanes = 8; // more than any test asks MPI for
    testing::internal::CaptureStderr();
    const int code = commtask_init(&settings);
    const std::string said = testing::internal::GetCapturedStderr();
    ASSERT_EQ(before == nullptr ? unsetenv(variable) : setenv(variable, kept.c_str(), 1), 0);
    ASSERT_EQ(code, COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(commtask_finalize(), COMMTASK_OK);
    if (rank == 0) EXPECT_NE(said.find("8 lanes take turns"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(OfTwoAndThree, Lanes, testing::Values(2, 3));

} // namespace
} // namespace commtask::test
