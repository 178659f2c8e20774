# SPDX-License-Identifier: Apache-2.0
# Follows every link of the built site: Doxygen says nothing of a link that it took for plain HTML, and a reader would find it
# dead. A link to another host is left alone, since no test here has a network.
"""usage: check_site.py FOLDER"""
import html.parser
import pathlib
import sys
import urllib.parse


#: Written by Doxygen 1.9 itself into the summary of a class whose nested classes are documented elsewhere.
DOXYGENS_OWN = "#nested-classes"


class Page(html.parser.HTMLParser):
    """The names in a page, what it links to, and what it shows."""

    def __init__(self, file):
        super().__init__()
        self.names, self.links = set(), []
        self.feed(file.read_text(encoding="utf-8", errors="replace"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.names.update(attributes[key] for key in ("id", "name") if attributes.get(key))
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key)]


def dead_links(folder):
    """[(page, link)], and how many were followed."""
    pages = {file.name: Page(file) for file in sorted(folder.glob("*.html"))}
    dead, n_followed = [], 0
    for name, page in pages.items():
        for link in page.links:
            where = urllib.parse.urlsplit(link)
            if where.scheme or where.netloc or link == DOXYGENS_OWN:
                continue
            n_followed += 1
            to = urllib.parse.unquote(where.path) or name
            if not (folder / to).exists() or (where.fragment and to in pages and where.fragment not in pages[to].names):
                dead.append((name, link))
    return dead, n_followed


def main(arguments):
    dead, n_followed = dead_links(pathlib.Path(arguments[0]))
    print(*(f"{page}: {link} leads nowhere" for page, link in dead), f"{n_followed} links followed, {len(dead)} dead", sep="\n")
    return 1 if dead or n_followed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
