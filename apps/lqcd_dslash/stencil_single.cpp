// SPDX-License-Identifier: Apache-2.0
// The single precision kernels, in every width.
// A file per precision, so that the two compile side by side.
#include "stencil_impl.hpp"

namespace dslash {

std::unique_ptr<stencil> make_single_stencil(layout shape, int link_reals) {
    switch (shape.n_lanes) {
    case 16: return make_lane_stencil<float, 16>(std::move(shape), link_reals);
    case 8: return make_lane_stencil<float, 8>(std::move(shape), link_reals);
    case 4: return make_lane_stencil<float, 4>(std::move(shape), link_reals);
    default: return make_lane_stencil<float, 1>(std::move(shape), link_reals);
    }
}

} // namespace dslash
