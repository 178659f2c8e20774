// SPDX-License-Identifier: Apache-2.0
//
// OTF2 wants the events of a location in the order of time and its regions nested, so they are collected and sorted first. A
// worker's states are its regions. Tasks overlap, so they are no regions but MPI's nonblocking events: messages, collectives, puts,
// gets and atomics. Messages between ranks that nobody matched keep their half. Collectives of neighborhoods, flushes, epochs and
// files have no event here.
#include "otf2.hpp"

#include "aside.hpp"
#include "otf2_names.hpp"
#include "otf2_roles.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace commtask::tools {
namespace {

constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20U;

void check(OTF2_ErrorCode code, const std::string& folder) {
    if (code != OTF2_SUCCESS) throw trace_error{folder + " cannot be written: " + OTF2_Error_GetDescription(code)};
}

/// One event of a location, to be written when its turn has come.
struct event {
    std::uint64_t time_ns;
    std::function<OTF2_ErrorCode(OTF2_EvtWriter*, OTF2_TimeStamp)> write;
};

struct location {
    OTF2_LocationRef number;
    const rank_trace* of;
    const thread* who;
    std::vector<event> events;
};

class archive {
public:
    archive(const run& from, const std::string& folder) : from_(from), folder_(folder), result_(folder) {
        if (std::filesystem::exists(folder) && !std::filesystem::is_empty(folder)) {
            throw trace_error{folder + " is not empty: name a folder that is to be made"};
        }
        archive_.reset(OTF2_Archive_Open(result_.part().c_str(), "traces", OTF2_FILEMODE_WRITE, chunk_bytes,
                                         4 * chunk_bytes, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE));
        if (!archive_) throw trace_error{folder + " cannot be written: OTF2 does not open it"};
        static const OTF2_FlushCallbacks flush{
            [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType { return OTF2_FLUSH; },
            [](void*, OTF2_FileType, OTF2_LocationRef) { return OTF2_TimeStamp{0}; }};
        check(OTF2_Archive_SetFlushCallbacks(archive_.get(), &flush, nullptr), folder_);
        check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_.get()), folder_);
        check(OTF2_Archive_SetCreator(archive_.get(), "commtask"), folder_);
    }

    void write() {
        find_communicators();
        // In the order in which they are defined: readers complain of another.
        for (OTF2_CommRef number = 0; auto& [key, numbered] : comms_) numbered.first = number++;
        for (const rank_trace& each : from_.ranks) collect(each);
        write_events();
        write_definitions();
        check(OTF2_Archive_Close(archive_.release()), folder_);
        result_.keep();
    }

private:
    void find_communicators() {
        for (const rank_trace& each : from_.ranks) {
            for (const auto& [number, comm] : each.communicators) {
                if (!comm.is_intercommunicator)
                    comms_.try_emplace(comm.key, static_cast<OTF2_CommRef>(comms_.size()), comm);
            }
        }
    }

    void collect(const rank_trace& of) {
        std::map<std::uint32_t, std::size_t> place_of;
        for (const auto& [number, each] : of.threads) {
            if (number == 0) continue;
            place_of[number] = locations_.size();
            const auto id = (static_cast<OTF2_LocationRef>(of.rank()) << 32U) | number;
            locations_.push_back({id, &of, &each, {}});
            first_location_.try_emplace(of.rank(), id);
            collect_regions(locations_.back());
        }
        for (const task& each : of.tasks) {
            collect_messages(of, each, place_of);
            collect_collective(of, each, place_of);
            collect_one_sided(of, each, place_of);
        }
    }

    /// What a thread did, and on a worker its states beside it: of the rest waits and calls say more.
    [[nodiscard]] static std::vector<span> regions_of(const location& at) {
        if (at.who->lane < 0) return at.who->spans;
        std::vector<span> regions;
        const std::vector<state_change>& states = at.who->states;
        for (std::size_t i = 0; i < states.size(); ++i) {
            if (states[i].state == 0) continue;
            const std::uint64_t end_ns =
                i + 1 < states.size() ? states[i + 1].time_ns : std::max(at.of->last_ns, states[i].time_ns);
            regions.push_back({states[i].time_ns, end_ns, span_class::state,
                               "worker: " + std::string{state_names.at(states[i].state)}});
        }
        regions.insert(regions.end(), at.who->spans.begin(), at.who->spans.end());
        nest(regions);
        return regions;
    }

    void collect_regions(location& at) {
        std::vector<std::pair<std::uint64_t, OTF2_RegionRef>> open; // the innermost last
        const auto leave_until = [&](std::uint64_t time_ns) {
            for (; !open.empty() && open.back().first <= time_ns; open.pop_back()) {
                at.events.push_back({open.back().first, [region = open.back().second](auto* to, OTF2_TimeStamp time) {
                                         return OTF2_EvtWriter_Leave(to, nullptr, time, region);
                                     }});
            }
        };
        for (const span& each : regions_of(at)) {
            leave_until(each.begin_ns);
            const OTF2_RegionRef region =
                names_.region(each.name.empty() ? "compute task" : each.name, region_kind_of(*at.of, each));
            at.events.push_back({each.begin_ns, [region](OTF2_EvtWriter* to, OTF2_TimeStamp time) {
                                     return OTF2_EvtWriter_Enter(to, nullptr, time, region);
                                 }});
            open.emplace_back(each.end_ns, region);
        }
        leave_until(UINT64_MAX);
    }

    using places = std::map<std::uint32_t, std::size_t>; ///< Of locations, by thread.

    /// The task's communicator, if the archive has it and the task was issued.
    [[nodiscard]] std::optional<OTF2_CommRef> comm_of(const rank_trace& of, const task& each) const {
        const auto found = of.communicators.find(each.communicator);
        if (found == of.communicators.end() || found->second.is_intercommunicator || each.step_to(in_flight) == nullptr)
            return std::nullopt;
        return comms_.at(found->second.key).first;
    }

    /// An event of the thread that moved the task.
    template <typename Write>
    void add_event(const places& place_of, const step& at, Write&& write) {
        if (const auto place = place_of.find(at.thread); place != place_of.end()) {
            locations_[place->second].events.push_back({at.time_ns, std::forward<Write>(write)});
        }
    }

    /// The trace has the bytes that this rank gave; what it got only MPI knows.
    void collect_collective(const rank_trace& of, const task& each, const places& place_of) {
        const auto comm = comm_of(of, each);
        const auto what = collective_of(of.operation_of(each).name);
        if (!comm || !what || !each.has_completed()) return;
        const std::uint32_t root =
            each.peer < 0 ? std::uint32_t{OTF2_COLLECTIVE_ROOT_NONE} : static_cast<std::uint32_t>(each.peer);
        const std::uint64_t request = ++n_requests_;
        add_event(place_of, *each.step_to(in_flight), [=](OTF2_EvtWriter* writer, OTF2_TimeStamp time) {
            return OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, nullptr, time, request);
        });
        add_event(place_of, each.steps.back(), [=, bytes = each.bytes](OTF2_EvtWriter* writer, OTF2_TimeStamp time) {
            return OTF2_EvtWriter_NonBlockingCollectiveComplete(writer, nullptr, time, *what, *comm, root, bytes, 0,
                                                                request);
        });
    }

    /// A window has a communicator of its own, which stands for it.
    void collect_one_sided(const rank_trace& of, const task& each, const places& place_of) {
        const auto comm = comm_of(of, each);
        const auto what = access_of(of.operation_of(each).name);
        if (!comm || what == access::none || each.peer < 0) return;
        const auto window = windows_.try_emplace(*comm, static_cast<OTF2_RmaWinRef>(windows_.size())).first->second;
        const std::uint64_t request = ++n_requests_;
        add_event(place_of, *each.step_to(in_flight),
                  [=, at = static_cast<std::uint32_t>(each.peer), bytes = each.given_bytes](OTF2_EvtWriter* writer,
                                                                                            OTF2_TimeStamp time) {
                      if (what == access::put)
                          return OTF2_EvtWriter_RmaPut(writer, nullptr, time, window, at, bytes, request);
                      if (what == access::get)
                          return OTF2_EvtWriter_RmaGet(writer, nullptr, time, window, at, bytes, request);
                      const OTF2_RmaAtomicType kind = what == access::accumulate ? OTF2_RMA_ATOMIC_TYPE_ACCUMULATE
                                                      : what == access::swap
                                                          ? OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP
                                                          : OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
                      return OTF2_EvtWriter_RmaAtomic(writer, nullptr, time, window, at, kind, bytes, 0, request);
                  });
        if (!each.has_completed()) return;
        add_event(place_of, each.steps.back(), [=](OTF2_EvtWriter* writer, OTF2_TimeStamp time) {
            return OTF2_EvtWriter_RmaOpCompleteNonBlocking(writer, nullptr, time, window, request);
        });
    }

    void collect_messages(const rank_trace& of, const task& each, const places& place_of) {
        const auto known = comm_of(of, each);
        if (!known) return;
        const OTF2_CommRef comm = *known;
        const unsigned flags = of.operation_of(each).flags;
        const auto add = [&](const step& at, auto&& write) { add_event(place_of, at, write); };
        const step* const issued = each.step_to(in_flight);
        const step& last = each.steps.back();
        const auto add_send = [&](std::int32_t peer, std::int32_t its_tag, std::uint64_t bytes) {
            const std::uint64_t request = ++n_requests_;
            add(*issued, [=, to = static_cast<std::uint32_t>(peer),
                          tag = static_cast<std::uint32_t>(its_tag)](OTF2_EvtWriter* writer, OTF2_TimeStamp time) {
                return OTF2_EvtWriter_MpiIsend(writer, nullptr, time, to, comm, tag, bytes, request);
            });
            if (!each.has_completed()) return;
            add(last, [=](OTF2_EvtWriter* writer, OTF2_TimeStamp time) {
                return OTF2_EvtWriter_MpiIsendComplete(writer, nullptr, time, request);
            });
        };
        const auto add_receive = [&](std::int32_t source, std::int32_t its_tag, std::uint64_t bytes) {
            const std::uint64_t request = ++n_requests_;
            add(*issued, [=](OTF2_EvtWriter* writer, OTF2_TimeStamp time) {
                return OTF2_EvtWriter_MpiIrecvRequest(writer, nullptr, time, request);
            });
            if (each.has_completed() && source >= 0) {
                add(last, [=, from = static_cast<std::uint32_t>(source),
                           tag = static_cast<std::uint32_t>(its_tag)](OTF2_EvtWriter* writer, OTF2_TimeStamp time) {
                    return OTF2_EvtWriter_MpiIrecv(writer, nullptr, time, from, comm, tag, bytes, request);
                });
            } else if (each.end != 0) {
                add(last, [=](OTF2_EvtWriter* writer, OTF2_TimeStamp time) {
                    return OTF2_EvtWriter_MpiRequestCancelled(writer, nullptr, time, request);
                });
            }
        };
        const std::uint64_t received_bytes = each.bytes - std::min(each.bytes, each.given_bytes);
        const bool only_notifies = (flags & detail::trace::one_sided) != 0; // its data go another way
        if ((flags & detail::trace::sends) != 0 && each.peer >= 0)
            add_send(each.peer, each.tag, only_notifies ? 0 : each.given_bytes);
        // A list has the sum of its messages.
        const auto n_sent = static_cast<std::uint64_t>(std::ranges::count_if(each.others, &other_message::is_sent));
        const std::uint64_t n_received = each.others.size() - n_sent;
        for (const other_message& other : each.others) {
            if (other.rank < 0) continue;
            other.is_sent ? add_send(other.rank, other.tag, each.given_bytes / n_sent)
                          : add_receive(other.rank, other.tag, received_bytes / n_received);
        }
        if ((flags & detail::trace::receives) == 0) return;
        const auto asked = each.source ? *each.source : std::pair{each.peer, each.tag};
        const auto [source, its_tag] = each.matched.value_or(asked);
        // Who sent a notification that might come from anybody is not known.
        if (source >= 0 || (flags & detail::trace::one_sided) == 0) add_receive(source, its_tag, received_bytes);
    }

    void write_events() {
        check(OTF2_Archive_OpenEvtFiles(archive_.get()), folder_);
        for (location& each : locations_) {
            std::ranges::stable_sort(each.events, {}, &event::time_ns);
            OTF2_EvtWriter* const writer = OTF2_Archive_GetEvtWriter(archive_.get(), each.number);
            if (writer == nullptr) throw trace_error{folder_ + " cannot be written: OTF2 opens no further file"};
            for (const event& now : each.events) check(now.write(writer, now.time_ns - from_.begin_ns), folder_);
            check(OTF2_Archive_CloseEvtWriter(archive_.get(), writer), folder_);
        }
        check(OTF2_Archive_CloseEvtFiles(archive_.get()), folder_);
        check(OTF2_Archive_OpenDefFiles(archive_.get()), folder_);
        for (const location& each : locations_) {
            check(OTF2_Archive_CloseDefWriter(archive_.get(), OTF2_Archive_GetDefWriter(archive_.get(), each.number)),
                  folder_);
        }
        check(OTF2_Archive_CloseDefFiles(archive_.get()), folder_);
    }

    /// Whoever reads wants texts before what names them, so all is named first.
    void write_definitions() {
        std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
        const OTF2_StringRef machine = names_.text("machine");
        const OTF2_StringRef node = names_.text("node");
        define([=](OTF2_GlobalDefWriter* to) {
            return OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
        });
        for (const rank_trace& each : from_.ranks) {
            const auto [host, is_new] =
                hosts.try_emplace(each.host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size() + 1));
            const OTF2_SystemTreeNodeRef on = host->second;
            const OTF2_LocationGroupRef number = group_of(each);
            if (is_new) {
                define([=, name = names_.text(host->first)](OTF2_GlobalDefWriter* to) {
                    return OTF2_GlobalDefWriter_WriteSystemTreeNode(to, on, name, node, 0);
                });
            }
            define([=, name = names_.text("rank " + std::to_string(each.rank()))](OTF2_GlobalDefWriter* to) {
                return OTF2_GlobalDefWriter_WriteLocationGroup(to, number, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, on,
                                                               OTF2_UNDEFINED_LOCATION_GROUP);
            });
        }
        for (const location& each : locations_) {
            define([this, &each, name = names_.text(location_name(*each.of, *each.who))](OTF2_GlobalDefWriter* to) {
                return OTF2_GlobalDefWriter_WriteLocation(to, each.number, name, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                          each.events.size(), group_of(*each.of));
            });
        }
        define_communicators();
        constexpr std::uint64_t ticks_per_second = 1'000'000'000;
        OTF2_GlobalDefWriter* const to = OTF2_Archive_GetGlobalDefWriter(archive_.get());
        check(OTF2_GlobalDefWriter_WriteClockProperties(to, ticks_per_second, 0, from_.end_ns - from_.begin_ns + 1,
                                                        from_.begin_realtime_ns),
              folder_);
        check(names_.write(to), folder_);
        for (const definition& each : definitions_) check(each(to), folder_);
        check(OTF2_Archive_CloseGlobalDefWriter(archive_.get(), to), folder_);
    }

    /// Counted from 0, whichever ranks are there: readers complain of another order.
    [[nodiscard]] OTF2_LocationGroupRef group_of(const rank_trace& of) const {
        return static_cast<OTF2_LocationGroupRef>(&of - from_.ranks.data());
    }

    /// Ranks are places in one list of locations; a communicator is a list of these places.
    void define_communicators() {
        const int n_ranks = static_cast<int>(from_.ranks.front().header.n_ranks);
        std::vector<std::uint64_t> locations;
        for (int rank = 0; rank < n_ranks; ++rank) {
            const auto found = first_location_.find(rank);
            locations.push_back(found == first_location_.end() ? static_cast<std::uint64_t>(rank) << 32U
                                                               : found->second);
        }
        define_group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, std::move(locations));
        for (const auto& [key, numbered] : comms_) {
            const OTF2_CommRef its = numbered.first;
            const communicator& comm = numbered.second;
            define_group(its + 1, OTF2_GROUP_TYPE_COMM_GROUP, {comm.members.begin(), comm.members.end()});
            const OTF2_StringRef name = names_.text(comm.name);
            define([its, name](OTF2_GlobalDefWriter* to) {
                return OTF2_GlobalDefWriter_WriteComm(to, its, name, its + 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
            });
        }
        define_windows();
    }

    void define_windows() {
        std::map<OTF2_RmaWinRef, OTF2_CommRef> by_number; // readers complain of another order
        for (const auto& [comm, window] : windows_) by_number[window] = comm;
        for (const auto& [window, comm] : by_number) {
            define([=, self = window, on = comm, name = name_of(comm)](OTF2_GlobalDefWriter* to) {
                return OTF2_GlobalDefWriter_WriteRmaWin(to, self, name, on, OTF2_RMA_WIN_FLAG_NONE);
            });
        }
    }

    [[nodiscard]] OTF2_StringRef name_of(OTF2_CommRef comm) {
        const auto found = std::ranges::find_if(comms_, [comm](const auto& each) { return each.second.first == comm; });
        return names_.text(found == comms_.end() ? "" : found->second.second.name);
    }

    void define_group(OTF2_GroupRef number, OTF2_GroupType type, std::vector<std::uint64_t> members) {
        define([=, none = names_.text(""), members = std::move(members)](OTF2_GlobalDefWriter* to) {
            return OTF2_GlobalDefWriter_WriteGroup(to, number, none, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                                   static_cast<std::uint32_t>(members.size()), members.data());
        });
    }

    using definition = std::function<OTF2_ErrorCode(OTF2_GlobalDefWriter*)>;
    void define(definition made) { definitions_.push_back(std::move(made)); }

    struct closes {
        void operator()(OTF2_Archive* opened) const { OTF2_Archive_Close(opened); }
    };

    const run& from_;
    const std::string folder_;
    aside result_; ///< Goes after the archive, which may still write there.
    std::unique_ptr<OTF2_Archive, closes> archive_;
    otf2_names names_;
    std::vector<definition> definitions_;
    std::vector<location> locations_;
    std::map<int, OTF2_LocationRef> first_location_; ///< By rank.
    std::map<std::string, std::pair<OTF2_CommRef, communicator>> comms_;
    std::map<OTF2_CommRef, OTF2_RmaWinRef> windows_;
    std::uint64_t n_requests_ = 0;
};

} // namespace

void write_otf2(const run& from, const std::string& folder) { archive{from, folder}.write(); }

} // namespace commtask::tools
