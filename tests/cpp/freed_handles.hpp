// SPDX-License-Identifier: Apache-2.0
//
// Handles that a program frees while an operation with them waits, for the tests of the C++ interface and of oneTBB's nodes. Each is
// replaced at once by another one, which takes its place in MPI's tables: an operation that still had the old handle would move
// other data or be refused.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <numeric>

namespace commtask::test {

inline constexpr std::size_t n_numbers = 120;
using numbers = std::array<int, n_numbers>;

/// What `rank` sends as message `number`.
[[nodiscard]] inline numbers numbers_of(int rank, int number = 0) {
    numbers made{};
    std::iota(made.begin(), made.end(), 100'000 * (number + 1) + 1000 * rank);
    return made;
}

/// Every `stride`-th of the numbers.
[[nodiscard]] inline MPI_Datatype every(int stride) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_vector(static_cast<int>(n_numbers) / stride, 1, stride, MPI_INT, &made);
    EXPECT_EQ(MPI_Type_commit(&made), MPI_SUCCESS);
    return made;
}

/// And MPI gives the handle to another datatype.
inline void free_type(MPI_Datatype& type) {
    EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
    MPI_Datatype other = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(5, MPI_CHAR, &other);
    EXPECT_EQ(MPI_Type_commit(&other), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_free(&other), MPI_SUCCESS);
}

/// And MPI gives the handle to another communicator.
inline void free_comm(MPI_Comm& comm) {
    EXPECT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &other);
    EXPECT_EQ(MPI_Comm_free(&other), MPI_SUCCESS);
}

[[nodiscard]] inline MPI_Comm duplicate(MPI_Comm of) {
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Comm_dup(of, &made), MPI_SUCCESS);
    return made;
}

/// Whether every `stride`-th number of `received` is that of the message, and no other number was written (-1).
[[nodiscard]] inline testing::AssertionResult came(const numbers& received, int stride, int rank, int number = 0) {
    const numbers sent = numbers_of(rank, number);
    for (std::size_t i = 0; i < n_numbers; ++i) {
        const int expected = i % static_cast<std::size_t>(stride) == 0 ? sent[i] : -1;
        if (received[i] != expected)
            return testing::AssertionFailure() << "number " << i << " is " << received[i] << ", not " << expected;
    }
    return testing::AssertionSuccess();
}

} // namespace commtask::test
