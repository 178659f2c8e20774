// SPDX-License-Identifier: Apache-2.0
// Empty: CMake precompiles the headers of a target only if the target has a source.
