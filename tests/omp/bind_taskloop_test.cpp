// SPDX-License-Identifier: Apache-2.0
//
// Taskloops of a program whose tasks can be held. In a team of one thread the library makes their tasks itself, so that
// every way to cut a loop into tasks is tried, with messages and without.
#include "omp_fixture.hpp"

#include <algorithm>

namespace {

const auto* const library = testing::AddGlobalTestEnvironment(new omp_test::library);

class HoldTaskloop : public omp_test::ring {};

TEST_F(HoldTaskloop, EndsWhenItsMessagesAreThere) {
    constexpr int n = 64;
    for (int variant = 0; variant < 4; ++variant) {
        int in[n] = {};
        int out[n] = {};
        int last = -1;
        const auto exchange = [&](int i) {
            out[i] = 100 * variant + i;
            commtask_omp_bind(commtask_op_recv(&in[i], 1, MPI_INT, left, i, comm));
            commtask_omp_bind(commtask_op_send(&out[i], 1, MPI_INT, right, i, comm));
        };
#pragma omp parallel
#pragma omp single
        {
            switch (variant) {
            case 0:
#pragma omp taskloop shared(exchange)
                for (int i = 0; i < n; ++i) exchange(i);
                break;
            case 1:
#pragma omp taskloop grainsize(7) lastprivate(last) shared(exchange)
                for (int i = n - 1; i >= 0; --i) {
                    exchange(i);
                    last = i;
                }
                EXPECT_EQ(last, 0);
                break;
            case 2:
#pragma omp taskloop num_tasks(5) nogroup shared(exchange)
                for (int i = 0; i < n; i += 1) exchange(i);
#pragma omp taskwait
                break;
            default:
#pragma omp taskloop if (0) num_tasks(3) shared(exchange)
                for (int i = 0; i < n; ++i) exchange(i);
                break;
            }
            for (int i = 0; i < n; ++i) EXPECT_EQ(in[i], 100 * variant + i) << "variant " << variant;
        }
    }
}

TEST_F(HoldTaskloop, RunsEachIterationOnceWhateverItsClausesSay) {
    for (int n = 1; n < 40; n += 6) {
        for (int size = 1; size < 50; size += 7) {
            int by_grain[40] = {};
            int by_count[40] = {};
            int by_nothing[40] = {};
            int sum = 0;
#pragma omp parallel
#pragma omp single
            {
#pragma omp taskloop grainsize(size) shared(by_grain) reduction(+ : sum)
                for (int i = 3; i < 3 + 2 * n; i += 2) {
                    ++by_grain[(i - 3) / 2];
                    sum += 1;
                }
#pragma omp taskloop num_tasks(size) shared(by_count)
                for (int i = n; i > 0; --i) ++by_count[i - 1];
#pragma omp taskloop shared(by_nothing)
                for (unsigned char i = 0; i < n; ++i) ++by_nothing[i];
            }
            EXPECT_EQ(std::count(by_grain, by_grain + n, 1), n) << n << ' ' << size;
            EXPECT_EQ(std::count(by_count, by_count + n, 1), n) << n << ' ' << size;
            EXPECT_EQ(std::count(by_nothing, by_nothing + n, 1), n) << n << ' ' << size;
            EXPECT_EQ(sum, n) << n << ' ' << size;
        }
    }
}

} // namespace
