// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.freed: a program may free its datatypes and communicators when a post has returned, as after MPI's nonblocking
// calls, whatever the task waits for. MPI gives the handles out again at once: an operation that went to MPI with a handle that is
// another's by then would move other data.
#include "runtime_test.hpp"

#include "scratch_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace commtask::test {
namespace {

constexpr int n_rounds = 20;
constexpr int side = 24;
constexpr std::size_t n = static_cast<std::size_t>(side) * side;
using grid = std::array<int, n>;

/// A datatype on a grid of `side` times `side` numbers, and which of them it takes.
struct layout {
    const char* name;
    std::function<MPI_Datatype()> make;
    std::function<bool(int)> takes;
};

[[nodiscard]] std::vector<layout> layouts() {
    return {{"vector",
             [] {
                 MPI_Datatype made = MPI_DATATYPE_NULL;
                 MPI_Type_vector(side, 1, side, MPI_INT, &made);
                 return made;
             },
             [](int i) { return i % side == 0; }},
            {"indexed",
             [] {
                 MPI_Datatype made = MPI_DATATYPE_NULL;
                 const std::array lengths{3, 1, 5};
                 const std::array places{2, 70, 300};
                 MPI_Type_indexed(3, lengths.data(), places.data(), MPI_INT, &made);
                 return made;
             },
             [](int i) { return (i >= 2 && i < 5) || i == 70 || (i >= 300 && i < 305); }},
            {"resized",
             [] {
                 MPI_Datatype column = MPI_DATATYPE_NULL;
                 MPI_Datatype made = MPI_DATATYPE_NULL;
                 MPI_Type_vector(side, 2, side, MPI_INT, &column);
                 MPI_Type_create_resized(column, 0, sizeof(int), &made);
                 MPI_Type_free(&column);
                 return made;
             },
             [](int i) { return i % side < 2; }},
            {"subarray",
             [] {
                 MPI_Datatype made = MPI_DATATYPE_NULL;
                 const std::array whole{side, side};
                 const std::array part{5, 7};
                 const std::array begin{3, 4};
                 MPI_Type_create_subarray(2, whole.data(), part.data(), begin.data(), MPI_ORDER_C, MPI_INT, &made);
                 return made;
             },
             [](int i) { return i / side >= 3 && i / side < 8 && i % side >= 4 && i % side < 11; }}};
}

class FreedHandles : public Runtime {
protected:
    void SetUp() override {
        Runtime::SetUp();
        std::iota(mine_.begin(), mine_.end(), 1000 * (rank_ + 1));
        theirs_.fill(-1);
    }
    void TearDown() override {
        Runtime::TearDown();
        for (MPI_Datatype& each : others_) EXPECT_EQ(MPI_Type_free(&each), MPI_SUCCESS);
    }
    static MPI_Datatype commit(MPI_Datatype made) {
        EXPECT_EQ(MPI_Type_commit(&made), MPI_SUCCESS);
        return made;
    }
    /// And MPI gives handle and memory to other datatypes.
    void free(MPI_Datatype type) {
        EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
        for (MPI_Datatype& each : others_) EXPECT_EQ(MPI_Type_free(&each), MPI_SUCCESS);
        others_.clear();
        for (int i = 0; i < 4; ++i) {
            MPI_Type_contiguous(1, MPI_CHAR, &others_.emplace_back(MPI_DATATYPE_NULL));
            EXPECT_EQ(MPI_Type_commit(&others_.back()), MPI_SUCCESS);
        }
    }
    /// What came from `rank`, and empties it.
    void expect(const layout& of, int rank) {
        for (int i = 0; i < side * side; ++i) {
            const int expected = of.takes(i) ? 1000 * (rank + 1) + i : -1;
            ASSERT_EQ(theirs_[static_cast<std::size_t>(i)], expected) << of.name << ", number " << i;
        }
        theirs_.fill(-1);
    }
    static void end_all(std::vector<commtask_t>& tasks) {
        for (commtask_t& each : tasks) EXPECT_EQ(finish(each), COMMTASK_OK);
    }
    /// Posts by `post_all` after an event that is signalled once everything was freed, or without one.
    void for_both_ways(const std::function<void(const commtask_options*, std::vector<commtask_t>&)>& post_all,
                       const std::function<void()>& check) {
        for (int round = 0; round < n_rounds; ++round) {
            for (const bool waits : {false, true}) {
                event gate;
                options how;
                if (waits) how.on({gate.get()});
                std::vector<commtask_t> tasks;
                post_all(how.get(), tasks);
                gate.signal();
                end_all(tasks);
                check();
                if (HasFatalFailure()) return;
            }
        }
    }

    grid mine_{};
    grid theirs_{};

private:
    std::vector<MPI_Datatype> others_;
};

TEST_F(FreedHandles, TheDatatypeOfAMessage) {
    for (const layout& each : layouts()) {
        for_both_ways(
            [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
                MPI_Datatype const type = commit(each.make());
                tasks.push_back(post(commtask_op_recv(theirs_.data(), 1, type, left(), 1, comm_), how));
                tasks.push_back(post(commtask_op_send(mine_.data(), 1, type, right(), 1, comm_), how));
                free(type);
            },
            [&] { expect(each, left()); });
    }
}

TEST_F(FreedHandles, TheTwoDatatypesOfAnExchange) {
    const layout columns = layouts().front();
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            MPI_Datatype const out = commit(columns.make());
            MPI_Datatype in = MPI_DATATYPE_NULL; // as many numbers, the other way about
            MPI_Type_create_hvector(side, 1, side * static_cast<MPI_Aint>(sizeof(int)), MPI_INT, &in);
            commit(in);
            tasks.push_back(post(
                commtask_op_sendrecv(mine_.data(), 1, out, right(), 2, theirs_.data(), 1, in, left(), 2, comm_), how));
            free(out);
            free(in);
        },
        [&] { expect(columns, left()); });
}

TEST_F(FreedHandles, DatatypesOfCollectives) {
    const layout each = layouts().back();
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            MPI_Datatype const type = commit(each.make());
            grid& data = rank_ == last() ? mine_ : theirs_;
            tasks.push_back(post(commtask_op_bcast(data.data(), 1, type, last(), comm_), how));
            free(type);
        },
        [&] {
            if (rank_ != last()) expect(each, last());
        });
}

TEST_F(FreedHandles, ArraysOfDatatypes) {
    const layout each = layouts().front();
    const auto n_ranks = static_cast<std::size_t>(n_ranks_);
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            MPI_Datatype const type = commit(each.make());
            std::vector<int> send_counts(n_ranks);
            std::vector<int> recv_counts(n_ranks);
            std::vector<int> displs(n_ranks);
            send_counts[static_cast<std::size_t>(right())] = recv_counts[static_cast<std::size_t>(left())] = 1;
            std::vector<MPI_Datatype> types(n_ranks, type);
            tasks.push_back(
                post(commtask_op_alltoallw_int(mine_.data(), send_counts.data(), displs.data(), types.data(),
                                               theirs_.data(), recv_counts.data(), displs.data(), types.data(), comm_),
                     how));
            free(type);
            types.assign(n_ranks, MPI_DATATYPE_NULL);
        },
        [&] { expect(each, left()); });
}

TEST_F(FreedHandles, WhatDoesNotCountOnARankNeedNotBeADatatype) {
    std::vector<int> all(n * static_cast<std::size_t>(n_ranks_));
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            MPI_Datatype contiguous = MPI_DATATYPE_NULL;
            MPI_Type_contiguous(side * side, MPI_INT, &contiguous);
            commit(contiguous);
            MPI_Datatype const roots = rank_ == 0 ? contiguous : MPI_DATATYPE_NULL;
            tasks.push_back(post(commtask_op_gather(mine_.data(), 1, contiguous, all.data(), 1, roots, 0, comm_), how));
            free(contiguous);
        },
        [&] {
            for (std::size_t i = 0; rank_ == 0 && i < all.size(); ++i) {
                ASSERT_EQ(all[i], 1000 * (static_cast<int>(i / n) + 1) + static_cast<int>(i % n));
            }
        });
}

/// The datatype that a user's reduction was called with last.
MPI_Datatype type_seen = MPI_DATATYPE_NULL;
void add_first(void* in, void* inout, int* count, MPI_Datatype* type) {
    type_seen = *type;
    int n_integers = 0;
    int n_addresses = 0;
    int n_types = 0;
    int combiner = MPI_COMBINER_NAMED;
    MPI_Type_get_envelope(*type, &n_integers, &n_addresses, &n_types, &combiner);
    const int stride = combiner == MPI_COMBINER_CONTIGUOUS ? 2 : 1;
    for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[stride * i] += static_cast<int*>(in)[stride * i];
}

TEST_F(FreedHandles, TheDatatypeOfAReductionWhoseFunctionAsksForIt) {
    MPI_Op sum = MPI_OP_NULL;
    ASSERT_EQ(MPI_Op_create(&add_first, 1, &sum), MPI_SUCCESS);
    MPI_Datatype given = MPI_DATATYPE_NULL;
    std::array<int, 4> in{};
    std::array<int, 4> out{};
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            type_seen = MPI_DATATYPE_NULL;
            in = {rank_ + 1, -7, 10 * (rank_ + 1), -7};
            out.fill(-7);
            MPI_Datatype pair = MPI_DATATYPE_NULL;
            MPI_Type_contiguous(2, MPI_INT, &pair);
            given = commit(pair);
            tasks.push_back(post(commtask_op_allreduce(in.data(), out.data(), 2, pair, sum, comm_), how));
            free(pair);
        },
        [&] {
            const int total = n_ranks_ * (n_ranks_ + 1) / 2;
            ASSERT_EQ(out[0], total);
            ASSERT_EQ(out[2], 10 * total);
            if (type_seen != MPI_DATATYPE_NULL) ASSERT_EQ(type_seen, given); // not every rank calls it
        });
    EXPECT_EQ(MPI_Op_free(&sum), MPI_SUCCESS);
}

TEST_F(FreedHandles, TheCommunicatorOfAMessage) {
    int in = -1;
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            MPI_Comm comm = MPI_COMM_NULL;
            MPI_Comm_dup(comm_, &comm);
            in = -1;
            tasks.push_back(post(commtask_op_recv(&in, 1, MPI_INT, left(), 1, comm), how));
            tasks.push_back(post(commtask_op_send(&rank_, 1, MPI_INT, right(), 1, comm), how));
            EXPECT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
            MPI_Comm_dup(MPI_COMM_SELF, &comm); // with the handle of the other
            EXPECT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
        },
        [&] { ASSERT_EQ(in, left()); });
}

TEST_F(FreedHandles, TheCommunicatorOfCollectivesInAnyOrder) {
    int sum = -1;
    std::vector<int> all(static_cast<std::size_t>(n_ranks_));
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            MPI_Comm comm = MPI_COMM_NULL;
            MPI_Comm_split(comm_, 0, -rank_, &comm); // the ranks the other way about
            sum = -1;
            tasks.push_back(post(commtask_op_allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, comm), how));
            tasks.push_back(post(commtask_op_allgather(&rank_, 1, MPI_INT, all.data(), 1, MPI_INT, comm))); // behind it
            EXPECT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
        },
        [&] {
            ASSERT_EQ(sum, n_ranks_ * (n_ranks_ - 1) / 2);
            for (int i = 0; i < n_ranks_; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], n_ranks_ - 1 - i);
        });
}

TEST_F(FreedHandles, TheCommunicatorAndItsNeighborsOfANeighborhood) {
    std::array<int, 2> got{};
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            MPI_Comm ring = MPI_COMM_NULL;
            const std::array around{1};
            MPI_Cart_create(comm_, 1, &n_ranks_, around.data(), 0, &ring);
            got.fill(-1);
            std::array counts{1, 1};
            std::array displs{0, 1};
            tasks.push_back(post(commtask_op_neighbor_allgatherv_int(&rank_, 1, MPI_INT, got.data(), counts.data(),
                                                                     displs.data(), MPI_INT, ring),
                                 how));
            EXPECT_EQ(MPI_Comm_free(&ring), MPI_SUCCESS);
            counts.fill(1000); // copied
            displs.fill(-1000);
        },
        [&] {
            ASSERT_EQ(got[0], left());
            ASSERT_EQ(got[1], right());
        });
}

TEST_F(FreedHandles, AProbeThatWaitsForItsMessage) {
    for (int round = 0; round < n_rounds; ++round) {
        MPI_Comm comm = MPI_COMM_NULL;
        ASSERT_EQ(MPI_Comm_dup(comm_, &comm), MPI_SUCCESS);
        event gate;
        options later;
        MPI_Message message = MPI_MESSAGE_NULL;
        commtask_t probe = post(commtask_op_mprobe(&message, left(), 1, comm));
        commtask_t send = post(commtask_op_send(&rank_, 1, MPI_INT, right(), 1, comm), later.on({gate.get()}));
        ASSERT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
        gate.signal();
        EXPECT_EQ(finish(probe), COMMTASK_OK);
        int got = -1;
        EXPECT_EQ(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EXPECT_EQ(got, left());
        EXPECT_EQ(finish(send), COMMTASK_OK);
    }
}

/// What happens to an attribute of a communicator or a datatype.
struct attribute_life {
    int n_copied = 0;
    int n_deleted = 0;
};

TEST_F(FreedHandles, AreFreedOnceTheirTasksHaveEnded) {
    attribute_life of_comm;
    attribute_life of_type;
    int comm_key = MPI_KEYVAL_INVALID;
    int type_key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(
        MPI_COMM_NULL_COPY_FN,
        [](MPI_Comm, int, void* life, void*) -> int {
            return ++static_cast<attribute_life*>(life)->n_deleted, MPI_SUCCESS;
        },
        &comm_key, nullptr);
    MPI_Type_create_keyval([](MPI_Datatype, int, void*, void* life, void*,
                              int*) -> int { return ++static_cast<attribute_life*>(life)->n_copied, MPI_SUCCESS; },
                           [](MPI_Datatype, int, void* life, void*) -> int {
                               return ++static_cast<attribute_life*>(life)->n_deleted, MPI_SUCCESS;
                           },
                           &type_key, nullptr);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(comm_, &comm);
    MPI_Comm_set_attr(comm, comm_key, &of_comm);
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    commit(pair);
    MPI_Type_set_attr(pair, type_key, &of_type);

    event gate;
    options later;
    later.on({gate.get()});
    const std::array<int, 2> out{rank_, 7};
    std::array<int, 2> in{};
    commtask_t recv = post(commtask_op_recv(in.data(), 1, pair, left(), 1, comm), later);
    commtask_t send = post(commtask_op_send(out.data(), 1, pair, right(), 1, comm), later);
    EXPECT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_free(&pair), MPI_SUCCESS);
    gate.signal();
    EXPECT_EQ(finish(recv), COMMTASK_OK);
    EXPECT_EQ(finish(send), COMMTASK_OK);
    EXPECT_EQ(in, (std::array{left(), 7}));
    EXPECT_EQ(of_comm.n_deleted, 1);
    EXPECT_EQ(of_type.n_deleted, 1);
    EXPECT_EQ(of_type.n_copied, 0);
    EXPECT_EQ(MPI_Comm_free_keyval(&comm_key), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_free_keyval(&type_key), MPI_SUCCESS);
}

TEST_F(FreedHandles, MayBeFreedByACallback) {
    for (int round = 0; round < n_rounds; ++round) {
        MPI_Datatype type = commit(layouts().front().make());
        event gate;
        options later;
        later.on({gate.get()});
        commtask_t recv = post(commtask_op_recv(theirs_.data(), 1, type, left(), 1, comm_), later);
        commtask_t send = post(commtask_op_send(mine_.data(), 1, type, right(), 1, comm_), later);
        run(commtask_op_call([](void* freed) -> int { return MPI_Type_free(static_cast<MPI_Datatype*>(freed)); }, &type,
                             comm_));
        gate.signal();
        EXPECT_EQ(finish(recv), COMMTASK_OK);
        EXPECT_EQ(finish(send), COMMTASK_OK);
        expect(layouts().front(), left());
    }
}

TEST_F(FreedHandles, OfTasksThatAreCanceled) {
    MPI_Comm comm = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(comm_, &comm), MPI_SUCCESS);
    MPI_Datatype type = commit(layouts().front().make());
    event gate;
    options later;
    commtask_t waits = post(commtask_op_send(mine_.data(), 1, type, right(), 1, comm), later.on({gate.get()}));
    commtask_t in_flight = post(commtask_op_recv(theirs_.data(), 1, type, left(), 1, comm));
    free(type);
    ASSERT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    EXPECT_EQ(commtask_cancel(waits), COMMTASK_OK);
    EXPECT_EQ(commtask_cancel(in_flight), COMMTASK_OK);
    EXPECT_EQ(finish(waits), COMMTASK_CANCELED);
    EXPECT_EQ(finish(in_flight), COMMTASK_CANCELED);
    gate.signal();
}

TEST_F(FreedHandles, DatatypesOfOneSidedOperations) {
    const layout each = layouts().front();
    int* exposed = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    ASSERT_EQ(MPI_Win_allocate(sizeof(grid), sizeof(int), MPI_INFO_NULL, comm_, &exposed, &window), MPI_SUCCESS);
    ASSERT_EQ(commtask_win_register(window, comm_), COMMTASK_OK) << commtask_last_error();
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            std::fill_n(exposed, n, -1);
            MPI_Barrier(comm_);
            MPI_Datatype const here = commit(each.make());
            MPI_Datatype there = MPI_DATATYPE_NULL;
            MPI_Type_dup(here, &there);
            commtask_t written = post(commtask_op_put(mine_.data(), 1, here, right(), 0, 1, there, window), how);
            options after;
            after.after({written});
            tasks.push_back(post(commtask_op_flush(right(), window), after));
            tasks.push_back(written);
            free(here);
            free(there);
        },
        [&] {
            MPI_Barrier(comm_);
            commtask_status status = run(commtask_op_win_sync(window));
            static_cast<void>(status);
            std::copy_n(exposed, n, theirs_.begin());
            expect(each, left());
        });
    EXPECT_EQ(commtask_win_unregister(window), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);
}

TEST_F(FreedHandles, DatatypesOfFileOperations) {
    const std::string path = scratch_file();
    ASSERT_FALSE(path.empty());
    MPI_File file = MPI_FILE_NULL;
    ASSERT_EQ(
        MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file),
        MPI_SUCCESS);
    const layout each = layouts().front();
    for_both_ways(
        [&](const commtask_options* how, std::vector<commtask_t>& tasks) {
            MPI_Datatype const out = commit(each.make());
            MPI_Datatype const in = commit(each.make());
            commtask_t written = post(commtask_op_file_write_at(0, mine_.data(), 1, out, file, MPI_COMM_SELF), how);
            options after;
            tasks.push_back(
                post(commtask_op_file_read_at(0, theirs_.data(), 1, in, file, MPI_COMM_SELF), after.after({written})));
            tasks.push_back(written);
            free(out);
            free(in);
        },
        [&] { expect(each, rank_); });
    EXPECT_EQ(commtask_file_close(&file, MPI_COMM_SELF), COMMTASK_OK) << commtask_last_error();
}

} // namespace
} // namespace commtask::test
