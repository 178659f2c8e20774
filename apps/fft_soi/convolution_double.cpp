// SPDX-License-Identifier: Apache-2.0
// The kernel in double precision, in a file of its own: it is all arithmetic, and compiles slowly.
// Built for the machine's own instruction set where COMMTASK_NATIVE says so.
#include "convolution_impl.hpp"

namespace soi {

template std::size_t panel_size<double>(const shape&);
template void convolve<double>(const shape&, const tables<double>&, const std::complex<double>*, index_type,
                               std::complex<double>*, std::complex<double>*);

} // namespace soi
