// SPDX-License-Identifier: Apache-2.0
//
// mpi.status_fields: what the library reads from a status itself is what MPI says of it. Where it asks MPI for both, this only
// shows that it asks.
#include "mpi/status_fields.hpp"

#include <gtest/gtest.h>

namespace commtask::detail {
namespace {

TEST(StatusFields, SayWhatMpiSays) {
    for (const MPI_Count bytes : {MPI_Count{0}, MPI_Count{1}, MPI_Count{0x7fffffff}, MPI_Count{0xffffffff},
                                  MPI_Count{0x100000000}, MPI_Count{0x123456789abc}}) {
        for (const int is_canceled : {0, 1}) {
            MPI_Status status{};
            ASSERT_EQ(MPI_Status_set_elements_x(&status, MPI_BYTE, bytes), MPI_SUCCESS);
            ASSERT_EQ(MPI_Status_set_cancelled(&status, is_canceled), MPI_SUCCESS);
            EXPECT_EQ(length_of(status), bytes);
            EXPECT_EQ(was_canceled(status), is_canceled != 0) << bytes;
        }
    }
}

TEST(StatusFields, AreThoseOfAMessage) {
    const int sent[3] = {1, 2, 3};
    int received[8] = {};
    MPI_Status status{};
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Sendrecv(sent, 3, MPI_INT, 0, 0, received, 8, MPI_INT, 0, 0, MPI_COMM_SELF, &status), MPI_SUCCESS);
    EXPECT_EQ(length_of(status), static_cast<std::int64_t>(sizeof sent));
    EXPECT_FALSE(was_canceled(status));
    ASSERT_EQ(MPI_Irecv(received, 8, MPI_INT, 0, 1, MPI_COMM_SELF, &request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Cancel(&request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
    EXPECT_TRUE(was_canceled(status));
}

} // namespace
} // namespace commtask::detail
