// SPDX-License-Identifier: Apache-2.0
//
// Converts C++ types and ranges to the arguments that MPI needs: address, count, datatype. The
// compiler must see that the elements of a range have an MPI datatype, and that a receive may write
// to them. Temporary ranges are refused, since they would be destroyed before the task runs. For
// anything else, e.g. a derived datatype, use elements().
#pragma once

#include <commtask/cpp20.hpp>

#include <mpi.h>

#include <complex>
#include <concepts>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

namespace commtask {

/// The MPI datatype of a C++ type. Specialise it for your own types, with a static get() that
/// returns a committed datatype.
template <typename T>
struct datatype_of;

/// @cond
#define COMMTASK_DATATYPE_(type, mpi)                                                                                  \
    template <>                                                                                                        \
    struct datatype_of<type> {                                                                                         \
        static constexpr bool is_plain = true;                                                                         \
        [[nodiscard]] static MPI_Datatype get() noexcept { return mpi; }                                               \
    }
COMMTASK_DATATYPE_(char, MPI_CHAR);
COMMTASK_DATATYPE_(signed char, MPI_SIGNED_CHAR);
COMMTASK_DATATYPE_(unsigned char, MPI_UNSIGNED_CHAR);
COMMTASK_DATATYPE_(wchar_t, MPI_WCHAR);
COMMTASK_DATATYPE_(std::byte, MPI_BYTE);
COMMTASK_DATATYPE_(bool, MPI_CXX_BOOL);
COMMTASK_DATATYPE_(short, MPI_SHORT);
COMMTASK_DATATYPE_(unsigned short, MPI_UNSIGNED_SHORT);
COMMTASK_DATATYPE_(int, MPI_INT);
COMMTASK_DATATYPE_(unsigned, MPI_UNSIGNED);
COMMTASK_DATATYPE_(long, MPI_LONG);
COMMTASK_DATATYPE_(unsigned long, MPI_UNSIGNED_LONG);
COMMTASK_DATATYPE_(long long, MPI_LONG_LONG);
COMMTASK_DATATYPE_(unsigned long long, MPI_UNSIGNED_LONG_LONG);
COMMTASK_DATATYPE_(float, MPI_FLOAT);
COMMTASK_DATATYPE_(double, MPI_DOUBLE);
COMMTASK_DATATYPE_(long double, MPI_LONG_DOUBLE);
COMMTASK_DATATYPE_(std::complex<float>, MPI_C_FLOAT_COMPLEX);
COMMTASK_DATATYPE_(std::complex<double>, MPI_C_DOUBLE_COMPLEX);
COMMTASK_DATATYPE_(std::complex<long double>, MPI_C_LONG_DOUBLE_COMPLEX);
#undef COMMTASK_DATATYPE_
/// @endcond

/// A type with an MPI datatype.
template <typename T>
concept element = requires {
    { datatype_of<T>::get() } -> std::convertible_to<MPI_Datatype>;
};

/// A type with a predefined MPI datatype: a message of n elements has n * sizeof(T) bytes.
template <typename T>
concept plain_element = element<T> && requires { requires datatype_of<T>::is_plain; };

/// A range that a task may send from: contiguous elements with an MPI datatype, and no temporary.
template <typename Range>
concept send_buffer = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                      std::ranges::borrowed_range<Range> && element<std::ranges::range_value_t<Range>>;

/// A range that a task may receive into: a send_buffer whose elements are not const.
template <typename Range>
concept recv_buffer =
    send_buffer<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// Memory to send from, with an explicit datatype. Made by elements().
struct const_block {
    const void* buffer; ///< Where it begins; MPI_BOTTOM is allowed.
    MPI_Count count;    ///< In elements of `type`.
    MPI_Datatype type;  ///< A committed datatype.
};

/// Memory to receive into, with an explicit datatype. Made by elements().
struct block {
    void* buffer;      ///< Where it begins; MPI_BOTTOM is allowed.
    MPI_Count count;   ///< In elements of `type`.
    MPI_Datatype type; ///< A committed datatype.
};

/// Describes memory to send from with an explicit datatype.
/// @param buffer  address of the first element.
/// @param count  number of elements.
/// @param type  datatype of one element; committed, and not freed before the task has ended.
/// @return a block that every operation accepts instead of a range to send from.
[[nodiscard]] inline const_block elements(const void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return {buffer, count, type};
}

/// Describes memory to receive into, or to send from, with an explicit datatype.
/// @param buffer  address of the first element.
/// @param count  number of elements.
/// @param type  datatype of one element; committed, and not freed before the task has ended.
/// @return a block that every operation accepts instead of a range.
[[nodiscard]] inline block elements(void* buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return {buffer, count, type};
}

/// Describes no memory, for a buffer without meaning on this rank; or MPI_BOTTOM, written as a null
/// pointer.
/// @param buffer  null.
/// @param count  number of elements.
/// @param type  datatype of one element.
/// @return a block that every operation accepts instead of a range.
[[nodiscard]] inline block elements(std::nullptr_t buffer, MPI_Count count, MPI_Datatype type) noexcept {
    return {buffer, count, type};
}

/// Makes a range of one variable.
/// @param variable  must live until the task has ended.
/// @return a span of length one.
template <typename T>
    requires element<std::remove_const_t<T>>
[[nodiscard]] std::span<T, 1> one(T& variable) noexcept {
    return std::span<T, 1>{std::addressof(variable), 1};
}

/// The type of in_place.
struct in_place_t {};

/// Replaces the send buffer: the contribution lies in the receive buffer (MPI_IN_PLACE).
inline constexpr in_place_t in_place{};

/// An argument that an operation can send: a send_buffer, or the result of elements().
template <typename T>
concept outgoing =
    send_buffer<T> || std::same_as<std::remove_cvref_t<T>, const_block> || std::same_as<std::remove_cvref_t<T>, block>;

/// An argument that an operation can receive into: a recv_buffer, or the result of elements() on
/// memory that is not const.
template <typename T>
concept incoming = recv_buffer<T> || std::same_as<std::remove_cvref_t<T>, block>;

/// @cond
namespace frontend {

template <typename T>
struct element_type {
    using type = void; // a block: its datatype is known when the program runs
};
template <typename T>
    requires std::ranges::contiguous_range<T>
struct element_type<T> {
    using type = std::ranges::range_value_t<T>;
};
template <typename T>
using element_t = typename element_type<T>::type;

template <outgoing T>
[[nodiscard]] const_block to_send(T&& from) noexcept {
    if constexpr (send_buffer<T>) {
        return {std::ranges::data(from), static_cast<MPI_Count>(std::ranges::size(from)),
                datatype_of<element_t<T>>::get()};
    } else {
        return {from.buffer, from.count, from.type};
    }
}

template <incoming T>
[[nodiscard]] block to_recv(T&& into) noexcept {
    if constexpr (recv_buffer<T>) {
        return {std::ranges::data(into), static_cast<MPI_Count>(std::ranges::size(into)),
                datatype_of<element_t<T>>::get()};
    } else {
        return into;
    }
}

} // namespace frontend
/// @endcond

/// Two buffers with one element type; a block fits any buffer.
template <typename Left, typename Right>
concept same_element = std::is_void_v<frontend::element_t<Left>> || std::is_void_v<frontend::element_t<Right>> ||
                       std::same_as<frontend::element_t<Left>, frontend::element_t<Right>>;

} // namespace commtask
