# SPDX-License-Identifier: Apache-2.0
# All benchmarks in all settings, one after the other, so that every figure that the project states can be made again with
# one command: an hour and more, so it says what runs and how long the rest will take, by what each part took when it was
# last stored. A part that fails or cannot run here does not stop the others; the summary at the end names it.
"""Runs every part, stores its result, and writes the page about all of them."""

import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path

import miniapp

ROOT = Path(__file__).resolve().parent.parent
STORED = ROOT / "bench" / "results"


@dataclasses.dataclass(frozen=True)
class Part:
    """One result file."""

    benchmark: str
    setting: str = ""

    @property
    def name(self):
        return f"{self.benchmark}-{self.setting}" if self.setting else self.benchmark

    @property
    def words(self):
        return [self.benchmark, "--setting", self.setting] if self.setting else [self.benchmark]


#: The short ones first: whoever looks sees soon whether the machine is quiet enough.
PARTS = (
    *(Part(name) for name in ("yardstick", "post", "replay", "rma", "matmul", "roundtrip", "unblock", "hold", "clause", "lanes", "rate", "tbb", "trace")),
    *(Part("dslash", setting) for setting in ("crowded", "delayed", "link", "rendezvous")),
    *(Part("multigrid", setting) for setting in ("crowded", "link")),
    Part("breakdown"),
    Part("poisson"),
    Part("offload"),
    Part("fft"),
)


def seconds_text(seconds):
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def last_seconds(part, folders):
    """How long the part took when it was last stored; None: nobody knows."""
    for folder in folders:
        try:
            document = json.loads((folder / f"{part.name}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        first = document[0] if isinstance(document, list) else document
        if isinstance(first, dict) and first.get("seconds"):
            return first["seconds"]
    return None


def still(expected):
    """In words: the sum of what is known, and how many are not."""
    known = sum(one for one in expected if one is not None)
    n_unknown = sum(one is None for one in expected)
    return seconds_text(known) + (f" and {n_unknown} of unknown length" if n_unknown else "")


class Progress:
    """On stderr: a line when a part begins, and on a terminal one that counts while it runs."""

    def __init__(self, parts, expected):
        self.parts, self.expected, self.out = parts, expected, sys.stderr

    def begin(self, k):
        known = self.expected[k]
        about = f"about {seconds_text(known)}" if known is not None else "nobody knows how long"
        print(f"\n== [{k + 1}/{len(self.parts)}] {self.parts[k].name}: {about}; all that is left: {still(self.expected[k:])}",
              file=self.out, flush=True)

    def tick(self, k, seconds):
        if self.out.isatty():
            print(f"\r   {seconds_text(seconds)} of {self.parts[k].name}; then {still(self.expected[k + 1:])}   ", end="", file=self.out,
                  flush=True)

    def end(self):
        if self.out.isatty():
            print("\r" + " " * 78 + "\r", end="", file=self.out, flush=True)


def run_part(command, ticked):
    """The exit status of one part; `ticked` is called with its seconds, about once in each."""
    begin = time.monotonic()
    with subprocess.Popen(command) as program:
        try:
            while True:
                try:
                    return program.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    ticked(time.monotonic() - begin)
        finally:
            if program.poll() is None:
                program.terminate()


def summary(done):
    """Lines about all parts, and the exit status."""
    words = {0: "measured", miniapp.SKIPPED: "cannot run here", None: "there already"}
    lines = [f"  {name:20} {words.get(status, f'FAILED with status {status}')}" for name, status in done]
    return lines, 0 if all(status in words for _, status in done) else 1


def write_page(results, page, figures_folder):
    """By the Python that has matplotlib, if this has not: its own process."""
    command = [sys.executable, str(ROOT / "bench" / "performance.py"), "--results", str(results), "--page", str(page), "--figures",
               str(figures_folder)]
    return subprocess.run(command, check=False).returncode


def draw_readme(build_dir, picture):
    """The picture of the README is one run of the demo."""
    file = Path(build_dir) / "demo.json"
    scripts = ROOT / "scripts"
    demo = [sys.executable, str(scripts / "demo_table.py"), "--build-dir", str(build_dir), "--lattice", "8.8.8.16", "--ranks", "2"]
    demo += ["--threads", "0", "--iterations", "100", "--json", str(file)]
    status = subprocess.run(demo, check=False).returncode
    return status or subprocess.run([sys.executable, str(scripts / "demo_figure.py"), str(file), str(picture)], check=False).returncode


def run(build_dir, is_quick, results, has_resumed, parts=PARTS, runner=ROOT / "bench" / "run.py"):
    """Measures all parts; the exit status of the driver.

    `results` empty: stored in the sources with the page in docs, or, if quick, in the build folder: such figures are nobody's.
    """
    folder = Path(results) if results else Path(build_dir) / "bench-quick" if is_quick else STORED
    folder.mkdir(parents=True, exist_ok=True)
    is_ours = folder.resolve() == STORED
    pictures = ROOT / "docs" / "figures" if is_ours else folder / "figures"
    expected = [None if is_quick else last_seconds(part, (folder, STORED)) for part in parts]
    progress = Progress(parts, expected)
    done = []
    for k, part in enumerate(parts):
        file = folder / f"{part.name}.json"
        if has_resumed and file.exists():
            done.append((part.name, None))
            continue
        progress.begin(k)
        command = [sys.executable, str(runner), *part.words, "--build-dir", str(build_dir), "--json", str(file)]
        command += ["--quick"] if is_quick else []
        command += ["--plots", str(pictures)] if part.benchmark == "fft" else []
        done.append((part.name, run_part(command, lambda seconds, k=k: progress.tick(k, seconds))))
        progress.end()
    if not is_quick:
        print("\n== the picture of the README: one run of scripts/demo", file=sys.stderr, flush=True)
        done.append(("demo", draw_readme(build_dir, pictures / "overlap.png")))
    lines, status = summary(done)
    page = ROOT / "docs" / "performance.md" if is_ours else folder / "performance.md"
    if write_page(folder, page, pictures) != 0:
        lines.append(f"  {page.name} was not written")
        status = 1
    else:
        lines.append(f"  {page} sums them up")
    print("\n== all of it", *lines, sep="\n", file=sys.stderr)
    return status
