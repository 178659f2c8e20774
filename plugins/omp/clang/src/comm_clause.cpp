// SPDX-License-Identifier: Apache-2.0
//
// Grammar: comm( [ordered,|unordered,] operation: arguments ) and comm( status: pointer ). In C++
// the number of arguments can be ambiguous, since a comma between '<' and '>' may belong to a
// template. If there is a '<' among the arguments, additional commas are accepted here, and the
// compiler counts.
#include "comm_clause.hpp"

#include "llvm/ADT/Twine.h"

namespace commtask::clause {

using clang::Token;
namespace tok = clang::tok;

namespace {

constexpr const char* general_form = "comm(operation: arguments)";

/// The arguments, separated by commas at the outermost level, and whether their number may be
/// smaller.
struct argument_list {
    llvm::SmallVector<token_range, 12> each;
    /// Location of the comma or bracket after each argument.
    llvm::SmallVector<clang::SourceLocation, 12> ends;
    bool may_be_fewer = false;
};

argument_list split(const directive& line, token_range range, bool is_cplusplus) {
    argument_list result;
    unsigned begin = range.begin;
    for (unsigned i = range.begin; i < range.end; ++i) {
        const Token& token = line.tokens[i];
        if (token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
            i = std::min(find_partner(line.tokens, i, range.end), range.end - 1);
        } else if (token.is(tok::less) && is_cplusplus) {
            result.may_be_fewer = true;
        } else if (token.is(tok::comma)) {
            result.each.push_back({begin, i});
            result.ends.push_back(token.getLocation());
            begin = i + 1;
        }
    }
    if (range.begin != range.end) {
        result.each.push_back({begin, range.end});
        result.ends.push_back(line.tokens[range.end].getLocation());
    }
    return result;
}

/// A ';' would end the statement that replaces the clause. A ';' between braces is inside a lambda
/// or a block.
const Token* find_semicolon(const directive& line, token_range range) {
    for (unsigned i = range.begin; i < range.end; ++i) {
        if (line.tokens[i].is(tok::semi)) return &line.tokens[i];
        if (line.tokens[i].is(tok::l_brace)) i = std::min(find_partner(line.tokens, i, range.end), range.end - 1);
    }
    return nullptr;
}

finding unwanted_semicolon(const Token& where, const std::string& form) {
    return {where.getLocation(), "a ';' is not allowed in a comm clause; expected " + form, {}, {}};
}

std::string plural(std::size_t n, llvm::StringRef what) {
    return std::to_string(n) + " " + what.str() + (n == 1 ? "" : "s");
}

objection check_arguments(const directive& line, const communication& found, bool is_cplusplus) {
    const argument_list given = split(line, found.arguments, is_cplusplus);
    const llvm::StringRef name = name_of(found.operation);
    const std::string form = "; expected " + expected_form(name, *found.function);
    const std::size_t needed = found.function->getNumParams();
    if (const Token* const semicolon = find_semicolon(line, found.arguments)) {
        return unwanted_semicolon(*semicolon, expected_form(name, *found.function));
    }
    for (std::size_t i = 0; i < given.each.size(); ++i) {
        if (given.each[i].begin != given.each[i].end) continue;
        std::string which = "argument " + std::to_string(i + 1);
        if (i < needed) which += " (" + found.function->getParamDecl(static_cast<unsigned>(i))->getName().str() + ")";
        return finding{given.ends[i], which + " of '" + name.str() + "' is missing" + form, {}, {}};
    }
    const std::string counts =
        "'" + name.str() + "' takes " + plural(needed, "argument") + ", but " + std::to_string(given.each.size());
    if (given.each.size() < needed) {
        return finding{found.close.getLocation(), "too few arguments: " + counts + " are given" + form, {}, {}};
    }
    if (given.each.size() > needed && !given.may_be_fewer) {
        const Token& first_too_many = line.tokens[given.each[needed].begin];
        return finding{first_too_many.getLocation(), "too many arguments: " + counts + " are given" + form, {}, {}};
    }
    return std::nullopt;
}

objection unknown_operation(const Token& word, const operations& known) {
    const llvm::StringRef name = name_of(word);
    if (name == "ordered" || name == "unordered") {
        return finding{
            word.getLocation(),
            ("'" + name + "' is a modifier, not an operation; expected comm(" + name + ", operation: arguments)").str(),
            {},
            {}};
    }
    finding wrong{word.getLocation(), "unknown operation '" + name.str() + "' in the comm clause", {}, {}};
    const std::string meant = known.nearest(name);
    if (meant.empty()) {
        wrong.message += "; expected " + std::string(general_form);
        wrong.notes.push_back({word.getLocation(), "the operations are " + known.list()});
    } else {
        wrong.message += "; did you mean '" + meant + "'? Expected " + expected_form(meant, *known.find(meant));
        wrong.replacement = meant;
    }
    return wrong;
}

/// Reads one comm clause. `has_operation` receives whether it has an operation.
objection read_one(const directive& line, const clause& from, const operations& known, bool is_cplusplus,
                   communication& result, bool& has_operation) {
    const Token& word = line.tokens[from.all.begin];
    if (!from.has_brackets) {
        return finding{word.getLocation(), "missing '(' after 'comm'; expected " + std::string(general_form), {}, {}};
    }
    const Token& open = line.tokens[from.all.begin + 1];
    unsigned i = from.arguments.begin;
    const unsigned end = from.arguments.end;
    if (i == end) {
        return finding{open.getLocation(), "the comm clause is empty; expected " + std::string(general_form), {}, {}};
    }
    using order = communication::order;
    order place = order::usual;
    while (i + 1 < end && line.tokens[i + 1].is(tok::comma)) {
        const llvm::StringRef modifier = name_of(line.tokens[i]);
        if (modifier != "ordered" && modifier != "unordered") break;
        if (place != order::usual) {
            return finding{
                line.tokens[i].getLocation(), "at most one modifier is allowed: ordered or unordered", {}, {}};
        }
        place = modifier == "ordered" ? order::ordered : order::unordered;
        i += 2;
    }
    const Token& name = line.tokens[i];
    if (i == end || name_of(name).empty()) {
        return finding{
            name.getLocation(), "expected the name of an operation; the form is " + std::string(general_form), {}, {}};
    }
    if (i + 1 == end || line.tokens[i + 1].isNot(tok::colon)) {
        const bool is_known = known.find(name_of(name)) != nullptr;
        return finding{line.tokens[i + 1].getLocation(),
                       "missing ':' after '" + name_of(name).str() + "' in the comm clause; expected " +
                           (is_known ? expected_form(name_of(name), *known.find(name_of(name))) : general_form),
                       {},
                       {}};
    }
    const token_range arguments = {i + 2, end};
    if (name_of(name) == "status") {
        if (place != order::usual) {
            return finding{name.getLocation(), "comm(status: ...) takes no modifier", {}, {}};
        }
        if (arguments.begin == arguments.end) {
            return finding{
                line.tokens[end].getLocation(), std::string("the status is missing; expected ") + status_form, {}, {}};
        }
        if (const Token* const semicolon = find_semicolon(line, arguments)) {
            return unwanted_semicolon(*semicolon, status_form);
        }
        const argument_list given = split(line, arguments, is_cplusplus);
        if (given.each.size() > 1 && !given.may_be_fewer) {
            return finding{line.tokens[given.each[1].begin].getLocation(),
                           std::string("only one status can be given; expected ") + status_form,
                           {},
                           {}};
        }
        result.status = arguments;
        has_operation = false;
        return std::nullopt;
    }
    has_operation = true;
    result.function = known.find(name_of(name));
    if (result.function == nullptr) return unknown_operation(name, known);
    result.operation = name;
    result.arguments = arguments;
    result.close = line.tokens[end];
    result.place = place;
    return check_arguments(line, result, is_cplusplus);
}

} // namespace

objection read_comm_clauses(const directive& line, llvm::ArrayRef<clause> clauses, const operations& known,
                            bool is_cplusplus, communication& result) {
    const Token* operation = nullptr;
    const Token* status = nullptr;
    const Token* first = nullptr;
    for (const clause& each : clauses) {
        const Token& word = line.tokens[each.all.begin];
        if (name_of(word) != "comm") continue;
        if (first == nullptr) first = &word;
        bool has_operation = false;
        if (objection wrong = read_one(line, each, known, is_cplusplus, result, has_operation)) return wrong;
        const Token*& seen = has_operation ? operation : status;
        if (seen != nullptr) {
            return finding{word.getLocation(),
                           has_operation ? "a task has one operation, so a directive has one comm clause (in addition "
                                           "to comm(status: ...)); write a second directive"
                                         : "the status is given twice",
                           {},
                           {{seen->getLocation(), "the first one is here"}}};
        }
        seen = &word;
    }
    if (operation == nullptr) {
        return finding{first->getLocation(),
                       "comm(status: ...) needs an operation in addition: " + std::string(general_form),
                       {},
                       {}};
    }
    return std::nullopt;
}

} // namespace commtask::clause
