# SPDX-License-Identifier: Apache-2.0
# Lets Doxygen 1.9 put the pages of docs/ beside the API: its headings get no names that links can use, and of links to other pages it
# takes few. So each heading gets a name made of its page's path and its words, links between pages become references to these,
# pictures are named without their folder, and what lies outside the site stays as text. The pages themselves are written for
# readers of the repository and know nothing of this.
"""usage: page_filter.py PAGE.md   (Doxygen's FILTER_PATTERNS)"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"(^```.*?^```\n)", re.M | re.S)
HEADING = re.compile(r"^(#{1,4}) (.+)$", re.M)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
#: Its own links make the pages that they lead to its children.
HUB = "docs/promises/README.md"
DECISIONS = ROOT / "docs" / "adr"  # a folder without a page of its own: the site gets one


def pages():
    """All pages of the site."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"),
             *(ROOT / "apps").glob("*/README.md"), *(ROOT / "apps").glob("*/*.md"), ROOT / "examples" / "README.md"]
    return sorted({page for page in found if page.exists()})


def page_id(page):
    name = os.path.relpath(page, ROOT)
    return "index" if name == "README.md" else "page_" + re.sub(r"\W+", "_", name.removesuffix(".md").lower())


def heading_id(page, words):
    """As GitHub names it, with the page before: two pages may have a heading in common."""
    return page_id(page) + "__" + re.sub(r"[^a-z0-9_]", "_", slug(words))


def slug(words):
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def decisions():
    """A page that has the decision records as children, so that they do not fill the site's index."""
    records = [page for page in pages() if page.parent == DECISIONS]
    return f"# Decision records {{#{page_id(DECISIONS)}}}\n\n" + "".join(f"- @subpage {page_id(page)}\n" for page in records)


def reference(page, target):
    """What a link in `page` refers to in the site; None: nothing that is in it."""
    path, _, anchor = target.partition("#")
    to = (page.parent / path).resolve() if path else page
    if to == DECISIONS:
        return page_id(to)
    if to.is_dir() and (to / "README.md").exists():
        to = to / "README.md"
    if to in pages():
        return heading_id(to, anchor) if anchor else page_id(to)
    return to.name if to.suffix in (".h", ".hpp") and "include" in to.parts else None


def link(page, match):
    is_picture, words, target = match.groups()
    words = words.replace("\n", " ").replace("`", "")  # Doxygen shows them in the text of a link
    if re.match(r"[a-z]+:", target):
        return match.group()
    if is_picture:
        return f"![{words}]({pathlib.Path(target).name})"
    to = reference(page, target)
    if to is None:
        return words
    if os.path.relpath(page, ROOT) == HUB:
        return f'@subpage {to} "{words}"'
    return f"[{words}](@ref {to})"


def filtered(page):
    """The page's text for Doxygen."""
    names = set()

    def heading(match):
        marks, words = match.groups()
        if len(marks) == 1:
            return f"# {words.replace('`', '')} {{#{'mainpage' if page_id(page) == 'index' else page_id(page)}}}"
        name = heading_id(page, words)
        while name in names:
            name += "_1"
        names.add(name)
        return f"{marks} {words.replace('`', '')} {{#{name}}}"

    pieces = FENCE.split(page.read_text(encoding="utf-8"))
    return "".join(piece if piece.startswith("```") else LINK.sub(lambda match: link(page, match), HEADING.sub(heading, piece))
                   for piece in pieces)


if __name__ == "__main__":
    file = pathlib.Path(sys.argv[1]).resolve()
    sys.stdout.write(filtered(file) if file in pages() else file.read_text(encoding="utf-8"))
