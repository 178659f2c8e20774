// SPDX-License-Identifier: Apache-2.0
//
// The definitions of an OTF2 archive are numbers that refer to each other: each is given out here when it is first asked for,
// and all are written at the end.
#pragma once

#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace commtask::tools {

class otf2_names {
public:
    [[nodiscard]] OTF2_StringRef text(std::string_view of) {
        return texts_.try_emplace(std::string{of}, static_cast<OTF2_StringRef>(texts_.size())).first->second;
    }

    struct region_kind {
        OTF2_RegionRole role;
        OTF2_Paradigm paradigm;
        auto operator<=>(const region_kind&) const = default;
    };
    [[nodiscard]] OTF2_RegionRef region(std::string_view name, region_kind kind) {
        const region_key key{text(name), kind};
        const auto [found, is_new] = numbers_.try_emplace(key, static_cast<OTF2_RegionRef>(regions_.size()));
        if (is_new) regions_.push_back(key);
        return found->second;
    }

    [[nodiscard]] OTF2_ErrorCode write(OTF2_GlobalDefWriter* to) {
        const OTF2_StringRef none = text("");
        std::vector<std::pair<const paradigm*, OTF2_StringRef>> used;
        for (const paradigm& each : paradigms) {
            const auto is_it = [&](const region_key& region) { return region.second.paradigm == each.number; };
            if (std::ranges::any_of(regions_, is_it)) used.emplace_back(&each, text(each.name));
        }
        OTF2_ErrorCode worst = OTF2_SUCCESS;
        const auto note = [&worst](OTF2_ErrorCode code) {
            if (code != OTF2_SUCCESS) worst = code;
        };
        for (const auto& [name, number] : texts_) note(OTF2_GlobalDefWriter_WriteString(to, number, name.c_str()));
        for (const auto& [each, name] : used)
            note(OTF2_GlobalDefWriter_WriteParadigm(to, each->number, name, each->threads));
        for (OTF2_RegionRef number = 0; const auto& [name, kind] : regions_) {
            note(OTF2_GlobalDefWriter_WriteRegion(to, number++, name, name, none, kind.role, kind.paradigm,
                                                  OTF2_REGION_FLAG_NONE, none, 0, 0));
        }
        return worst;
    }

private:
    using region_key = std::pair<OTF2_StringRef, region_kind>;
    struct paradigm {
        OTF2_Paradigm number;
        const char* name;
        OTF2_ParadigmClass threads;
    };
    static constexpr std::array<paradigm, 3> paradigms{{
        {OTF2_PARADIGM_MPI, "MPI", OTF2_PARADIGM_CLASS_PROCESS},
        {OTF2_PARADIGM_OPENMP, "OpenMP", OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN},
        {OTF2_PARADIGM_TBBTHREAD, "oneTBB", OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN},
    }};

    std::map<std::string, OTF2_StringRef> texts_;
    std::map<region_key, OTF2_RegionRef> numbers_;
    std::vector<region_key> regions_; ///< In the order of their numbers: readers complain of another.
};

} // namespace commtask::tools
