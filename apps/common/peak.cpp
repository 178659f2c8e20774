// SPDX-License-Identifier: Apache-2.0
// Twelve chains hide a latency of up to six cycles on two pipes. The values pass through empty assembly statements,
// so that the compiler neither merges the chains nor sees through them.
#include "peak.hpp"

#include <algorithm>
#include <chrono>

namespace miniapp {

namespace {

#if defined(__AVX512F__)
constexpr int width_bytes = 64;
#elif defined(__AVX__)
constexpr int width_bytes = 32;
#else
constexpr int width_bytes = 16;
#endif

} // namespace

int vector_register_bytes() noexcept { return width_bytes; }

double measure_peak_gflops() {
    typedef double vector __attribute__((vector_size(width_bytes)));
    constexpr int n_lanes = width_bytes / 8;
    constexpr int n_chains = 12;
    constexpr int n_steps = 100000;
    constexpr int n_rounds = 30;
    vector c0{}, c1{}, c2{}, c3{}, c4{}, c5{}, c6{}, c7{}, c8{}, c9{}, c10{}, c11{};
    vector factor = vector{} + 0.999999;
    vector term = vector{} + 1e-6;
#if defined(__x86_64__)
#define MINIAPP_OPAQUE(x) asm volatile("" : "+v"(x))
#else
#define MINIAPP_OPAQUE(x) asm volatile("" : "+w"(x))
#endif
    MINIAPP_OPAQUE(c0);
    MINIAPP_OPAQUE(c1);
    MINIAPP_OPAQUE(c2);
    MINIAPP_OPAQUE(c3);
    MINIAPP_OPAQUE(c4);
    MINIAPP_OPAQUE(c5);
    MINIAPP_OPAQUE(c6);
    MINIAPP_OPAQUE(c7);
    MINIAPP_OPAQUE(c8);
    MINIAPP_OPAQUE(c9);
    MINIAPP_OPAQUE(c10);
    MINIAPP_OPAQUE(c11);
    double best = 0;
    for (int round = 0; round < n_rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < n_steps; ++k) {
            MINIAPP_OPAQUE(factor);
            MINIAPP_OPAQUE(term);
            c0 = c0 * factor + term;
            c1 = c1 * factor + term;
            c2 = c2 * factor + term;
            c3 = c3 * factor + term;
            c4 = c4 * factor + term;
            c5 = c5 * factor + term;
            c6 = c6 * factor + term;
            c7 = c7 * factor + term;
            c8 = c8 * factor + term;
            c9 = c9 * factor + term;
            c10 = c10 * factor + term;
            c11 = c11 * factor + term;
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        best = std::max(best, 2.0 * n_lanes * n_chains * n_steps / took.count() / 1e9);
    }
    vector sum = c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7 + c8 + c9 + c10 + c11;
    MINIAPP_OPAQUE(sum);
#undef MINIAPP_OPAQUE
    return best;
}

} // namespace miniapp
