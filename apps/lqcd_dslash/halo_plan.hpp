// SPDX-License-Identifier: Apache-2.0
// The messages of one hop as a plan, recorded once and started by one post. Each send is held until the thread that has packed
// its face says so, so a hop can be started before anything is packed.
#pragma once

#include "common/runtime_session.hpp"
#include "exchange.hpp"
#include "stencil.hpp"

#include <commtask/commtask.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace dslash {

using miniapp::require;

class halo_plan {
public:
    enum class of { receives, sends, both };

    /// The messages of the hops that give sites of this parity. Each parity has its tags, since those of two hops are under way
    /// at once.
    halo_plan(stencil& on, const halo_comms& comms, int parity, of what) {
        plan_.record([&] { record_all(on, comms, parity, what); });
        for (const std::optional<std::size_t>& send : send_of_) {
            if (send) plan_.defer(*send);
        }
    }
    halo_plan(const halo_plan&) = delete;
    halo_plan& operator=(const halo_plan&) = delete;

    static int tag_of(int parity, int direction) { return direction + n_directions * parity; }

    [[nodiscard]] const commtask::plan& plan() const { return plan_; }
    [[nodiscard]] commtask_plan_t handle() const { return plan_.native(); }
    /// Where a member comes from or goes to.
    [[nodiscard]] int direction_of(std::size_t member) const { return directions_.at(member); }

    /// Any thread, once in every run: the face that is sent in a direction has been packed. Nothing, if none is sent.
    void packed(int direction) {
        const std::optional<std::size_t> send = send_of_[static_cast<std::size_t>(direction)];
        if (send) plan_.pready(*send);
    }

private:
    static MPI_Count size_of(const stencil& on, int d) { return static_cast<MPI_Count>(on.face_bytes(d)); }

    void record_all(stencil& on, const halo_comms& comms, int parity, of what) {
        for (int d = 0; d < n_directions && what != of::sends; ++d) {
            record(d, commtask_op_recv(on.receive_buffer(parity, d), size_of(on, d), MPI_BYTE,
                                       on.shape().geom.neighbour(d), tag_of(parity, d),
                                       comms[static_cast<std::size_t>(d)]));
        }
        for (int d = 0; d < n_directions && what != of::receives; ++d) {
            const std::size_t place = directions_.size();
            record(d, commtask_op_send(on.send_buffer(parity, d), size_of(on, d), MPI_BYTE,
                                       on.shape().geom.neighbour(d ^ 1), tag_of(parity, d),
                                       comms[static_cast<std::size_t>(d)]));
            if (directions_.size() > place) send_of_[static_cast<std::size_t>(d)] = place;
        }
    }

    /// Not if it is empty: the lattice is not cut there.
    void record(int direction, const commtask_op& operation) {
        if (operation.send.count + operation.recv.count == 0) return;
        require(commtask_post(&operation, nullptr, nullptr), "commtask_post");
        directions_.push_back(direction);
    }

    commtask::plan plan_;
    std::vector<int> directions_; ///< Of the members.
    std::array<std::optional<std::size_t>, n_directions> send_of_{};
};

} // namespace dslash
