// SPDX-License-Identifier: Apache-2.0
//
// mpi.errors.large: a message of more elements than an int counts, from a rank to itself, through whatever the MPI has
// for it: it arrives whole, or is refused with a sentence, and never arrives cut short. It needs 4.3 GB; a machine
// without them skips it. The same for a sendrecv_replace of more bytes than an int counts, whose count is small enough for any
// MPI. The label is `large`.
#include "runtime_test.hpp"

#include <climits>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

namespace commtask::test {
namespace {

std::size_t available_bytes() {
    std::ifstream file{"/proc/meminfo"};
    std::string name;
    std::size_t kilobytes = 0;
    std::string unit;
    while (file >> name >> kilobytes) {
        std::getline(file, unit);
        if (name == "MemAvailable:") return kilobytes * 1024;
    }
    return 0;
}

class LargeCount : public Runtime {};

TEST_F(LargeCount, AMessageBeyondAnIntArrivesWholeOrIsRefused) {
    const MPI_Count count = static_cast<MPI_Count>(INT_MAX) + 1001;
    const auto size = static_cast<std::size_t>(count);
    commtask_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(commtask_get_info(&info), COMMTASK_OK);
    if (info.has_large_counts == 0) {
        char byte = 0;
        const commtask_op op = commtask_op_send(&byte, count, MPI_BYTE, rank_, 0, comm_);
        EXPECT_EQ(commtask_post_operation(&op, nullptr, nullptr), COMMTASK_ERR_COUNT);
        EXPECT_NE(std::strstr(commtask_last_error(), "count"), nullptr) << commtask_last_error();
        return;
    }
    if (available_bytes() < 3 * size) GTEST_SKIP() << "not enough memory";
    const auto sent = std::make_unique_for_overwrite<char[]>(size);
    const auto received = std::make_unique_for_overwrite<char[]>(size);
    for (std::size_t i = 0; i < size; i += 4096) sent[i] = static_cast<char>(i / 4096 % 127);
    sent[size - 1] = 99;
    received[size - 1] = 0;
    commtask_t receive = post(commtask_op_recv(received.get(), count, MPI_BYTE, rank_, 0, comm_));
    commtask_t send = post(commtask_op_send(sent.get(), count, MPI_BYTE, rank_, 0, comm_));
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(commtask_wait_for(&receive, 8 * limit_ns, &status), COMMTASK_OK);
    EXPECT_EQ(status.bytes, count);
    EXPECT_EQ(finish(send), COMMTASK_OK);
    EXPECT_EQ(received[size - 1], 99);
    std::size_t n_wrong = 0;
    for (std::size_t i = 0; i < size; i += 4096) n_wrong += received[i] != static_cast<char>(i / 4096 % 127) ? 1U : 0U;
    EXPECT_EQ(n_wrong, 0U);
}

TEST_F(LargeCount, AReplacedBufferBeyondAnIntOfBytesArrivesWholeAndKeepsItsGaps) {
    constexpr std::size_t stride = 4096;
    constexpr std::size_t block = stride - 1; // few blocks: an MPI copies each for itself
    constexpr int count = static_cast<int>(INT_MAX / block) + 1001;
    constexpr std::size_t size = count * stride;
    if (available_bytes() < 3 * size) GTEST_SKIP() << "not enough memory";
    MPI_Datatype blocks = MPI_DATATYPE_NULL;
    MPI_Datatype with_gaps = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(block, MPI_BYTE, &blocks);
    MPI_Type_create_resized(blocks, 0, stride, &with_gaps);
    MPI_Type_commit(&with_gaps);
    const auto buffer = std::make_unique_for_overwrite<char[]>(size);
    const auto expected = [](std::size_t at) { return static_cast<char>(at / stride % 127); };
    for (std::size_t i = 0; i < size; i += stride) {
        buffer[i] = expected(i);
        buffer[i + stride - 1] = -1;
    }
    commtask_t task = post(commtask_op_sendrecv_replace(buffer.get(), count, with_gaps, rank_, 0, rank_, 0, comm_));
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(commtask_wait_for(&task, 8 * limit_ns, &status), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(status.bytes, static_cast<MPI_Count>(count) * static_cast<MPI_Count>(block));
    std::size_t n_wrong = 0;
    for (std::size_t i = 0; i < size; i += stride) {
        n_wrong += buffer[i] != expected(i) || buffer[i + stride - 1] != -1 ? 1U : 0U;
    }
    EXPECT_EQ(n_wrong, 0U);
    MPI_Type_free(&with_gaps);
    MPI_Type_free(&blocks);
}

} // namespace
} // namespace commtask::test
