// SPDX-License-Identifier: Apache-2.0
//
// Packets of Perfetto's native format (protos/perfetto/trace of its sources), as few as a picture needs: tracks, slices,
// instants, counters. Names and texts are interned: each is written once. One sequence; its packets need no order, since every one has
// its time.
#pragma once

#include "aside.hpp"

#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace commtask::tools {

/// A fact about a slice, that its details show.
struct annotation {
    std::string_view name;
    std::variant<std::int64_t, std::string> value;
};

/// What a slice or an instant has beside its name.
struct event_extras {
    std::vector<std::uint64_t> flows{};        ///< That pass through it.
    std::vector<std::uint64_t> ending_flows{}; ///< That end here.
    std::uint64_t correlation = 0;             ///< Slices with the same one are highlighted together.
    std::vector<annotation> annotations{};
};

class perfetto_writer {
public:
    /// @throws trace_error
    explicit perfetto_writer(const std::string& path);

    using track = std::uint64_t;

    [[nodiscard]] track add_process(int pid, const std::string& name);
    [[nodiscard]] track add_thread(int pid, std::int64_t tid, const std::string& name, track parent, int place);
    /// Tracks of one name and parent are shown as one; `place`: in which order those of a parent are.
    [[nodiscard]] track add_track(const std::string& name, track parent, int place);
    [[nodiscard]] track add_counter(const std::string& name, track parent, int place);

    void begin(track on, std::uint64_t time_ns, std::string_view category, std::string_view name,
               const event_extras& extras = {});
    void end(track on, std::uint64_t time_ns);
    void instant(track on, std::uint64_t time_ns, std::string_view category, std::string_view name,
                 const event_extras& extras = {});
    void count(track on, std::uint64_t time_ns, std::int64_t value);

    /// @throws trace_error  if not all could be written
    void finish();

private:
    /// The names of one kind that have a number already.
    struct interned {
        protozero::pbf_tag_type field; ///< Of InternedData.
        std::unordered_map<std::string, std::uint64_t> numbers;
    };

    template <typename Fill>
    track add(track parent, int place, Fill&& fill);
    template <typename Fill>
    void add_event(std::uint64_t time_ns, Fill&& fill);
    void fill(protozero::pbf_writer& event, std::string_view category, std::string_view name,
              const event_extras& extras);
    [[nodiscard]] std::uint64_t number_of(interned& kind, std::string_view name);
    void put(const std::string& packet);

    const std::string path_;
    aside result_;
    std::ofstream file_;
    track n_tracks_ = 0;
    bool is_first_ = true;
    std::string new_names_; ///< InternedData that goes out with the packet that needs it.
    interned categories_{1, {}};
    interned names_{2, {}};
    interned annotations_{3, {}};
    interned texts_{29, {}}; ///< What annotations say.
};

} // namespace commtask::tools
