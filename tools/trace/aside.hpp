// SPDX-License-Identifier: Apache-2.0
//
// A result that is there as a whole or not at all: written under another name in the same folder and then renamed, so that a
// conversion which ends early leaves the old file, or none. For files and for folders; devices and pipes are written as they
// are.
#pragma once

#include "model.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace commtask::tools {

class aside {
public:
    explicit aside(const std::string& name) : target_(name) {
        if (!target_.has_filename()) target_ = target_.parent_path(); // a folder's name may end with a slash
        std::error_code none;
        const auto found = std::filesystem::status(target_, none);
        is_special_ = std::filesystem::is_other(found) || std::filesystem::is_character_file(found) ||
                      std::filesystem::is_fifo(found);
        if (std::filesystem::is_symlink(target_, none)) {
            if (const auto named = std::filesystem::canonical(target_, none); !none) target_ = named;
        }
        part_ = target_;
        if (is_special_) return;
        part_.replace_filename("." + target_.filename().string() + "." + std::to_string(::getpid()));
    }
    aside(const aside&) = delete;
    aside& operator=(const aside&) = delete;
    ~aside() {
        std::error_code none;
        if (!is_special_ && !is_kept_) std::filesystem::remove_all(part_, none);
    }

    /// Where to write.
    [[nodiscard]] const std::filesystem::path& part() const noexcept { return part_; }

    /// All is written: it takes its name.
    /// @throws trace_error
    void keep() {
        is_kept_ = true;
        if (is_special_) return;
        std::error_code why;
        std::filesystem::rename(part_, target_, why);
        if (!why) return;
        is_kept_ = false;
        throw trace_error{target_.string() + " cannot be written: " + why.message()};
    }

private:
    std::filesystem::path target_;
    std::filesystem::path part_;
    bool is_special_ = false;
    bool is_kept_ = false;
};

} // namespace commtask::tools
