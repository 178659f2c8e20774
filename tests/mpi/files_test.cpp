// SPDX-License-Identifier: Apache-2.0
//
// Part of mpi.operations: reading and writing files as tasks. All ranks open one file, which is gone when it is closed; that a
// file's own place moves, and that all ranks share one, is told by what lies where afterwards.
#include "mpi_facts.hpp"
#include "runtime_test.hpp"
#include "scratch_file.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

namespace commtask::test {
namespace {

class Files : public Runtime {
protected:
    static constexpr int count = 1000;

    void SetUp() override {
        Runtime::SetUp();
        std::array<char, 256> name{};
        if (rank_ == 0) scratch_file().copy(name.data(), name.size() - 1);
        MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, comm_);
        ASSERT_NE(name[0], '\0');
        ASSERT_EQ(MPI_File_open(comm_, name.data(), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file_),
                  MPI_SUCCESS);
        ASSERT_EQ(MPI_File_set_view(file_, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_SUCCESS);
    }
    void TearDown() override {
        if (file_ != MPI_FILE_NULL) EXPECT_EQ(commtask_file_close(&file_, comm_), COMMTASK_OK) << commtask_last_error();
        EXPECT_TRUE(file_ == MPI_FILE_NULL);
        Runtime::TearDown();
    }

    /// All of it is in the file, for all ranks.
    void everybody_has_written() {
        run(commtask_op_barrier(comm_));
        MPI_File_sync(file_);
        run(commtask_op_barrier(comm_));
    }
    [[nodiscard]] MPI_Offset begin_of(int rank) const { return MPI_Offset{count} * rank; }
    static void expect_length(const commtask_status& status) {
        EXPECT_EQ(status.bytes, static_cast<MPI_Count>(count * sizeof(int)));
    }

    MPI_File file_ = MPI_FILE_NULL;
    const std::vector<int> empty_ = std::vector<int>(count, -1);
};

TEST_F(Files, WhatIsWrittenAtAnOffsetIsReadThere) {
    const std::vector<int> mine = values_of(rank_, count);
    std::vector<int> read = empty_;
    expect_length(run(commtask_op_file_write_at(begin_of(rank_), mine.data(), count, MPI_INT, file_, comm_)));
    everybody_has_written();
    expect_length(run(commtask_op_file_read_at(begin_of(left()), read.data(), count, MPI_INT, file_, comm_)));
    EXPECT_EQ(read, values_of(left(), count));
}

TEST_F(Files, TheFilesOwnPlaceMovesOn) {
    const std::vector<int> mine = values_of(rank_, 2 * count);
    std::vector<int> read = empty_;
    MPI_File_seek(file_, 2 * begin_of(rank_), MPI_SEEK_SET);
    run(commtask_op_file_write(mine.data(), count, MPI_INT, file_, comm_));
    run(commtask_op_file_write(mine.data() + count, count, MPI_INT, file_, comm_));
    everybody_has_written();
    MPI_File_seek(file_, 2 * begin_of(rank_) + count, MPI_SEEK_SET);
    expect_length(run(commtask_op_file_read(read.data(), count, MPI_INT, file_, comm_)));
    EXPECT_EQ(read, std::vector<int>(mine.begin() + count, mine.end()));
}

TEST_F(Files, AllRanksWriteAndReadTogether) {
    const std::vector<int> mine = values_of(rank_, count);
    std::vector<int> read = empty_;
    std::vector<int> read_on = empty_;
    // Two at once: the second begins when MPI has the first.
    commtask_t writing =
        post(commtask_op_file_write_at_all(begin_of(rank_), mine.data(), count, MPI_INT, file_, comm_));
    commtask_t more =
        post(commtask_op_file_write_at_all(begin_of(n_ranks_ + rank_), mine.data(), count, MPI_INT, file_, comm_));
    EXPECT_EQ(finish(more), COMMTASK_OK);
    EXPECT_EQ(finish(writing), COMMTASK_OK);
    everybody_has_written();
    run(commtask_op_file_read_at_all(begin_of(right()), read.data(), count, MPI_INT, file_, comm_));
    EXPECT_EQ(read, values_of(right(), count));
    run(commtask_op_file_read_at_all(begin_of(n_ranks_ + left()), read_on.data(), count, MPI_INT, file_, comm_));
    EXPECT_EQ(read_on, values_of(left(), count));
}

TEST_F(Files, AllRanksGoOnTogether) {
    const std::vector<int> mine = values_of(rank_, count);
    std::vector<int> read = empty_;
    MPI_File_seek(file_, begin_of(rank_), MPI_SEEK_SET);
    run(commtask_op_file_write_all(mine.data(), count, MPI_INT, file_, comm_));
    everybody_has_written();
    MPI_File_seek(file_, begin_of(left()), MPI_SEEK_SET);
    run(commtask_op_file_read_all(read.data(), count, MPI_INT, file_, comm_));
    EXPECT_EQ(read, values_of(left(), count));
}

TEST_F(Files, TheSharedPlaceGivesEveryBlockToOneRank) {
    const std::vector<int> mine = values_of(rank_, count);
    std::vector<int> read = empty_;
    run(commtask_op_file_write_shared(mine.data(), count, MPI_INT, file_, comm_));
    everybody_has_written();
    MPI_File_seek_shared(file_, 0, MPI_SEEK_SET);
    run(commtask_op_file_read_shared(read.data(), count, MPI_INT, file_, comm_));
    int written_by = read[0] / 1'000'000 - 1;
    EXPECT_EQ(read, values_of(written_by, count));
    int sum = -1;
    run(commtask_op_allreduce(&written_by, &sum, 1, MPI_INT, MPI_SUM, comm_));
    EXPECT_EQ(sum, n_ranks_ * (n_ranks_ - 1) / 2);
}

TEST_F(Files, WhatIsBeyondTheEndIsAShortRead) {
    if (!completes_short_reads()) GTEST_SKIP() << "this MPI never completes a read beyond the end of a file";
    std::vector<int> read = empty_;
    const commtask_status status = run(commtask_op_file_read_at(0, read.data(), count, MPI_INT, file_, comm_));
    EXPECT_EQ(status.bytes, 0);
    EXPECT_EQ(read, empty_);
}

TEST_F(Files, AWrongArgumentIsRefusedByName) {
    int value = 0;
    const auto refused = [](const commtask_op& op, int code, const char* word) {
        EXPECT_EQ(commtask_post_operation(&op, nullptr, nullptr), code);
        EXPECT_NE(std::strstr(commtask_last_error(), word), nullptr) << commtask_last_error();
    };
    refused(commtask_op_file_read(&value, 1, MPI_INT, MPI_FILE_NULL, comm_), COMMTASK_ERR_FILE, "file");
    refused(commtask_op_file_read_at(-1, &value, 1, MPI_INT, file_, comm_), COMMTASK_ERR_DISPLACEMENT, "offset");
    refused(commtask_op_file_write_at(-8, &value, 1, MPI_INT, file_, comm_), COMMTASK_ERR_DISPLACEMENT, "offset");
    refused(commtask_op_file_write(&value, -1, MPI_INT, file_, comm_), COMMTASK_ERR_COUNT, "count");
    refused(commtask_op_file_write(nullptr, 1, MPI_INT, file_, comm_), COMMTASK_ERR_BUFFER, "buffer");
    refused(commtask_op_file_write(&value, 1, MPI_DATATYPE_NULL, file_, comm_), COMMTASK_ERR_TYPE, "type");
    refused(commtask_op_file_write(&value, 1, MPI_INT, file_, MPI_COMM_NULL), COMMTASK_ERR_COMM, "comm");
}

TEST_F(Files, AFileWithUnfinishedTasksStaysOpen) {
    const std::vector<int> mine = values_of(rank_, count);
    event go;
    options how;
    const commtask_op write = commtask_op_file_write_at(begin_of(rank_), mine.data(), count, MPI_INT, file_, comm_);
    commtask_t waiting = post(write, how.on({go.get()}));
    // Its order is another communicator's, and it waits for the first one.
    commtask_t later =
        post(commtask_op_file_write_at(begin_of(n_ranks_ + rank_), mine.data(), count, MPI_INT, file_, MPI_COMM_SELF),
             options{}.after({waiting}));
    EXPECT_EQ(commtask_file_close(&file_, comm_), COMMTASK_ERR_RUNNING);
    EXPECT_NE(std::strstr(commtask_last_error(), "2 tasks of the file"), nullptr) << commtask_last_error();
    go.signal();
    EXPECT_EQ(finish(waiting), COMMTASK_OK);
    EXPECT_EQ(finish(later), COMMTASK_OK);
    everybody_has_written();
    std::vector<int> read = empty_;
    expect_length(
        run(commtask_op_file_read_at(begin_of(n_ranks_ + right()), read.data(), count, MPI_INT, file_, comm_)));
    EXPECT_EQ(read, values_of(right(), count));
    EXPECT_EQ(commtask_file_close(&file_, comm_), COMMTASK_OK) << commtask_last_error();
    EXPECT_TRUE(file_ == MPI_FILE_NULL);
}

TEST_F(Files, AFileOfAPlanStaysOpenUntilThePlanIsReleased) {
    const std::vector<int> mine = values_of(rank_, count);
    const commtask_op write = commtask_op_file_write_at(begin_of(rank_), mine.data(), count, MPI_INT, file_, comm_);
    commtask_plan_t plan = COMMTASK_PLAN_NULL;
    ASSERT_EQ(commtask_record_begin(), COMMTASK_OK);
    EXPECT_EQ(commtask_post_operation(&write, nullptr, nullptr), COMMTASK_OK);
    ASSERT_EQ(commtask_record_end(&plan), COMMTASK_OK);
    EXPECT_EQ(commtask_file_close(&file_, comm_), COMMTASK_ERR_RUNNING);
    EXPECT_NE(std::strstr(commtask_last_error(), "1 members on the file"), nullptr) << commtask_last_error();
    commtask_t writing = COMMTASK_NULL;
    EXPECT_EQ(commtask_plan_start(plan, nullptr, &writing), COMMTASK_OK);
    EXPECT_EQ(finish(writing), COMMTASK_OK);
    everybody_has_written();
    std::vector<int> read = empty_;
    expect_length(run(commtask_op_file_read_at(begin_of(right()), read.data(), count, MPI_INT, file_, comm_)));
    EXPECT_EQ(read, values_of(right(), count));
    EXPECT_EQ(commtask_plan_release(&plan), COMMTASK_OK);
    EXPECT_EQ(commtask_file_close(&file_, comm_), COMMTASK_OK) << commtask_last_error();
}

TEST_F(Files, TasksOfAnotherFileDoNotKeepOneOpen) {
    event go;
    options how;
    MPI_File other = MPI_FILE_NULL;
    ASSERT_EQ(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &other), MPI_SUCCESS);
    commtask_t waiting =
        post(commtask_op_file_write_at(0, &rank_, 1, MPI_INT, other, MPI_COMM_SELF), how.on({go.get()}));
    EXPECT_EQ(commtask_file_close(&file_, comm_), COMMTASK_OK) << commtask_last_error();
    EXPECT_EQ(commtask_file_close(&other, MPI_COMM_SELF), COMMTASK_ERR_RUNNING);
    go.signal();
    EXPECT_EQ(finish(waiting), COMMTASK_OK);
    EXPECT_EQ(commtask_file_close(&other, MPI_COMM_SELF), COMMTASK_OK) << commtask_last_error();
}

TEST_F(Files, AWrongClosingIsRefusedByName) {
    const auto refused = [](MPI_File* file, MPI_Comm comm, int code, const char* word) {
        EXPECT_EQ(commtask_file_close(file, comm), code);
        EXPECT_NE(std::strstr(commtask_last_error(), word), nullptr) << commtask_last_error();
    };
    MPI_File none = MPI_FILE_NULL;
    refused(nullptr, comm_, COMMTASK_ERR_ARGUMENT, "file is null");
    refused(&none, comm_, COMMTASK_ERR_FILE, "MPI_FILE_NULL");
    refused(&file_, MPI_COMM_NULL, COMMTASK_ERR_COMM, "comm is MPI_COMM_NULL");
    if (n_ranks_ > 1) refused(&file_, MPI_COMM_SELF, COMMTASK_ERR_COMM, "other ranks");
    struct question {
        MPI_File* file;
        MPI_Comm comm;
        int code;
    } asked{&file_, comm_, COMMTASK_OK};
    const auto close_there = [](void* argument) -> int {
        auto& what = *static_cast<question*>(argument);
        what.code = commtask_file_close(what.file, what.comm);
        return MPI_SUCCESS;
    };
    run(commtask_op_call(+close_there, &asked, comm_));
    EXPECT_EQ(asked.code, COMMTASK_ERR_WORKER_THREAD);
}

TEST_F(Files, AnErrorOfTheFileEndsTheTask) {
    // Not open for writing.
    const std::string name = "/dev/null";
    MPI_File read_only = MPI_FILE_NULL;
    ASSERT_EQ(MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &read_only), MPI_SUCCESS);
    const int value = 1;
    commtask_t task = post(commtask_op_file_write_at(0, &value, 1, MPI_INT, read_only, comm_));
    commtask_status status = COMMTASK_STATUS_INIT;
    EXPECT_EQ(finish(task, &status), COMMTASK_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_READ_ONLY);
    // Also where the program wants to end with its own calls.
    MPI_File_set_errhandler(read_only, MPI_ERRORS_ARE_FATAL);
    task = post(commtask_op_file_write_at(0, &value, 1, MPI_INT, read_only, comm_));
    EXPECT_EQ(finish(task, &status), COMMTASK_FAILED);
    EXPECT_EQ(status.error_class, MPI_ERR_READ_ONLY);
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    MPI_File_get_errhandler(read_only, &now);
    EXPECT_TRUE(now == MPI_ERRORS_ARE_FATAL);
    EXPECT_EQ(MPI_File_close(&read_only), MPI_SUCCESS);
}

} // namespace
} // namespace commtask::test
