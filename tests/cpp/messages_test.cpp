// SPDX-License-Identifier: Apache-2.0
//
// Messages, probes and user-defined operations through the C++ front end: each operation arrives as the one that it is named after, with the
// datatype and the length that its range has. What MPI does with them is tested through the C interface.
#include "cpp_front_end.hpp"
#include "mpi_facts.hpp"

#include <array>
#include <complex>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace commtask::test {
namespace {

class CppMessages : public CppFace {};

TEST_F(CppMessages, ASpanOfDoublesGoesRoundTheRing) {
    const std::vector<double> sent(100, 1.5 + rank_);
    std::vector<double> received(120, -1.0);
    task receive = post(recv(std::span<double>{received}, left(), 7, comm_));
    task send_task = post(send(sent, right(), 7, comm_));
    const outcome ended = finish(receive);
    EXPECT_TRUE(ended);
    EXPECT_EQ(ended.status().source(), left());
    EXPECT_EQ(ended.status().tag(), 7);
    EXPECT_EQ(ended.status().size_bytes(), static_cast<MPI_Count>(100 * sizeof(double)));
    EXPECT_EQ(ended.status().count<double>(), 100U);
    EXPECT_TRUE(finish(send_task));
    EXPECT_EQ(received[99], 1.5 + left());
    EXPECT_EQ(received[100], -1.0);
}

template <typename T>
class CppElement : public CppFace {};
using element_types = testing::Types<char, signed char, unsigned char, wchar_t, std::byte, bool, short, unsigned short,
                                     int, unsigned, long, unsigned long, long long, unsigned long long, float, double,
                                     long double, std::complex<float>, std::complex<double>, std::complex<long double>>;
TYPED_TEST_SUITE(CppElement, element_types);

TYPED_TEST(CppElement, HasADatatypeOfItsSize) {
    int size_bytes = 0;
    ASSERT_EQ(MPI_Type_size(datatype_of<TypeParam>::get(), &size_bytes), MPI_SUCCESS);
    EXPECT_EQ(static_cast<std::size_t>(size_bytes), sizeof(TypeParam));
    const TypeParam sent{1};
    TypeParam received{};
    task receive = post(recv(one(received), this->left(), 0, this->comm_));
    run(send(one(sent), this->right(), 0, this->comm_));
    EXPECT_TRUE(finish(receive));
    EXPECT_EQ(received, sent);
}

TEST_F(CppMessages, EveryWayOfSendingArrives) {
    const std::array<int, 3> sent{rank_, rank_ + 1, rank_ + 2};
    std::vector<char> buffer(4 * (sizeof sent + MPI_BSEND_OVERHEAD));
    ASSERT_EQ(MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size())), MPI_SUCCESS);
    const auto expect_arrival = [&](const operation& sending) {
        std::array<int, 3> received{};
        task receive = post(recv(received, left(), 1, comm_));
        // The ready send needs the receive of the right neighbour.
        run(barrier(comm_));
        run(sending);
        EXPECT_TRUE(finish(receive));
        EXPECT_EQ(received[2], left() + 2);
    };
    expect_arrival(send(sent, right(), 1, comm_));
    expect_arrival(ssend(sent, right(), 1, comm_));
    expect_arrival(bsend(sent, right(), 1, comm_));
    expect_arrival(rsend(sent, right(), 1, comm_));
    EXPECT_EQ(ssend(sent, 0, 1, comm_).native().kind, COMMTASK_OP_SSEND);
    EXPECT_EQ(bsend(sent, 0, 1, comm_).native().kind, COMMTASK_OP_BSEND);
    EXPECT_EQ(rsend(sent, 0, 1, comm_).native().kind, COMMTASK_OP_RSEND);
    run(barrier(comm_));
    void* detached = nullptr;
    int detached_size = 0;
    ASSERT_EQ(MPI_Buffer_detach(static_cast<void*>(&detached), &detached_size), MPI_SUCCESS);
}

TEST_F(CppMessages, SendrecvShiftsTheRingInTwoBuffersAndInOne) {
    const std::string sent = "from " + std::to_string(rank_);
    std::string received(20, '.');
    const outcome ended = carry_out(sendrecv(sent, right(), 3, received, left(), 3, comm_));
    received.resize(*ended.status().count<char>());
    EXPECT_EQ(received, "from " + std::to_string(left()));

    std::vector<float> both(4, static_cast<float>(rank_));
    run(sendrecv_replace(both, right(), 4, left(), 4, comm_));
    EXPECT_EQ(both[3], static_cast<float>(left()));
}

TEST_F(CppMessages, ADerivedDatatypeIsSaidWithElements) {
    MPI_Datatype every_other = MPI_DATATYPE_NULL;
    ASSERT_EQ(MPI_Type_vector(3, 1, 2, MPI_INT, &every_other), MPI_SUCCESS);
    ASSERT_EQ(MPI_Type_commit(&every_other), MPI_SUCCESS);
    const std::array<int, 6> sent{rank_, 1, rank_, 3, rank_, 5};
    std::array<int, 3> received{};
    task receive = post(recv(received, left(), 2, comm_));
    run(send(elements(sent.data(), 1, every_other), right(), 2, comm_));
    EXPECT_TRUE(finish(receive));
    EXPECT_EQ(received, (std::array{left(), left(), left()}));
    ASSERT_EQ(MPI_Type_free(&every_other), MPI_SUCCESS);
}

TEST_F(CppMessages, AProbeTellsTheLengthBeforeTheBufferIsMade) {
    const std::vector<int> sent(static_cast<std::size_t>(rank_) + 5, rank_);
    task sending = post(send(sent, right(), 9, comm_));
    MPI_Message message = MPI_MESSAGE_NULL;
    const outcome probed = carry_out(mprobe(message, left(), 9, comm_));
    std::vector<int> received(probed.status().count<int>().value_or(0));
    EXPECT_EQ(received.size(), static_cast<std::size_t>(left()) + 5);
    run(mrecv(received, message, comm_));
    EXPECT_TRUE(finish(sending));
    EXPECT_EQ(received.back(), left());
}

TEST_F(CppMessages, ACommunicatorIsDuplicatedAndFreedByTasks) {
    MPI_Comm copy = MPI_COMM_NULL;
    run(comm_dup(copy, comm_));
    int size = 0;
    ASSERT_EQ(MPI_Comm_size(copy, &size), MPI_SUCCESS);
    EXPECT_EQ(size, n_ranks_);
    run(call([&copy] { return MPI_Comm_free(&copy); }, comm_));
    EXPECT_EQ(copy, MPI_COMM_NULL);
}

TEST_F(CppMessages, ARequestOfOnesOwnIsAttachedOrStartedOnTheWorker) {
    const int sent = rank_;
    int received = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Irecv(&received, 1, MPI_INT, left(), 5, comm_, &request), MPI_SUCCESS);
    task receive = post(attach(request, comm_));
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    run(start([&](MPI_Request* started) { return MPI_Isend(&sent, 1, MPI_INT, right(), 5, comm_, started); }, comm_));
    EXPECT_TRUE(finish(receive));
    EXPECT_EQ(received, left());
}

TEST_F(CppMessages, ATruncatedMessageIsAnOutcomeAndNoException) {
    if (!sees_truncation(n_ranks_)) GTEST_SKIP() << "this MPI does not check messages to oneself";
    const std::array<int, 4> sent{};
    std::array<int, 2> received{};
    task receive = post(recv(received, left(), 6, comm_));
    task sending = post(send(sent, right(), 6, comm_));
    const outcome ended = finish(receive);
    EXPECT_TRUE(ended.is_failed());
    EXPECT_FALSE(ended);
    EXPECT_EQ(ended.ending(), ending::failed);
    EXPECT_EQ(ended.error_class(), MPI_ERR_TRUNCATE);
    std::ignore = finish(sending);
}

} // namespace
} // namespace commtask::test
