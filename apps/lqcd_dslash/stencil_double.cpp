// SPDX-License-Identifier: Apache-2.0
// The double precision kernels, in every width.
// A file per precision, so that the two compile side by side.
#include "stencil_impl.hpp"

namespace dslash {

std::unique_ptr<stencil> make_double_stencil(layout shape, int link_reals) {
    switch (shape.n_lanes) {
    case 8: return make_lane_stencil<double, 8>(std::move(shape), link_reals);
    case 4: return make_lane_stencil<double, 4>(std::move(shape), link_reals);
    case 2: return make_lane_stencil<double, 2>(std::move(shape), link_reals);
    default: return make_lane_stencil<double, 1>(std::move(shape), link_reals);
    }
}

} // namespace dslash
