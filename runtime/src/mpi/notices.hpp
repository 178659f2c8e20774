// SPDX-License-Identifier: Apache-2.0
//
// Notices over MPI, on a communicator of the library's own: small messages that MPI takes at once, from slots whose number bounds
// the memory. The watcher keeps receives for them, and rings when one has come. A lane has its own; who drives it calls it.
#pragma once

#include "core/notices.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>

namespace commtask::detail {

class mpi_notices final : public notice_carrier {
public:
    /// @param tag  of this commtask_init: what an earlier one has left is not taken for news
    /// @param bells  of the node that this lane watches for; null: it does not
    mpi_notices(MPI_Comm comm, int tag, const node_bells* bells) noexcept;
    mpi_notices(const mpi_notices&) = delete;
    mpi_notices& operator=(const mpi_notices&) = delete;
    ~mpi_notices() = default;

    /// Withdraws the receives. @return false if MPI has not sent everything: then it must stay where it is
    [[nodiscard]] bool end() noexcept;

    [[nodiscard]] bool try_send(std::int32_t watcher, std::span<const notice> batch) noexcept override;

    /// The watcher, in every poll: rings for what has come.
    void look() noexcept;

    /// Workers that it has woken.
    [[nodiscard]] std::uint64_t n_rung() const noexcept { return n_rung_; }

private:
    using batch = std::array<notice, notice_queue::most_in_batch>;
    static constexpr std::size_t n_outgoing = 8;
    static constexpr std::size_t n_incoming = 8;

    [[nodiscard]] bool receive(std::size_t slot) noexcept;

    const MPI_Comm comm_;
    const int tag_;
    const node_bells* bells_; ///< Null also after MPI has refused a receive.
    std::uint64_t n_rung_ = 0;
    std::array<MPI_Request, n_outgoing> sending_;
    std::array<MPI_Request, n_incoming> receiving_;
    std::array<batch, n_outgoing> sent_;
    std::array<batch, n_incoming> received_;
};

} // namespace commtask::detail
