// SPDX-License-Identifier: Apache-2.0
// The kernel in single precision, in a file of its own: it is all arithmetic, and compiles slowly.
// Built for the machine's own instruction set where COMMTASK_NATIVE says so.
#include "convolution_impl.hpp"

namespace soi {

template std::size_t panel_size<float>(const shape&);
template void convolve<float>(const shape&, const tables<float>&, const std::complex<float>*, index_type,
                              std::complex<float>*, std::complex<float>*);

} // namespace soi
