# SPDX-License-Identifier: Apache-2.0
# Why goals are missed: limits.json has a sentence for those rows whose limit was looked into, each with the page that shows it.
# The page of performance puts it behind each miss; a miss without a sentence is one that nobody can explain yet, and is listed
# as that. So a goal that is newly missed is seen, and no reason is made up for it.
"""Sentences about missed goals."""

import dataclasses
import json
import re
from pathlib import Path


FILE = "limits.json"


@dataclasses.dataclass(frozen=True)
class Limit:
    """`rows` is a pattern for whole names of rows; `page` is seen from docs; `setting` is for parts with several."""

    part: str
    rows: str
    limit: str
    page: str
    setting: str = ""

    def is_of(self, part, setting, name):
        return self.part == part and self.setting in ("", setting) and re.fullmatch(self.rows, name) is not None


def stored(folder=None):
    """Of the results in `folder` if that has its own, which another machine's do; else those of bench/results."""
    own = folder / FILE if folder is not None else None
    file = own if own is not None and own.exists() else Path(__file__).with_name(FILE)
    return [Limit(**one) for one in json.loads(file.read_text(encoding="utf-8"))]


def find(limits, part, document, row):
    """The first that is of this row; None: not known yet."""
    return next((one for one in limits if one.is_of(part, document.setting, row["name"])), None)


def without_a_goal(limits, documents):
    """Those that no row with a goal is left for; `documents` by the name of their part, parts that are not stored left out."""
    return [one for one in limits if one.part in documents and not any(
        row.get("goal") and one.is_of(one.part, document.setting, row["name"]) for document in documents[one.part] for row in document.rows)]
