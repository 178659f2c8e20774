// SPDX-License-Identifier: Apache-2.0
// Two OpenMP tasks ordered by a dependence, under ThreadSanitizer: right only if Archer tells it about the dependence.
// Without Archer libomp goes on silently and every OpenMP test would drown in false reports; the test looks for the
// line that Archer prints when asked, so that a missing one is found here and not in a stranger's stack trace.
#include <cstdio>

int main() {
    int value = 0;
    int seen = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : value) shared(value)
        value = 1;
#pragma omp task depend(in : value) shared(value, seen)
        seen = value;
    }
    std::printf("seen %d\n", seen);
    return seen == 1 ? 0 : 1;
}
