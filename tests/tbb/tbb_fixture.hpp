// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the oneTBB face share: a runtime and a communicator of its own for each test (from the tests of the
// C++ face), a graph, and short words. The number of threads comes from the arena that a test makes or from
// TBB_TEST_THREADS, so that ctest runs one program with several: teams of one are the hardest case.
#pragma once

#include "../cpp/cpp_front_end.hpp"

#include <commtask/tbb.hpp>

#include <gmock/gmock.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include <cstdlib>
#include <functional>
#include <numeric>

namespace commtask::test {

namespace ct = commtask::tbb;
namespace flow = ::tbb::flow;

/// Threads of the arenas that tests run in.
inline int threads() {
    const char* const text = std::getenv("TBB_TEST_THREADS");
    return text == nullptr ? 2 : std::atoi(text);
}

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool has_leak_check = true;
#elif defined(__has_feature)
inline constexpr bool has_leak_check = __has_feature(address_sanitizer);
#else
inline constexpr bool has_leak_check = false;
#endif

class TbbFace : public CppFace {
protected:
    void SetUp() override {
        CppFace::SetUp();
        more_threads_.emplace(::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads()));
        arena_.emplace(threads());
    }
    void TearDown() override {
        arena_.reset();
        more_threads_.reset();
        CppFace::TearDown();
    }

    /// Runs the test's body in an arena of threads() threads.
    void in_arena(const std::function<void()>& body) { arena_->execute(body); }

    std::optional<::tbb::global_control> more_threads_;
    std::optional<::tbb::task_arena> arena_;
};

/// Messages in the order of their numbers.
template <typename T>
std::vector<T> sorted(std::vector<T> values) {
    std::sort(values.begin(), values.end());
    return values;
}

} // namespace commtask::test
