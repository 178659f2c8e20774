// SPDX-License-Identifier: Apache-2.0
//
// Uses duplicates rather than the program's handles, since MPI can neither tell whether a handle is
// valid nor add a reference to it. Predefined datatypes are not duplicated: they cannot be freed,
// and MPI is faster with them.
#include "mpi/plan_types.hpp"

#include "core/operation_traits.hpp"
#include "mpi/counts.hpp"
#include "mpi/errors.hpp"
#include "mpi/kept_handles.hpp"
#include "mpi/made_types.hpp"
#include "mpi/many.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace commtask::detail {
namespace {

#if MPI_VERSION >= 4
using part_count = MPI_Count;
#else
using part_count = int;
#endif

/// How a datatype was constructed, and the number of parts of each sort.
struct type_shape {
    int combiner = MPI_COMBINER_NAMED;
    part_count n_integers = 0;
    part_count n_addresses = 0;
    part_count n_counts = 0;
    part_count n_types = 0;

    /// Whether the datatype is predefined, and so never freed.
    [[nodiscard]] bool is_started() const noexcept {
        return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
               combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
    }
};

[[nodiscard]] int ask_shape(MPI_Datatype type, type_shape& shape) noexcept {
#if MPI_VERSION >= 4
    return MPI_Type_get_envelope_c(type, &shape.n_integers, &shape.n_addresses, &shape.n_counts, &shape.n_types,
                                   &shape.combiner);
#else
    return MPI_Type_get_envelope(type, &shape.n_integers, &shape.n_addresses, &shape.n_types, &shape.combiner);
#endif
}

void free_type(MPI_Datatype type) noexcept {
    type_shape shape;
    if (ask_shape(type, shape) == MPI_SUCCESS && !shape.is_started()) MPI_Type_free(&type);
}

/// The parts of a derived datatype. MPI makes new handles of the parts for each caller.
class type_parts {
public:
    /// @throws std::bad_alloc
    explicit type_parts(MPI_Datatype type) {
        if (ask_shape(type, shape_) != MPI_SUCCESS || shape_.combiner == MPI_COMBINER_NAMED) return;
        integers.resize(static_cast<std::size_t>(shape_.n_integers));
        addresses.resize(static_cast<std::size_t>(shape_.n_addresses));
        counts.resize(static_cast<std::size_t>(shape_.n_counts));
        types.resize(static_cast<std::size_t>(shape_.n_types));
#if MPI_VERSION >= 4
        const int code =
            MPI_Type_get_contents_c(type, shape_.n_integers, shape_.n_addresses, shape_.n_counts, shape_.n_types,
                                    integers.data(), addresses.data(), counts.data(), types.data());
#else
        const int code = MPI_Type_get_contents(type, shape_.n_integers, shape_.n_addresses, shape_.n_types,
                                               integers.data(), addresses.data(), types.data());
#endif
        if (code == MPI_SUCCESS) return;
        types.clear();
        shape_.combiner = MPI_COMBINER_NAMED;
    }
    type_parts(const type_parts&) = delete;
    type_parts& operator=(const type_parts&) = delete;
    ~type_parts() {
        for (MPI_Datatype const each : types) free_type(each);
    }
    /// False for predefined datatypes, and for one that MPI cannot decode: they equal only
    /// themselves.
    [[nodiscard]] bool are_known() const noexcept { return shape_.combiner != MPI_COMBINER_NAMED; }
    [[nodiscard]] bool is_duplicate() const noexcept { return shape_.combiner == MPI_COMBINER_DUP; }
    [[nodiscard]] bool is_made_as(const type_parts& other) const {
        return shape_.combiner == other.shape_.combiner && integers == other.integers && addresses == other.addresses &&
               counts == other.counts && std::ranges::equal(types, other.types, are_same_types);
    }

    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Count> counts;
    std::vector<MPI_Datatype> types;

private:
    type_shape shape_;
};

/// If the operation lacks this side, the handle is zero.
[[nodiscard]] bool is_type(MPI_Datatype type) noexcept { return type != MPI_Datatype{} && type != MPI_DATATYPE_NULL; }

/// MPI checks this only for a datatype that is sent: here to MPI_PROC_NULL, in a request that is
/// never started.
[[nodiscard]] bool is_committed(MPI_Datatype type, const errors_return& errors) noexcept {
    const char nothing = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = errors.code_of(MPI_Send_init(&nothing, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request));
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    return code == MPI_SUCCESS;
}

/// A datatype that is not committed is not duplicated, since MPICH would commit the duplicate. It
/// is refused with its member.
/// @throws std::bad_alloc
[[nodiscard]] int keep(plan_types& into, MPI_Datatype& type) {
    if (!may_be_made(type)) return MPI_SUCCESS;
    const errors_return errors;
    type_shape shape;
    if (const int code = errors.code_of(ask_shape(type, shape)); code != MPI_SUCCESS) return code;
    if (shape.is_started() || !is_committed(type, errors)) return MPI_SUCCESS;
    MPI_Datatype& made = into.duplicates.emplace_back(MPI_DATATYPE_NULL);
    const int code = errors.code_of(MPI_Type_dup(type, &made));
    if (code == MPI_SUCCESS) type = made;
    return code;
}

/// Keeps the datatypes of an array, one per rank; the datatype of a rank with count 0 may be
/// invalid.
/// @throws std::bad_alloc
[[nodiscard]] int keep_array(plan_types& into, const commtask_op& op, commtask_side& side, int count) {
    if (count == 0 || side.types == nullptr) return MPI_SUCCESS;
    std::vector<MPI_Datatype>& types = into.arrays.emplace_front(side.types, side.types + count);
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (count_at(op, side.counts, i) == 0) types[i] = MPI_BYTE;
        if (const int code = keep(into, types[i]); code != MPI_SUCCESS) return code;
    }
    side.types = types.data();
    return MPI_SUCCESS;
}

} // namespace

bool may_make_types(const commtask_op& op) noexcept {
    const operation_traits& kind = operation_of(op.kind);
    if (kind.family == operation_family::reduction) return false;
    return kind.counts == count_shape::typed_arrays || may_be_made(op.send.type) || may_be_made(op.recv.type);
}

int keep_types(plan_types& into, plan_member& member) noexcept {
    commtask_op& op = member.op;
    try {
        if (operation_of(op.kind).counts == count_shape::typed_arrays) {
            array_lengths n;
            // On failure the run reports the error.
            if (find_used_lengths(op, n) != MPI_SUCCESS) return MPI_SUCCESS;
            const int code = keep_array(into, op, op.send, n.send);
            return code == MPI_SUCCESS ? keep_array(into, op, op.recv, n.recv) : code;
        }
        for (commtask_side* const side : {&op.send, &op.recv}) {
            if (!has_type_here(op, *member.queue, *side)) {
                side->type = MPI_BYTE; // its datatype may be invalid
            } else if (const int code = keep(into, side->type); code != MPI_SUCCESS) {
                return code;
            }
        }
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

void free_types(plan_types& of) noexcept {
    const errors_return errors;
    for (MPI_Datatype& each : of.duplicates) {
        if (each != MPI_DATATYPE_NULL) MPI_Type_free(&each);
    }
    of.duplicates.clear();
}

bool are_same_types(MPI_Datatype one, MPI_Datatype other) {
    if (one == other) return true;
    if (!is_type(one) || !is_type(other) || !(may_be_made(one) || may_be_made(other))) return false;
    const errors_return errors;
    const type_parts ones{one};
    if (ones.is_duplicate()) return are_same_types(ones.types.front(), other);
    const type_parts others{other};
    if (others.is_duplicate()) return are_same_types(one, others.types.front());
    return ones.are_known() && ones.is_made_as(others);
}

} // namespace commtask::detail
