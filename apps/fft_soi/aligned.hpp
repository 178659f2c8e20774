// SPDX-License-Identifier: Apache-2.0
// Arrays that begin on a cache line: what full-width vector loads need, and what keeps FFTW's plans valid for every
// array (its own allocator promises less). Contents are not initialised: first touch belongs to who computes.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace soi {

inline constexpr std::size_t line_bytes = 64;

template <class T>
class aligned_array {
public:
    aligned_array() = default;
    explicit aligned_array(std::size_t size)
        : size_(size),
          data_(static_cast<T*>(::operator new(size * sizeof(T) + line_bytes, std::align_val_t{line_bytes}))) {}

    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_.get()[i]; }
    const T& operator[](std::size_t i) const { return data_.get()[i]; }
    T* begin() { return data(); }
    T* end() { return data() + size_; }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size_; }

private:
    struct release {
        void operator()(T* array) const { ::operator delete(array, std::align_val_t{line_bytes}); }
    };
    std::size_t size_ = 0;
    std::unique_ptr<T, release> data_;
};

} // namespace soi
