# SPDX-License-Identifier: Apache-2.0
# Guards against regressions: quick runs of a few benchmarks against thresholds.json, whose limits are what the stored results of two
# cores have with a margin of about a half, so that a machine of another kind and a noisy minute pass, and a mistake does not. A row
# beyond its threshold is measured once more.
"""scripts/bench check"""

import json
import tempfile
from pathlib import Path

import miniapp

FILE = Path(__file__).with_name("thresholds.json")


def thresholds():
    """[{"run": words for run.py, "setting", "row", "of": median or ratio, "at_most" or "at_least"}]"""
    return json.loads(FILE.read_text(encoding="utf-8"))


def is_kept(threshold, value):
    return value <= threshold["at_most"] if "at_most" in threshold else value >= threshold["at_least"]


def text_of(threshold, value, verdict):
    limit = f"<= {threshold['at_most']:g}" if "at_most" in threshold else f">= {threshold['at_least']:g}"
    return f"{verdict:7} {threshold['run'].split()[0]}, {threshold['setting']}: {threshold['row']}: {threshold['of']} {value:.4g} ({limit})"


def value_in(documents, threshold):
    """Of the row that a threshold is for. Raises miniapp.Failed where there is none: a benchmark that was renamed would go unseen."""
    for document in documents:
        for row in document["results"]:
            if (document["setting"], row["name"]) == (threshold["setting"], threshold["row"]) and threshold["of"] in row:
                return row[threshold["of"]]
    raise miniapp.Failed(f"check: {threshold['run']} has no {threshold['of']} of '{threshold['row']}' in '{threshold['setting']}'")


def run(measured, wanted=None):
    """`measured(words, json_file)` runs a benchmark and gives its exit status. 0: all thresholds are kept."""
    wanted = thresholds() if wanted is None else wanted
    lines, n_worse = [], 0
    for command in dict.fromkeys(one["run"] for one in wanted):
        left = [one for one in wanted if one["run"] == command]
        for turn in range(2):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "fresh.json"
                status = measured(command.split(), file)
                if status == miniapp.SKIPPED:
                    lines.append(f"skipped {command}: cannot run here")
                    left = []
                    break
                if status != 0:
                    raise miniapp.Failed(f"check: {command} did not end well")
                documents = json.loads(file.read_text(encoding="utf-8"))
            values = [(one, value_in(documents, one)) for one in left]
            left = [one for one, value in values if not is_kept(one, value)]
            lines += [text_of(one, value, "ok" if one not in left else "WORSE") for one, value in values if one not in left or turn == 1]
            if not left:
                break
        n_worse += len(left)
    print("\n== check\n" + "\n".join(lines) + f"\n{len(wanted)} thresholds, {n_worse} worse", flush=True)
    return 1 if n_worse else 0
