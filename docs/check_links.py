# SPDX-License-Identifier: Apache-2.0
# Finds the broken links of all Markdown pages: a file, picture or heading that does not exist. The same for each page "docs/….md" and each
# decision record "ADR NNNN" that a comment, a header or a message names. Links to other hosts are not followed, since the tests have
# no network. The names of headings are GitHub's; docs/site.py uses them too.
"""usage: docs/check_links.py [ROOT]   (default: this checkout)"""
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1[^\n]*$", re.M | re.S)
CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\1(?!`)", re.S)
HEADING = re.compile(r"^(#{1,6}) +(.+?)(?: +#+)? *$", re.M)
#: The target of [words](target "title"), of a picture, of "[words]: target", and of HTML.
LINK = re.compile(r"""\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?:\s+"[^"]*")?\s*\)|^ *\[[^\]^]+\]: +(\S+)|<[^<>]*\b(?:href|src)="([^"]+)\"""", re.M)
NAME = re.compile(r"""<[^<>]*\b(?:id|name)="([^"]+)\"""")
#: A page by its path from the root, and a decision record by its number.
MENTION = re.compile(r"(?<![\w/.-])(docs/[\w./-]+\.md\b(?:#[\w-]+)?)|\b(?:ADR |docs/adr/)(\d{4})\b(?!-)")
#: Here pages are named that have gone, or that a test makes.
NO_MENTIONS = ("CHANGELOG.md", "tests/")


def blank(match):
    """The same number of lines, empty."""
    return "\n" * match.group().count("\n")


def slug(words):
    """The name that GitHub gives to a heading."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", words)
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def heading_names(text):
    """[(match of HEADING, its name)] of a page: the second of two equal headings gets -1."""
    found, seen = [], {}
    for match in HEADING.finditer(FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence.group()), text)):
        name = slug(match[2])
        seen[name] = seen.get(name, -1) + 1
        found.append((match, f"{name}-{seen[name]}" if seen[name] else name))
    return found


def names(file):
    """All that a link to a place in `file` may name."""
    text = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix != ".md":
        return {f"L{number}" for number in range(1, text.count("\n") + 2)}
    return {name for _, name in heading_names(text)} | set(NAME.findall(FENCE.sub(blank, text)))


def fault(root, here, target):
    """Why `target`, a link of a page in the folder `here`, is broken; None if it is not."""
    path, _, place = urllib.parse.unquote(target).partition("#")
    to = (here / path).resolve()
    if not to.is_relative_to(root) or not to.exists():
        return f"the link to '{target}' is broken: there is no such file"
    if to.is_dir() and (to / "README.md").is_file():
        to = to / "README.md"
    if place and (to.is_dir() or place not in names(to)):
        return f"the link to '{target}' is broken: {to.relative_to(root)} has no heading '{place}'"
    return None


def check_page(root, file):
    """(line, fault) of the links of one page."""
    text = CODE.sub(blank, FENCE.sub(blank, file.read_text(encoding="utf-8")))
    for match in LINK.finditer(text):
        target = next(filter(None, match.groups()))
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target):
            continue
        wrong = fault(root, file.parent, file.name + target if target.startswith("#") else target)
        if wrong:
            yield text.count("\n", 0, match.start()) + 1, wrong


def check_mentions(root, file):
    """(line, fault) of the pages and records that a file names."""
    text = file.read_text(encoding="utf-8", errors="replace")
    for match in MENTION.finditer(text):
        page, record = match.groups()
        wrong = None
        if record and not list((root / "docs" / "adr").glob(f"{record}-*.md")):
            wrong = f"there is no decision record {record} in docs/adr"
        elif page:
            wrong = fault(root, root, page)
        if wrong:
            yield text.count("\n", 0, match.start()) + 1, wrong


def files_of(root):
    """What git tracks or would track; without a repository, all files but those of builds."""
    if (root / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"], cwd=root, text=True,
                                capture_output=True, check=True).stdout.splitlines()
    else:
        listed = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    return [name for name in listed if (root / name).is_file() and name.partition("/")[0] != "build" and "/vendor/" not in name]


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent).resolve()
    names_of_files = files_of(root)
    faults = set()
    for name in names_of_files:
        if name.endswith(".md"):
            faults |= {(name, *found) for found in check_page(root, root / name)}
        if not name.startswith(NO_MENTIONS):
            faults |= {(name, *found) for found in check_mentions(root, root / name)}
    for name, line, wrong in sorted(faults):
        print(f"{name}:{line}: {wrong}")
    n_pages = sum(name.endswith(".md") for name in names_of_files)
    print(f"{n_pages} pages, {len(faults)} broken links")
    return 1 if faults or not n_pages else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
