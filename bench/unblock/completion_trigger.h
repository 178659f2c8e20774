// SPDX-License-Identifier: Apache-2.0
//
// Lets a message come at a known moment, with no thread of its own: the worker's next test of its requests after the
// chosen time first sends the message to this rank itself and reads the clock, then tests. So the receive is complete
// in MPI at that reading, the one thread that may call MPI has made every call, and no third thread takes
// processor time from the worker. It stands on the MPI profiling interface: the benchmark defines MPI_Test and its
// relatives, which the runtime's shared library then calls.
#pragma once

#include <cstdint>

namespace commtask::bench {

/// Arms the trigger: the first test `delay_ns` from now or later sends one int to this rank with `tag` on
/// MPI_COMM_SELF. One message at a time.
void send_before_a_test(std::uint64_t delay_ns, int tag);

/// Reading of the clock when MPI had the message; zero while the trigger is armed.
[[nodiscard]] std::uint64_t message_came_at() noexcept;

/// Tests that were made so far, by any thread: with none, the runtime is linked so that it bypasses the trigger.
[[nodiscard]] std::uint64_t tests_seen() noexcept;

} // namespace commtask::bench
