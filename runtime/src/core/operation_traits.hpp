// SPDX-License-Identifier: Apache-2.0
//
// The traits of each kind of operation, from operation_table.def. Code that must distinguish
// operations asks for a trait. Only the code that starts operations (alone or in a plan), checks
// their arguments or keeps a window's epochs knows kinds by name (KNOW_KINDS in tools/lint_cpp.py).
// The price is one load from a constant table instead of a comparison.
#pragma once

#include "core/comm_queue.hpp"

#include <commtask/operation.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace commtask::detail {

/// The families, and the shapes of counts, as operation_table.def explains them. `unknown`: the
/// number is not a kind.
enum class operation_family : std::uint8_t {
    unknown,
    send,
    receive,
    exchange,
    gather,
    scatter,
    reduction,
    neighborhood,
    collective,
    one_sided,
    file,
    custom
};
enum class count_shape : std::uint8_t {
    none,
    one,
    send_arrays,
    recv_arrays,
    arrays,
    typed_arrays,
    shared,
    single,
    each_block,
    block_arrays
};
enum class trait : std::uint8_t { no, yes, unknown, length };

/// Whether a list of words contains a word.
[[nodiscard]] constexpr bool has_word(std::string_view list, std::string_view word) noexcept {
    for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
    }
    return false;
}

struct operation_traits {
    constexpr operation_traits() noexcept = default;
    constexpr operation_traits(const char* its_name, operation_family its_family, order_class order, trait receiving,
                               trait waits, count_shape shape, std::string_view arguments) noexcept
        : name(its_name), family(its_family), ordered_in(order), counts(shape), may_receive(receiving != trait::no),
          receives(receiving == trait::yes), has_length_only(receiving == trait::length),
          waits_for_message(waits == trait::yes), has_send_side(has_word(arguments, "from")),
          has_recv_side(has_word(arguments, "into") || has_word(arguments, "inout")),
          has_dest(has_word(arguments, "dest")), has_source(has_word(arguments, "source")),
          has_root(has_word(arguments, "root")), has_dests(has_word(arguments, "dests")),
          has_sources(has_word(arguments, "sources")), has_partitions(has_word(arguments, "partitions")),
          takes_message(has_word(arguments, "message")), takes_request(has_word(arguments, "request")),
          takes_start_function(has_word(arguments, "start_function")), makes_comm(has_word(arguments, "new_comm")),
          takes_window(has_word(arguments, "window")), takes_file(has_word(arguments, "file")),
          has_target(has_word(arguments, "target")), has_offset(has_word(arguments, "offset")),
          has_compared(has_word(arguments, "compared")), takes_reduction(has_word(arguments, "reduction")),
          has_steps(has_word(arguments, "notification") || has_word(arguments, "awaited")),
          computes(takes_reduction || takes_request || takes_start_function || makes_comm ||
                   has_word(arguments, "call_function")),
          is_simple(!computes && !takes_window && !has_partitions && !has_dests && !has_arrays()) {}

    const char* name = "";
    operation_family family = operation_family::unknown;
    order_class ordered_in = order_class::messages;
    count_shape counts = count_shape::none;
    bool may_receive = false;     ///< The status may have a source, a tag and a length.
    bool receives = false;        ///< The status always has a source, a tag and a length.
    bool has_length_only = false; ///< Of these three, the status may have only the length.
    /// It waits for a message that may never come: so it can be withdrawn.
    bool waits_for_message = false;
    bool has_send_side = false;
    bool has_recv_side = false; ///< Also for a buffer that is both sent and received into.
    bool has_dest = false;
    bool has_source = false;
    bool has_root = false;
    bool has_dests = false;   ///< A list of `peer` ranks, to each of which a message goes.
    bool has_sources = false; ///< A list of `source` ranks, from each of which a message comes.
    /// The number of partitions is the other side's count. Only plans can run the operation.
    bool has_partitions = false;
    bool takes_message = false; ///< `result` points to an MPI_Message, which the operation uses up.
    bool takes_request = false; ///< `result` points to an MPI_Request, which the operation uses up.
    bool takes_start_function = false;
    /// `result` points to the MPI_Comm that the operation creates; functions of the program copy
    /// its attributes.
    bool makes_comm = false;
    /// `result` is a window; `comm` is the window's own communicator once it is posted.
    bool takes_window = false;
    bool takes_file = false; ///< `result` is a file.
    bool has_target = false; ///< `peer` is the rank whose window is accessed.
    bool has_offset = false; ///< The displacements of its side are an offset in the file.
    /// The displacements of its receiving side are the value to compare with.
    bool has_compared = false;
    bool takes_reduction = false;
    /// It has several steps: the transport continues with start_next_step().
    bool has_steps = false;
    bool computes = false; ///< MPI may do arithmetic for it, or a function of the program does.
    /// A post needs only its arguments: no window, no request, no lists, no rounding modes.
    bool is_simple = false;

    [[nodiscard]] constexpr bool is_ordered_by_default() const noexcept {
        return ordered_in == order_class::collectives;
    }
    /// Sends and receives by ranks and tags, probes among them.
    [[nodiscard]] constexpr bool is_message() const noexcept {
        return has_dest || has_source || has_dests || has_sources;
    }
    [[nodiscard]] constexpr bool has_send_arrays() const noexcept {
        return counts == count_shape::send_arrays || has_arrays_for_both();
    }
    [[nodiscard]] constexpr bool has_recv_arrays() const noexcept {
        return counts == count_shape::recv_arrays || counts == count_shape::block_arrays || has_arrays_for_both();
    }
    [[nodiscard]] constexpr bool has_arrays() const noexcept { return has_send_arrays() || has_recv_arrays(); }

private:
    [[nodiscard]] constexpr bool has_arrays_for_both() const noexcept {
        return counts == count_shape::arrays || counts == count_shape::typed_arrays;
    }
};

/// Indexed by commtask_kind; [0] is for numbers that are not a kind.
inline constexpr std::array<operation_traits, COMMTASK_OP_END> operation_table = [] {
    std::array<operation_traits, COMMTASK_OP_END> table{};
#define COMMTASK_OPERATION(number, name, family, order, receives, waits, counts, arguments, text)                      \
    table[number] = operation_traits(#name, operation_family::family, order_class::order, trait::receives,             \
                                     trait::waits, count_shape::counts, arguments);
#include "core/operation_table.def"
    return table;
}();

/// The traits of any number: a number that is not a kind has the family `unknown` and no name.
[[nodiscard]] constexpr const operation_traits& operation_of(int kind) noexcept {
    return operation_table[kind > 0 && kind < COMMTASK_OP_END ? static_cast<std::size_t>(kind) : 0];
}

/// Whether a post takes part in the one order of its communicator's collectives, or in that of its
/// operations with COMMTASK_ORDERED.
[[nodiscard]] constexpr bool is_in_common_order(const operation_traits& kind, std::uint32_t flags) noexcept {
    return (flags & COMMTASK_ORDERED) != 0 || (kind.is_ordered_by_default() && (flags & COMMTASK_UNORDERED) == 0);
}

/// Whether the operation has a turn in program order if it or an earlier operation has to wait: by
/// default collectives and messages. A message that an unmodified program starts itself has no
/// turn: it is in MPI's order already.
[[nodiscard]] constexpr bool can_have_turn(const operation_traits& kind, std::uint32_t flags) noexcept {
    return is_in_common_order(kind, flags) ||
           (kind.is_message() && (flags & COMMTASK_UNORDERED) == 0 && (flags & flag_is_call) == 0);
}

/// Whether the operation only probes for a message: MPI has no request for a probe.
[[nodiscard]] constexpr bool is_probe(const operation_traits& kind) noexcept {
    return kind.waits_for_message && kind.family == operation_family::receive && !kind.has_recv_side;
}

} // namespace commtask::detail
