// SPDX-License-Identifier: Apache-2.0
//
// Passes functions of the caller through the C interface. A trivially copyable closure that fits
// into a pointer is passed in the pointer. Any other closure is in a heap object that the task's
// last callback deletes. No exception crosses the C interface: user-defined operations turn it into
// MPI_ERR_OTHER, and callbacks must be noexcept. Internal.
#pragma once

#include <commtask/joining.hpp>
#include <commtask/operation.hpp>
#include <commtask/options.hpp>
#include <commtask/outcome.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

/// @cond
namespace commtask::frontend {

/// Placeholder for a closure that does not exist.
struct no_closure {};

/// A function that the callbacks of a C handle call any number of times. The C++ object owns it; C
/// has its address.
using owned_function = std::unique_ptr<void, void (*)(void*)>;

[[nodiscard]] inline owned_function no_function() noexcept {
    return {nullptr, [](void*) {}};
}
template <typename Function>
[[nodiscard]] owned_function own_function(Function function) {
    return {new Function(std::move(function)), [](void* gone) { delete static_cast<Function*>(gone); }};
}

/// @param code  of the call that gives the handle back
/// @return whether no callback of the handle will be called any more. The last two codes mean that
///         commtask_finalize has ended it.
[[nodiscard]] constexpr bool has_let_go(int code) noexcept {
    return code == COMMTASK_OK || code == COMMTASK_ERR_NOT_INITIALIZED || code == COMMTASK_ERR_ARGUMENT;
}

template <typename Function>
inline constexpr bool fits_pointer = sizeof(Function) <= sizeof(void*) && std::is_trivially_copyable_v<Function>;

template <typename Function>
[[nodiscard]] void* to_pointer(const Function& function) noexcept {
    void* pointer = nullptr;
    std::memcpy(&pointer, &function, sizeof function);
    return pointer;
}

template <typename Function>
[[nodiscard]] Function from_pointer(void* pointer) noexcept {
    std::array<std::byte, sizeof(Function)> bytes;
    std::memcpy(bytes.data(), &pointer, sizeof(Function));
    return std::bit_cast<Function>(bytes);
}

template <typename Then>
void call_then(Then& then, const commtask_status* status) noexcept {
    const in_callback scope;
    if constexpr (std::is_invocable_v<Then&, const outcome&>) {
        then(outcome{*status});
    } else if constexpr (std::is_invocable_v<Then&>) {
        then();
    }
}

template <typename Function>
int call_start(Function& function, MPI_Request* request) noexcept {
    const in_callback scope;
    try {
        return function(request);
    } catch (...) {
        return MPI_ERR_OTHER;
    }
}

template <typename Function>
int call_call(Function& function) noexcept {
    const in_callback scope;
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Function&>>) {
            function();
            return MPI_SUCCESS;
        } else {
            return function();
        }
    } catch (...) {
        return MPI_ERR_OTHER;
    }
}

/// Both closures of a task, from its post to its end.
template <typename Custom, typename Then>
struct closures {
    closures(Custom its_operation, Then its_then) : custom(std::move(its_operation)), then(std::move(its_then)) {}
    Custom custom;
    Then then;
};

template <typename Custom, typename Then>
struct in_record {
    using record = closures<Custom, Then>;
    static int start(MPI_Request* request, void* self) noexcept {
        return call_start(static_cast<record*>(self)->custom, request);
    }
    static int call(void* self) noexcept { return call_call(static_cast<record*>(self)->custom); }
    static void then(const commtask_status* status, void* self) noexcept {
        const std::unique_ptr<record> owner{static_cast<record*>(self)};
        call_then(owner->then, status);
    }
};

template <typename Custom, typename Then>
struct in_pointers {
    static int start(MPI_Request* request, void* bits) noexcept {
        Custom custom = from_pointer<Custom>(bits);
        return call_start(custom, request);
    }
    static int call(void* bits) noexcept {
        Custom custom = from_pointer<Custom>(bits);
        return call_call(custom);
    }
    static void then(const commtask_status* status, void* bits) noexcept {
        Then function = from_pointer<Then>(bits);
        call_then(function, status);
    }
};

/// Makes the C form of a user-defined operation whose closure is reached through `argument`.
template <typename Calls, commtask_kind Kind>
[[nodiscard]] commtask_op custom_operation(void* argument, MPI_Comm comm) noexcept {
    // lint-allow(kind): two kinds have a function, and the kind is part of their type
    if constexpr (Kind == COMMTASK_OP_START) {
        return commtask_op_start(&Calls::start, argument, comm);
    } else {
        return commtask_op_call(&Calls::call, argument, comm);
    }
}

template <commtask_kind Kind, typename Function, typename Then>
[[nodiscard]] int post_custom(commtask_options& raw, commtask_t* handle, custom<Kind, Function>&& what, Then then) {
    if constexpr (fits_pointer<Function> && fits_pointer<Then>) {
        using calls = in_pointers<Function, Then>;
        if constexpr (!std::same_as<Then, no_closure>) {
            raw.callback = &calls::then;
            raw.callback_argument = to_pointer(then);
        }
        const commtask_op operation = custom_operation<calls, Kind>(to_pointer(what.function()), what.comm());
        return commtask_post_operation(&operation, &raw, handle);
    } else {
        using calls = in_record<Function, Then>;
        auto record = std::make_unique<closures<Function, Then>>(std::move(what.function()), std::move(then));
        raw.callback = &calls::then;
        raw.callback_argument = record.get();
        raw.flags |= COMMTASK_CALLBACK_ONCE;
        if constexpr (std::same_as<Then, no_closure>)
            raw.flags |= COMMTASK_CALLBACK_RELAYS; // the program does not check the end
        const commtask_op operation = custom_operation<calls, Kind>(record.get(), what.comm());
        const int code = commtask_post_operation(&operation, &raw, handle);
        if (code == COMMTASK_OK) static_cast<void>(record.release()); // the callback owns it now
        return code;
    }
}
template <commtask_kind Kind, typename Function, typename Then>
[[nodiscard]] int post_custom(commtask_options& raw, commtask_t* handle, const custom<Kind, Function>& what,
                              Then then) {
    return post_custom(raw, handle, custom<Kind, Function>{what}, std::move(then));
}

template <typename Then>
[[nodiscard]] int post_plain(commtask_options& raw, commtask_t* handle, const operation& what, Then then) {
    if constexpr (fits_pointer<Then>) {
        raw.callback = &in_pointers<no_closure, Then>::then;
        raw.callback_argument = to_pointer(then);
        return commtask_post_operation(&what.native(), &raw, handle);
    } else {
        auto record = std::make_unique<closures<no_closure, Then>>(no_closure{}, std::move(then));
        raw.callback = &in_record<no_closure, Then>::then;
        raw.callback_argument = record.get();
        raw.flags |= COMMTASK_CALLBACK_ONCE;
        const int code = commtask_post_operation(&what.native(), &raw, handle);
        if (code == COMMTASK_OK) static_cast<void>(record.release()); // the callback owns it now
        return code;
    }
}

template <typename What, typename Then>
[[nodiscard]] int post_with_closures(commtask_options& raw, commtask_t* handle, What&& what, Then then) {
    if constexpr (std::same_as<std::remove_cvref_t<What>, operation>) {
        return post_plain(raw, handle, what, std::move(then));
    } else {
        return post_custom(raw, handle, std::forward<What>(what), std::move(then));
    }
}

/// Returns the function of the then() among the options.
[[nodiscard]] inline no_closure take_then() noexcept { return {}; }
template <typename First, typename... Rest>
[[nodiscard]] auto take_then(First&& first, Rest&&... rest) {
    if constexpr (is_then<First>) {
        return std::forward<First>(first).take();
    } else {
        return take_then(std::forward<Rest>(rest)...);
    }
}

} // namespace commtask::frontend
/// @endcond
