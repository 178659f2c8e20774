// SPDX-License-Identifier: Apache-2.0
//
// The function of a node makes the datatype and the communicator of its operation, and the next message's function frees them,
// when the node has posted: the operation waits for its turn then, or for its message.
#include "../cpp/freed_handles.hpp"
#include "tbb_fixture.hpp"

#include <vector>

using namespace commtask::test;
using commtask::one;
using testing::Each;

namespace {

constexpr std::size_t n_messages = 20;

struct parcel {
    std::size_t number = 0;
    numbers data{};
};

[[nodiscard]] std::size_t number_of(const parcel& message) { return message.number; }
[[nodiscard]] int stride_of(std::size_t number) { return 2 + static_cast<int>(number % 3); }

class TbbFreed : public TbbFace {
protected:
    [[nodiscard]] parcel to_send(std::size_t number) const {
        return {number, numbers_of(rank_, static_cast<int>(number))};
    }
    [[nodiscard]] static parcel to_receive(std::size_t number) {
        parcel made{number, {}};
        made.data.fill(-1);
        return made;
    }
    void expect_all(const std::vector<parcel>& arrived) const {
        ASSERT_EQ(arrived.size(), n_messages);
        for (const parcel& each : arrived)
            ASSERT_TRUE(came(each.data, stride_of(each.number), left(), static_cast<int>(each.number)));
    }
};

/// The datatype of the last message; it is freed when the next one is made, and at the end.
class last_type {
public:
    last_type() = default;
    last_type(const last_type&) = delete;
    last_type& operator=(const last_type&) = delete;
    ~last_type() { next(MPI_DATATYPE_NULL); }
    MPI_Datatype next(MPI_Datatype made) {
        if (type_ != MPI_DATATYPE_NULL) free_type(type_);
        return type_ = made;
    }

private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The last number comes first, so every message but the last waits for its turn.
TEST_F(TbbFreed, DatatypesOfMessagesThatWaitForTheirTurn) {
    std::vector<parcel> arrived;
    last_type of_receives;
    last_type of_sends;
    in_arena([&] {
        flow::graph graph;
        ct::sequence order(comm_);
        ct::recv_node<parcel> receive(
            graph, flow::serial,
            [&](parcel& into) {
                MPI_Datatype const type = of_receives.next(every(stride_of(into.number)));
                return commtask::recv(commtask::elements(into.data.data(), 1, type), left(), 0, comm_);
            },
            ct::in_order(order, number_of));
        ct::send_node<parcel> send(
            graph, flow::serial,
            [&](parcel& from) {
                MPI_Datatype const type = of_sends.next(every(stride_of(from.number)));
                return commtask::send(commtask::elements(from.data.data(), 1, type), right(), 0, comm_);
            },
            ct::in_order(order, number_of));
        flow::function_node<parcel> keep(graph, flow::serial, [&](const parcel& full) { arrived.push_back(full); });
        flow::make_edge(flow::output_port<0>(receive), keep);
        for (std::size_t i = n_messages; i-- > 0;) {
            receive.try_put(to_receive(i));
            send.try_put(to_send(i));
        }
        ct::wait_for_all(graph);
    });
    expect_all(arrived);
}

struct exchange {
    parcel out;
    parcel in;
};

/// Behind an exchange that waits for an event, which the last message signals when the communicators of all others are freed.
TEST_F(TbbFreed, CommunicatorsOfMessagesThatWaitForTheirTurn) {
    std::vector<parcel> arrived;
    std::vector<MPI_Comm> comms;
    for (std::size_t i = 0; i < n_messages; ++i) comms.push_back(duplicate(comm_));
    std::vector<int> came_earlier(n_messages, -1);
    std::vector<commtask::task> earlier;
    last_type of_messages;
    commtask::event gate;
    for (std::size_t i = 0; i < n_messages; ++i) {
        earlier.push_back(
            commtask::post(commtask::sendrecv(one(rank_), right(), 0, one(came_earlier[i]), left(), 0, comms[i]),
                           commtask::after(gate)));
    }
    in_arena([&] {
        flow::graph graph;
        ct::recv_node<exchange> swap(graph, flow::serial, [&](exchange& both) {
            const std::size_t number = both.in.number;
            MPI_Datatype const type = of_messages.next(every(stride_of(number)));
            MPI_Comm const comm = comms[number];
            if (number > 0) free_comm(comms[number - 1]);
            if (number + 1 == n_messages) gate.signal();
            return commtask::sendrecv(commtask::elements(both.out.data.data(), 1, type), right(), 0,
                                      commtask::elements(both.in.data.data(), 1, type), left(), 0, comm);
        });
        flow::function_node<exchange> keep(graph, flow::serial,
                                           [&](const exchange& full) { arrived.push_back(full.in); });
        flow::make_edge(flow::output_port<0>(swap), keep);
        for (std::size_t i = 0; i < n_messages; ++i) swap.try_put({to_send(i), to_receive(i)});
        ct::wait_for_all(graph);
    });
    free_comm(comms.back());
    for (commtask::task& each : earlier) EXPECT_TRUE(finish(each));
    EXPECT_THAT(came_earlier, Each(left()));
    expect_all(arrived);
}

} // namespace
