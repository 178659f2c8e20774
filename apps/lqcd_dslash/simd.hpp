// SPDX-License-Identifier: Apache-2.0
// One SIMD vector of N lanes, on the vector extensions that GCC and clang share, so that the kernel is plain
// arithmetic. Only the lane permutation by a run-time index has no common spelling: GCC has a builtin; for clang the
// instruction is named where the target has it, and a loop over the lanes serves everywhere else.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#if defined(__x86_64__) && defined(__clang__)
#include <immintrin.h>
#endif

namespace dslash {

template <class Real, int N>
struct simd {
    using index_type = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
    static constexpr int n_lanes = N;
    typedef Real vector __attribute__((vector_size(N * sizeof(Real))));
    typedef index_type index __attribute__((vector_size(N * sizeof(Real))));

    static vector load_unaligned(const Real* from) {
        vector value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static void store_unaligned(Real* to, vector value) { std::memcpy(to, &value, sizeof value); }

    /// Lane i of the result is lane which[i] of `value`.
    static vector permute(vector value, index which) {
        if constexpr (N == 1) return value;
#if !defined(__clang__)
        return __builtin_shuffle(value, which);
#else
#if defined(__AVX512F__)
        if constexpr (N * sizeof(Real) == 64 && sizeof(Real) == 8) {
            return reinterpret_cast<vector>(
                _mm512_permutexvar_pd(reinterpret_cast<__m512i>(which), reinterpret_cast<__m512d>(value)));
        }
        if constexpr (N * sizeof(Real) == 64 && sizeof(Real) == 4) {
            return reinterpret_cast<vector>(
                _mm512_permutexvar_ps(reinterpret_cast<__m512i>(which), reinterpret_cast<__m512>(value)));
        }
#endif
#if defined(__AVX512VL__)
        if constexpr (N * sizeof(Real) == 32 && sizeof(Real) == 8) {
            return reinterpret_cast<vector>(
                _mm256_permutexvar_pd(reinterpret_cast<__m256i>(which), reinterpret_cast<__m256d>(value)));
        }
#endif
#if defined(__AVX2__)
        if constexpr (N * sizeof(Real) == 32 && sizeof(Real) == 4) {
            return reinterpret_cast<vector>(
                _mm256_permutevar8x32_ps(reinterpret_cast<__m256>(value), reinterpret_cast<__m256i>(which)));
        }
        if constexpr (N * sizeof(Real) == 16 && sizeof(Real) == 4) {
            return reinterpret_cast<vector>(
                _mm_permutevar_ps(reinterpret_cast<__m128>(value), reinterpret_cast<__m128i>(which)));
        }
#endif
        vector result;
        for (int lane = 0; lane < N; ++lane) result[lane] = value[which[lane]];
        return result;
#endif
    }
};

} // namespace dslash
