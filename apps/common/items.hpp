// SPDX-License-Identifier: Apache-2.0
// What a miniapp does again and again, as a list of items: pieces of computing and messages, each with what must have ended
// before it. The list is made once; a mode (runner.hpp) is a way to carry it out. Its price is some memory for each item;
// it brings one description for all modes, whose order alone is a correct way too.
#pragma once

#include <commtask/commtask.hpp>

#include <mpi.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace miniapp {

/// What MPI is asked for, in both forms.
struct message {
    enum class kind : std::uint8_t {
        other,
        receive,
        send,
        member, ///< Of a plan that another item starts: nobody starts it, and it ends by itself. Mode tbb only.
        let_go, ///< Of members that are held: `natively` does it at once. Modes with barriers only.
    };
    commtask_op operation;
    std::function<void(MPI_Request*)> natively = {};
    kind what = kind::other;
    /// In MPI's form, part of waiting for it: what must follow before the data can be read.
    std::function<void()> then = {};
    const commtask::plan* plan = nullptr; ///< That the operation starts, or the member belongs to.
    std::size_t member = 0;
};

message receive(void* into, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm);
message send(const void* from, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm);
/// Its start, and the end of all its members.
message start(const commtask::plan& of);

/// The parts of a stage, in their order. Messages are in `receive` and `send`, work in the others.
enum class part : std::uint8_t {
    receive,
    prepare, ///< What messages need.
    send,
    core,   ///< What needs no message of the stage.
    edge,   ///< What needs them, and is done at once by the one who waited for them,
    unpack, ///< or is shared out, first this,
    shell,  ///< then this.
};
inline constexpr int n_parts = 7;

struct item {
    int id; ///< Its place in the list.
    int stage;
    part when;
    std::optional<message> through{};              ///< None: `works` are to be done.
    std::vector<std::function<void(int)>> works{}; ///< Get the number of the thread.
    std::vector<int> after{};                      ///< Items that must have ended, all before this one.
    std::vector<int> before{};                     ///< The same, of the round before.
    int urgency = -1;                              ///< The largest first; -1: what the part says.
    [[nodiscard]] bool is_message() const { return through.has_value(); }
    void work(int thread) const {
        for (const auto& each : works) each(thread);
    }
};

/// Stages of items. Dependences are found as a tasking runtime finds them, by names of what is read and written: who writes
/// waits for those who have read or written before, who reads for those who have written. All items of one stage that write a
/// thing write different places of it and do not wait for each other.
class item_list {
public:
    using name = std::array<int, 3>;
    using group = std::span<const item>;

    int add(part when, message what);
    /// Work of a stage and part with the same number `together` is one item; -1: it is one by itself.
    template <class Work>
        requires std::invocable<Work&> || std::invocable<Work&, int>
    int add(part when, Work work, int together = -1) {
        if constexpr (std::invocable<Work&, int>) {
            return add_work(when, std::move(work), together);
        } else {
            return add_work(when, [work = std::move(work)](int) mutable { work(); }, together);
        }
    }
    /// Of an item of this stage.
    void reads(int id, const name& what);
    void writes(int id, const name& what);
    /// Items of the first round that are named in the second one stand for those of the round before.
    void wait_for(int id, const std::vector<int>& others);
    void set_urgency(int id, int urgency) { items_[static_cast<std::size_t>(id)].urgency = urgency; }
    void end_stage();
    /// When all is added. `is_round`: two rounds were; one is kept, and comes again and again.
    void end(bool is_round);

    [[nodiscard]] int n_stages() const { return n_stages_; }
    [[nodiscard]] const std::vector<item>& items() const { return items_; }
    [[nodiscard]] const std::array<group, n_parts>& parts(int stage) const {
        return parts_[static_cast<std::size_t>(stage % n_stages_)];
    }
    [[nodiscard]] group of(int stage, part when) const { return parts(stage)[static_cast<std::size_t>(when)]; }
    [[nodiscard]] int n_messages() const;

private:
    int add_work(part when, std::function<void(int)> work, int together);

    struct use {
        int stage = -1; ///< Of the writers.
        std::vector<int> before, writers, readers;
    };

    int n_stages_ = 0;
    std::vector<item> items_;
    std::vector<std::array<group, n_parts>> parts_;
    std::map<name, use> uses_;
    std::map<std::pair<part, int>, int> together_; ///< Items of this stage.
};

} // namespace miniapp
