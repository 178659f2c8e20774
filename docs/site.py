# SPDX-License-Identifier: Apache-2.0
# Builds the site: the pages and the reference of the API, by Doxygen. Every warning is a fault, so that a missing @param fails a
# test. The pages are written for GitHub, so Doxygen gets copies: their headings get names, their links become references, and
# docs/README.md becomes the navigation. Doxygen's own search finds a page only by the first word of its title;
# docs/site_search.py adds the other words.
"""usage: docs/site.py OUTPUT   (the site: OUTPUT/html/index.html)"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
from xml.sax.saxutils import quoteattr

import check_links
import site_search

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAVIGATION = ROOT / "docs" / "README.md"
DECISIONS = ROOT / "docs" / "adr"  # a folder without a page of its own: the site gets one
STYLE = pathlib.Path("/usr/share/doxygen-awesome-css")  # Debian's package; without it the site has Doxygen's own style
HEADERS = ("runtime/include", "plugins/*/include")
LINK = re.compile(check_links.CODE.pattern + r"|(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)", re.S)
#: One comment may cover a group of fields or macros; functions, structs and parameters have one each.
UNDOCUMENTED_DETAIL = re.compile(r"Member .* \((variable|macro definition|enumvalue|enumeration)\) of .* is not documented")


def list_pages():
    """All pages of the site."""
    named = [name for name in check_links.files_of(ROOT) if name.endswith(".md")]
    return [ROOT / name for name in named if ("/" not in name or name.startswith(("docs/", "apps/", "examples/")))
            and ROOT / name != NAVIGATION]


PAGES = list_pages()


def page_id(page):
    name = os.path.relpath(page, ROOT)
    return "index" if name == "README.md" else "page_" + re.sub(r"\W+", "_", name.removesuffix(".md").lower())


def heading_id(page, name):
    """Two pages may have a heading in common, so the page's name stands before."""
    return page_id(page) + "__" + re.sub(r"\W", "_", name)


def target_of(here, target):
    """(file, name of the heading) that a link from the folder `here` leads to."""
    path, _, name = target.partition("#")
    to = (here / path).resolve()
    return (to / "README.md" if (to / "README.md").exists() else to), name


def reference(here, target):
    """What a link refers to in the site; None if that is not a part of it."""
    to, name = target_of(here, target)
    if to == NAVIGATION:
        return "index"
    if to in PAGES:
        return heading_id(to, name) if name else page_id(to)
    if to == DECISIONS:
        return page_id(to)
    return to.name if to.suffix in (".h", ".hpp") and "include" in to.parts else None


def link(page, pictures, match):
    _, is_picture, words, target = match.groups()
    if target is None or re.match(r"[a-z]+:", target):
        return match.group()
    words = words.replace("\n", " ").replace("`", "")  # Doxygen shows them in the text of a link
    if is_picture:
        pictures.add((page.parent / target).resolve().parent)
        return f"![{words}]({pathlib.Path(target).name})"
    to = reference(page.parent, target if not target.startswith("#") else page.name + target)
    return f"[{words}](@ref {to})" if to else words


def page_text(page, pictures):
    """The page for Doxygen; the folders of what it shows are added to `pictures`."""
    text = page.read_text(encoding="utf-8")
    names = iter([name for _, name in check_links.heading_names(text)])
    has_title = False

    def heading(match):
        nonlocal has_title
        name = next(names)
        words = match[2].replace("`", "")
        if has_title and page_id(page) == "index":  # a name in the heading would put it before the navigation
            return f"\\anchor {heading_id(page, name)}\n\n{match[1]} {words}"
        if has_title:
            return f"{match[1]} {words} {{#{heading_id(page, name)}}}"
        has_title = True
        return f"# {words} {{#{'mainpage' if page_id(page) == 'index' else page_id(page)}}}"

    pieces, end = [], 0
    for begin, after in [fence.span() for fence in check_links.FENCE.finditer(text)] + [(len(text), len(text))]:
        prose = check_links.HEADING.sub(heading, text[end:begin])
        pieces += [LINK.sub(lambda match: link(page, pictures, match), prose), text[begin:after]]
        end = after
    return "".join(pieces)


def title_of(page):
    headings = check_links.heading_names(page.read_text(encoding="utf-8"))
    return headings[0][0][2].replace("`", "") if headings else page.stem


def decisions():
    """A page for the folder of decision records."""
    links = [f"- [{title_of(page)}](@ref {page_id(page)})\n" for page in PAGES if page.parent == DECISIONS]
    return f"# Decision records {{#{page_id(DECISIONS)}}}\n\n" + "".join(links)


def header_text(file):
    """A header for Doxygen: its first comment, which says what all functions have in common, becomes that of the file."""
    first, *lines = file.read_text(encoding="utf-8").split("\n")
    if first.startswith("//"):
        first = "/// @file"
        for number, line in enumerate(lines):
            if not line.startswith("//"):
                break
            lines[number] = "/" + line
    else:
        first = "/** @file"
    mention = re.compile(r"\bdocs/[\w./-]+\.md\b(#[\w-]+)?")
    return mention.sub(lambda match: f"[{match[0]}](@ref {reference(ROOT, match[0])})", "\n".join([first, *lines]))


def tabs(words, to, ref, found):
    """The lines of the layout for one item of the navigation: a folder's page has the others of the folder below it."""
    if to.is_dir() and "include" in to.parts:
        return [f'<tab type="filelist" title={quoteattr(words)}/>', '<tab type="globals" title="Functions, types and macros of C"/>',
                '<tab type="classlist" title="Classes of C++"/>']
    found.add(to)
    url = "index.html" if ref == "index" else f"@ref {ref}"
    folder = to if to == DECISIONS else to.parent if to.name == "README.md" and ref != "index" else None
    below = [line for page in PAGES if page.parent == folder and page != to for line in tabs(title_of(page), page, page_id(page), found)]
    tab = f"title={quoteattr(words)} url={quoteattr(url)}"
    return [f'<tab type="usergroup" {tab}>', *below, "</tab>"] if below else [f'<tab type="user" {tab}/>']


def navigation():
    """The layout of the site, from the list of pages in docs/README.md; and the pages that it lacks."""
    lines, found = [], set()
    for line in NAVIGATION.read_text(encoding="utf-8").splitlines():
        item = re.match(r"- \[(.+)\]\((.+)\)$", line)
        if line.startswith("## "):
            lines += ["</tab>"] if lines else []
            lines.append(f'<tab type="usergroup" title={quoteattr(line.removeprefix("## "))}>')
        elif item and lines:
            lines += tabs(item[1], target_of(NAVIGATION.parent, item[2])[0], reference(NAVIGATION.parent, item[2]), found)
    layout = ['<doxygenlayout version="1.0">', "<navindex>", '<tab type="mainpage" visible="no"/>', *lines, "</tab>", "</navindex>", "</doxygenlayout>"]
    return "\n".join(layout), [page for page in PAGES if page not in found]


def main(arguments):
    output = pathlib.Path(arguments[0]).resolve()
    headers = [(file, folder) for pattern in HEADERS for folder in sorted(ROOT.glob(pattern)) for file in sorted(folder.rglob("*.h*"))]
    if not headers or not PAGES:
        print("docs/site.py: there are no headers or no pages in this checkout")
        return 1
    for folder in ("input", "html"):
        shutil.rmtree(output / folder, ignore_errors=True)
    source = output / "input"
    pictures = set()
    copies = {page: (source / os.path.relpath(page, ROOT), page_text(page, pictures)) for page in PAGES}
    copies |= {file: (source / file.relative_to(folder), header_text(file)) for file, folder in headers}
    copies[DECISIONS] = (source / "decisions.md", decisions())
    layout, lacking = navigation()
    copies[NAVIGATION] = (source / "layout.xml", layout)
    for copy, text in copies.values():
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
    styles = [STYLE / name for name in ("doxygen-awesome.css", "doxygen-awesome-sidebar-only.css") if (STYLE / name).exists()]
    settings = {"OUTPUT_DIRECTORY": [output], "INPUT": [source], "STRIP_FROM_PATH": [source], "IMAGE_PATH": sorted(pictures),
                "LAYOUT_FILE": [source / "layout.xml"], "HTML_EXTRA_STYLESHEET": styles}
    doxyfile = (ROOT / "docs" / "Doxyfile").read_text(encoding="utf-8")
    doxyfile += "".join(f"{key} = " + " ".join(f'"{value}"' for value in values) + "\n" for key, values in settings.items())
    done = subprocess.run(["doxygen", "-"], input=doxyfile, text=True, capture_output=True, check=False)
    said = done.stderr
    for file, (copy, _) in copies.items():
        said = said.replace(f"{copy}:", f"{os.path.relpath(file, ROOT)}:")
    faults = [line for line in said.splitlines() if not UNDOCUMENTED_DETAIL.search(line)]
    faults += [f"{os.path.relpath(page, ROOT)}:1: not in the navigation: name it in docs/README.md" for page in lacking]
    print("".join(f"{line}\n" for line in (done.stdout.strip(), *faults) if line), end="")
    if done.returncode == 0:
        site_search.extend(output / "html", [(page_id(page), page) for page in PAGES], heading_id)
    print(f"{len(PAGES)} pages and {len(headers)} headers, {len(faults)} faults; doxygen ended with {done.returncode}")
    return 1 if faults or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
