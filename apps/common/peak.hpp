// SPDX-License-Identifier: Apache-2.0
// The yardstick of the kernel: how many fused multiply-adds one core really does, measured in the same run.
// A ratio to it holds on any machine and any day, where GF/s alone do not.
#pragma once

namespace miniapp {

/// Bytes of the widest vector registers of what the kernels are compiled for. Wider vectors take several of them, and spill.
int vector_register_bytes() noexcept;

/// GF/s of one thread in double precision: independent chains of multiply-adds on the widest vectors of the target.
double measure_peak_gflops();

} // namespace miniapp
