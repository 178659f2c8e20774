# SPDX-License-Identifier: Apache-2.0
# docs/site.py builds a small tree of this test's own: what it takes for a fault, where links and names of headings lead, what is in the
# navigation, and what the search finds. The site of this project itself is the test docs.doxygen.
"""Tests of docs/site.py and docs/site_search.py."""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
TREE = {
    "README.md": "# Project\n\nSee [the `page`](docs/page.md#second-part), [a header](runtime/include/a/a.h) and [a record](docs/adr).\n\n## Install it\n\nzebra\n",
    "docs/README.md": "# Pages\n\n## Start\n\n- [First](../README.md)\n- [Page](page.md)\n- [Decisions](adr)\n- [Headers](../runtime/include/a)\n",
    "docs/page.md": "# Page\n\n`code [x](y)` and [back](../README.md#install-it), [here](#second-part)\n\n```c\n# no heading [x](y)\n```\n\n## Second part\n\nwhatever\n",
    "docs/adr/0001-one.md": "# 0001: one\n\ntext\n",
    "runtime/include/a/a.h": "/* SPDX-License-Identifier: Apache-2.0\n *\n * Rules for all functions: docs/page.md#second-part. */\n/** Does it. @param b  the b */\nvoid a(int b);\n",
}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names |= {value for key, value in attrs if key in ("id", "name")}
        self.links += [value for key, value in attrs if key == "href" and tag == "a"]


class Site(unittest.TestCase):
    def build(self, **changed):
        """(exit status, output, {page: Page}, folder of the site) of TREE with files changed: __ in a name stands for /, _ for ."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name, text in {**TREE, **{name.replace("__", "/").replace("_", "."): text for name, text in changed.items()}}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        for file in (*DOCS.glob("*.py"), DOCS / "Doxyfile"):
            shutil.copy(file, root / "docs")
        done = subprocess.run([sys.executable, root / "docs" / "site.py", root / "build"], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=50, check=False)
        site = root / "build" / "html"
        return done.returncode, done.stdout, {file.name: Page(file.read_text(encoding="utf-8")) for file in site.glob("*.html")}, site

    def test_pages_headers_and_headings_lead_to_each_other(self):
        status, said, pages, site = self.build()
        self.assertEqual(status, 0, said)
        for page, link in (("index.html", "page_docs_page.html#page_docs_page__second_part"), ("index.html", "a_8h.html"), ("index.html", "page_docs_adr.html"),
                           ("page_docs_page.html", "index.html#index__install_it"), ("page_docs_page.html", "page_docs_page.html#page_docs_page__second_part"),
                           ("page_docs_adr.html", "page_docs_adr_0001_one.html"), ("a_8h.html", "page_docs_page.html#page_docs_page__second_part")):
            self.assertIn(link, pages[page].links, page)
            where = urllib.parse.urlsplit(link)
            self.assertTrue(not where.fragment or where.fragment in pages[where.path].names, link)
        text = (site / "page_docs_page.html").read_text(encoding="utf-8")
        self.assertIn("code [x](y)", text)
        self.assertIn("Rules for all functions", (site / "a_8h.html").read_text(encoding="utf-8"))
        tree = re.sub(r"\s+", " ", (site / "navtreedata.js").read_text(encoding="utf-8"))
        self.assertRegex(tree, r'"Start", "[^"]*", \[ \[ "First", "index.html", null \], \[ "Page", "page_docs_page.html", null \], \[ "Decisions", "page_docs_adr.html", '
                               r'\[ \[ "0001: one", "page_docs_adr_0001_one.html", null \] \] \], \[ "Headers"')

    def test_a_parameter_that_is_not_documented_is_a_fault_of_the_header(self):
        status, said, _, _ = self.build(runtime__include__a__a_h="/* SPDX\n * Why. */\n/** Does it.\n * @param b  the b */\nvoid a(int b, int c);\n")
        self.assertEqual(status, 1)
        self.assertRegex(said, r"(?s)runtime/include/a/a.h:\d: warning: [^\n]*\n *parameter 'c'")

    def test_a_page_that_the_navigation_lacks_is_a_fault(self):
        status, said, _, _ = self.build(docs__other_md="# Other\n")
        self.assertEqual(status, 1)
        self.assertIn("docs/other.md:1: not in the navigation: name it in docs/README.md", said)

    def found(self, site, typed):
        """[(what is shown, [URL])] that the site's search shows for what a reader types, by the rules of Doxygen's search.js."""
        letters = re.search(r'0: "([^"]*)"', (site / "search" / "searchdata.js").read_text(encoding="utf-8"))[1]
        file = site / "search" / f"all_{letters.index(typed[0]):x}.js"
        entries = [json.loads(line.rstrip(",")) for line in file.read_text(encoding="utf-8").splitlines() if line.startswith('["')]
        wanted = typed.replace(" ", "_20")
        return [(results[0], [url for url, _, _ in results[1:]]) for name, results in entries if name.startswith(wanted)]

    def test_the_search_finds_a_page_by_each_word_of_its_headings_and_by_rare_words(self):
        _, _, _, site = self.build()
        part = "../page_docs_page.html#page_docs_page__second_part"
        self.assertEqual(self.found(site, "second p"), [("Second part", [part])])
        self.assertEqual(self.found(site, "part"), [("Second part", [part])])
        self.assertEqual(self.found(site, "whatever"), [("whatever", [part])])
        self.assertEqual(self.found(site, "zebra"), [("zebra", ["../index.html#index__install_it"])])
        script = (site / "search" / "all_0.js").read_text(encoding="utf-8")
        self.assertRegex(script, r"(?s)^var searchData=\n\[.*\];\n$")


if __name__ == "__main__":
    unittest.main()
