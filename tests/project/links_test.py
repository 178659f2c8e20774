# SPDX-License-Identifier: Apache-2.0
# Shows that docs/check_links.py finds each kind of broken link, in a small tree of pages that each test makes, and accepts the links
# that GitHub follows: a checker that accepts all would be green for ever.
"""Unit tests of docs/check_links.py."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))
import check_links  # noqa: E402

PAGE = "# A page\n\n## What it *costs*, in `ns`: 1.5\n\n## Twice\n\n## Twice\n\n```sh\n## no heading\n```\n<a name=\"by_hand\"></a>\n"


class Links(unittest.TestCase):
    def faults(self, **files):
        """The lines that name a fault, of a tree with docs/page.md, docs/adr/0001-a.md and `files`: __ in a name stands for /, _ for ."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            tree = {"docs/page.md": PAGE, "docs/adr/0001-a.md": "# A\n"}
            tree |= {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
            for name, text in tree.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                status = check_links.main([folder])
        *faults, last = out.getvalue().splitlines()
        self.assertEqual(status, 1 if faults else 0, last)
        return faults

    def test_a_file_that_does_not_exist_is_named_with_its_line(self):
        self.assertEqual(self.faults(README_md="# R\n\nsee [x](docs/pge.md)\n"),
                         ["README.md:3: the link to 'docs/pge.md' is broken: there is no such file"])
        for link in ("![x](docs/figures/x.png)", "[x]: docs/pge.md", '<img src="x.png">', "[`f`\ng](f.h)", '[x](f.h "title")', "[x](../../etc/passwd)",
                     "[![x](docs/page.md)](f.h)", "[x](docs/page.md) [y](docs)/z](f.h)"):
            self.assertEqual(len(self.faults(README_md=link + "\n")), 1, link)

    def test_a_heading_that_does_not_exist_is_named(self):
        self.assertEqual(self.faults(README_md="[x](docs/page.md#what-it-cost)\n"),
                         ["README.md:1: the link to 'docs/page.md#what-it-cost' is broken: docs/page.md has no heading 'what-it-cost'"])
        for place in ("no-heading", "Twice", "twice-2", "what-it-costs", "L3"):
            self.assertEqual(len(self.faults(README_md=f"[x](docs/page.md#{place})\n")), 1, place)
        self.assertEqual(len(self.faults(docs__own_md="# Own\n[x](#owm)\n")), 1)
        self.assertEqual(len(self.faults(a_h="int a;\n", README_md="[x](a.h#L9) [y](a.h#L1)\n")), 1)
        self.assertEqual(len(self.faults(README_md="[x](docs#page)\n")), 1)

    def test_links_that_lead_somewhere_are_accepted(self):
        self.assertEqual(self.faults(
            README_md="# R\n[a](docs/page.md#what-it-costs-in-ns-15) [b](docs/page.md#twice-1) [c](docs/page.md#by_hand) [d](#r) [e](docs)\n"
                      "[f](https://example.org/no/such#page) [g](mailto:a@b.c) `[h](no)` ``[i](`no`)``\n\n```md\n[j](no)\n```\n[k](<docs/page.md> \"t\")\n"), [])

    def test_a_page_that_a_header_or_a_message_names_must_exist(self):
        for text in ("/* docs/pge.md explains both. */", "see docs/page.md#thrice", 'say("docs/adr/0002-b.md")', "# ADR 0002 says why", "(docs/adr/0002)"):
            self.assertEqual(len(self.faults(runtime__include__a_h=text + "\n")), 1, text)
        for text in ("/* docs/page.md explains both. */", "see docs/page.md#twice.", "# ADR 0001 says why (docs/adr/0001)", "other/docs/pge.md"):
            self.assertEqual(self.faults(runtime__include__a_h=text + "\n"), [], text)

    def test_a_tree_without_pages_is_no_success(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(check_links.main([folder]), 1)


if __name__ == "__main__":
    unittest.main()
