// SPDX-License-Identifier: Apache-2.0
//
// Callback functions of the program that do not learn what they were registered for. MPI gets a
// separate function of this library for each, out of a fixed number. When all of them are in use,
// MPI gets the program's own function.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace commtask::interposer {

template <typename Function>
class stand_ins {
public:
    static constexpr std::size_t most = 64;

    /// `Ours`: a template <std::size_t Index> with a static member `call`, which calls
    /// programs(Index).
    /// @return the stand-in; the program's own function if all are in use
    template <template <std::size_t> typename Ours>
    [[nodiscard]] Function* stand_in_for(Function* function) noexcept {
        static constexpr auto ours = [&]<std::size_t... Index>(std::index_sequence<Index...> /*all*/) {
            return std::array<Function*, most>{&Ours<Index>::call...};
        }(std::make_index_sequence<most>{});
        if (function == nullptr) return function;
        for (std::size_t i = 0; i < most; ++i) {
            Function* expected = nullptr;
            // acq_rel: the function is set before MPI gets the stand-in; partner of the load in
            // programs().
            if (programs_[i].compare_exchange_strong(expected, function, std::memory_order_acq_rel)) return ours[i];
            if (expected == function) return ours[i];
        }
        return function;
    }

    [[nodiscard]] Function* programs(std::size_t index) const noexcept {
        // Partner of the exchange in stand_in_for().
        return programs_[index].load(std::memory_order_acquire);
    }

private:
    std::array<std::atomic<Function*>, most> programs_{};
};

} // namespace commtask::interposer
