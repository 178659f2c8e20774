# SPDX-License-Identifier: Apache-2.0
# Adds the pages' words to the search of Doxygen's site. That search needs no server, but finds a page only by the first word of its
# title. After this it finds each heading by each of its words, and each word of the text that stands in at most MAX_SECTIONS
# sections: more common words would only make the lists long. The format is Doxygen's: one script for each first letter.
"""Extends Doxygen's search index."""
import collections
import html
import json
import re

import check_links

MAX_SECTIONS = 12
WORD = re.compile(r"[A-Za-z0-9][\w-]*[A-Za-z0-9]")


def search_id(words):
    """The words in the form that search.js gives to the reader's input."""
    return "".join(one if re.match(r"[a-z0-9]", one) else f"_{ord(one):02x}" for one in words.lower())


def sections_of(text):
    """[(name of the heading, heading, text)] of a page, the first with its title."""
    headings = check_links.heading_names(text)
    ends = [match.start() for match, _ in headings[1:]] + [len(text)]
    return [(name, match[2].replace("`", ""), text[match.end():end]) for (match, name), end in zip(headings, ends)]


def entries_of(pages, heading_id):
    """[(input, text shown, [(URL, page and heading)])] for (id, file) of each page."""
    entries, by_word = [], collections.defaultdict(dict)
    for page_id, file in pages:
        sections = sections_of(file.read_text(encoding="utf-8"))
        for number, (name, heading, text) in enumerate(sections):
            url = f"../{page_id}.html" + (f"#{heading_id(file, name)}" if number else "")
            where = sections[0][1] if number == 0 else f"{sections[0][1]}: {heading}"
            for word in WORD.finditer(heading):
                entries.append((search_id(heading[word.start():]), heading, [(url, sections[0][1] if number else "")]))
            for word in WORD.findall(text):
                by_word[word.lower()][url] = (word, where)
    for places in by_word.values():
        if len(places) <= MAX_SECTIONS:
            word = next(iter(places.values()))[0]
            entries.append((search_id(word), word, [(url, where) for url, (_, where) in places.items()]))
    return entries


def extend(site, pages, heading_id):
    """Adds the words of `pages` to the search of `site`, the folder with the HTML."""
    search = site / "search"
    index = (search / "searchdata.js").read_text(encoding="utf-8")
    letters = re.search(r'0: "([^"]*)"', index)[1]
    by_letter = collections.defaultdict(list)
    for number, (typed, shown, places) in enumerate(sorted(entries_of(pages, heading_id), key=lambda entry: entry[0])):
        results = [[url, 1, html.escape(where)] for url, where in places]
        by_letter[typed[0]].append(json.dumps([f"{typed}_w{number}", [html.escape(shown), *results]]))
    for letter, entries in sorted(by_letter.items()):
        if letter not in letters:
            file = search / f"all_{len(letters):x}.js"
            file.write_text("var searchData=\n[\n];\n", encoding="utf-8")
            frame = search / "all_0.html"  # Doxygen 1.9.4 has a page for each script
            if frame.exists():
                file.with_suffix(".html").write_text(frame.read_text(encoding="utf-8").replace("all_0.js", file.name), encoding="utf-8")
            letters += letter
        file = search / f"all_{letters.index(letter):x}.js"
        begin, bracket, end = file.read_text(encoding="utf-8").partition("[\n")
        file.write_text(begin + bracket + ",\n".join(entries) + (",\n" if "[" in end else "\n") + end, encoding="utf-8")
    index = re.sub(r'0: "[^"]*"', lambda _: f'0: "{letters}"', index, count=1)
    (search / "searchdata.js").write_text(index, encoding="utf-8")
