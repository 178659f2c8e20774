// SPDX-License-Identifier: Apache-2.0
// FFTW can write files itself, but says only whether it could, and what is there is lost when it could not. Its wisdom is
// text that begins with who wrote it: (fftw-3.3.10 fftw_wisdom ...
#include "wisdom.hpp"

#include "common/whole_file.hpp"

#include <fftw3.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

namespace soi {

namespace {

struct precision_file {
    const char* suffix;
    const char* word;
    int (*import_from)(const char*);
    char* (*text)();
};

const std::array<precision_file, 2> both{{
    {"", " fftw_wisdom ", fftw_import_wisdom_from_filename, fftw_export_wisdom_to_string},
    {".single", " fftwf_wisdom ", fftwf_import_wisdom_from_filename, fftwf_export_wisdom_to_string},
}};

/// Why `name` must be left alone.
std::string why_not_ours(const std::string& name, const char* word) {
    std::error_code error;
    const auto status = std::filesystem::status(name, error);
    if (!std::filesystem::exists(status)) return {};
    if (!std::filesystem::is_regular_file(status)) return "is no regular file";
    std::ifstream in(name);
    std::string begin(64, '\0');
    in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(in.gcount()));
    if (!begin.empty() && (!begin.starts_with("(fftw-") || begin.find(word) == std::string::npos)) {
        return "is there, and no wisdom of FFTW's for this precision; it will not be overwritten";
    }
    return {};
}

} // namespace

std::string refuse_wisdom(const std::string& file) {
    if (file.empty()) return {};
    for (const precision_file& one : both) {
        const std::string name = file + one.suffix;
        std::string why = why_not_ours(name, one.word);
        if (const std::string no = miniapp::why_not_writable(name); why.empty() && !no.empty()) {
            why = "cannot be written: " + no;
        }
        if (!why.empty()) return "--wisdom " + name + " " + why + "; choose another file.";
    }
    return {};
}

bool load_wisdom(const std::string& file) {
    bool is_any = false;
    for (const precision_file& one : both) {
        const std::string name = file + one.suffix;
        is_any = (why_not_ours(name, one.word).empty() && one.import_from(name.c_str()) != 0) || is_any;
    }
    return is_any;
}

std::string save_wisdom(const std::string& file) {
    for (const precision_file& one : both) {
        const std::string name = file + one.suffix;
        std::string why = why_not_ours(name, one.word);
        const std::unique_ptr<char, decltype(&std::free)> text(one.text(), &std::free);
        if (why.empty() && text == nullptr) why = "FFTW gave none";
        if (why.empty()) why = miniapp::write_whole(name, text.get());
        if (!why.empty()) return why;
    }
    return {};
}

} // namespace soi
