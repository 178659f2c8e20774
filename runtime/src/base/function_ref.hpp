// SPDX-License-Identifier: Apache-2.0
//
// A reference to a callable object that lives at least as long as the call it is passed to. A
// function with such a parameter is compiled once, where a template would be compiled for each
// lambda.
#pragma once

#include <type_traits>
#include <utility>

namespace commtask::detail {

template <typename Signature>
class function_ref;

template <typename Result, typename... Arguments>
class function_ref<Result(Arguments...)> {
public:
    template <typename Callable>
        requires(!std::is_same_v<std::remove_cvref_t<Callable>, function_ref>)
    // NOLINTNEXTLINE(google-explicit-constructor): a lambda is passed as it is
    function_ref(Callable&& callable) noexcept
        : object_(const_cast<void*>(static_cast<const void*>(&callable))),
          call_([](void* object, Arguments... arguments) -> Result {
              return (*static_cast<std::remove_reference_t<Callable>*>(object))(std::forward<Arguments>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

private:
    void* object_;
    Result (*call_)(void*, Arguments...);
};

} // namespace commtask::detail
