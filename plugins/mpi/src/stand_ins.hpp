// SPDX-License-Identifier: Apache-2.0
//
// Functions that the program gives MPI to call, and that do not hear what they were given for: for each of them MPI gets a
// function of ours of its own, from a fixed number. A program that has more gives MPI its own from then on.
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

    /// `ours`: template <std::size_t Index> with a static member `call`, which calls programs(Index).
    /// @return ours in place of the program's; the program's own if there is no room
    template <template <std::size_t> typename Ours>
    [[nodiscard]] Function* stand_in_for(Function* function) noexcept {
        static constexpr auto ours = [&]<std::size_t... Index>(std::index_sequence<Index...> /*all*/) {
            return std::array<Function*, most>{&Ours<Index>::call...};
        }(std::make_index_sequence<most>{});
        if (function == nullptr) return function;
        for (std::size_t i = 0; i < most; ++i) {
            Function* expected = nullptr;
            // acq_rel: the function is set before MPI knows ours; partner of the load in programs().
            if (programs_[i].compare_exchange_strong(expected, function, std::memory_order_acq_rel)) return ours[i];
            if (expected == function) return ours[i];
        }
        return function;
    }

    [[nodiscard]] Function* programs(std::size_t index) const noexcept {
        return programs_[index].load(std::memory_order_acquire); // partner of the exchange in stand_in_for()
    }

private:
    std::array<std::atomic<Function*>, most> programs_{};
};

} // namespace commtask::interposer
