# SPDX-License-Identifier: Apache-2.0
# The words that this project made up and no longer uses, each with the term that replaces it. Only
# unambiguous words are here: "lane", "lend" and "ticket" are terms of this project, "pass" and
# "hold" are plain English, and "nap" is still a state of the trace format. The rule reads the
# comments of code, and pages except for code in them. Identifiers that contain a word are allowed.
"""The rule "words" of tools/lint.py."""
import re

import lint_cpp

# Folders and files that are free of the retired words. Extend this list when another is done.
DONE = ("README.md", "CONTRIBUTING.md", "cmake/", "docs/", "plugins/", "runtime/", "scripts/", "tools/", "examples/")

RETIRED = {
    "attentive": "polling for passive-target progress",
    "baton": "progress lock",
    "deep sleep": "block",
    "desk": "completion queue",
    "desk bell": "proxy task",
    "doze": "timed wait",
    "driver": "progress thread",
    "errand": "control task",
    "guest": "external caller",
    "house rules": "project rules",
    "in sight": "armed",
    "knock": "signal",
    "laid down": "abandoned",
    "ledger": "outstanding count",
    "poster": "submitter",
    "standing receive": "active-message handler",
    "whoever": "the name of the actor",
}
# Folders that are also free of words which other folders still use, or use in their plain sense.
CORE = tuple(f"runtime/src/{folder}/" for folder in ("base", "core", "doorbell", "node"))
RETIRED_IN_CORE = {
    "answer": "result",
    "bell": "doorbell",
    "company": "other threads",
    "drive": "make progress",
    "driven": "polled",
    "gate": "use count",
    "give up": "abandon",
    "given up": "abandoned",
    "gives up": "abandons",
    "handoff": "MPSC list",
    "inbox": "MPSC ring",
    "left behind": "abandoned",
    "look": "poll",
    "patience": "limit",
    "place": "position",
    "sentence": "message",
    "waiting room": "wait queue",
}
# Uses of these words that are the field's own.
ALLOWED = re.compile(r"(?:gcc's|clang's|compiler|linker|device)\s+drivers?|\bin\s+place\s+of\b|\bOpenMP\s+places\b", re.I)


def pattern_of(words):
    """Finds the words and their plurals. Longer terms come first, since some begin with a shorter one; a line may end inside one."""
    return re.compile(r"(?<![\w-])(" + "|".join(word.replace(" ", r"\s+") for word in sorted(words, key=len, reverse=True))
                      + r")s?(?![\w-])", re.I)


#: Folders, their retired words, and the pattern of these words.
RETIRED_BY_FOLDER = tuple((folders, words, pattern_of(words)) for folders, words in ((DONE, RETIRED), (CORE, RETIRED_IN_CORE)))
CPP = (".c", ".h", ".cpp", ".hpp", ".h.in", ".def")
CODE_IN_PAGE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.S | re.M)
# A mark begins a comment only after white space, since ${#list[@]} is code, and not in a string: the
# text before it has only whole strings.
HASH_COMMENT = re.compile(r"""^((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'])*?(?:^|\s))#+[ :!](.*)$""")


def blank(text):
    """Blanks of the same shape, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", text)


def comments_of_cpp(text):
    """The comments of a C or C++ file, their marks and all code replaced by blanks."""
    code = lint_cpp.blank_comments(text, strings=False)
    comments = "".join(" " if old == new and old != "\n" else old for old, new in zip(text, code))
    return re.sub(r"^( *)(?:///?<?|/\*\*?|\*)(?=\s)", lambda mark: blank(mark[0]), comments, flags=re.M)


def comments_of_script(lines):
    """The comments of a file whose comments begin with a #."""
    found = (HASH_COMMENT.match(line) for line in lines)
    return "\n".join(" " * len(comment[1]) + comment[2] if comment else "" for comment in found)


def prose_of(file):
    """The text of a file that is English: all but code. Empty if the rule does not read files of this kind."""
    if file.is_markdown:
        return CODE_IN_PAGE.sub(lambda code: blank(code[0]), file.text)
    if file.name.endswith(CPP):
        return comments_of_cpp(file.text)
    return comments_of_script(file.lines) if file.is_hash or file.name.endswith((".in", ".table")) else ""


def check_words(file):
    """Comments and pages use the field's terms: none of the words that this project has given up (tools/lint_words.py)."""
    if not file.path.startswith(DONE):
        return
    prose = ALLOWED.sub(lambda use: blank(use[0]), prose_of(file))
    for folders, retired, pattern in RETIRED_BY_FOLDER:
        for found in pattern.finditer(prose) if file.path.startswith(folders) else ():
            word = " ".join(found[1].lower().split())
            yield prose.count("\n", 0, found.start()) + 1, f"'{word}' is no term of the field: {retired[word]}"


RULES = {"words": check_words}
