// SPDX-License-Identifier: Apache-2.0
//
// The numbers are those of the fields in Perfetto's .proto files, which never change once released. A test reads every
// packet with the schema that the perfetto package of PyPI has.
#include "perfetto_writer.hpp"

#include "model.hpp"

namespace commtask::tools {
namespace {

using protozero::pbf_writer;

constexpr std::uint32_t our_sequence = 1;
constexpr std::uint32_t monotonic_clock = 3; ///< BUILTIN_CLOCK_MONOTONIC

enum trace : protozero::pbf_tag_type { trace_packet = 1 };
enum packet : protozero::pbf_tag_type {
    packet_timestamp = 8,
    packet_sequence = 10,
    packet_event = 11,
    packet_interned = 12,
    packet_sequence_flags = 13,
    packet_clock = 58,
    packet_track = 60,
};
enum sequence_flag : std::uint32_t { state_cleared = 1, needs_state = 2 };
enum track_field : protozero::pbf_tag_type {
    track_uuid = 1,
    track_name = 2,
    track_process = 3,
    track_thread = 4,
    track_parent = 5,
    track_counter = 8,
    track_child_ordering = 11,
    track_place = 12,
};
constexpr std::int32_t explicit_order = 3;
enum event_field : protozero::pbf_tag_type {
    event_category = 3,
    event_annotation = 4,
    event_type = 9,
    event_name = 10,
    event_track = 11,
    event_counter_value = 30,
    event_flow = 47,
    event_ending_flow = 48,
    event_correlation = 52,
};
enum class event_kind : std::int32_t { begin = 1, end = 2, instant = 3, counter = 4 };
enum annotation_field : protozero::pbf_tag_type { annotation_name = 1, annotation_number = 4, annotation_text = 17 };

} // namespace

perfetto_writer::perfetto_writer(const std::string& path)
    : path_(path), result_(path), file_(result_.part(), std::ios::binary) {
    if (!file_) throw trace_error{path + " cannot be written"};
}

void perfetto_writer::put(const std::string& packet) {
    std::string framed;
    pbf_writer{framed}.add_message(trace_packet, packet);
    file_.write(framed.data(), static_cast<std::streamsize>(framed.size()));
}

void perfetto_writer::finish() {
    file_.close();
    if (!file_) throw trace_error{path_ + " could not be written to its end: is the disk full?"};
    result_.keep();
}

template <typename Fill>
perfetto_writer::track perfetto_writer::add(track parent, int place, Fill&& fill) {
    const track made = ++n_tracks_;
    std::string data;
    pbf_writer packet{data};
    packet.add_uint32(packet_sequence, our_sequence);
    {
        pbf_writer descriptor{packet, packet_track};
        descriptor.add_uint64(track_uuid, made);
        if (parent != 0) descriptor.add_uint64(track_parent, parent);
        descriptor.add_int32(track_child_ordering, explicit_order);
        descriptor.add_int32(track_place, place);
        fill(descriptor);
    }
    put(data);
    return made;
}

perfetto_writer::track perfetto_writer::add_process(int pid, const std::string& name) {
    return add(0, pid, [&](pbf_writer& descriptor) {
        pbf_writer process{descriptor, track_process};
        process.add_int32(1, pid);
        process.add_string(6, name);
    });
}

perfetto_writer::track perfetto_writer::add_thread(int pid, std::int64_t tid, const std::string& name, track parent,
                                                   int place) {
    return add(parent, place, [&](pbf_writer& descriptor) {
        pbf_writer thread{descriptor, track_thread};
        thread.add_int32(1, pid);
        thread.add_int64(2, tid);
        thread.add_string(5, name);
    });
}

perfetto_writer::track perfetto_writer::add_track(const std::string& name, track parent, int place) {
    return add(parent, place, [&](pbf_writer& descriptor) { descriptor.add_string(track_name, name); });
}

perfetto_writer::track perfetto_writer::add_counter(const std::string& name, track parent, int place) {
    return add(parent, place, [&](pbf_writer& descriptor) {
        descriptor.add_string(track_name, name);
        descriptor.add_message(track_counter, std::string{}); // a writer of none leaves it out
    });
}

std::uint64_t perfetto_writer::number_of(interned& kind, std::string_view name) {
    const auto [found, is_new] = kind.numbers.try_emplace(std::string{name}, kind.numbers.size() + 1);
    if (is_new) {
        pbf_writer names{new_names_};
        pbf_writer entry{names, kind.field};
        entry.add_uint64(1, found->second);
        entry.add_string(2, found->first);
    }
    return found->second;
}

template <typename Fill>
void perfetto_writer::add_event(std::uint64_t time_ns, Fill&& fill) {
    std::string event_data;
    {
        pbf_writer event{event_data};
        fill(event);
    }
    std::string data;
    pbf_writer packet{data};
    packet.add_uint64(packet_timestamp, time_ns);
    packet.add_uint32(packet_clock, monotonic_clock);
    packet.add_uint32(packet_sequence, our_sequence);
    packet.add_uint32(packet_sequence_flags, is_first_ ? state_cleared | needs_state : needs_state);
    is_first_ = false;
    if (!new_names_.empty()) packet.add_message(packet_interned, std::exchange(new_names_, {}));
    packet.add_message(packet_event, event_data);
    put(data);
}

void perfetto_writer::fill(pbf_writer& event, std::string_view category, std::string_view name,
                           const event_extras& extras) {
    event.add_uint64(event_category, number_of(categories_, category));
    event.add_uint64(event_name, number_of(names_, name));
    for (const std::uint64_t flow : extras.flows) event.add_fixed64(event_flow, flow);
    for (const std::uint64_t flow : extras.ending_flows) event.add_fixed64(event_ending_flow, flow);
    if (extras.correlation != 0) event.add_uint64(event_correlation, extras.correlation);
    for (const annotation& each : extras.annotations) {
        const std::uint64_t number = number_of(annotations_, each.name);
        const auto* const text = std::get_if<std::string>(&each.value);
        const std::uint64_t text_number = text == nullptr ? 0 : number_of(texts_, *text);
        pbf_writer entry{event, event_annotation};
        entry.add_uint64(annotation_name, number);
        if (text != nullptr) {
            entry.add_uint64(annotation_text, text_number);
        } else {
            entry.add_int64(annotation_number, std::get<std::int64_t>(each.value));
        }
    }
}

void perfetto_writer::begin(track on, std::uint64_t time_ns, std::string_view category, std::string_view name,
                            const event_extras& extras) {
    add_event(time_ns, [&](pbf_writer& event) {
        event.add_enum(event_type, static_cast<std::int32_t>(event_kind::begin));
        event.add_uint64(event_track, on);
        fill(event, category, name, extras);
    });
}

void perfetto_writer::end(track on, std::uint64_t time_ns) {
    add_event(time_ns, [&](pbf_writer& event) {
        event.add_enum(event_type, static_cast<std::int32_t>(event_kind::end));
        event.add_uint64(event_track, on);
    });
}

void perfetto_writer::instant(track on, std::uint64_t time_ns, std::string_view category, std::string_view name,
                              const event_extras& extras) {
    add_event(time_ns, [&](pbf_writer& event) {
        event.add_enum(event_type, static_cast<std::int32_t>(event_kind::instant));
        event.add_uint64(event_track, on);
        fill(event, category, name, extras);
    });
}

void perfetto_writer::count(track on, std::uint64_t time_ns, std::int64_t value) {
    add_event(time_ns, [&](pbf_writer& event) {
        event.add_enum(event_type, static_cast<std::int32_t>(event_kind::counter));
        event.add_uint64(event_track, on);
        event.add_int64(event_counter_value, value);
    });
}

} // namespace commtask::tools
