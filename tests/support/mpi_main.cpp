// SPDX-License-Identifier: Apache-2.0
// main() of every GoogleTest program that runs under mpiexec. All ranks run all tests in the same order; a failure on
// any rank fails the run on every rank, so mpiexec's exit status can be trusted. Rank 0 prints the usual report, the
// other ranks print only what failed, with their rank in front. A rank that leaves a test early while its peers wait
// is ended by the test's time limit: a test cannot be made to agree on its own failure without hiding it.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace {

class failures_only final : public testing::EmptyTestEventListener {
public:
    explicit failures_only(int rank) : rank_{rank} {}

    void OnTestStart(const testing::TestInfo& test) override {
        name_ = std::string{test.test_suite_name()} + "." + test.name();
    }

    // GoogleTest calls this with its lock held: asking it for the current test here would wait for ever.
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        std::fprintf(stderr, "[rank %d] %s: %s:%d\n%s\n", rank_, name_.c_str(),
                     result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(), result.message());
    }

private:
    int rank_;
    std::string name_ = "outside a test";
};

// COMMTASK_TEST_THREAD_LEVEL=funneled|serialized|multiple; most programs have the level of the widest promise.
int thread_level_asked_for() {
    const char* text = std::getenv("COMMTASK_TEST_THREAD_LEVEL");
    if (text == nullptr || std::strcmp(text, "multiple") == 0) return MPI_THREAD_MULTIPLE;
    if (std::strcmp(text, "serialized") == 0) return MPI_THREAD_SERIALIZED;
    if (std::strcmp(text, "funneled") == 0) return MPI_THREAD_FUNNELED;
    std::fprintf(stderr, "COMMTASK_TEST_THREAD_LEVEL=%s: funneled, serialized or multiple is meant\n", text);
    std::exit(2);
}

} // namespace

int main(int argc, char** argv) {
    const int asked = thread_level_asked_for();
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, asked, &provided);
    testing::InitGoogleTest(&argc, argv);

    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < asked) {
        if (rank == 0) std::fprintf(stderr, "this MPI gives thread level %d, %d is needed: skipped\n", provided, asked);
        MPI_Finalize();
        return 77;
    }
    if (rank != 0) {
        auto& listeners = testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new failures_only{rank}); // GoogleTest owns its listeners
    }

    const int own_failed = RUN_ALL_TESTS() == 0 ? 0 : 1;
    int any_failed = 1;
    MPI_Allreduce(&own_failed, &any_failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any_failed;
}
