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
        const std::pair key{text(name), kind};
        return regions_.try_emplace(key, static_cast<OTF2_RegionRef>(regions_.size())).first->second;
    }

    [[nodiscard]] OTF2_ErrorCode write(OTF2_GlobalDefWriter* to) {
        const OTF2_StringRef none = text("");
        std::vector<std::pair<const paradigm*, OTF2_StringRef>> used;
        for (const paradigm& each : paradigms) {
            const auto is_it = [&](const auto& region) { return region.first.second.paradigm == each.number; };
            if (std::ranges::any_of(regions_, is_it)) used.emplace_back(&each, text(each.name));
        }
        OTF2_ErrorCode worst = OTF2_SUCCESS;
        const auto note = [&worst](OTF2_ErrorCode code) {
            if (code != OTF2_SUCCESS) worst = code;
        };
        for (const auto& [name, number] : texts_) note(OTF2_GlobalDefWriter_WriteString(to, number, name.c_str()));
        for (const auto& [each, name] : used)
            note(OTF2_GlobalDefWriter_WriteParadigm(to, each->number, name, each->threads));
        for (const auto& [key, number] : regions_) {
            note(OTF2_GlobalDefWriter_WriteRegion(to, number, key.first, key.first, none, key.second.role,
                                                  key.second.paradigm, OTF2_REGION_FLAG_NONE, none, 0, 0));
        }
        return worst;
    }

private:
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
    std::map<std::pair<OTF2_StringRef, region_kind>, OTF2_RegionRef> regions_;
};

} // namespace commtask::tools
