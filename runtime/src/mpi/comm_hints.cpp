// SPDX-License-Identifier: Apache-2.0
//
// MPI returns a copy of a communicator's info. Some MPIs omit keys that they do not know. They know
// the keys of the standard, so only the library's own key can be missing.
#include "mpi/comm_hints.hpp"

#include "mpi/errors.hpp"

#include <commtask/lanes.h>

#include <array>
#include <charconv>
#include <system_error>

namespace commtask::detail {
namespace {

/// A value that is too long is returned as "?", which is invalid for every key.
class info_values {
public:
    explicit info_values(MPI_Comm comm) noexcept {
        if (scope_.code_of(MPI_Comm_get_info(comm, &info_)) != MPI_SUCCESS) info_ = MPI_INFO_NULL;
    }
    info_values(const info_values&) = delete;
    info_values& operator=(const info_values&) = delete;
    ~info_values() {
        if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
    }

    /// @return whether the info has the key
    [[nodiscard]] bool look_up(const char* key, std::string_view& value) noexcept {
        if (info_ == MPI_INFO_NULL) return false;
        int is_there = 0;
        int length = 0;
        MPI_Info_get_valuelen(info_, key, &length, &is_there);
        if (is_there == 0) return false;
        value = "?";
        if (length >= static_cast<int>(text_.size())) return true;
        MPI_Info_get(info_, key, length, text_.data(), &is_there);
        value = {text_.data(), static_cast<std::size_t>(length)};
        return true;
    }
    [[nodiscard]] bool is_true(const char* key) noexcept {
        std::string_view value;
        return look_up(key, value) && value == "true";
    }

private:
    const errors_return scope_;
    MPI_Info info_ = MPI_INFO_NULL;
    std::array<char, 16> text_{};
};

} // namespace

int lane_of_text(std::string_view value) noexcept {
    if (value == "thread") return comm_hints::by_thread;
    int lane = comm_hints::no_lane;
    const auto [end, bad] = std::from_chars(value.data(), value.data() + value.size(), lane);
    return bad == std::errc{} && end == value.data() + value.size() && lane >= 0 ? lane : comm_hints::no_lane;
}

comm_hints hints_of(MPI_Comm comm) noexcept {
    info_values info{comm};
    comm_hints hints;
    std::string_view value;
    if (info.look_up(COMMTASK_LANE_KEY, value)) hints.lane = lane_of_text(value);
    hints.promises.no_any_source = info.is_true("mpi_assert_no_any_source");
    hints.promises.no_any_tag = info.is_true("mpi_assert_no_any_tag");
    hints.promises.allow_overtaking = info.is_true("mpi_assert_allow_overtaking");
    return hints;
}

int lane_asked_for(MPI_Comm comm) noexcept {
    const comm_hints hints = hints_of(comm);
    const message_promises& given = hints.promises;
    const bool goes_by_thread = given.allow_overtaking && !given.no_any_source && !given.no_any_tag;
    return hints.lane == comm_hints::any_lane && goes_by_thread ? comm_hints::by_thread : hints.lane;
}

} // namespace commtask::detail
